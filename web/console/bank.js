import { makeAct } from "./acts.js";
import { make, makeFacts, makeSection, makeTable } from "./dom.js";
import { showList } from "./list.js";
import { readOps } from "./ops.js";
import { sayWord, showDay, showMoney, showState } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const bankPages = [
  {
    path: "/bank",
    title: "Bank",
    proposals: ["bank."],
    reach: "live",
    key: "b",
    permission: "bank.write",
    show: showBank,
  },
];

/** @param {View} view */
async function showBank(view) {
  const reconciled = await readOps("/ops/bank/reconciliation", {}, view.signal);
  const permission = "bank.write";
  const list = await showList(view, {
    title: "Bank",
    lead: "Unmatched lines of the bank's statement, the oldest first. Only live money is on the bank account.",
    acts: [
      makeAct(view, {
        label: "Import a statement…",
        permission,
        main: true,
        says: "Payouts are answered, money in is matched by reference, amount and remitter; the rest waits here.",
        fields: [{ name: "file", label: "The bank's file (CSV)", type: "file" }],
        call: ({ file }) => ({
          path: "/ops/bank/statements",
          body: { content_base64: toBase64(file) },
        }),
        said: ({ outcome, lines, matched, queued }) =>
          `The statement is ${outcome}: ${lines} lines, ${matched} matched, ${queued} unmatched.`,
      }),
    ],
    path: "/ops/bank/queue",
    rows: "lines",
    columns: [
      { head: "Day", cell: (row) => showDay(row["day"]) },
      {
        head: "Amount",
        kind: "number",
        cell: (row) =>
          `${row["direction"] === "debit" ? "−" : ""}${showMoney(row["amount_paise"])}`,
      },
      {
        head: "Remitter",
        kind: "wide",
        cell: (row) => [
          row["remitter_name"] || "–",
          " ",
          make("span", { class: "muted" }, row["remitter_account_masked"]),
        ],
      },
      { head: "UTR", cell: (row) => row["utr"] ?? "–" },
      { head: "Narration", kind: "wide", cell: (row) => row["narration"] },
      {
        head: "State",
        kind: "wide",
        cell: (row) => [showState(row["status"]), ` ${sayWord(row["reason"] ?? "")}`],
      },
      { head: "Acts", kind: "last", cell: (row) => makeLineActs(view, row) },
    ],
    empty: "Every bank line is matched.",
  });
  list.append(showReconciled(reconciled));
  return list;
}

/**
 * @param {View} view
 * @param {Row} line
 */
function makeLineActs(view, line) {
  if (line["status"] !== "queued") return null;
  const about = `${showMoney(line["amount_paise"])} of ${line["remitter_name"] || "nobody named"}, ${line["utr"] ?? "without a reference"}.`;
  const path = `/ops/bank/queue/${line["line_id"]}`;
  return make(
    "div",
    { class: "acts" },
    makeAct(view, {
      label: "Assign…",
      permission: "bank.write",
      says: about,
      fields: [
        { name: "to", label: "Belongs to", hint: "Id of a firm, settlement or cross, or house" },
        { name: "reason", label: "Evidence", type: "long" },
      ],
      call: (body) => ({ path: `${path}/assign`, body }),
    }),
    line["direction"] === "credit" &&
      makeAct(view, {
        label: "Mark as returned…",
        permission: "bank.write",
        danger: true,
        says: [about, " Say it when the money was sent back; the bank's debit ends it."],
        fields: [
          { name: "utr", label: "UTR of the return" },
          { name: "reason", label: "Reason", type: "long" },
        ],
        call: (body) => ({ path: `${path}/return`, body }),
      }),
  );
}

/** @param {Row} reconciled */
function showReconciled(reconciled) {
  const { as_of, bank_paise, books_paise, difference_paise, unexplained_paise } = reconciled;
  return makeSection(
    "Reconciliation",
    makeFacts([
      ["As of", showDay(as_of)],
      ["Bank balance", showMoney(bank_paise)],
      ["Book balance", showMoney(books_paise)],
      ["Difference", showMoney(difference_paise)],
      [
        "Unexplained",
        [showMoney(unexplained_paise), " ", unexplained_paise ? showState("failed") : ""],
      ],
    ]),
    reconciled["differences"].length > 0
      ? makeTable(
          "Differences",
          [
            { head: "Differences", kind: "wide" },
            { head: "Amount", kind: "number" },
          ],
          reconciled["differences"].map((/** @type {Row} */ one) => [
            one["what"],
            showMoney(one["amount_paise"]),
          ]),
        )
      : null,
  );
}

/** @param {string} text */
function toBase64(text) {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

// The bank's ledger: the statements that were imported, and where each of their lines went and why.

import { showAmount } from "./bank-line.js";
import { makeBars } from "./bars.js";
import { make, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import {
  loadNames,
  sayWord,
  showDay,
  showFirm,
  showId,
  showMoney,
  showState,
  showTime,
} from "./show.js";
import { linkTo, may } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const bankBookPages = [
  {
    path: "/bank-statements",
    title: "Bank statements",
    reach: "live",
    show: (view) =>
      showList(view, {
        title: "Bank statements",
        lead: "The bank's files that were imported, the newest first.",
        acts: [make("a", { href: linkTo("/bank") }, "Import and unmatched lines")],
        path: "/ops/bank/statements",
        rows: "statements",
        columns: [
          {
            head: "Days",
            cell: (row) => {
              const days =
                row["first_day"] === row["last_day"]
                  ? showDay(row["last_day"])
                  : `${showDay(row["first_day"])} to ${showDay(row["last_day"])}`;
              if (!may("bank.write")) return days;
              return make("a", { href: linkTo(`/bank-statements/${row["statement_id"]}`) }, days);
            },
          },
          { head: "Lines", kind: "number", cell: (row) => row["line_count"] },
          { head: "Opening", kind: "number", cell: (row) => showMoney(row["opening_paise"]) },
          { head: "Closing", kind: "number", cell: (row) => showMoney(row["closing_paise"]) },
          {
            head: "Imported",
            cell: (row) => [showTime(row["received_at"]), ` by ${row["received_by"]}`],
          },
          { head: "State", cell: (row) => showState(row["status"]) },
        ],
        empty: "No statement has been imported.",
        figure: makeBalances,
      }),
  },
  {
    path: "/bank-statements/:id",
    title: "Bank statement",
    reach: "live",
    permission: "bank.write",
    show: showStatement,
  },
];

/** As many days as are told apart at a glance. */
const balancesMax = 14;

/**
 * What was on the account at the end of each day that a statement closed.
 *
 * @param {readonly Row[]} statements the newest first
 */
function makeBalances(statements) {
  /** @type {Map<string, number>} */
  const closing = new Map();
  for (const { last_day, closing_paise } of statements) {
    if (closing_paise !== null && !closing.has(last_day)) closing.set(last_day, closing_paise);
  }
  if (closing.size === 0) return null;
  const days = [...closing].toSorted(([a], [b]) => a.localeCompare(b)).slice(-balancesMax);
  return makeBars(
    "Cash at the bank by day",
    days.map(([day, value]) => ({ label: showDay(day), value, words: showMoney(value) })),
  );
}

/** @param {View} view */
async function showStatement(view) {
  /** @type {Row} */
  const statement = await readOps(`/ops/bank/statements/${view.id}`, {}, view.signal);
  /** @type {Row[]} */
  const lines = statement["lines"];
  await loadNames(lines.map((line) => line["firm_id"]));
  return make(
    "div",
    { class: "page" },
    makeHead("Bank statement", [
      makeDownload(`bank-statement-${statement["last_day"]}`, async () => lines),
    ]),
    makeFacts([
      ["State", showState(statement["status"])],
      ["Days", [showDay(statement["first_day"]), " to ", showDay(statement["last_day"])]],
      ["Opening", showMoney(statement["opening_paise"])],
      ["Closing", showMoney(statement["closing_paise"])],
      ["Imported", [showTime(statement["received_at"]), ` by ${statement["received_by"]}`]],
      [
        "Applied",
        statement["applied_by"]
          ? [showTime(statement["applied_at"]), ` by ${statement["applied_by"]}`]
          : "–",
      ],
    ]),
    makeSection(
      "Lines",
      makeTable(
        "Lines of the statement",
        [
          { head: "Line" },
          { head: "Day" },
          { head: "Amount", kind: "number" },
          { head: "Balance", kind: "number" },
          { head: "Remitter", kind: "wide" },
          { head: "UTR" },
          { head: "Narration", kind: "wide" },
          { head: "Went to", kind: "wide" },
          { head: "State and reason", kind: "wide" },
        ],
        lines.map((line) => [
          make("a", { href: linkTo(`/bank-lines/${line["line_id"]}`) }, line["ordinal"]),
          showDay(line["day"]),
          showAmount(line),
          showMoney(line["balance_paise"]),
          [
            line["remitter_name"] || "–",
            " ",
            make("span", { class: "muted" }, line["remitter_account_masked"]),
          ],
          line["utr"] ?? "–",
          line["narration"],
          [line["firm_id"] ? showFirm(line["firm_id"]) : "–", " ", showDeal(line)],
          [
            showState(line["status"]),
            ` ${sayWord(line["reason"])}`,
            line["decided_by"] ? ` by ${line["decided_by"]}` : "",
          ],
        ]),
      ),
    ),
  );
}

/** @param {Row} line */
function showDeal({ deal_id }) {
  return deal_id ? showId(deal_id) : "";
}

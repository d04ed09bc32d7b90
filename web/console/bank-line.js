// A line of the bank: what the bank wrote, whose it was said to be, and the acts that decide about it.

import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeFacts } from "./dom.js";
import { makeHead } from "./list.js";
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

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "bank.write";

/** @type {readonly import("./state.js").Page[]} */
export const bankLinePages = [
  {
    path: "/bank-lines/:id",
    title: "Bank line",
    menu: "/bank",
    reach: "live",
    permission,
    show: showLine,
  },
];

/** @param {View} view */
async function showLine(view) {
  /** @type {Row} */
  const line = await readOps(`/ops/bank/lines/${view.id}`, {}, view.signal);
  await loadNames([line["firm_id"]]);
  const isOurs = line["status"] === "assigned" && line["firm_id"] === null;
  return make(
    "div",
    { class: "page" },
    makeHead("Bank line", [makeLineActs(view, line)]),
    makeFacts([
      ["Amount", showAmount(line)],
      ["State", showState(line["status"])],
      ["Reason", line["reason"] ? sayWord(line["reason"]) : "–"],
      ["Day", showDay(line["day"])],
      ["Remitter", line["remitter_name"] || "–"],
      ["Account", line["remitter_account_masked"] || "–"],
      ["UTR", line["utr"] ?? "–"],
      ["Narration", line["narration"]],
      ["Belongs to", isOurs ? "the house" : showFirm(line["firm_id"])],
      ["Deal", showId(line["deal_id"])],
      [
        "Decided",
        line["decided_by"] ? [showTime(line["decided_at"]), ` by ${line["decided_by"]}`] : "–",
      ],
      ["Possible duplicate of", showId(line["repeats_line_id"])],
      ["Statement", showId(line["statement_id"])],
      ["Id", make("span", { class: "id" }, line["line_id"])],
    ]),
    ...(await makePast(view, { entity_id: view.id })),
  );
}

/** @param {Row} line */
export function showAmount({ direction, amount_paise }) {
  return `${direction === "debit" ? "−" : ""}${showMoney(amount_paise)}`;
}

/**
 * Whose a line may be: what the text finds, or unpaid deals of its amount.
 *
 * @param {Row} line
 * @param {string} text
 * @returns {Promise<[string, string][]>}
 */
async function findOwners(line, text) {
  if (text === "") {
    const query = { environment: "live", status: "pending", limit: 500 };
    const { settlements, names } = await readOps("/ops/settlements", query);
    /** @type {Row[]} */
    const same = settlements.filter(
      (/** @type {Row} */ one) => one["buyer_paise"] === line["amount_paise"],
    );
    return same.map((one) => [
      one["settlement_id"],
      `${names[one["buyer_firm_id"]]} · unpaid settlement of exactly this amount · ${one["settlement_id"]}`,
    ]);
  }
  const { found } = await readOps("/ops/find", { q: text });
  return found
    .filter(
      (/** @type {Row} */ one) =>
        one["environment"] === "live" && ["firm", "settlement", "cross"].includes(one["kind"]),
    )
    .map((/** @type {Row} */ one) => [
      one["id"],
      [one["firm_name"], sayWord(one["kind"]), one["note"], sayWord(one["status"] ?? ""), one["id"]]
        .filter(Boolean)
        .join(" · "),
    ]);
}

/**
 * @param {View} view
 * @param {Row} line
 */
export function makeLineActs(view, line) {
  const allows = (/** @type {string} */ action) => line["allowed_actions"].includes(action);
  const about = `${showMoney(line["amount_paise"])} of ${line["remitter_name"] || "nobody named"}, ${line["utr"] ?? "without a reference"}.`;
  const path = `/ops/bank/queue/${line["line_id"]}`;
  return make(
    "div",
    { class: "acts" },
    allows("undo") &&
      makeAct(view, {
        label: "Undo the assignment…",
        permission,
        danger: true,
        says: [
          about,
          " It waits again. Money that a deal or a payout has taken is no longer there to be taken back.",
        ],
        fields: [{ name: "reason", label: "Reason", type: "long" }],
        call: (body) => ({ path: `/ops/bank/lines/${line["line_id"]}/undo`, body }),
        said: () => "The assignment is undone; the money waits again.",
      }),
    allows("assign") &&
      makeAct(view, {
        label: "Assign…",
        permission,
        says: about,
        fields: [
          {
            name: "to",
            label: "Belongs to",
            type: "thing",
            hint: "a firm, settlement or cross",
            options: [["house", "The house's own, such as charges"]],
            find: (text) => findOwners(line, text),
          },
          { name: "reason", label: "Evidence", type: "long" },
        ],
        call: (body) => ({ path: `${path}/assign`, body }),
      }),
    allows("repeat") &&
      makeAct(view, {
        label: "Mark as duplicate…",
        permission,
        says: [about, " Say it if an earlier file had this line: its money counts once."],
        fields: [{ name: "reason", label: "Evidence", type: "long" }],
        call: (body) => ({ path: `${path}/repeat`, body }),
      }),
    allows("return") &&
      makeAct(view, {
        label: "Mark as returned…",
        permission,
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

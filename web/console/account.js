// A firm's money on its page: what it has, the ledger of a month, and what it has paid in.

import { make, makeEmpty, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeDownload, makeFileButton } from "./download.js";
import { readOps } from "./ops.js";
import { sayWord, showId, showMoney, showState, showTime } from "./show.js";
import { goTo, linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const ledgerColumns = [
  { head: "When" },
  { head: "What", kind: "wide" },
  { head: "Reference" },
  { head: "UTR" },
  { head: "Amount", kind: "number" },
  { head: "Balance", kind: "number" },
];

/**
 * @param {View} view
 * @param {Row} account
 */
export async function makeAccount(view, account) {
  const { deposits } = account;
  return [
    makeSection(
      "Account",
      makeFacts([
        ["Available", showMoney(account["available_paise"])],
        ["In escrow", showMoney(account["escrow_paise"])],
        ["Outgoing", showMoney(account["pending_out_paise"])],
        ["Incoming", showMoney(account["pending_in_paise"])],
        ["Dues", showMoney(account["dues_paise"])],
        ["Commission", showMoney(account["commission_paise"])],
      ]),
    ),
    await makeLedger(view),
    deposits.length === 0
      ? null
      : makeSection(
          "Deposits",
          makeTable(
            "Deposits of the firm",
            [
              { head: "UTR" },
              { head: "Amount", kind: "number" },
              { head: "Settlement" },
              { head: "Received" },
              { head: "State" },
            ],
            deposits.map((/** @type {Row} */ one) => [
              one["reference"],
              showMoney(one["amount_paise"]),
              showId(one["settlement_id"]),
              showTime(one["received_at"]),
              showState(one["status"]),
            ]),
          ),
        ),
  ];
}

/** @param {View} view */
async function makeLedger({ id, params, signal }) {
  const thisMonth = new Date(Date.now() + 19_800_000).toISOString().slice(0, 7);
  const month = params.get("month") ?? thisMonth;
  const chosen = make("input", { type: "month", value: month });
  chosen.addEventListener("change", () => goTo(linkTo(`/firms/${id}`, { month: chosen.value })));
  const choice = make(
    "form",
    { class: "filters" },
    make("label", {}, make("span", {}, "Month"), chosen),
  );
  /** @type {Row | Error} */
  const statement = await readOps(`/ops/firms/${id}/statements/${month}`, {}, signal).catch(
    (error) => error,
  );
  if (statement instanceof Error) {
    return makeSection("Ledger", choice, makeEmpty(statement.message));
  }
  const { lines, statement_no, status } = statement;
  return makeSection(
    "Ledger",
    choice,
    make(
      "p",
      { class: "muted" },
      `Opening ${showMoney(statement["opening_paise"])}, closing ${showMoney(statement["closing_paise"])}`,
      statement_no ? `; statement ${statement_no}, ${sayWord(status)}` : "",
    ),
    lines.length === 0
      ? makeEmpty("Nothing moved in this month.")
      : makeTable(
          "Ledger of the month",
          ledgerColumns,
          lines.map((/** @type {Row} */ line) => [
            showTime(line["at"]),
            line["description"],
            showId(line["reference"]),
            line["utr"] ?? "–",
            showMoney(line["amount_paise"]),
            showMoney(line["balance_paise"]),
          ]),
        ),
    make(
      "div",
      { class: "acts" },
      lines.length === 0 ? null : makeDownload(`ledger-${id}-${month}`, async () => lines),
      [
        ["Statement as PDF", "pdf"],
        ["Statement as .xlsx", "xlsx"],
      ].map(([words = "", format]) =>
        makeFileButton(words, () =>
          readOps(`/ops/firms/${id}/statements/${month}/file`, { format }),
        ),
      ),
    ),
  );
}

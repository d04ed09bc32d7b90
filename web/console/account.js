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
    await makePapers(view),
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
          makeDownload(`deposits-${view.id}`, async () => deposits),
        ),
  ];
}

/** @param {URLSearchParams} params */
function readMonth(params) {
  return params.get("month") ?? new Date(Date.now() + 19_800_000).toISOString().slice(0, 7);
}

/** @param {View} view */
async function makeLedger({ id, params, signal }) {
  const month = readMonth(params);
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

/**
 * The contract notes and bills of supply of the month that is chosen, or of its financial year.
 *
 * @param {View} view
 */
async function makePapers({ id, params, signal }) {
  const month = readMonth(params);
  const year = Number(month.slice(0, 4)) - (month.slice(5) < "04" ? 1 : 0);
  const isYear = params.get("papers") === "year";
  const span = isYear
    ? { from: `${year}-04-01`, to: `${year + 1}-03-31` }
    : { from: `${month}-01`, to: findLastDay(month) };
  const path = `/ops/firms/${id}/papers`;
  const cursor = params.get("cursor");
  const { papers, next_cursor } = await readOps(path, { ...span, cursor }, signal);
  const place = (/** @type {Record<string, string>} */ more) =>
    linkTo(`/firms/${id}`, { month, ...more });
  const chosen = make(
    "select",
    {},
    make("option", { value: "month", selected: !isYear }, "The month"),
    make(
      "option",
      { value: "year", selected: isYear },
      `Financial year ${year}-${String((year + 1) % 100).padStart(2, "0")}`,
    ),
  );
  chosen.addEventListener("change", () => goTo(place({ papers: chosen.value })));
  const makeFile = (
    /** @type {string} */ words,
    /** @type {Row} */ row,
    /** @type {string} */ paper,
  ) => makeFileButton(words, () => readOps(`${path}/${row["settlement_id"]}/file`, { paper }));
  return makeSection(
    "Papers of deals",
    make("form", { class: "filters" }, make("label", {}, make("span", {}, "Papers of"), chosen)),
    papers.length === 0
      ? makeEmpty(`Nothing was dealt in ${isYear ? "this financial year" : "this month"}.`)
      : makeTable(
          "Papers of deals",
          [
            { head: "Dealt" },
            { head: "Deal" },
            { head: "Side" },
            { head: "All in", kind: "number" },
            { head: "State" },
            { head: "Bills of supply", kind: "wide" },
            { head: "PDF", kind: "last" },
          ],
          papers.map((/** @type {Row} */ row) => [
            showTime(row["dealt_at"]),
            showId(row["settlement_id"]),
            row["side"],
            showMoney(row["all_in_paise"]),
            showState(row["status"]),
            row["bills"].length === 0 ? "none yet" : row["bills"].map(sayBill),
            make(
              "div",
              { class: "acts" },
              makeFile("Contract note", row, "contract_note"),
              row["bills"].length === 0 ? null : makeFile("Bill of supply", row, "bill_of_supply"),
            ),
          ]),
        ),
    make(
      "div",
      { class: "acts" },
      papers.length === 0 ? null : makeDownload(`papers-${id}-${span.from}`, async () => papers),
      next_cursor === null
        ? null
        : make(
            "a",
            { href: place({ papers: isYear ? "year" : "month", cursor: next_cursor }) },
            "Next deals",
          ),
    ),
  );
}

/** @param {Row} bill */
function sayBill({ kind, number, total_paise }) {
  const name = number ?? (kind === "supply_return" ? "draft of a return" : "draft of the seller");
  return make("div", {}, `${name}, ${showMoney(total_paise)}`);
}

/** @param {string} month */
function findLastDay(month) {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

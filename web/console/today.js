// What waits for somebody, each with the page on which it is done, and how the day stands.

import { schemeName } from "../words.js";
import { make, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import { showUnready } from "./ready.js";
import { showDay, showMoney, showPercent, showState, showTime } from "./show.js";
import { linkTo, may } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly {name: string, words: readonly [string, string], path: string, query?: Record<string, string>, urgent?: boolean, permission?: string}[]} */
const tasks = [
  {
    name: "approvals",
    words: ["approval waits", "approvals wait"],
    path: "/approvals",
    urgent: true,
  },
  {
    name: "settlements_late",
    words: ["settlement that is late", "settlements that are late"],
    path: "/queue",
    urgent: true,
  },
  {
    name: "deals_unread",
    words: [
      "unpaid deal waits for the bank's statement",
      "unpaid deals wait for the bank's statement",
    ],
    path: "/bank",
    urgent: true,
  },
  {
    name: "settlements_due_today",
    words: ["settlement due today", "settlements due today"],
    path: "/queue",
  },
  {
    name: "settlements_for_buyer",
    words: ["settlement waits for the buyer's money", "settlements wait for the buyer's money"],
    path: "/settlements",
    query: { status: "pending" },
  },
  {
    name: "settlements_for_seller",
    words: [
      "settlement waits to be initiated at customs",
      "settlements wait to be initiated at customs",
    ],
    path: "/queue",
  },
  {
    name: "settlements_for_customs",
    words: ["settlement waits for customs", "settlements wait for customs"],
    path: "/settlements",
    query: { status: "transfer_initiated" },
  },
  {
    name: "crosses_late",
    words: ["cross that is late", "crosses that are late"],
    path: "/crosses",
    urgent: true,
  },
  { name: "payouts_scheduled", words: ["payout is due", "payouts are due"], path: "/files" },
  {
    name: "payouts_held",
    words: ["payout is held", "payouts are held"],
    path: "/payouts",
    query: { status: "held" },
  },
  {
    name: "payouts_instructed",
    words: ["payout is with the bank", "payouts are with the bank"],
    path: "/payouts",
    query: { status: "instructed" },
  },
  {
    name: "payouts_returned",
    words: ["payout came back", "payouts came back"],
    path: "/payouts",
    query: { status: "returned" },
    urgent: true,
  },
  {
    name: "bank_lines",
    words: ["unmatched bank line", "unmatched bank lines"],
    path: "/bank",
    urgent: true,
    permission: "bank.write",
  },
  {
    name: "questions",
    words: ["question to customs or a bank", "questions to customs and banks"],
    path: "/questions",
  },
  {
    name: "enquiries",
    words: ["enquiry of the public", "enquiries of the public"],
    path: "/enquiries",
    query: { status: "received" },
    permission: "enquiries.read",
  },
  {
    name: "dead_letters",
    words: ["failed delivery", "failed deliveries"],
    path: "/letters",
    urgent: true,
  },
];

/** @type {readonly import("./state.js").Page[]} */
export const todayPages = [
  { path: "/today", title: "Today", proposals: [""], refreshes: true, key: "t", show: showToday },
];

/** @param {View} view */
async function showToday(view) {
  const { environment } = view;
  const [today, unready] = await Promise.all([
    readOps("/ops/today", { environment }, view.signal),
    showUnready(view),
  ]);
  const { operators } = await readOps("/ops/operators", {}, view.signal);
  const waiting = tasks.filter(({ name }) => today["waiting"][name] > 0);
  return make(
    "div",
    { class: "page" },
    makeHead([`Today, ${showDay(today["day"])}`]),
    unready,
    makeRecovered(operators, today["as_of"]),
    waiting.length === 0
      ? make("p", { class: "empty" }, "All done.")
      : make(
          "ul",
          { class: "tasks", "aria-label": "To do" },
          waiting.map((task) => makeTask(task, today["waiting"][task.name])),
        ),
    makeSection(
      "The day's market",
      makeTable(
        "The day by scheme",
        [
          { head: "Scheme" },
          { head: "Market" },
          { head: "Mid", kind: "number" },
          { head: "Deals", kind: "number" },
          { head: "Face dealt", kind: "number" },
          { head: "House bought", kind: "number" },
          { head: "Daily limit", kind: "number" },
        ],
        today["schemes"].map((/** @type {Row} */ one) => [
          schemeName(one["scheme"]),
          showState(one["market"] ?? "none"),
          showPercent(one["mid_bps"]),
          one["deals"],
          showMoney(one["dealt_face_paise"]),
          showMoney(one["house_taken_paise"]),
          showMoney(one["house_limit_paise"]),
        ]),
      ),
    ),
    makeSection(
      "The house's money",
      makeFacts([
        ["House cash", showMoney(today["house_cash_paise"])],
        ["Fees earned", showMoney(today["house_fees_paise"])],
        ["At the bank, unassigned", showMoney(today["unmatched_cash_paise"])],
        [
          "Books",
          make(
            "a",
            { href: linkTo("/health") },
            today["ledger_sound"] ? "sound" : "not proved lately",
          ),
        ],
        ["As of", showTime(today["as_of"])],
      ]),
    ),
  );
}

const recoveredTellMs = 7 * 86_400_000;

/**
 * Who was given access on the server within a week.
 *
 * @param {readonly Row[]} operators
 * @param {string} asOf
 */
function makeRecovered(operators, asOf) {
  return operators
    .filter(({ recovered_at: at }) => at && Date.parse(asOf) - Date.parse(at) < recoveredTellMs)
    .map((/** @type {Row} */ { name, recovered_at }) =>
      make(
        "p",
        { class: "notice" },
        `${name} was given access on the server, without a second person (`,
        showTime(recovered_at),
        "). If none of you did that, disable them under ",
        make("a", { href: linkTo("/people") }, "People"),
        ".",
      ),
    );
}

/**
 * @param {(typeof tasks)[number]} task
 * @param {number} count
 */
function makeTask({ words, path, query, urgent, permission }, count) {
  const inside = [
    make("strong", {}, count >= 100 ? "100+" : String(count)),
    make("span", {}, count === 1 ? words[0] : words[1]),
  ];
  return make(
    "li",
    { "data-urgent": urgent ? "yes" : undefined },
    may(permission)
      ? make("a", { href: linkTo(path, query) }, inside)
      : make("span", { class: "task" }, inside),
  );
}

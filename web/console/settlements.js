import { makeDayBars } from "./bars.js";
import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeFacts, makeSection, makeTable } from "./dom.js";
import { listFilters, makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import {
  loadNames,
  sayWord,
  showFirm,
  showId,
  showMoney,
  showPercent,
  showState,
  showTime,
} from "./show.js";
import { makeTasks } from "./tasks.js";
import { schemeName } from "../words.js";
import { standWith } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./list.js").Column} Column */

/** @param {Row} row */
const listFirms = (row) => [
  row["buyer_firm_id"],
  ...row["legs"].map((/** @type {Row} */ leg) => leg["seller_firm_id"]),
];

/** @type {readonly Column[]} */
const dealColumns = [
  { head: "Settlement", cell: (row) => showId(row["settlement_id"]) },
  { head: "Scheme", cell: (row) => schemeName(row["scheme"]) },
  { head: "Buyer", kind: "wide", cell: (row) => showFirm(row["buyer_firm_id"]) },
  { head: "Seller", kind: "wide", cell: (row) => showSellers(row["legs"]) },
  { head: "Face", kind: "number", cell: (row) => showMoney(row["face_paise"]) },
  { head: "Buyer pays", kind: "number", cell: (row) => showMoney(row["buyer_paise"]) },
];

/** @type {readonly import("./state.js").Page[]} */
export const settlementPages = [
  {
    path: "/queue",
    title: "Settlement queue",
    proposals: ["question.attest", "deal.fund", "settlement."],
    refreshes: true,
    key: "q",
    show: (view) =>
      showList(view, {
        title: "Settlement queue",
        lead: "What is open: first where a receiver finds nothing to accept, then by when it is due.",
        path: "/ops/settlements/queue",
        rows: "settlements",
        query: { environment: view.environment },
        firms: listFirms,
        columns: [
          {
            head: "Due",
            cell: (row) => [
              showTime(row["due_at"]),
              " ",
              row["late"] ? showState("late") : null,
              isMissing(row) ? showState("missing") : null,
            ],
          },
          { head: "Waits for", kind: "wide", cell: showAwaited },
          ...dealColumns.filter(({ head }) => head !== "Scheme" && head !== "Buyer pays"),
          {
            head: "Actions",
            kind: "last",
            cell: (row) => make("div", { class: "acts" }, makeNextActs(view, row)),
          },
        ],
        empty: "Nothing is open.",
        figure: async () => {
          const { environment, signal } = view;
          const { bands } = await readOps("/ops/settlements/by-age", { environment }, signal);
          return makeDayBars("Open settlements by age", bands, "count");
        },
      }),
  },
  {
    path: "/settlements",
    title: "Settlements",
    proposals: ["settlement."],
    key: "s",
    show: (view) =>
      showList(view, {
        title: "Settlements",
        path: "/ops/settlements",
        rows: "settlements",
        query: { environment: view.environment },
        filters: [{ name: "status", label: "State" }, ...listFilters],
        firms: listFirms,
        columns: [
          ...dealColumns,
          { head: "Created", cell: (row) => showTime(row["created_at"]) },
          { head: "State", cell: (row) => showState(row["status"]) },
        ],
        empty: "No settlements found.",
      }),
  },
  { path: "/settlements/:id", title: "Settlement", show: showSettlement },
];

/**
 * Whose task it is, who is late with it, and both codes that the portal asks for.
 *
 * @param {Row} row
 */
function showAwaited(row) {
  /** @type {Row[]} */
  const open = row["tasks"].filter(isOpenTask);
  if (open.length === 0) return sayWord(row["waiting_on"]);
  return open.map((task) =>
    make(
      "div",
      {},
      task["by"] === "house" ? "the house: " : `${parties[task["side"]]}: `,
      ...nameTask(task),
      task["status"] === "late" ? [" ", showState("late")] : null,
    ),
  );
}

const parties = /** @type {Readonly<Record<string, string>>} */ ({ sell: "seller", buy: "buyer" });

/** @param {Row} task */
function nameTask({ kind, scrip_no, firm_iec, instructions }) {
  if (kind === "pay") return [`pay ${showMoney(instructions?.amount_paise)}`];
  const codes =
    kind === "accept" ? [instructions?.from_iec, firm_iec] : [firm_iec, instructions?.to_iec];
  const [from, to] = codes.map((code) => make("span", { class: "id" }, code ?? "–"));
  return [`${kind} ${scrip_no} from `, from, " to ", to];
}

/** @param {Row} task */
function isOpenTask({ status }) {
  return status === "waiting" || status === "late";
}

/** @param {Row} row */
function isMissing({ legs }) {
  return legs.some((/** @type {Row} */ leg) => leg["status"] === "missing");
}

/** @param {readonly Row[]} legs */
function showSellers(legs) {
  const ids = [...new Set(legs.map((leg) => leg["seller_firm_id"]))];
  if (ids.length === 0) return "–";
  return [showFirm(ids[0]), ids.length > 1 ? ` and ${ids.length - 1} more` : ""];
}

/**
 * @param {View} view
 * @param {Row} row
 */
function makeNextActs(view, row) {
  return [
    allows(row, "fund") && makeFund(view, row),
    allows(row, "initiate") && makeInitiated(view, row),
    allows(row, "confirm_transfer") && makeConfirm(view, row),
  ];
}

/**
 * @param {Row} row
 * @param {string} action
 */
const allows = (row, action) => row["allowed_actions"].includes(action);

/**
 * @param {View} view
 * @param {Row} row
 */
function makeInitiated(view, { settlement_id }) {
  return makeAct(view, {
    label: "Record as initiated…",
    permission: "settlements.write",
    says: "Say that the house has initiated its transfers of this deal on the customs portal.",
    fields: [{ name: "reference", label: "Portal reference" }],
    call: (body) => ({ path: `/ops/settlements/${settlement_id}/initiated`, body }),
  });
}

/**
 * @param {View} view
 * @param {Row} row
 */
function makeFund(view, { settlement_id, buyer_paise }) {
  return makeAct(view, {
    label: "Mark as paid…",
    permission: "settlements.write",
    says: `The buyer pays ${showMoney(buyer_paise)}. A statement of the bank says this by itself; say it here only if you have seen the money.`,
    fields: [
      { name: "reference", label: "The bank's reference (UTR)" },
      {
        name: "amount_paise",
        label: "Amount",
        type: "money",
        optional: true,
        hint: "If only a part came",
      },
    ],
    call: (body) => ({ path: `/ops/settlements/${settlement_id}/fund`, body }),
  });
}

/**
 * @param {View} view
 * @param {Row} row
 */
function makeConfirm(view, { settlement_id, legs }) {
  /** @type {[string, string][]} */
  const credits = legs
    .filter((/** @type {Row} */ leg) => !["delivered", "failed"].includes(leg["status"]))
    .map((/** @type {Row} */ leg) => [leg["scrip_no"], leg["scrip_no"]]);
  return makeAct(view, {
    label: "Record customs' answer…",
    permission: "settlements.write",
    says: "Say what the customs portal shows of the transfer.",
    fields: [
      {
        name: "outcome",
        label: "Customs' decision",
        type: "choice",
        options: [
          ["transferred", "transferred"],
          ["refused", "refused"],
          ["suspended", "suspended the credit"],
          ["nothing_pending", "shows that nothing is pending"],
        ],
      },
      { name: "reference", label: "Evidence", hint: "A ticket, a letter" },
      {
        name: "scrip_no",
        label: "Credit",
        type: "choice",
        optional: true,
        options: [["", "all that are open"], ...credits],
      },
    ],
    call: (body) => ({ path: `/ops/settlements/${settlement_id}/confirm-transfer`, body }),
  });
}

/** @param {View} view */
async function showSettlement(view) {
  /** @type {Row} */
  const deal = await readOps(`/ops/settlements/${view.id}`, {}, view.signal);
  standWith(view, deal);
  await loadNames([...listFirms(deal), deal["buyer_desk_id"]]);
  const path = `/ops/settlements/${view.id}`;
  const acts = [
    ...makeNextActs(view, deal),
    allows(deal, "fund") &&
      makeAct(view, {
        label: "Cancel, unpaid…",
        permission: "settlements.write",
        danger: true,
        says: "The deal fails and its credits are free again.",
        fields: [{ name: "reference", label: "Evidence" }],
        call: (values) => ({ path: `${path}/fund`, body: { ...values, missing: true } }),
      }),
    allows(deal, "fail") &&
      makeAct(view, {
        label: "Fail…",
        permission: "settlements.write",
        danger: true,
        says:
          deal["status"] === "transfer_initiated"
            ? "Only if customs shows that nothing is pending: money and credits go back to their owners."
            : "What is still open fails; what was delivered stands.",
        fields:
          deal["status"] === "transfer_initiated"
            ? [{ name: "reference", label: "Evidence", hint: "A ticket, a letter" }]
            : [],
        call: (body) => ({ path: `${path}/fail`, body }),
      }),
    allows(deal, "take_back") &&
      makeAct(view, {
        label: "Take back the refund…",
        permission: "settlements.write",
        danger: true,
        says: "Takes the refund back from the buyer, as dues where it is gone. A second person approves it.",
        fields: [
          { name: "scrip_no", label: "Credit" },
          { name: "reference", label: "Evidence", hint: "A ticket, a letter" },
        ],
        call: (body) => ({ path: `${path}/take-back`, body }),
      }),
    allows(deal, "reverse") &&
      makeAct(view, {
        label: "Reverse…",
        permission: "settlements.write",
        danger: true,
        says: "Undoes the deal: credits and money go back. A second person approves it.",
        fields: [{ name: "reason", label: "Reason", type: "long" }],
        call: (body) => ({ path: `${path}/reverse`, body }),
      }),
  ];
  return make(
    "div",
    { class: "page" },
    makeHead("Settlement", acts),
    makeFacts([
      ["State", showState(deal["status"])],
      ["Waits for", deal["waiting_on"] === "none" ? "–" : sayWord(deal["waiting_on"])],
      ["Due", [showTime(deal["due_at"]), " ", deal["late"] ? showState("late") : null]],
      ["Reason", deal["reason"] ? sayWord(deal["reason"]) : "–"],
      ["Scheme", schemeName(deal["scheme"])],
      ["Face", showMoney(deal["face_paise"])],
      ["Buyer pays", showMoney(deal["buyer_paise"])],
      ["Buyer", showFirm(deal["buyer_firm_id"])],
      ["Buyer's order", showId(deal["buyer_order_id"])],
      ["Origin", showId(deal["origin"])],
      ["Created", showTime(deal["created_at"])],
      ["Id", make("span", { class: "id" }, deal["settlement_id"])],
    ]),
    deal["tasks"].length > 0 ? makeSection("To do", makeTasks(deal["tasks"])) : null,
    makeSection(
      "Credits",
      makeTable(
        "Credits of the settlement",
        [
          { head: "Credit" },
          { head: "Seller", kind: "wide" },
          { head: "Face", kind: "number" },
          { head: "Seller's price", kind: "number" },
          { head: "Buyer's price", kind: "number" },
          { head: "Seller gets", kind: "number" },
          { head: "State" },
        ],
        deal["legs"].map((/** @type {Row} */ leg) => [
          leg["scrip_no"],
          showFirm(leg["seller_firm_id"]),
          showMoney(leg["face_paise"]),
          showPercent(leg["seller_bps"]),
          showPercent(leg["buyer_bps"]),
          showMoney(leg["seller_paise"]),
          showState(findLegState(deal, leg)),
        ]),
      ),
    ),
    ...(await makePast(
      view,
      { desk_id: deal["buyer_desk_id"], entity_id: view.id },
      deal["history"],
    )),
  );
}

/**
 * What was delivered went back with the deal.
 *
 * @param {Row} deal
 * @param {Row} leg
 */
function findLegState(deal, leg) {
  return deal["status"] === "reversed" && leg["status"] === "delivered"
    ? "reversed"
    : leg["status"];
}

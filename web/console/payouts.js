import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeFacts, makeSection, makeTable, makeEmpty } from "./dom.js";
import { listFilters, makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import { loadNames, sayWord, showFirm, showId, showMoney, showState, showTime } from "./show.js";
import { standWith } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const payoutPages = [
  {
    path: "/payouts",
    title: "Payouts",
    proposals: ["payout."],
    key: "p",
    show: (view) =>
      showList(view, {
        title: "Payouts",
        lead: "Money on its way to the banks of firms. What is due leaves in files.",
        path: "/ops/payouts",
        rows: "payouts",
        query: { environment: view.environment },
        filters: [
          {
            name: "status",
            label: "State",
          },
          ...listFilters,
        ],
        firms: (row) => [row["firm_id"]],
        columns: [
          { head: "Payout", cell: (row) => showId(row["payout_id"]) },
          { head: "To", kind: "wide", cell: (row) => showFirm(row["firm_id"]) },
          { head: "Amount", kind: "number", cell: (row) => showMoney(row["amount_paise"]) },
          { head: "Rail", cell: (row) => row["rail"].toUpperCase() },
          { head: "Account", cell: (row) => (row["last4"] ? `…${row["last4"]}` : "–") },
          { head: "UTR", cell: (row) => row["utr"] ?? "–" },
          { head: "Created", cell: (row) => showTime(row["created_at"]) },
          { head: "State", cell: (row) => showPayoutState(row) },
        ],
        empty: "No payouts found.",
      }),
  },
  { path: "/payouts/:id", title: "Payout", show: showPayout },
];

/** @param {Row} row */
function showPayoutState({ status, reason }) {
  return [
    showState(status),
    reason ? make("span", { class: "muted" }, ` ${sayWord(reason)}`) : null,
  ];
}

/** @param {View} view */
async function showPayout(view) {
  /** @type {Row} */
  const payout = await readOps(`/ops/payouts/${view.id}`, {}, view.signal);
  standWith(view, payout);
  await loadNames([payout["firm_id"]]);
  const path = `/ops/payouts/${view.id}`;
  const permission = "payouts.write";
  const allows = (/** @type {string} */ action) => payout["allowed_actions"].includes(action);
  const acts = [
    allows("release") &&
      makeAct(view, {
        label: "Request release…",
        permission,
        says: "A large payout may leave once somebody else has approved it.",
        call: () => ({ path: `${path}/release` }),
      }),
    allows("send") &&
      makeAct(view, {
        label: "Mark as sent…",
        permission,
        says: "Only if the money was sent outside a payout file.",
        fields: [{ name: "utr", label: "The bank's reference (UTR)" }],
        call: (body) => ({ path: `${path}/send`, body }),
      }),
    allows("confirm") &&
      makeAct(view, {
        label: "Mark as paid…",
        permission,
        main: true,
        fields: [{ name: "reference", label: "Evidence", hint: "A line of the statement" }],
        call: (body) => ({ path: `${path}/confirm`, body }),
      }),
    allows("return") &&
      makeAct(view, {
        label: allows("confirm") ? "Mark as returned…" : "Hold back…",
        permission,
        danger: true,
        fields: [{ name: "reason", label: "Reason" }],
        call: (body) => ({ path: `${path}/return`, body }),
      }),
    allows("resend") &&
      makeAct(view, {
        label: "Resend…",
        permission,
        main: true,
        says: "A new payout is made for the same money.",
        call: () => ({ path: `${path}/resend` }),
        said: () => "A new payout was made.",
      }),
  ];
  return make(
    "div",
    { class: "page" },
    makeHead("Payout", acts),
    makeFacts([
      ["Amount", showMoney(payout["amount_paise"])],
      ["State", showPayoutState(payout)],
      ["To", showFirm(payout["firm_id"])],
      ["Account", payout["last4"] ? `…${payout["last4"]} at ${payout["ifsc"]}` : "–"],
      ["Rail", payout["rail"].toUpperCase()],
      ["UTR", payout["utr"] ?? "–"],
      ["Held until", showTime(payout["held_until"])],
      ["Kind", sayWord(payout["kind"])],
      ["Settlement", showId(payout["settlement_id"])],
      [
        "Paid together with",
        payout["remitted_with"]
          ? [
              showId(payout["remitted_with"]),
              ` in a payment of ${showMoney(payout["remitted_paise"])}`,
            ]
          : "–",
      ],
      ["Resend of", showId(payout["resend_of"])],
      ["Id", make("span", { class: "id" }, payout["payout_id"])],
    ]),
    makeSection(
      "Source of funds",
      payout["lines"].length === 0
        ? makeEmpty("From the firm's balance.")
        : makeTable(
            "Lines of the payout",
            [{ head: "Order" }, { head: "Credit" }, { head: "Amount", kind: "number" }],
            payout["lines"].map((/** @type {Row} */ line) => [
              showId(line["order_id"]),
              line["scrip_no"],
              showMoney(line["amount_paise"]),
            ]),
          ),
    ),
    ...(await makePast(
      view,
      { desk_id: payout["desk_id"], entity_id: view.id },
      payout["history"],
    )),
  );
}

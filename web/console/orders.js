import { schemeName } from "../words.js";
import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeFacts } from "./dom.js";
import { listFilters, makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import {
  loadNames,
  showFirm,
  showId,
  showMoney,
  showPercent,
  showState,
  showTime,
} from "./show.js";
import { linkTo, standWith } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const orderPages = [
  {
    path: "/orders",
    title: "Orders",
    key: "o",
    show: (view) =>
      showList(view, {
        title: "Orders",
        path: "/ops/orders",
        rows: "orders",
        query: { environment: view.environment },
        filters: [
          {
            name: "status",
            label: "State",
          },
          { name: "side", label: "Side" },
          { name: "scheme", label: "Scheme" },
          ...listFilters,
        ],
        firms: (row) => [row["firm_id"], row["desk_id"]],
        columns: [
          { head: "Order", cell: (row) => showId(row["order_id"]) },
          { head: "Placed", cell: (row) => showTime(row["created_at"]) },
          { head: "Firm", kind: "wide", cell: (row) => showFirm(row["firm_id"]) },
          { head: "Desk", kind: "wide", cell: (row) => showFirm(row["desk_id"]) },
          { head: "Side", cell: (row) => row["side"] },
          { head: "Scheme", cell: (row) => schemeName(row["scheme"]) },
          {
            head: "Amount",
            kind: "number",
            cell: (row) => showMoney(row["face_paise"] ?? row["requirement_paise"]),
          },
          {
            head: "Price",
            kind: "number",
            cell: (row) =>
              row["price_bps"] === null && row["limit_bps"] !== null
                ? `limit ${showPercent(row["limit_bps"])}`
                : showPercent(row["price_bps"]),
          },
          { head: "All in", kind: "number", cell: (row) => showMoney(row["all_in_paise"]) },
          { head: "State", cell: (row) => showState(row["status"]) },
        ],
        empty: "No orders found.",
      }),
  },
  { path: "/orders/:id", title: "Order", show: showOrder },
];

/** @param {View} view */
async function showOrder(view) {
  /** @type {Row} */
  const order = await readOps(`/ops/orders/${view.id}`, {}, view.signal);
  standWith(view, order);
  await loadNames([order["firm_id"], order["desk_id"]]);
  return make(
    "div",
    { class: "page" },
    makeHead("Order", [
      order["allowed_actions"].includes("cancel") &&
        makeAct(view, {
          label: "Cancel the order…",
          permission: "orders.write",
          danger: true,
          says: "The open part is cancelled; what was dealt stands.",
          call: () => ({ path: `/ops/orders/${view.id}/cancel` }),
          said: () => "The order is cancelled.",
        }),
    ]),
    makeFacts([
      ["State", showState(order["status"])],
      ["Side", order["side"]],
      ["Scheme", schemeName(order["scheme"])],
      ["Firm", showFirm(order["firm_id"])],
      ["Desk", showFirm(order["desk_id"])],
      ["Amount", showMoney(order["face_paise"] ?? order["requirement_paise"])],
      ...(order["side"] === "buy"
        ? /** @type {const} */ ([
            ["Covered", showMoney(order["covered_paise"])],
            ["Not covered", showMoney(order["residual_paise"])],
          ])
        : []),
      ["Price", showPercent(order["price_bps"])],
      ["Limit", showPercent(order["limit_bps"])],
      ["All in", showMoney(order["all_in_paise"])],
      ["Settled", showMoney(order["settled_paise"])],
      ["Time in force", order["time_in_force"]],
      ["Until", showTime(order["expires_at"])],
      [
        "Settlement",
        order["settlement_ids"].length === 0
          ? "–"
          : order["settlement_ids"].map((/** @type {string} */ id) => make("div", {}, showId(id))),
      ],
      [
        "Credits",
        order["scrip_nos"].length === 0
          ? "–"
          : order["scrip_nos"].map((/** @type {string} */ scrip_no) =>
              make("div", {}, make("a", { href: linkTo("/credits", { scrip_no }) }, scrip_no)),
            ),
      ],
      ["Client reference", order["client_ref"] ?? "–"],
      ["Key", make("span", { class: "id" }, order["key_id"])],
      ["Id", make("span", { class: "id" }, order["order_id"])],
    ]),
    ...(await makePast(view, { desk_id: order["desk_id"], entity_id: view.id }, order["history"])),
  );
}

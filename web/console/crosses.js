import { schemeName } from "../words.js";
import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeFacts } from "./dom.js";
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
import { standWith } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const crossPages = [
  {
    path: "/crosses",
    title: "Crosses",
    key: "x",
    show: (view) =>
      showList(view, {
        title: "Crosses",
        lead: "Block deals that two sides agree on between themselves.",
        path: "/ops/crosses",
        rows: "crosses",
        query: { environment: view.environment },
        filters: [
          {
            name: "status",
            label: "State",
          },
          ...listFilters,
        ],
        firms: (row) => [row["seller_firm_id"], row["buyer_firm_id"]],
        columns: [
          { head: "Cross", cell: (row) => showId(row["cross_id"]) },
          { head: "Created", cell: (row) => showTime(row["created_at"]) },
          { head: "Scheme", cell: (row) => schemeName(row["scheme"]) },
          { head: "Seller", kind: "wide", cell: (row) => showSide(row, "seller") },
          { head: "Buyer", kind: "wide", cell: (row) => showSide(row, "buyer") },
          { head: "Face", kind: "number", cell: (row) => showMoney(row["face_paise"]) },
          { head: "Price", kind: "number", cell: (row) => showPercent(row["price_bps"]) },
          { head: "Waits for", cell: (row) => sayAwaited(row) },
          { head: "State", cell: (row) => showState(row["status"]) },
        ],
        empty: "No crosses found.",
      }),
  },
  { path: "/crosses/:id", title: "Cross", show: showCross },
];

/**
 * @param {Row} row
 * @param {"seller" | "buyer"} side
 */
function showSide(row, side) {
  const firmId = row[`${side}_firm_id`];
  return firmId ? showFirm(firmId) : `IEC ${row[`${side}_iec`]}`;
}

/** @param {Row} row */
function sayAwaited({ awaited_iec, status }) {
  if (awaited_iec) return `answer of IEC ${awaited_iec}`;
  return status === "agreed" ? "the buyer's money" : "–";
}

/** @param {View} view */
async function showCross(view) {
  /** @type {Row} */
  const cross = await readOps(`/ops/crosses/${view.id}`, {}, view.signal);
  standWith(view, cross);
  await loadNames([cross["seller_firm_id"], cross["buyer_firm_id"]]);
  const path = `/ops/crosses/${view.id}/fund`;
  const isAgreed = cross["status"] === "agreed";
  return make(
    "div",
    { class: "page" },
    makeHead("Cross", [
      isAgreed &&
        makeAct(view, {
          label: "Mark as paid…",
          permission: "settlements.write",
          main: true,
          says: `The buyer pays ${showMoney(cross["buyer_paise"])}.`,
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
          call: (body) => ({ path, body }),
        }),
      isAgreed &&
        makeAct(view, {
          label: "Cancel, unpaid…",
          permission: "settlements.write",
          danger: true,
          says: "The cross fails and its credits are free again.",
          fields: [{ name: "reference", label: "Evidence" }],
          call: (values) => ({ path, body: { ...values, missing: true } }),
        }),
    ]),
    makeFacts([
      ["State", showState(cross["status"])],
      ["Waits for", sayAwaited(cross)],
      ["Due", showTime(cross["due_at"])],
      ["Reason", cross["reason"] ? sayWord(cross["reason"]) : "–"],
      ["Kind", sayWord(cross["kind"])],
      ["Scheme", schemeName(cross["scheme"])],
      ["Face", showMoney(cross["face_paise"])],
      ["Price", showPercent(cross["price_bps"])],
      ["Seller", [showSide(cross, "seller"), ` gets ${showMoney(cross["seller_paise"])}`]],
      ["Buyer", [showSide(cross, "buyer"), ` pays ${showMoney(cross["buyer_paise"])}`]],
      ["Proposed by", `the ${cross["proposed_by"] === "sell" ? "seller" : "buyer"}`],
      ["Credits", cross["scrip_nos"].join(", ") || "–"],
      ["Payment reference", cross["payment_ref"] ?? "–"],
      ["Settlement", showId(cross["settlement_id"])],
      ["Id", make("span", { class: "id" }, cross["cross_id"])],
    ]),
    ...(await makePast(
      view,
      { desk_id: cross["seller_desk_id"], entity_id: view.id },
      cross["history"],
    )),
  );
}

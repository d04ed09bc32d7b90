import { makeAct } from "./acts.js";
import { make, makeEmpty, makeSection, makeTable } from "./dom.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import {
  loadNames,
  sayWord,
  showDay,
  showFirm,
  showId,
  showMoney,
  showPercent,
  showState,
  showTime,
} from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "taxes.write";
const from = /** @type {const} */ ({
  name: "from",
  label: "Effective from",
  type: "day",
  hint: "in live after today",
});

/** The newest are shown; the command tax invoices lists a whole year. */
const shownDays = 7;

/** @type {readonly import("./state.js").Page[]} */
export const taxPages = [{ path: "/taxes", title: "Taxes", key: "v", show: showTaxes }];

/** @param {View} view */
async function showTaxes(view) {
  const { environment, signal } = view;
  const { rates } = await readOps("/ops/taxes", { environment }, signal);
  const since = new Date(Date.now() - shownDays * 86_400_000).toISOString().slice(0, 10);
  const { invoices } = await readOps("/ops/invoices", { environment, from: since }, signal);
  await loadNames(invoices.map((/** @type {Row} */ one) => one["firm_id"]));
  return make(
    "div",
    { class: "page" },
    makeHead("Taxes", makeTaxActs(view)),
    make(
      "p",
      { class: "muted lead" },
      "A line holds from its first day on, for what is delivered from then on. Without a line nothing is divided or withheld.",
    ),
    rates.length === 0
      ? makeEmpty("There is no tax line.")
      : makeTable(
          "Tax lines",
          [{ head: "Line" }, { head: "From" }, { head: "Rate", kind: "wide" }, { head: "State" }],
          rates.map((/** @type {Row} */ one) => [
            one["line"].toUpperCase(),
            showDay(one["effective_from"]),
            describeRate(one),
            showState(one["is_on"] ? "active" : "ended"),
          ]),
        ),
    makeSection(
      `Fee invoices of the last ${shownDays} days`,
      invoices.length === 0
        ? makeEmpty("None was issued.")
        : makeTable(
            "Fee invoices and credit notes",
            [
              { head: "Number" },
              { head: "Kind" },
              { head: "Firm", kind: "wide" },
              { head: "Settlement" },
              { head: "Fee", kind: "number" },
              { head: "Tax", kind: "number" },
              { head: "Issued" },
            ],
            invoices.map((/** @type {Row} */ one) => [
              one["invoice_no"],
              sayWord(one["kind"]),
              showFirm(one["firm_id"]),
              showId(one["settlement_id"]),
              showMoney(one["fee_paise"]),
              showMoney(one["cgst_paise"] + one["sgst_paise"] + one["igst_paise"]),
              showTime(one["issued_at"]),
            ]),
          ),
    ),
  );
}

/** @param {Row} rate */
function describeRate(rate) {
  if (!rate["is_on"]) return "none";
  if (rate["line"] === "gst") {
    const within = `${showPercent(rate["cgst_bps"])} and ${showPercent(rate["sgst_bps"])} within state ${rate["house_state"]}`;
    return `${within}, ${showPercent(rate["igst_bps"])} across`;
  }
  const beyond = `beyond ${showMoney(rate["threshold_paise"])} a year`;
  const crosses = rate["with_crosses"] ? ", in crosses too" : "";
  return `${showPercent(rate["rate_bps"])} under ${rate["section"]} ${beyond}${crosses}`;
}

/** @param {View} view */
function makeTaxActs(view) {
  const { environment } = view;
  const set = (/** @type {string} */ line) => (/** @type {object} */ body) => ({
    path: `/ops/taxes/${line}`,
    method: "POST",
    body: { environment, ...body },
  });
  const said = () => "The line is set.";
  return [
    makeAct(view, {
      label: "Set GST…",
      permission,
      says: "Divides the tax on fees by the place of supply.",
      fields: [
        from,
        { name: "cgst_bps", label: "Central part", type: "percent", value: "9" },
        { name: "sgst_bps", label: "State's part", type: "percent", value: "9" },
        { name: "igst_bps", label: "Across a border", type: "percent", value: "18" },
        { name: "house_state", label: "The house's state code" },
      ],
      call: set("gst"),
      said,
    }),
    makeAct(view, {
      label: "Set TDS…",
      permission,
      says: "Withholds tax from sellers.",
      fields: [
        from,
        { name: "section", label: "Section of the law" },
        { name: "rate_bps", label: "Rate", type: "percent" },
        { name: "threshold_paise", label: "From a seller's value in a year", type: "money" },
        { name: "with_crosses", label: "In crosses too", type: "yes" },
      ],
      call: set("tds"),
      said,
    }),
    makeAct(view, {
      label: "End a line…",
      permission,
      danger: true,
      fields: [
        {
          name: "line",
          label: "Line",
          type: "choice",
          options: [
            ["gst", "GST"],
            ["tds", "TDS"],
          ],
        },
        from,
      ],
      call: ({ line, ...body }) => ({
        path: `/ops/taxes/${line}/end`,
        body: { environment, ...body },
      }),
      said: () => "The line ends.",
    }),
  ];
}

import { makeAct } from "./acts.js";
import { make, makeEmpty, makeSection, makeTable } from "./dom.js";
import { listFilters, makeHead, showList } from "./list.js";
import { makeDownload, saveBase64 } from "./download.js";
import { readOps } from "./ops.js";
import { findLastMonth } from "./statements.js";
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
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "taxes.write";
const from = /** @type {const} */ ({
  name: "from",
  label: "Effective from",
  type: "day",
  hint: "in live after today",
});

/** The newest are shown here. */
const shownDays = 7;

/** @type {readonly import("./state.js").Page[]} */
export const taxPages = [
  { path: "/taxes", title: "Taxes", key: "v", show: showTaxes },
  {
    path: "/invoices",
    title: "Invoices",
    show: (view) =>
      showList(view, {
        title: "Invoices",
        lead: "Fee invoices and credit notes of a financial year, the newest first.",
        path: "/ops/invoices",
        rows: "invoices",
        query: { environment: view.environment },
        filters: [{ name: "year", label: "Year", initial: findYear() }, ...listFilters],
        firms: (row) => [row["firm_id"]],
        columns: invoiceColumns,
        empty: "No invoice was issued.",
      }),
  },
];

/** @type {readonly import("./list.js").Column[]} */
const invoiceColumns = [
  { head: "Number", cell: (row) => row["invoice_no"] },
  { head: "Kind", cell: (row) => sayWord(row["kind"]) },
  { head: "Firm", kind: "wide", cell: (row) => showFirm(row["firm_id"]) },
  { head: "Settlement", cell: (row) => showId(row["settlement_id"]) },
  { head: "Fee", kind: "number", cell: (row) => showMoney(row["fee_paise"]) },
  {
    head: "Tax",
    kind: "number",
    cell: (row) => showMoney(row["cgst_paise"] + row["sgst_paise"] + row["igst_paise"]),
  },
  { head: "Issued", cell: (row) => showTime(row["issued_at"]) },
];

/** The financial year of today in IST, such as 2026-27. */
function findYear() {
  const [year = 0, month = 0] = new Date(Date.now() + 19_800_000)
    .toISOString()
    .split("-")
    .map(Number);
  const first = month >= 4 ? year : year - 1;
  return `${first}-${String((first + 1) % 100).padStart(2, "0")}`;
}

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
            showState(findState(one)),
          ]),
        ),
    rates.length === 0 ? null : makeDownload("tax-lines", async () => rates),
    makeSection(
      `Fee invoices of the last ${shownDays} days`,
      invoices.length === 0
        ? makeEmpty("None was issued.")
        : makeTable(
            "Fee invoices and credit notes",
            invoiceColumns,
            invoices.map((/** @type {Row} */ one) => invoiceColumns.map(({ cell }) => cell(one))),
          ),
      make("p", {}, make("a", { href: linkTo("/invoices") }, "All invoices of a year")),
    ),
  );
}

/** @param {Row} rate */
function describeRate(rate) {
  if (!rate["is_on"]) return "none";
  if (rate["line"] === "gst") {
    const within = `${showPercent(rate["cgst_bps"])} and ${showPercent(rate["sgst_bps"])} within ${rate["house_state"]} ${rate["house_state_name"] ?? ""}`;
    return `${within}, ${showPercent(rate["igst_bps"])} across`;
  }
  if (rate["line"] === "scrip") return `HSN ${rate["hsn"]}, exempt: ${rate["exemption"]}`;
  if (rate["line"] === "rails") {
    return `RTGS from ${showMoney(rate["rtgs_from_paise"])}, IMPS up to ${showMoney(rate["imps_to_paise"])}: ${rate["citation"]}`;
  }
  if (rate["line"] === "fee") return `SAC ${rate["sac"]}, GST ${showPercent(rate["gst_bps"])}`;
  const beyond = `beyond ${showMoney(rate["threshold_paise"])} a year`;
  const crosses = rate["with_crosses"] ? ", in crosses too" : "";
  const act = rate["act"] === null ? "" : ` of the Act of ${rate["act"]}`;
  return `${showPercent(rate["rate_bps"])} under ${rate["section"]}${act} ${beyond}${crosses}`;
}

/** What came with the program is to be checked; withholding is off until somebody has. */
function findState(/** @type {Row} */ rate) {
  if (rate["confirmed_by"] === null) return rate["line"] === "tds" ? "proposed" : "to check";
  return rate["is_on"] ? "active" : "ended";
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
      label: "Month's pack…",
      permission: "read",
      main: true,
      says: "For the accountant: registers, ledgers, drafts and vouchers as one archive, each total tied to the ledger.",
      fields: [{ name: "period", label: "Month", type: "month", value: findLastMonth() }],
      call: ({ period }) => ({
        path: `/ops/accounts/${period}/pack?environment=${environment}`,
        method: "GET",
      }),
      said: ({ ties }) =>
        ties.every((/** @type {Row} */ tie) => tie["ties"])
          ? "The pack is downloaded; every total ties to the ledger."
          : "The pack is downloaded. Totals do not tie: see ties.xlsx before you file.",
      after: ({ name, content }) => saveBase64(name, content),
    }),
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
        { name: "act", label: "Year of the Income-tax Act", value: "2025" },
        { name: "section", label: "Section and table" },
        { name: "payment_code", label: "Payment code of the return" },
        { name: "rate_bps", label: "Rate", type: "percent" },
        { name: "threshold_paise", label: "Threshold of a seller in a year", type: "money" },
        { name: "with_crosses", label: "In crosses too", type: "yes" },
      ],
      call: set("tds"),
      said,
    }),
    makeAct(view, {
      label: "Set fee…",
      permission,
      says: "Says what our fee is in law and which GST it bears.",
      fields: [
        from,
        { name: "sac", label: "Code of the service (SAC)" },
        { name: "gst_bps", label: "GST", type: "percent", value: "18" },
      ],
      call: set("fee"),
      said,
    }),
    makeAct(view, {
      label: "Set scrips…",
      permission,
      says: "Says by which heading and exemption scrips are supplied.",
      fields: [
        from,
        { name: "hsn", label: "Heading of the tariff (HSN)", value: "4907" },
        { name: "exemption", label: "Citation of the exemption" },
      ],
      call: set("scrip"),
      said,
    }),
    makeAct(view, {
      label: "Set rails…",
      permission,
      says: "Says which amounts the rails of banks take; what is between goes by NEFT.",
      fields: [
        from,
        { name: "rtgs_from_paise", label: "RTGS from", type: "money" },
        { name: "imps_to_paise", label: "IMPS up to", type: "money" },
        { name: "citation", label: "Citation" },
      ],
      call: set("rails"),
      said,
    }),
    makeAct(view, {
      label: "Confirm a line…",
      permission,
      says: "Says that a line which came with the program is right. A proposal counts from tomorrow at the earliest.",
      fields: [
        {
          name: "line",
          label: "Line",
          type: "choice",
          options: [
            ["tds", "TDS"],
            ["fee", "Fee"],
            ["scrip", "Scrips"],
            ["rails", "Rails"],
          ],
        },
        { name: "from", label: "First day, as listed", type: "day" },
      ],
      call: ({ line, ...body }) => ({
        path: `/ops/taxes/${line}/confirm`,
        method: "POST",
        body: { environment, ...body },
      }),
      said: () => "The line is confirmed.",
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

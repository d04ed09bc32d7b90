import { environments } from "../src/kernel/caller.ts";
import { parseQuerySpan } from "../src/kernel/query-time.ts";
import { financialYear, istTimestamp } from "../src/kernel/time.ts";
import { taxOperations } from "../src/ops/taxes.ts";
import { listFeeInvoices, setTax, type SetTax } from "../src/taxes/taxes.ts";
import { currentAct, taxLines } from "../src/taxes/tax-rules.ts";
import {
  command,
  naturalNumber,
  parseChoice,
  print,
  printOne,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { deriveFrom } from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";

const derive = deriveFrom(taxOperations);

const certificateOptions = {
  certificate_no: "number",
  rate_bps: "bps",
  effective_from: "from",
  effective_until: "until",
};

const set = command({
  name: "tax set",
  summary: "set a tax line from a day on, or end it with --off",
  options: {
    env: { required: true, help: "live or sandbox" },
    line: { required: true, help: taxLines.join(" or ") },
    from: { required: true, help: "the first day of it; in live after today" },
    off: { type: "boolean", help: "from that day on there is no such line" },
    "cgst-bps": { help: "gst: central part within the house's state" },
    "sgst-bps": { help: "gst: the state's part of it" },
    "igst-bps": { help: "gst: the whole across a border" },
    state: { help: "gst: the house's state code; that of the house unless given" },
    act: { help: "tds: the year of the Income-tax Act; 2025 unless given" },
    section: { help: "tds: the citation within it, such as '393(1) Table Sl. 8(ii)'" },
    code: { help: "tds: what the return calls such payments" },
    bps: { help: "tds: what is withheld, in bps of the value" },
    "threshold-paise": { help: "tds: from which value of a seller in a financial year" },
    crosses: { type: "boolean", help: "tds: in crosses too" },
    sac: { help: "fee: the code of the house's service" },
    "gst-bps": { help: "fee: all GST on it" },
    hsn: { help: "scrip: their heading of the tariff" },
    exemption: { help: "scrip: the citation by which their supply is exempt from GST" },
    "rtgs-from-paise": { help: "rails: RTGS takes nothing below it" },
    "imps-to-paise": { help: "rails: IMPS takes nothing above it; what is between goes by NEFT" },
    citation: { help: "rails: by which rule" },
    ...operatorOption,
  },
  example:
    "npx scripdesk tax set --env live --line tds --from 2027-04-01 --section '393(1) Table Sl. 8(ii)' --code 1031 --bps 10 --threshold-paise 500000000",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const line = parseChoice("line", options.line, taxLines);
    const given = (name: keyof typeof options) => {
      const text = options[name];
      if (typeof text === "string") return text;
      throw new UsageError(`--${name} is required for ${line}`);
    };
    const rates = {
      gst: () => ({
        cgst_bps: naturalNumber("cgst-bps", given("cgst-bps")),
        sgst_bps: naturalNumber("sgst-bps", given("sgst-bps")),
        igst_bps: naturalNumber("igst-bps", given("igst-bps")),
        ...(options.state !== undefined && { house_state: options.state }),
      }),
      tds: () => ({
        act: options.act ?? currentAct,
        section: given("section"),
        payment_code: options.code ?? null,
        rate_bps: wholeNumber("bps", given("bps")),
        threshold_paise: naturalNumber("threshold-paise", given("threshold-paise")),
        with_crosses: options.crosses,
      }),
      fee: () => ({
        sac: given("sac"),
        gst_bps: naturalNumber("gst-bps", given("gst-bps")),
      }),
      scrip: () => ({ hsn: given("hsn"), exemption: given("exemption") }),
      rails: () => ({
        rtgs_from_paise: wholeNumber("rtgs-from-paise", given("rtgs-from-paise")),
        imps_to_paise: wholeNumber("imps-to-paise", given("imps-to-paise")),
        citation: given("citation"),
      }),
    };
    const rate = options.off ? null : rates[line]();
    const tax = { environment, from: options.from, line, rate } as SetTax; // Each line has its own.
    const row = await withOperator(
      options,
      { permission: "taxes.write", environment },
      async ({ ctx, actor }) => await setTax(ctx, actor, tax),
    );
    printOne(options.json ? row : listTerms(row), options);
  },
});

/** What is said of a line; the fields of other lines are left out. */
function listTerms(row: object) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

const invoices = command({
  name: "tax invoices",
  summary: "list the fee invoices and credit notes of a financial year by their numbers",
  options: {
    env: { required: true, help: "live or sandbox" },
    year: { help: "financial year, such as 2026-27; this one unless given" },
    firm: { help: "only of this firm, by its id" },
    from: { help: "only from this day (YYYY-MM-DD, IST) or time on" },
    to: { help: "only up to this day, or before this time" },
  },
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    if (options.year !== undefined && !/^\d{4}-\d{2}$/.test(options.year)) {
      throw new UsageError(`--year must be like 2026-27, not "${options.year}"`);
    }
    const reading = { permission: "read", environment } as const;
    const rows = await withOperator(options, reading, async ({ ctx }) => {
      const year = options.year ?? financialYear(ctx.now());
      const firmId = options.firm ?? null;
      return await listFeeInvoices(ctx, { environment, year, firmId, ...parseQuerySpan(options) });
    });
    print(
      rows.map(({ environment: _env, financial_year: _year, number: _number, ...row }) => ({
        ...row,
        issued_at: istTimestamp(row.issued_at),
      })),
      options,
    );
  },
});

export const commands = [
  derive("listTaxRates", "tax list", {
    columns:
      "env line effective_from is_on confirmed_by act section payment_code rate_bps threshold_paise sac gst_bps hsn rtgs_from_paise imps_to_paise",
  }),
  set,
  derive("confirmTaxLine", "tax confirm", { wordShown: "LINE" }),
  invoices,
  derive("addTdsCertificate", "tax certificate", { word: false, as: certificateOptions }),
  derive("listTdsCertificates", "tax certificates", {}),
  derive("listDeductions", "tax deductions", {}),
];

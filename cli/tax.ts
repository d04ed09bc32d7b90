import { environments } from "../src/kernel/caller.ts";
import { parseQuerySpan } from "../src/kernel/query-time.ts";
import { financialYear, istTimestamp } from "../src/kernel/time.ts";
import { taxOperations } from "../src/ops/taxes.ts";
import { listFeeInvoices, setTax } from "../src/taxes/taxes.ts";
import { taxLines } from "../src/taxes/tax-rules.ts";
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
    section: { help: "tds: the section of the law, such as 194Q" },
    bps: { help: "tds: what is withheld, in bps of the value" },
    "threshold-paise": { help: "tds: from which value of a seller in a financial year" },
    crosses: { type: "boolean", help: "tds: in crosses too" },
    ...operatorOption,
  },
  example:
    "npx scripdesk tax set --env live --line tds --from 2027-04-01 --section 194Q --bps 10 --threshold-paise 500000000",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const line = parseChoice("line", options.line, taxLines);
    const given = (name: keyof typeof options) => {
      const text = options[name];
      if (typeof text === "string") return text;
      throw new UsageError(`--${name} is required for ${line}`);
    };
    const gst = () => ({
      cgst_bps: naturalNumber("cgst-bps", given("cgst-bps")),
      sgst_bps: naturalNumber("sgst-bps", given("sgst-bps")),
      igst_bps: naturalNumber("igst-bps", given("igst-bps")),
      ...(options.state !== undefined && { house_state: options.state }),
    });
    const tds = () => ({
      section: given("section"),
      rate_bps: wholeNumber("bps", given("bps")),
      threshold_paise: naturalNumber("threshold-paise", given("threshold-paise")),
      with_crosses: options.crosses,
    });
    const from = { environment, from: options.from };
    const tax =
      line === "gst"
        ? ({ ...from, line, rate: options.off ? null : gst() } as const)
        : ({ ...from, line, rate: options.off ? null : tds() } as const);
    const row = await withOperator(
      options,
      { permission: "taxes.write", environment },
      async ({ ctx, actor }) => await setTax(ctx, actor, tax),
    );
    printOne(row, options);
  },
});

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
      "env line effective_from is_on cgst_bps sgst_bps igst_bps house_state section rate_bps threshold_paise with_crosses",
  }),
  set,
  invoices,
];

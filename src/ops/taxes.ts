// Tax rates and fee invoices, like the commands `tax set|list|invoices`.

import { Type } from "typebox";

import { findStateName } from "../house/rules.ts";
import { financialYear } from "../kernel/time.ts";
import { listNewestFeeInvoices, listTaxRates, setTax } from "../taxes/taxes.ts";
import {
  addCertificate,
  confirmTax,
  readCertificates,
  sumWithheldByPan,
} from "../taxes/withholding.ts";
import {
  currentAct,
  documentKinds,
  parseTaxLine,
  type TaxLine,
  taxLines,
} from "../taxes/tax-rules.ts";
import {
  cursor,
  environment,
  listQuery,
  natural,
  optional,
  paise,
  query,
  readQueue,
  searchQuery,
  spanQuery,
  text as givenText,
  under,
} from "./operation.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { body, openEnum, timestamp } from "../platform/http/wire.ts";
import { operation, type Operation } from "../platform/http/operation.ts";
import { sides } from "../kernel/scheme.ts";
import {
  count,
  day,
  environment as shownEnvironment,
  flag,
  maybeCount,
  maybeText,
  pageList,
  sum,
  text,
  wrapList,
} from "./schema.ts";

/** What one line of the law has and no other. */
const only = (line: TaxLine, what: string) => `For ${line}: ${what}; null on the other lines.`;

const TaxRate = Type.Object(
  {
    environment: shownEnvironment,
    line: openEnum(taxLines, "Which tax; rails are the limits of the banks' rails."),
    effective_from: day("The first day of it."),
    is_on: flag("Whether the line is in force from that day; else it ended."),
    cgst_bps: maybeCount(only("gst", "the central part within the house's state, in basis points")),
    sgst_bps: maybeCount(only("gst", "the state's part of it, in basis points")),
    igst_bps: maybeCount(only("gst", "the whole across a border, in basis points")),
    house_state: maybeText(only("gst", "the house's state code")),
    act: maybeText(only("tds", "the year of the Income-tax Act")),
    section: maybeText(only("tds", "the citation within that Act")),
    payment_code: maybeText(only("tds", "the code of such payments in the return")),
    rate_bps: maybeCount(only("tds", "what is withheld, in basis points of the value")),
    threshold_paise: maybeCount(
      only("tds", "a seller's sales in a financial year from which it is withheld"),
    ),
    with_crosses: Type.Unsafe<boolean | null>({
      type: ["boolean", "null"],
      description: only("tds", "whether it is withheld in crosses too"),
    }),
    hsn: maybeText(only("scrip", "the heading of scrips in the tariff")),
    exemption: maybeText(only("scrip", "the citation by which their supply is exempt from GST")),
    sac: maybeText(only("fee", "the code of the house's service")),
    gst_bps: maybeCount(only("fee", "all GST on the house's fee, in basis points of it")),
    rtgs_from_paise: maybeCount(only("rails", "RTGS takes nothing below it")),
    imps_to_paise: maybeCount(only("rails", "IMPS takes nothing above it")),
    citation: maybeText(only("rails", "the citation of the rule on these amounts")),
    confirmed_by: maybeText(
      "Who set it or found it right; null for what came with the program and has to be checked.",
    ),
  },
  {
    title: "TaxRate",
    description: "A line of the law from a day on.",
  },
);

const Certificate = Type.Object(
  {
    environment: shownEnvironment,
    certificate_no: text("The certificate's number."),
    pan: text("The payee's PAN."),
    rate_bps: count("What is withheld in the place of the line's rate."),
    limit_paise: count("Up to which value it counts."),
    used_paise: count("The value that was withheld from by it."),
    effective_from: day("The first day that it counts."),
    effective_until: day("The last day that it counts."),
    set_by: text("Who entered it."),
    set_at: timestamp("When it was entered."),
  },
  { title: "TdsCertificate", description: "By which less is withheld from a payee." },
);

const Certificates = wrapList("certificates", Certificate, "Those that end last first.");

const Deductions = wrapList(
  "deductions",
  Type.Object(
    {
      pan: maybeText("The payee's PAN; null where it gave none."),
      legal_name: text("The payee's legal name."),
      tds_act: maybeText(
        "The year of the Income-tax Act by which it was withheld; null where none was recorded.",
      ),
      tds_section: maybeText("The citation within that Act; null where none was recorded."),
      tds_code: maybeText("The code of such payments in the return; null where none was recorded."),
      base_paise: sum("The value that was withheld from, less what was reversed."),
      tds_paise: sum("What was withheld of it."),
    },
    { title: "Deduction", description: "What was withheld from one PAN under one citation." },
  ),
  "By PAN and citation.",
);

const houseStateName = maybeText(
  "The state that the house's code stands for; null without a code.",
);

const TaxRates = wrapList(
  "rates",
  Type.Object(
    { ...TaxRate.properties, house_state_name: houseStateName },
    {
      title: "ListedTaxRate",
      description: "A line of the law with the name of the house's state.",
    },
  ),
  "The latest of each line first.",
);

const Invoices = pageList(
  "invoices",
  Type.Object(
    {
      environment: shownEnvironment,
      kind: openEnum(documentKinds, "The kind of line."),
      financial_year: text("Whose series it is in, such as 2026-27."),
      number: count("Its place in the series, from 1 and without a gap."),
      invoice_no: text("The number as it is printed."),
      issued_at: timestamp("When it was issued."),
      firm_id: text("The id of the firm that is charged."),
      settlement_id: text("For which settlement."),
      side: openEnum(sides, "Which side of it the firm was."),
      recipient_name: maybeText("The firm's name at the time; null from before it was kept."),
      recipient_gstin: maybeText("Its GSTIN at the time; null where it had none."),
      sac: maybeText("The code of the service; null on papers from before it was kept."),
      place_of_supply: text("The firm's state code."),
      fee_paise: count("The fee before tax, in paise."),
      cgst_paise: count("Central tax (CGST) in paise."),
      sgst_paise: count("State tax (SGST) in paise."),
      igst_paise: count("Integrated tax (IGST) in paise."),
    },
    { title: "FeeInvoice", description: "A fee invoice or credit note." },
  ),
  "The newest first.",
);

const taxes = under("Taxes");
const from = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "The first day of it; in live after today.",
  examples: ["2027-04-01"],
});
const givenDay = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description, examples: ["2026-04-01"] });
const year = optional(
  Type.String({
    pattern: "^\\d{4}-\\d{2}$",
    description: "The financial year; this one unless given.",
    examples: ["2026-27"],
  }),
);
const bps = (description: string) => natural(description, 10_000);

export const taxOperations: readonly Operation[] = [
  operation({
    ...taxes.read("listTaxRates", "/ops/taxes"),
    summary: "List the tax lines with their rates and the days they take effect",
    query: query({ environment: optional(environment) }),
    answer: TaxRates,
    run: async ({ ctx }, { environment: where = null }) => ({
      rates: (await listTaxRates(ctx, where)).map((rate) => ({
        ...rate,
        house_state_name: findStateName(rate.house_state),
      })),
    }),
  }),
  operation({
    ...taxes.act("setGstLine", "/ops/taxes/gst", "taxes.write"),
    summary: "Divide the tax on fees by the place of supply from a day on",
    body: body({
      environment,
      from,
      cgst_bps: bps("The central part within the house's state, in basis points of the fee."),
      sgst_bps: bps("The state's part of it, in basis points of the fee."),
      igst_bps: bps("The whole across a border, in basis points of the fee."),
      house_state: optional(
        givenText("The house's state code; that of the house unless given.", 2),
      ),
    }),
    answer: TaxRate,
    run: ({ ctx, actor }, { environment: where, from: day, ...rate }) =>
      setTax(ctx, actor, { environment: where, from: day, line: "gst", rate }),
  }),
  operation({
    ...taxes.act("setTdsLine", "/ops/taxes/tds", "taxes.write"),
    summary: "Withhold tax from sellers from a day on",
    body: body({
      environment,
      from,
      act: optional(givenText("The year of the Income-tax Act; 2025 unless given.", 4)),
      section: givenText("The citation within it, such as 393(1) Table Sl. 8(ii).", 60),
      payment_code: optional(givenText("The code of such payments in the return.", 8)),
      rate_bps: bps("What is withheld, in basis points of the value."),
      threshold_paise: natural("A seller's sales in a financial year from which it is withheld."),
      with_crosses: optional(
        Type.Boolean({ description: "Whether it is withheld in crosses too." }),
      ),
    }),
    answer: TaxRate,
    run: (
      { ctx, actor },
      { environment: where, from: first, act = currentAct, with_crosses = false, ...rate },
    ) =>
      setTax(ctx, actor, {
        environment: where,
        from: first,
        line: "tds",
        rate: { ...rate, act, with_crosses },
      }),
  }),
  operation({
    ...taxes.act("setScripLine", "/ops/taxes/scrip", "taxes.write"),
    summary: "Say by which heading and exemption scrips are supplied from a day on",
    body: body({
      environment,
      from,
      hsn: givenText("Their heading of the tariff.", 8),
      exemption: givenText("The citation by which their supply is exempt from GST.", 300),
    }),
    answer: TaxRate,
    run: ({ ctx, actor }, { environment: where, from: day, ...rate }) =>
      setTax(ctx, actor, { environment: where, from: day, line: "scrip", rate }),
  }),
  operation({
    ...taxes.act("setFeeLine", "/ops/taxes/fee", "taxes.write"),
    summary: "Say what the house's fee is in law and which GST it bears from a day on",
    body: body({
      environment,
      from,
      sac: givenText("The code of the service.", 8),
      gst_bps: bps("All GST on the fee, in basis points of it."),
    }),
    answer: TaxRate,
    run: ({ ctx, actor }, { environment: where, from: first, ...rate }) =>
      setTax(ctx, actor, { environment: where, from: first, line: "fee", rate }),
  }),
  operation({
    ...taxes.act("setRailLimits", "/ops/taxes/rails", "taxes.write"),
    summary: "Say which amounts the rails of banks take from a day on",
    body: body({
      environment,
      from,
      rtgs_from_paise: paise("RTGS takes nothing below it."),
      imps_to_paise: paise("IMPS takes nothing above it; what is between goes by NEFT."),
      citation: givenText("The citation of the rule.", 300),
    }),
    answer: TaxRate,
    run: ({ ctx, actor }, { environment: where, from: first, ...rate }) =>
      setTax(ctx, actor, { environment: where, from: first, line: "rails", rate }),
  }),
  operation({
    ...taxes.act("confirmTaxLine", "/ops/taxes/:line/confirm", "taxes.write"),
    summary:
      "Say that a line that came with the program is right; a proposal counts from tomorrow at the earliest",
    body: body({ environment, from: givenDay("The first day of the line, as it is listed.") }),
    answer: TaxRate,
    run: ({ ctx, actor }, { line, ...asked }) =>
      confirmTax(ctx, actor, { ...asked, line: parseTaxLine(line) }),
  }),
  operation({
    ...taxes.act("addTdsCertificate", "/ops/taxes/certificates", "taxes.write"),
    summary: "Withhold less from a payee, by the certificate of its tax officer",
    body: body({
      environment,
      certificate_no: givenText("The certificate's number.", 20),
      pan: givenText("The payee's PAN; all its firms are one payee.", 10),
      rate_bps: bps("What is withheld in the place of the line's rate."),
      limit_paise: paise("Up to which value; a sale beyond it is withheld from as usual."),
      effective_from: givenDay("The first day that it counts."),
      effective_until: givenDay("The last day that it counts."),
    }),
    answer: Certificate,
    run: ({ ctx, actor }, given) => addCertificate(ctx, actor, given),
  }),
  operation({
    ...taxes.read("listTdsCertificates", "/ops/taxes/certificates"),
    summary: "List the certificates by which less is withheld, and what was used of them",
    query: query({ environment }),
    answer: Certificates,
    run: async ({ ctx }, asked) => ({
      certificates: await readCertificates(ctx, asked.environment),
    }),
  }),
  operation({
    ...taxes.read("listDeductions", "/ops/taxes/deductions"),
    summary: "Sum what was withheld in a financial year by PAN and citation",
    query: query({ environment, year }),
    answer: Deductions,
    run: async ({ ctx }, asked) => ({ deductions: await sumWithheldByPan(ctx, asked) }),
  }),
  operation({
    ...taxes.act("endTaxLine", "/ops/taxes/:line/end", "taxes.write"),
    summary: "End a tax line from a day on",
    body: body({ environment, from }),
    answer: TaxRate,
    run: ({ ctx, actor }, { line, ...when }) =>
      setTax(ctx, actor, { ...when, line: parseTaxLine(line), rate: null }),
  }),
  operation({
    ...taxes.read("listFeeInvoices", "/ops/invoices"),
    summary: "List the fee invoices and credit notes of a financial year, the newest first",
    query: query({
      environment,
      limit: listQuery.limit,
      cursor,
      year,
      firm_id: searchQuery.firm_id,
      ...spanQuery,
    }),
    answer: Invoices,
    run: ({ ctx }, asked) =>
      readQueue("invoices", asked.limit, {
        list: (limit) => {
          const { environment: where, year = financialYear(ctx.now()), firm_id: firmId } = asked;
          const search = { environment: where, year, firmId, before: asked.cursor, limit };
          return listNewestFeeInvoices(ctx, { ...search, ...parseQuerySpan(asked) });
        },
        findId: (row) => row.invoice_no,
      }),
  }),
];

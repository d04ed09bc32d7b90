// Tax rates and fee invoices, like the commands `tax set|list|invoices`.

import { Type } from "typebox";

import { financialYear } from "../kernel/time.ts";
import { listNewestFeeInvoices, listTaxRates, setTax } from "../taxes/taxes.ts";
import { parseTaxLine } from "../taxes/tax-rules.ts";
import {
  cursor,
  environment,
  listQuery,
  natural,
  optional,
  query,
  readPage,
  searchQuery,
  spanQuery,
  text,
  under,
} from "./operation.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { Invoices, TaxRate, TaxRates } from "./taxes-schema.ts";
import { body } from "../platform/http/wire.ts";
import { type Operation, operation } from "../platform/http/operation.ts";

const taxes = under("Taxes");
const from = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "The first day of it; in live after today.",
  examples: ["2027-04-01"],
});
const bps = (description: string) => natural(description, 10_000);

export const taxOperations: readonly Operation[] = [
  operation({
    ...taxes.read("listTaxRates", "/ops/taxes"),
    summary: "List the tax lines with their rates and the days they take effect",
    query: query({ environment: optional(environment) }),
    answer: TaxRates,
    run: async ({ ctx }, { environment: where = null }) => ({
      rates: await listTaxRates(ctx, where),
    }),
  }),
  operation({
    ...taxes.act("setGstLine", "/ops/taxes/gst", "taxes.write"),
    summary: "Divide the tax on fees by the place of supply from a day on",
    body: body({
      environment,
      from,
      cgst_bps: bps("The central part within the house's state."),
      sgst_bps: bps("The state's part of it."),
      igst_bps: bps("The whole across a border."),
      house_state: optional(text("The house's state code; that of the house unless given.", 2)),
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
      section: text("The section of the law, such as 194Q.", 12),
      rate_bps: bps("What is withheld, of the value."),
      threshold_paise: natural("From which value of a seller in a financial year."),
      with_crosses: optional(Type.Boolean({ description: "In crosses too." })),
    }),
    answer: TaxRate,
    run: ({ ctx, actor }, { environment: where, from: day, with_crosses = false, ...rate }) =>
      setTax(ctx, actor, {
        environment: where,
        from: day,
        line: "tds",
        rate: { ...rate, with_crosses },
      }),
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
      year: optional(
        Type.String({
          pattern: "^\\d{4}-\\d{2}$",
          description: "The financial year; this one unless given.",
          examples: ["2026-27"],
        }),
      ),
      firm_id: searchQuery.firm_id,
      ...spanQuery,
    }),
    answer: Invoices,
    run: ({ ctx }, asked) =>
      readPage("invoices", asked.limit, {
        list: (limit) => {
          const { environment: where, year = financialYear(ctx.now()), firm_id: firmId } = asked;
          const search = { environment: where, year, firmId, before: asked.cursor, limit };
          return listNewestFeeInvoices(ctx, { ...search, ...parseQuerySpan(asked) });
        },
        findId: (row) => row.invoice_no,
      }),
  }),
];

// Tax rates and fee invoices, like the commands `tax set|list|invoices`.

import { Type } from "typebox";

import { financialYear } from "../kernel/time.ts";
import { listNewestFeeInvoices, listTaxRates, setTax } from "../taxes/taxes.ts";
import { parseTaxLine } from "../taxes/tax-rules.ts";
import {
  act,
  cursor,
  environment,
  listQuery,
  natural,
  optional,
  read,
  readPage,
  searchQuery,
  spanQuery,
  text,
} from "./operation.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { Invoices, TaxRate, TaxRates } from "./taxes-schema.ts";
import type { Operation } from "../platform/http/operation.ts";

const taxes = { tag: "Taxes" } as const;
const from = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "The first day of it; in live after today.",
  examples: ["2027-04-01"],
});
const bps = (description: string) => natural(description, 10_000);

export const taxOperations: readonly Operation[] = [
  read("listTaxRates", "/ops/taxes", {
    ...taxes,
    summary: "List the tax lines with their rates and the days they take effect",
    query: { environment: optional(environment) },
    answer: TaxRates,
    run: async ({ ctx, query }) => ({
      rates: await listTaxRates(ctx, query.environment ?? null),
    }),
  }),
  act("setGstLine", "/ops/taxes/gst", {
    ...taxes,
    summary: "Divide the tax on fees by the place of supply from a day on",
    permission: "taxes.write",
    body: {
      environment,
      from,
      cgst_bps: bps("The central part within the house's state."),
      sgst_bps: bps("The state's part of it."),
      igst_bps: bps("The whole across a border."),
      house_state: optional(text("The house's state code; that of the house unless given.", 2)),
    },
    answer: TaxRate,
    run: async ({ ctx, actor, body: { environment: where, from: day, ...rate } }) =>
      await setTax(ctx, actor, { environment: where, from: day, line: "gst", rate }),
  }),
  act("setTdsLine", "/ops/taxes/tds", {
    ...taxes,
    summary: "Withhold tax from sellers from a day on",
    permission: "taxes.write",
    body: {
      environment,
      from,
      section: text("The section of the law, such as 194Q.", 12),
      rate_bps: bps("What is withheld, of the value."),
      threshold_paise: natural("From which value of a seller in a financial year."),
      with_crosses: optional(Type.Boolean({ description: "In crosses too." })),
    },
    answer: TaxRate,
    run: async ({
      ctx,
      actor,
      body: { environment: where, from: day, with_crosses = false, ...rate },
    }) =>
      await setTax(ctx, actor, {
        environment: where,
        from: day,
        line: "tds",
        rate: { ...rate, with_crosses },
      }),
  }),
  act("endTaxLine", "/ops/taxes/:line/end", {
    ...taxes,
    summary: "End a tax line from a day on",
    permission: "taxes.write",
    body: { environment, from },
    answer: TaxRate,
    run: async ({ ctx, actor, params, body: { environment: where, from: day } }) =>
      await setTax(ctx, actor, {
        environment: where,
        from: day,
        line: parseTaxLine(params["line"]),
        rate: null,
      }),
  }),
  read("listFeeInvoices", "/ops/invoices", {
    ...taxes,
    summary: "List the fee invoices and credit notes of a financial year, the newest first",
    query: {
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
    },
    answer: Invoices,
    run: async ({ ctx, query }) =>
      await readPage("invoices", query.limit, {
        list: async (limit) =>
          await listNewestFeeInvoices(ctx, {
            environment: query.environment,
            year: query.year ?? financialYear(ctx.now()),
            firmId: query.firm_id,
            before: query.cursor,
            limit,
            ...parseQuerySpan(query),
          }),
        findId: (row) => row.invoice_no,
      }),
  }),
];

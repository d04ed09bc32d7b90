// Fee invoices and credit notes. A series has one row with its last number, raised in the transaction
// that numbers the documents.

import type { Environment } from "../kernel/caller.ts";
import type { Side } from "../kernel/scheme.ts";
import type { FinancialYear } from "../kernel/time.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { DocumentKind } from "./tax-rules.ts";
import { legTaxes } from "./tax-store.ts";
import { bigint, type RowOf, table, text, time } from "../platform/postgres/table.ts";

const feeInvoices = table("fee_invoices", {
  environment: text<Environment>(),
  financial_year: text(),
  kind: text<DocumentKind>(),
  number: bigint(),
  invoice_no: text(),
  firm_id: text(),
  settlement_id: text(),
  side: text<Side>(),
  place_of_supply: text(),
  fee_paise: bigint(),
  cgst_paise: bigint(),
  sgst_paise: bigint(),
  igst_paise: bigint(),
  issued_at: time(),
});
export type InvoiceRow = RowOf<typeof feeInvoices>;

/** The fees of one side of a settlement that are on no invoice yet. */
export type UninvoicedRow = Omit<
  InvoiceRow,
  "financial_year" | "number" | "invoice_no" | "issued_at"
>;

export async function findUninvoicedKinds(
  db: Db,
): Promise<{ readonly environment: Environment; readonly kind: DocumentKind }[]> {
  return await db.rows(sql`
    select distinct environment, kind
    from leg_taxes
    where invoice_no is null and fee_paise > 0`);
}

/** Locks a series and returns its last number; the row lock serializes numbering. */
export async function lockSeries(
  tx: Tx,
  environment: Environment,
  { kind, year }: { readonly kind: DocumentKind; readonly year: FinancialYear },
): Promise<number> {
  const [row] = await tx.rows<{ last_number: number }>(sql`
    select last_number
    from invoice_series
    where environment = ${environment} and financial_year = ${year} and kind = ${kind}
    for update`);
  return row?.last_number ?? 0;
}

/** False when another transaction has started or raised the series since it was read. */
export async function raiseSeries(
  tx: Tx,
  environment: Environment,
  {
    kind,
    year,
    before,
    after,
  }: {
    readonly kind: DocumentKind;
    readonly year: FinancialYear;
    readonly before: number;
    readonly after: number;
  },
): Promise<boolean> {
  const raised = await tx.rows(sql`
    insert into invoice_series as s (environment, financial_year, kind, last_number)
    values (${environment}, ${year}, ${kind}, ${after})
    on conflict (environment, financial_year, kind) do update
    set last_number = excluded.last_number
    where s.last_number = ${before}
    returning 1`);
  return raised.length > 0;
}

/** One row per firm, settlement, side and place of supply. */
export async function listUninvoiced(
  tx: Tx,
  environment: Environment,
  { kind, limit, only, except }: Choice & { readonly kind: DocumentKind; readonly limit: number },
): Promise<(UninvoicedRow & { readonly ordinals: readonly number[] })[]> {
  return await tx.rows(sql`
    select array_agg(ordinal order by ordinal) as ordinals, environment, kind, firm_id, settlement_id, side, place_of_supply,
      sum(fee_paise)::bigint as fee_paise, sum(cgst_paise)::bigint as cgst_paise,
      sum(sgst_paise)::bigint as sgst_paise, sum(igst_paise)::bigint as igst_paise
    from leg_taxes
    where invoice_no is null and fee_paise > 0 and environment = ${environment}
      and kind = ${kind}
      and (${only}::text[] is null or settlement_id = any(${only}::text[]))
      and settlement_id <> all(${except}::text[])
    group by environment, kind, firm_id, settlement_id, side, place_of_supply
    order by min(taxed_at), settlement_id, side, firm_id, place_of_supply
    limit ${limit}`);
}

export async function insertInvoices(tx: Tx, rows: readonly InvoiceRow[]): Promise<void> {
  await tx.rows(sql`
    insert into fee_invoices ${feeInvoices.values(feeInvoices.all, rows)}`);
}

/** A side of a leg, and the invoice that it is on. */
export type InvoicedLeg = Pick<InvoiceRow, "invoice_no" | "kind" | "settlement_id" | "side"> & {
  readonly ordinal: number;
};

/** Sets the number on the summed legs only: a leg delivered since then goes on the next invoice. */
export async function setInvoiceNos(tx: Tx, legs: readonly InvoicedLeg[]): Promise<void> {
  await tx.rows(sql`
    update leg_taxes as l
    set invoice_no = i.invoice_no
    from ${legTaxes.rows(["invoice_no", "kind", "settlement_id", "side", "ordinal"], legs)} as i
    where l.settlement_id = i.settlement_id and l.ordinal = i.ordinal and l.side = i.side
      and l.kind = i.kind and l.invoice_no is null`);
}

export async function listInvoices(
  db: Db,
  { environment, year }: { readonly environment: Environment; readonly year: FinancialYear },
): Promise<InvoiceRow[]> {
  return await db.rows(sql`
    select ${feeInvoices.columns}
    from fee_invoices
    where environment = ${environment} and financial_year = ${year}
    order by kind desc, number`);
}

export async function listInvoicesBySettlement(
  db: Db,
  settlementIds: readonly string[],
): Promise<InvoiceRow[]> {
  return await db.rows(sql`
    select ${feeInvoices.columns}
    from fee_invoices
    where settlement_id = any(${settlementIds}::text[])
    order by kind desc, financial_year, number`);
}

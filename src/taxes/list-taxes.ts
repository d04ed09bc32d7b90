import type { Environment } from "../kernel/caller.ts";
import type { FinancialYear } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { type InvoiceRow, listInvoices, listInvoicesOf } from "./invoice-store.ts";
import type { RateRow } from "./rules.ts";
import { type KeptTax, listRates, listTaxes } from "./store.ts";

export type TaxOfLeg = KeptTax;
export type FeeInvoice = InvoiceRow;

/** Every rate that was ever set, the latest of each line first. */
export async function listTaxRates(
  { db }: Pick<Context, "db">,
  environment: Environment | null,
): Promise<readonly RateRow[]> {
  return await listRates(db, { environment, upTo: null });
}

export async function listFeeInvoices(
  { db }: Pick<Context, "db">,
  search: { readonly environment: Environment; readonly year: FinancialYear },
): Promise<readonly InvoiceRow[]> {
  return await listInvoices(db, search);
}

/** What was decided about the legs of settlements, by settlement. */
export async function taxesBySettlement(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, readonly KeptTax[]>> {
  if (settlementIds.length === 0) return new Map();
  const rows = await listTaxes(db, settlementIds);
  return Map.groupBy(rows, (row) => row.settlement_id);
}

/** What was issued for a settlement, in the order of the numbers. */
export async function invoicesOfSettlement(
  db: Db,
  settlementId: string,
): Promise<readonly InvoiceRow[]> {
  return await listInvoicesOf(db, [settlementId]);
}

// What the house supplied to clients, and the bills of it.

import type { Environment } from "../kernel/caller.ts";
import type { FinancialYear, IstDay } from "../kernel/time.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, day, int, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import type { SupplyKind } from "./tax-rules.ts";

const supplies = table("supplies", {
  settlement_id: text(),
  ordinal: int(),
  kind: text<SupplyKind>(),
  environment: text<Environment>(),
  financial_year: text(),
  supplied_on: day(),
  firm_id: text(),
  value_paise: bigint(),
  bill_no: text().orNull,
});
export type SupplyRow = RowOf<typeof supplies>;

export const { insert: insertSupplies, list: listSupplies } = rowsBy(supplies, {
  key: ["settlement_id", "kind", "ordinal"],
});

const billsOfSupply = table("bills_of_supply", {
  environment: text<Environment>(),
  financial_year: text(),
  kind: text<SupplyKind>(),
  number: bigint(),
  bill_no: text(),
  settlement_id: text(),
  supplied_on: day(),
  firm_id: text(),
  recipient_name: text(),
  recipient_iec: text().orNull,
  recipient_gstin: text().orNull,
  place_of_supply: text().orNull,
  value_paise: bigint(),
  issued_at: time(),
});
export type BillRow = RowOf<typeof billsOfSupply>;

type UnbilledSeries = {
  readonly environment: Environment;
  readonly kind: SupplyKind;
  readonly year: FinancialYear;
};

export async function findUnbilledSeries(db: Db): Promise<readonly UnbilledSeries[]> {
  return await db.rows(sql`
    select distinct environment, kind, financial_year as year
    from supplies
    where bill_no is null`);
}

type Unbilled = Pick<
  BillRow,
  | "settlement_id"
  | "supplied_on"
  | "firm_id"
  | "value_paise"
  | "recipient_name"
  | "recipient_iec"
  | "recipient_gstin"
> & { readonly ordinals: readonly number[] };

/** What was supplied to one firm in one settlement on one day, in the order of the days. */
export async function listUnbilled(
  tx: Tx,
  { environment, kind, year }: UnbilledSeries,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<Unbilled[]> {
  return await tx.rows(sql`
    select due.*, f.legal_name as recipient_name, f.iec as recipient_iec, f.gstin as recipient_gstin
    from (
      select settlement_id, supplied_on, firm_id, sum(value_paise)::bigint as value_paise,
        array_agg(ordinal order by ordinal) as ordinals
      from supplies
      where bill_no is null and environment = ${environment} and kind = ${kind}
        and financial_year = ${year}
        and (${only}::text[] is null or settlement_id = any(${only}::text[]))
        and settlement_id <> all(${except}::text[])
      group by settlement_id, supplied_on, firm_id
    ) as due
    join firms as f on f.environment = ${environment} and f.firm_id = due.firm_id
    order by due.supplied_on, due.settlement_id, due.firm_id
    limit ${limit}`);
}

export const { insert: insertBills } = rowsBy(billsOfSupply, {
  key: ["environment", "financial_year", "kind", "number"],
});

type BilledSupply = Pick<SupplyRow, "bill_no" | "kind" | "settlement_id" | "ordinal">;

/** Sets the number on the summed credits only: one delivered since then goes on the next bill. */
export async function setBillNos(tx: Tx, billed: readonly BilledSupply[]): Promise<void> {
  await tx.rows(sql`
    update supplies as s
    set bill_no = b.bill_no
    from ${supplies.rows(["bill_no", "kind", "settlement_id", "ordinal"], billed)} as b
    where s.settlement_id = b.settlement_id and s.ordinal = b.ordinal and s.kind = b.kind
      and s.bill_no is null`);
}

/** By their numbers. */
export async function listBillsByDay(
  db: Db,
  environment: Environment,
  { first, last }: { readonly first: IstDay; readonly last: IstDay },
): Promise<BillRow[]> {
  return await db.rows(sql`
    select ${billsOfSupply.columns}
    from bills_of_supply
    where environment = ${environment} and supplied_on >= ${first}::date
      and supplied_on <= ${last}::date
    order by kind, financial_year, number`);
}

export async function listBills(db: Db, settlementIds: readonly string[]): Promise<BillRow[]> {
  return await db.rows(sql`
    select ${billsOfSupply.columns}
    from bills_of_supply
    where settlement_id = any(${settlementIds}::text[])
    order by kind, financial_year, number`);
}

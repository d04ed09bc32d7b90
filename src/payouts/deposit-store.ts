import type { Environment } from "../kernel/caller.ts";
import { idFilter } from "../platform/http/wire.ts";
import { between, equals, list, ofFirm } from "../platform/postgres/list.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { bigint, type RowOf, table, text, time } from "../platform/postgres/table.ts";

const deposits = table("deposits", {
  environment: text<Environment>(),
  reference: text(),
  desk_id: text(),
  firm_id: text(),
  paise: bigint(),
  settlement_id: text().orNull,
  at: time(),
});

export type DepositRow = RowOf<typeof deposits>;

export const depositList = list(deposits, {
  name: "deposits",
  within: ["desk_id", "firm_id"],
  newestFirst: ["at", "reference"],
  filters: {
    firm_id: ofFirm(idFilter("Only those of this firm.")),
    settlement_id: equals("settlement_id", idFilter("Only those that came for this settlement.")),
    ...between("at", "received"),
  },
});

/** Returns the references that were new. */
export async function insertDeposits(tx: Tx, rows: readonly DepositRow[]): Promise<string[]> {
  const inserted = await tx.rows<{ reference: string }>(sql`
    insert into deposits ${deposits.values(deposits.all, rows)}
    order by reference
    on conflict do nothing
    returning reference`);
  return inserted.map(({ reference }) => reference);
}

export async function findDeposit(
  db: Db,
  environment: Environment,
  reference: string,
): Promise<DepositRow | undefined> {
  const [row] = await db.rows<DepositRow>(sql`
    select environment, reference, desk_id, firm_id, paise, settlement_id, at
    from deposits
    where environment = ${environment} and reference = ${reference}`);
  return row;
}

export async function listDepositsFor(db: Db, settlementId: string): Promise<DepositRow[]> {
  return await db.rows(sql`
    select environment, reference, desk_id, firm_id, paise, settlement_id, at
    from deposits
    where settlement_id = ${settlementId} and not exists (
      select from deposit_reversals as r
      where r.environment = deposits.environment and r.reference = deposits.reference
    )
    order by at, reference`);
}

export async function listDeposits(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<DepositRow[]> {
  return await db.rows(sql`
    select environment, reference, desk_id, firm_id, paise, settlement_id, at
    from deposits
    where environment = ${environment} and reference = any(${references}::text[])`);
}

/** The bank line that a reference came with; null when a person entered it. */
const paymentReferences = table("payment_references", {
  environment: text<Environment>(),
  reference: text(),
  line_id: text().orNull,
});
export type ReferenceRow = RowOf<typeof paymentReferences>;

/** Waits for whoever inserts one of them at the same time; the first one stays. */
export async function insertReferences(tx: Tx, rows: readonly ReferenceRow[]): Promise<void> {
  await tx.rows(sql`
    insert into payment_references ${paymentReferences.values(paymentReferences.all, rows)}
    order by reference
    on conflict do nothing`);
}

export async function listReferences(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<ReferenceRow[]> {
  return await db.rows(sql`
    select environment, reference, line_id
    from payment_references
    where environment = ${environment} and reference = any(${references}::text[])
    order by reference`);
}

const depositReversals = table("deposit_reversals", {
  environment: text<Environment>(),
  reference: text(),
  reason: text(),
  reversed_by: text(),
  at: time(),
});
export type ReversalRow = RowOf<typeof depositReversals>;

export const { insert: insertReversals } = rowsBy(depositReversals, {
  key: ["environment", "reference"],
});

/** The reversals of these references. */
export async function listReversals(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<ReversalRow[]> {
  return await db.rows(sql`
    select ${depositReversals.columns}
    from deposit_reversals
    where environment = ${environment} and reference = any(${references}::text[])`);
}

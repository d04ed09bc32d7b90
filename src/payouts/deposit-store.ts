import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";

export type DepositRow = {
  readonly environment: Environment;
  readonly reference: string;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly paise: number;
  readonly settlement_id: string | null;
  readonly at: Date;
};

/** The references that were new. */
export async function insertDeposits(tx: Tx, rows: readonly DepositRow[]): Promise<string[]> {
  const inserted = await tx.rows<{ reference: string }>(sql`
    insert into deposits (environment, reference, desk_id, firm_id, paise, settlement_id, at)
    select environment, reference, desk_id, firm_id, paise, settlement_id, at
    from unnest(
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.reference)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.paise)}::bigint[],
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.at)}::timestamptz[]
    ) as r (environment, reference, desk_id, firm_id, paise, settlement_id, at)
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
    where settlement_id = ${settlementId}
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

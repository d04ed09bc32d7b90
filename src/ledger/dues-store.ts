import { query, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import { accountName, type EntryName } from "./rules.ts";
import type { LockedRow } from "./store.ts";

/** Locks what these firms owe, where they owe. The firms' other balances must be locked. */
export function lockDues(firmIds: readonly string[]): Query<LockedRow[]> {
  const balances = firmIds.map((firmId) => accountName({ kind: "firm_dues", firmId }));
  return query(sql`
    select b.balance, b.environment, b.posted_paise, b.escrow_paise, b.pending_out_paise, b.pending_in_paise
    from (
      select balance
      from unnest(${balances}::text[]) as asked (balance)
      order by balance
    ) as k
    cross join lateral (
      select balance, environment, posted_paise, escrow_paise, pending_out_paise, pending_in_paise
      from ledger_balances as found
      where found.balance = k.balance and found.posted_paise < 0
      limit 1
      for update
    ) as b`);
}

/** The first ordinal that the entries of a kind about each subject have left free; 0 is left out. */
export async function findNextOrdinals(
  tx: Tx,
  { environment, kind }: Pick<EntryName, "environment" | "kind">,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.rows<{ subject: string; next: number }>(sql`
    select subject, max(ordinal) + 1 as next
    from ledger_entries
    where subject = any(${subjects}::text[]) and kind = ${kind}
      and environment = ${environment} and resolves is null
    group by subject`);
  return new Map(rows.map(({ subject, next }) => [subject, next]));
}

/** The desks of these firms, and how often what each owes has changed, with the change that is made now. */
export async function listDuesVersions(
  tx: Tx,
  firmIds: readonly string[],
): Promise<{ firm_id: string; desk_id: string; version: number }[]> {
  return await tx.rows(sql`
    select b.firm_id, f.desk_id, b.version + 1 as version
    from ledger_balances as b
    join firms as f on f.firm_id = b.firm_id
    where b.kind = 'firm_dues' and b.firm_id = any(${firmIds}::text[])`);
}

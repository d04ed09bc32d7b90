import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";

export async function findOutsideBalance(db: Db, environment: Environment): Promise<PaiseSum> {
  const [row] = await db.rows<{ paise: PaiseSum }>(sql`
    select coalesce(sum(posted_paise), 0)::bigint as paise
    from ledger_balances
    where environment = ${environment} and kind = 'external_bank' and firm_id is null`);
  return row?.paise ?? 0;
}

/** The change of our bank account by each entry. */
export async function listOutsideEntries(
  db: Db,
  environment: Environment,
): Promise<{ kind: string; subject: string; paise: number }[]> {
  return await db.rows(sql`
    select e.kind, e.subject,
      sum(case when (m).from_account = 'external_bank' then (m).amount else -(m).amount end)::bigint
        as paise
    from (
      select entry_no, kind, subject, unnest(movements) as m
      from ledger_entries
      where environment = ${environment} and phase = 'posted'
        and kind in ('deposit', 'payout', 'payout_return', 'refund', 'fee')
    ) as e
    where 'external_bank' in ((m).from_account, (m).to_account)
    group by e.entry_no, e.kind, e.subject
    order by e.entry_no`);
}

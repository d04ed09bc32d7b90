// What the month's pack reads: the postings of money, balances, and who the firms are.

import type { Environment } from "../kernel/caller.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { KindSum, PackFirm, Posted } from "./pack-rules.ts";

type Span = { readonly environment: Environment; readonly from: Date; readonly to: Date };

/** The movements of money that were posted in a span, in their order. */
export async function listPostings(db: Db, { environment, from, to }: Span): Promise<Posted[]> {
  return await db.rows(sql`
    select e.entry_no, e.at, e.kind, e.subject, e.ordinal, m.from_account, m.to_account,
      m.amount as paise
    from ledger_entries as e
    cross join lateral unnest(e.movements) with ordinality
      as m (from_account, to_account, scrip_no, amount, place)
    where e.environment = ${environment} and e.at >= ${from} and e.at < ${to}
      and e.phase = 'posted' and m.scrip_no is null
    order by e.entry_no, m.place`);
}

/** What accounts of each kind have now. */
export async function listKindBalances(db: Db, environment: Environment): Promise<KindSum[]> {
  return await db.rows(sql`
    select kind, sum(posted_paise) as paise
    from ledger_balances
    where environment = ${environment}
    group by kind
    order by kind`);
}

/** What was posted to accounts of each kind from a time on. */
export async function sumPostedSince(
  db: Db,
  environment: Environment,
  from: Date,
): Promise<KindSum[]> {
  return await db.rows(sql`
    select split_part(side.account, ':', 1) as kind, sum(m.amount::numeric * side.sign) as paise
    from ledger_entries as e
    cross join lateral unnest(e.movements) as m (from_account, to_account, scrip_no, amount)
    cross join lateral (values (m.from_account, -1), (m.to_account, 1)) as side (account, sign)
    where e.environment = ${environment} and e.at >= ${from} and e.phase = 'posted'
      and m.scrip_no is null
    group by 1`);
}

export async function listPackFirms(db: Db, firmIds: readonly string[]): Promise<PackFirm[]> {
  return await db.rows(sql`
    select firm_id, legal_name, pan, gstin
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

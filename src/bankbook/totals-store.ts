// What the applied statements and the queue come to, and what a review of them looks at.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { QueuedMoney } from "./deadline-rules.ts";
import type { BankLineRow } from "./store.ts";

/** Up to when the statements that were applied reach; null before the first. */
export async function findReached(db: Db, environment: Environment): Promise<Date | null> {
  const [row] = await db.rows<{ reached_at: Date | null }>(sql`
    select max(reached_at) as reached_at
    from bank_statements
    where environment = ${environment} and state = 'applied'`);
  return row?.reached_at ?? null;
}

/** The credit lines that wait for a person. */
export async function listQueuedMoney(db: Db, environment: Environment): Promise<QueuedMoney[]> {
  return await db.rows(sql`
    select paise, value_at, claimants
    from bank_lines
    where environment = ${environment} and state = 'queued' and direction = 'credit'`);
}

type BankTotals = {
  /** The balance before the first imported line. */
  readonly opening_paise: number | null;
  readonly closing_paise: number | null;
  readonly as_of: string | null;
  readonly lines_paise: PaiseSum;
  readonly queued: number;
};

/** Totals of the applied statements. */
export async function findTotals(db: Db, environment: Environment): Promise<BankTotals> {
  const [row] = await db.rows<BankTotals>(sql`
    select
      (
        select opening_paise from bank_statements
        where environment = ${environment} and state = 'applied' and opening_paise is not null
        order by first_day, received_no
        limit 1
      ) as opening_paise,
      last.closing_paise, last.last_day::text as as_of,
      (
        select coalesce(sum(case direction when 'credit' then paise else -paise end), 0)
        from bank_lines
        where environment = ${environment} and state not in ('new', 'repeated')
      ) as lines_paise,
      (
        select count(*)
        from bank_lines
        where environment = ${environment} and state in ('queued', 'returning')
      ) as queued
    from (select) as always
    left join lateral (
      select closing_paise, last_day
      from bank_statements
      where environment = ${environment} and state = 'applied' and closing_paise is not null
      order by last_day desc, received_no desc
      limit 1
    ) as last on true`);
  if (!row) throw new Error("sums are there");
  return row;
}

type FoundDeposit = Pick<
  BankLineRow,
  "line_id" | "environment" | "firm_id" | "paise" | "line_key" | "details_sealed"
>;

/** Lines that brought a firm money by a plan that said nothing of a proof, oldest first. */
export async function listUnproved(db: Db, limit: number): Promise<FoundDeposit[]> {
  return await db.rows(sql`
    select line_id, environment, firm_id, paise, line_key, details_sealed
    from bank_lines
    where state = 'matched' and direction = 'credit' and plan->>'to' = 'deposit'
      and not plan ? 'proved_by' and firm_id is not null
    order by line_id
    limit ${limit}`);
}

/** Lines that brought a firm money, and a line of an earlier file with the same balance did, too. */
export async function listCountedTwice(
  db: Db,
  limit: number,
): Promise<(FoundDeposit & { readonly other_id: string })[]> {
  return await db.rows(sql`
    select l.line_id, l.environment, l.firm_id, l.paise, l.line_key, l.details_sealed,
      o.line_id as other_id
    from bank_lines as l
    cross join lateral (
      select line_id
      from bank_lines as found
      where found.environment = l.environment and found.day = l.day
        and found.state not in ('new', 'repeated') and found.direction = l.direction
        and found.paise = l.paise and found.balance_paise = l.balance_paise
        and found.statement_id < l.statement_id
      order by line_id
      limit 1
    ) as o
    where l.state = 'matched' and l.direction = 'credit' and l.plan->>'to' = 'deposit'
      and not l.plan ? 'proved_by'
    order by l.line_id
    limit ${limit}`);
}

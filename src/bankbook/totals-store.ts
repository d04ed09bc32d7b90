// What the applied statements and the queue come to.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Db, sql } from "../platform/postgres/postgres.ts";
import type { QueuedMoney } from "./deadline-rules.ts";

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

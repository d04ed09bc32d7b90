// Statements that count what waits. Each count reads an index of open things and stops at `most`, so
// that it takes no longer in a large service.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";

export type WaitingCounts = {
  readonly settlements_for_buyer: number;
  readonly settlements_for_seller: number;
  readonly settlements_for_customs: number;
  /** Past their deadline, which an outage of the awaited port keeps open. */
  readonly settlements_late: number;
  /** Unpaid settlements and crosses past their deadline, which wait for the bank's statement. */
  readonly deals_unread: number;
  readonly settlements_due_today: number;
  readonly crosses_late: number;
  readonly payouts_scheduled: number;
  readonly payouts_held: number;
  readonly payouts_instructed: number;
  readonly payouts_sent: number;
  readonly payouts_returned: number;
  readonly approvals: number;
  readonly bank_lines: number;
  readonly questions: number;
  readonly enquiries: number;
  readonly dead_letters: number;
};

/** The payouts that leave as one remittance: its lead, and those that are found by it. */
const remitted = fragment`
  select lead.payout_id
  union all
  select payout_id
  from payouts as found
  where found.remitted_with = lead.payout_id and found.remitted_with <> found.payout_id`;

export async function countWaiting(
  db: Db,
  {
    environment,
    now,
    dayEnd,
    most,
  }: {
    readonly environment: Environment;
    readonly now: Date;
    readonly dayEnd: Date;
    readonly most: number;
  },
): Promise<WaitingCounts> {
  const [row] = await db.rows<WaitingCounts>(sql`
    select
      (select count(*)::int from (
        select from settlements
        where environment = ${environment} and state = 'pending' and due_at is not null
        limit ${most}) as s) as settlements_for_buyer,
      (select count(*)::int from (
        select from settlements
        where environment = ${environment} and state = 'funded' and due_at is not null
        limit ${most}) as s) as settlements_for_seller,
      (select count(*)::int from (
        select from settlements
        where environment = ${environment} and state = 'transfer_initiated' and due_at is not null
        limit ${most}) as s) as settlements_for_customs,
      (select count(*)::int from (
        select from settlements
        where environment = ${environment} and state in ('pending', 'funded', 'transfer_initiated')
          and due_at < ${now} and (environment, state) <> ('live', 'pending')
        limit ${most}) as s) as settlements_late,
      (select count(*)::int from (
        (
          select from settlements
          where environment = ${environment} and state = 'pending' and due_at < ${now}
            and environment = 'live'
          limit ${most}
        )
        union all
        (
          select from crosses
          where environment = ${environment} and state = 'agreed' and due_at < ${now}
            and environment = 'live'
          limit ${most}
        )
        limit ${most}) as d) as deals_unread,
      (select count(*)::int from (
        select from settlements
        where environment = ${environment} and state in ('pending', 'funded', 'transfer_initiated')
          and due_at >= ${now} and due_at < ${dayEnd}
        limit ${most}) as s) as settlements_due_today,
      (select count(*)::int from (
        select from crosses
        where environment = ${environment} and state in ('proposed', 'agreed', 'funded', 'released')
          and due_at < ${now} and (environment, state) <> ('live', 'agreed')
        limit ${most}) as c) as crosses_late,
      (select count(*)::int from (
        select from payouts where environment = ${environment} and queued_as = 'scheduled'
        limit ${most}) as p) as payouts_scheduled,
      (select count(*)::int from (
        select from payouts where environment = ${environment} and queued_as = 'held'
        limit ${most}) as p) as payouts_held,
      (select count(*)::int from (
        select
        from payouts as lead
        cross join lateral (${remitted}) as p
        where lead.environment = ${environment} and lead.queued_as = 'instructed'
        limit ${most}) as p) as payouts_instructed,
      (select count(*)::int from (
        select
        from payouts as lead
        cross join lateral (${remitted}) as p
        where lead.environment = ${environment} and lead.queued_as = 'sent'
        limit ${most}) as p) as payouts_sent,
      (select count(*)::int from (
        select from payouts as p
        where environment = ${environment} and queued_as = 'returned'
          and not exists (select from payouts as again where again.resend_of = p.payout_id)
        limit ${most}) as p) as payouts_returned,
      (select count(*)::int from (
        select from approvals
        where environment = ${environment} and state = 'proposed' and expires_at > ${now}
        limit ${most}) as a) as approvals,
      (select count(*)::int from (
        select from bank_lines
        where environment = ${environment} and state in ('queued', 'returning')
        limit ${most}) as l) as bank_lines,
      (select count(*)::int from (
        select from questions
        where environment = ${environment} and state = 'open' and due_at < 'infinity'
        limit ${most}) as i) as questions,
      (select count(*)::int from (
        select from enquiries where status = 'received'
        limit ${most}) as e) as enquiries,
      (select count(*)::int from (
        select from deliveries where state = 'dead' and environment = ${environment}
        limit ${most}) as d) as dead_letters`);
  if (!row) throw new Error("a statement of counts has one row");
  return row;
}

export type Dealt = {
  readonly scheme: Scheme;
  readonly deals: number;
  readonly face_paise: PaiseSum;
};

/** What was dealt since an instant, from the sums that the tape is kept in by the minute. */
export async function sumDealt(db: Db, environment: Environment, since: Date): Promise<Dealt[]> {
  return await db.rows(sql`
    select scheme, sum(deals)::bigint as deals, sum(shown_paise) as face_paise
    from deal_minutes
    where environment = ${environment} and scheme in ('RODTEP', 'ROSCTL') and minute >= ${since}
    group by scheme
    order by scheme`);
}

export type HouseMoney = { readonly account: string; readonly paise: PaiseSum };

/** What is on the accounts of the house, which are kept in sixteen parts each. */
export async function sumHouseMoney(db: Db, environment: Environment): Promise<HouseMoney[]> {
  return await db.rows(sql`
    select account, sum(posted_paise) as paise
    from ledger_balances
    where balance = any(array(
      select a.account || ':' || ${environment} || ':' || stripe
      from unnest(array['house_cash', 'house_fees', 'unmatched_cash']) as a (account),
        generate_series(0, 15) as stripe
    ))
    group by account
    order by account`);
}

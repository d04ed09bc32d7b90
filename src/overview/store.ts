// What an overview reads: counts of what waits, desks, what the house dealt, and what there is of live.
// A count of what waits reads an index of open things and stops at `most`, so that it takes no longer in
// a large service.

import type { Environment } from "../kernel/caller.ts";
import type { PaiseSum } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { TimeSpan } from "../kernel/query-time.ts";

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

type Dealt = {
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

type HouseMoney = { readonly account: string; readonly paise: PaiseSum };

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

export type DeskRow = {
  readonly desk_id: string;
  readonly environment: Environment;
  readonly legal_name: string;
  readonly iec: string | null;
  readonly connection_state: string;
  /** Of its root keys that are not revoked. */
  readonly plans: readonly string[];
  readonly client_firms: number;
  readonly created_at: Date;
};

/** Desks, newest first; their client firms are counted up to `most`. */
export async function listDeskRows(
  db: Db,
  filter: TimeSpan & {
    readonly environment: Environment | null;
    readonly deskId: string | null;
    readonly most: number;
  },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<DeskRow[]> {
  return await db.rows(sql`
    select d.firm_id as desk_id, d.environment, d.legal_name, d.iec, d.connection_state, d.created_at,
      array(
        select distinct k.plan
        from api_keys as k
        where k.desk_id = d.firm_id and k.kind = 'root' and k.state = 'active'
        order by k.plan
      ) as plans,
      (select count(*)::int from (
        select from firms as f
        where f.desk_id = d.firm_id and f.firm_id <> d.firm_id
        limit ${filter.most}) as clients) as client_firms
    from (
      select firm_id, environment, legal_name, iec, connection_state, created_at
      from firms
      where desk_id = firm_id
        and (${after?.at ?? null}::timestamptz is null
          or (created_at, firm_id) < (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::text))
        and (${filter.environment}::text is null or environment = ${filter.environment})
        and (${filter.deskId}::text is null or firm_id = ${filter.deskId})
        and (${filter.from}::timestamptz is null or created_at >= ${filter.from})
        and (${filter.to}::timestamptz is null or created_at < ${filter.to})
        and firm_id not in ('frm_00000000000000000000000001', 'frm_00000000000000000000000002')
      order by created_at desc, firm_id desc
      limit ${fetch}
    ) as d
    order by d.created_at desc, d.firm_id desc`);
}

/** The desk that an order belongs to. */
export async function findDeskOfOrder(db: Db, orderId: string): Promise<string | undefined> {
  const [row] = await db.rows<{ desk_id: string }>(sql`
    select desk_id
    from orders
    where order_id = ${orderId}`);
  return row?.desk_id;
}

type FirmName = { readonly firm_id: string; readonly legal_name: string };

export async function listFirmNames(db: Db, firmIds: readonly string[]): Promise<FirmName[]> {
  return await db.rows(sql`
    select firm_id, legal_name
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

export type HouseDealt = {
  readonly scheme: Scheme;
  readonly bought: number;
  readonly bought_face_paise: PaiseSum;
  readonly bought_paise: PaiseSum;
  readonly sold: number;
  readonly sold_face_paise: PaiseSum;
  readonly sold_paise: PaiseSum;
  readonly matched: number;
  readonly matched_face_paise: PaiseSum;
  readonly kept_paise: PaiseSum;
  readonly fees_paise: PaiseSum;
  readonly result_paise: PaiseSum;
};

/**
 * What the house bought, sold and matched in a span, of what has not failed. The result is its money,
 * less taxes, and its credits at the mid that was in force when each was dealt, rounded down once.
 */
export async function sumHouseDealt(
  db: Db,
  {
    environment,
    houseId,
    from,
    to,
  }: {
    readonly environment: Environment;
    readonly houseId: string;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<HouseDealt[]> {
  return await db.rows(sql`
    select scheme,
      count(*) filter (where buys)::int as bought,
      coalesce(sum(face_paise) filter (where buys), 0) as bought_face_paise,
      coalesce(sum(buyer_paise) filter (where buys), 0) as bought_paise,
      count(*) filter (where sells)::int as sold,
      coalesce(sum(face_paise) filter (where sells), 0) as sold_face_paise,
      coalesce(sum(buyer_paise - taxes_paise) filter (where sells), 0) as sold_paise,
      count(*) filter (where not buys and not sells)::int as matched,
      coalesce(sum(face_paise) filter (where not buys and not sells), 0) as matched_face_paise,
      coalesce(sum(buyer_paise - seller_paise - taxes_paise)
        filter (where not buys and not sells), 0) as kept_paise,
      sum(buyer_fee_paise + seller_fee_paise) as fees_paise,
      floor(sum(
        (case when buys then 0 else buyer_paise end
          - case when sells then 0 else seller_paise end
          - taxes_paise)::numeric * 10000
        + (case when buys then face_paise else 0 end
          - case when sells then face_paise else 0 end)::numeric * mid_bps
      ) / 10000) as result_paise
    from (
      select l.scheme, l.face_paise, l.seller_paise, l.buyer_paise, l.buyer_fee_paise,
        l.seller_fee_paise, l.buyer_gst_paise + l.seller_gst_paise as taxes_paise,
        s.buyer_firm_id = ${houseId} as buys, l.seller_firm_id = ${houseId} as sells,
        card.mid_bps
      from (
        select scheme, mid_bps, published_at,
          coalesce(lead(published_at) over (partition by scheme order by version), 'infinity')
            as replaced_at
        from rate_cards
        where environment = ${environment} and scheme = any(${schemes}::text[])
      ) as card
      join settlement_legs as l on l.environment = ${environment} and l.scheme = card.scheme
        and l.dealt_at >= greatest(card.published_at, ${from}::timestamptz)
        and l.dealt_at < least(card.replaced_at, ${to}::timestamptz)
      join settlements as s on s.settlement_id = l.settlement_id
      where card.published_at < ${to} and card.replaced_at > ${from} and not l.private
        and l.state <> 'failed' and s.state <> 'reversed'
    ) as dealt
    group by scheme`);
}

type LiveFacts = {
  readonly has_key: boolean;
  readonly has_statement: boolean;
  readonly has_mail_of_people: boolean;
};

/** What there is of live, each found at the first row. */
export async function findLiveFacts(db: Db): Promise<LiveFacts> {
  const [row] = await db.rows<LiveFacts>(sql`
    select
      exists (
        select from api_keys
        where environment = 'live' and state = 'active' and kind = 'root'
      ) as has_key,
      exists (
        select from bank_statements
        where environment = 'live' and state = 'applied'
      ) as has_statement,
      exists (
        select from notice_addresses
        where operator_id is not null and removed_at is null
      ) as has_mail_of_people`);
  if (!row) throw new Error("a select of three flags has one row");
  return row;
}

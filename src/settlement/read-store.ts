// Statements that only read: a desk's own settlements and their tasks, the operator's lists, and the tape (every deal
// of the market), from which market figures and the public index are computed.

import type { Environment } from "../kernel/caller.ts";
import type { BandSum } from "../kernel/money.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, fragment, type Query, query, sql } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { flag, int, json, type RowOf, table, text, time } from "../platform/postgres/table.ts";
import {
  type LegState,
  openStates,
  type SettlementState,
  type TaskKind,
  type QueuedRow,
} from "./rules.ts";
import { legColumns, type LegRow, settlementColumns, type SettlementRow } from "./store.ts";

export type SettlementFilter = {
  readonly status: string | null;
  readonly firmId: string | null;
  /** The firm of a bound key; null for the whole desk. */
  readonly visibleFirmId: string | null;
  readonly orderId: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

const houses = fragment`('frm_00000000000000000000000001', 'frm_00000000000000000000000002')`;

/** A settlement that this party bought or sold in. */
export async function findSettlement(
  db: Db,
  { deskId, firmId }: Visibility,
  settlementId: string,
): Promise<SettlementRow | undefined> {
  const [row] = await db.rows<SettlementRow>(sql`
    select ${settlementColumns}
    from settlements as s
    where s.settlement_id = ${settlementId}
      and (
        s.buyer_desk_id = ${deskId} and (${firmId}::text is null or s.buyer_firm_id = ${firmId})
        or exists (
          select
          from settlement_legs as l
          where l.settlement_id = s.settlement_id and l.seller_desk_id = ${deskId}
            and (${firmId}::text is null or l.seller_firm_id = ${firmId})
        )
      )`);
  return row;
}

export async function listDealtLegs(
  db: Db,
  settlementIds: readonly string[],
): Promise<(LegRow & { readonly buyer_firm_id: string })[]> {
  return await db.rows(sql`
    select ${legColumns}, s.buyer_firm_id
    from (select distinct unnest(${settlementIds}::text[]) as settlement_id) as asked
    cross join lateral (
      select settlement_id, buyer_firm_id
      from settlements as found
      where found.settlement_id = asked.settlement_id
      limit 1
    ) as s
    cross join lateral (
      select *
      from settlement_legs as found
      where found.settlement_id = s.settlement_id
      offset 0
    ) as l
    order by l.settlement_id, l.ordinal`);
}

/**
 * The state of a settlement for the viewer, as `findSideState` decides it: a buyer's side has all the
 * legs, a seller's side has its own.
 */
const viewedState = fragment`
  case
    when s.buyer_desk_id = (select desk_id from viewer)
      and s.buyer_firm_id = coalesce((select firm_id from viewer), s.buyer_firm_id)
    then s.state
    else (
      select
        case
          when bool_or(own.awaited) then s.state
          when not bool_or(own.state = 'delivered') then 'failed'
          when s.state = 'reversed' then 'reversed'
          else 'settled'
        end
      from settlement_legs as own
      where own.settlement_id = s.settlement_id
        and own.seller_desk_id = (select desk_id from viewer)
        and own.seller_firm_id = coalesce((select firm_id from viewer), own.seller_firm_id)
    )
  end`;

/** Newest first: the latest that the desk bought in and the latest that it sold in, put together. */
export async function listSettlementRows(
  db: Db,
  deskId: string,
  filter: SettlementFilter,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<SettlementRow[]> {
  return await db.rows(sql`
    with viewer as (
      select ${deskId} as desk_id, ${filter.visibleFirmId}::text as firm_id
    ), place as (
      select coalesce(${after?.at ?? null}::timestamptz, 'infinity') as at, ${after?.id ?? ""} as id
    ), mine as (
      (
        select s.created_at as at, s.settlement_id
        from settlements as s, place
        where s.buyer_desk_id = ${deskId} and s.buyer_firm_id not in ${houses}
          and (s.created_at, s.settlement_id) < (place.at, place.id)
          and (${filter.status}::text is null or ${viewedState} = ${filter.status})
          and (${filter.firmId}::text is null or s.buyer_firm_id = ${filter.firmId})
          and (${filter.orderId}::text is null or s.buyer_order_id = ${filter.orderId})
          and (${filter.from}::timestamptz is null or s.created_at >= ${filter.from})
          and (${filter.to}::timestamptz is null or s.created_at < ${filter.to})
        order by s.created_at desc, s.settlement_id desc
        limit ${fetch}
      )
      union
      (
        select distinct l.dealt_at as at, l.settlement_id
        from settlement_legs as l
        join settlements as s on s.settlement_id = l.settlement_id
        cross join place
        where l.seller_desk_id = ${deskId} and l.seller_firm_id not in ${houses}
          and (l.dealt_at, l.settlement_id) < (place.at, place.id)
          and (${filter.status}::text is null or ${viewedState} = ${filter.status})
          and (${filter.firmId}::text is null or l.seller_firm_id = ${filter.firmId})
          and (${filter.orderId}::text is null or l.seller_order_id = ${filter.orderId})
          and (${filter.from}::timestamptz is null or l.dealt_at >= ${filter.from})
          and (${filter.to}::timestamptz is null or l.dealt_at < ${filter.to})
        order by l.dealt_at desc, l.settlement_id desc
        limit ${fetch}
      )
    )
    select ${settlementColumns}
    from mine
    join settlements as s on s.settlement_id = mine.settlement_id
    order by mine.at desc, mine.settlement_id desc
    limit ${fetch}`);
}

/**
 * A left join, so that the planner can remove it when no state is filtered; the count is then two
 * index-only scans.
 */
export async function countSettlements(
  db: Db,
  deskId: string,
  filter: SettlementFilter,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    with viewer as (
      select ${deskId} as desk_id, ${filter.visibleFirmId}::text as firm_id
    )
    select count(*) as total
    from (
      select s.created_at as at, s.settlement_id
      from settlements as s
      where s.buyer_desk_id = ${deskId} and s.buyer_firm_id not in ${houses}
        and (${filter.status}::text is null or ${viewedState} = ${filter.status})
        and (${filter.firmId}::text is null or s.buyer_firm_id = ${filter.firmId})
        and (${filter.orderId}::text is null or s.buyer_order_id = ${filter.orderId})
        and (${filter.from}::timestamptz is null or s.created_at >= ${filter.from})
        and (${filter.to}::timestamptz is null or s.created_at < ${filter.to})
      union
      select l.dealt_at, l.settlement_id
      from settlement_legs as l
      left join settlements as s on s.settlement_id = l.settlement_id
      where l.seller_desk_id = ${deskId} and l.seller_firm_id not in ${houses}
        and (${filter.status}::text is null or ${viewedState} = ${filter.status})
        and (${filter.firmId}::text is null or l.seller_firm_id = ${filter.firmId})
        and (${filter.orderId}::text is null or l.seller_order_id = ${filter.orderId})
        and (${filter.from}::timestamptz is null or l.dealt_at >= ${filter.from})
        and (${filter.to}::timestamptz is null or l.dealt_at < ${filter.to})
    ) as mine`);
  return row?.total ?? 0;
}

/** One row per order and settlement: what the order bought in it, or sold. */
export function listOrderLegs(orderIds: readonly string[]): Query<
  {
    readonly order_id: string;
    readonly settlement_id: string;
    readonly state: SettlementState;
    readonly leg_states: readonly LegState[];
    readonly settled_paise: number;
    readonly standing_paise: number;
  }[]
> {
  return query(sql`
    select asked.order_id, own.settlement_id, own.state, array_agg(distinct own.leg_state) as leg_states,
      coalesce(sum(own.paise) filter (where own.leg_state = 'delivered'), 0)::bigint as settled_paise,
      coalesce(sum(own.face_paise) filter (
        where own.leg_state <> 'failed' and own.state <> 'reversed'
      ), 0)::bigint as standing_paise
    from unnest(${orderIds}::text[]) as asked (order_id)
    cross join lateral (
      select s.settlement_id, s.state, l.state as leg_state, l.buyer_paise as paise, l.face_paise
      from settlements as s
      cross join lateral (
        select state, buyer_paise, face_paise
        from settlement_legs as bought
        where bought.settlement_id = s.settlement_id
        offset 0
      ) as l
      where s.buyer_order_id = asked.order_id
      union all
      select s.settlement_id, s.state, l.state as leg_state, l.seller_paise as paise, l.face_paise
      from settlement_legs as l
      cross join lateral (
        select settlement_id, state
        from settlements as found
        where found.settlement_id = l.settlement_id
        limit 1
      ) as s
      where l.seller_order_id = asked.order_id
    ) as own
    group by asked.order_id, own.settlement_id, own.state`);
}

/** The open settlements of a firm, which keep it from leaving. */
export async function listOpenByFirm(
  db: Db,
  deskId: string,
  firmId: string,
): Promise<Pick<SettlementRow, "settlement_id">[]> {
  return await db.rows(sql`
    select s.settlement_id
    from settlements as s
    where s.due_at is not null and s.buyer_desk_id = ${deskId} and s.buyer_firm_id = ${firmId}
      and s.buyer_firm_id not in ${houses}
    union
    select l.settlement_id
    from settlement_legs as l
    join settlements as s on s.settlement_id = l.settlement_id
    where s.due_at is not null and l.seller_desk_id = ${deskId} and l.seller_firm_id = ${firmId}
      and l.awaited
    order by settlement_id`);
}

/** For the operator, who sees both sides of everything. The newest have the largest ids. */
export async function listAllSettlementRows(
  db: Db,
  filter: {
    readonly environment: Environment | null;
    readonly status: string | null;
    readonly fromId: string | null;
    readonly toId: string | null;
  },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<SettlementRow[]> {
  return await db.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where (${after?.id ?? null}::text is null or s.settlement_id < ${after?.id ?? null})
      and (${filter.environment}::text is null or s.environment = ${filter.environment})
      and (${filter.status}::text is null or s.state = ${filter.status})
      and (${filter.fromId}::text is null or s.settlement_id >= ${filter.fromId})
      and (${filter.toId}::text is null or s.settlement_id < ${filter.toId})
    order by s.settlement_id desc
    limit ${fetch}`);
}

/** What is open, by the whole days since it was made, between these bounds. */
export async function sumOpenByAge(
  db: Db,
  environment: Environment,
  { now, bounds }: { readonly now: Date; readonly bounds: readonly number[] },
): Promise<BandSum[]> {
  return await db.rows(sql`
    select width_bucket(
        floor(extract(epoch from ${now}::timestamptz - s.created_at) / 86400)::int,
        ${bounds}::int[]
      ) as band,
      count(*)::int as count, sum(s.face_paise) as face_paise
    from settlements as s
    where s.environment = ${environment} and s.state in ('pending', 'funded', 'transfer_initiated')
      and s.due_at is not null
    group by 1`);
}

/**
 * Open settlements of an environment for the operator: first those of which a receiver finds nothing to
 * accept, then by their deadline.
 */
export async function listQueueRows(
  db: Db,
  {
    environment,
    after,
    limit,
  }: {
    readonly environment: Environment;
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<SettlementRow[]> {
  return await db.rows(sql`
    with missing as materialized (
      select distinct l.settlement_id
      from settlement_legs as l
      where l.environment = ${environment} and l.missing_at is not null and l.state = 'missing'
    ), place as (
      select s.due_at, s.settlement_id, s.settlement_id in (select settlement_id from missing) as first
      from settlements as s
      where s.settlement_id = ${after}
    ), queued as (
      (
        select true as first, s.due_at, s.settlement_id
        from missing
        join settlements as s on s.settlement_id = missing.settlement_id
        where s.due_at is not null and not exists (
          select
          from place
          where not place.first
            or (s.due_at, s.settlement_id) <= (place.due_at, place.settlement_id)
        )
        order by s.due_at, s.settlement_id
        limit ${limit}
      )
      union all
      (
        select false, s.due_at, s.settlement_id
        from unnest(${openStates}::text[]) as open (state)
        cross join lateral (
          select found.due_at, found.settlement_id
          from settlements as found
          where found.environment = ${environment} and found.state = open.state
            and found.due_at is not null
            and found.settlement_id not in (select settlement_id from missing)
            and (
              not exists (select from place where not place.first)
              or (found.due_at, found.settlement_id) > (
                select place.due_at, place.settlement_id
                from place
              )
            )
          order by found.due_at, found.settlement_id
          limit ${limit}
        ) as s
        order by s.due_at, s.settlement_id
        limit ${limit}
      )
    )
    select ${settlementColumns}
    from queued
    join settlements as s on s.settlement_id = queued.settlement_id
    order by queued.first desc, queued.due_at, queued.settlement_id
    limit ${limit}`);
}

export async function listBuyers(
  db: Db,
  settlementIds: readonly string[],
): Promise<{ settlement_id: string; buyer_firm_id: string }[]> {
  return await db.rows(sql`
    select settlement_id, buyer_firm_id
    from settlements
    where settlement_id = any(${settlementIds}::text[])`);
}

/** One dealt credit, as the market publishes it. */
export type DealRow = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly dealt_at: Date;
  readonly seller_firm_id: string;
  readonly buyer_firm_id: string;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly buyer_bps: number;
  readonly state: LegState;
};

/** The tape from one instant up to but not including another, oldest first. */
export async function listDeals(
  db: Db,
  {
    environment,
    scheme,
    from,
    to,
  }: {
    readonly environment: Environment;
    readonly scheme: Scheme;
    readonly from: Date;
    readonly to: Date;
  },
): Promise<DealRow[]> {
  return await db.rows(sql`
    select legs.settlement_id, legs.scrip_no, legs.dealt_at, legs.seller_firm_id,
      settlements.buyer_firm_id, legs.face_paise, legs.seller_bps, legs.buyer_bps, legs.state
    from settlement_legs as legs
    join settlements using (settlement_id)
    where legs.environment = ${environment} and legs.scheme = ${scheme}
      and legs.dealt_at >= ${from} and legs.dealt_at < ${to} and not legs.private
    order by legs.dealt_at, legs.settlement_id, legs.scrip_no`);
}

/** The time of the first deal on the tape. */
export async function findFirstDealAt(
  db: Db,
  { environment, scheme }: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  const [row] = await db.rows<{ dealt_at: Date }>(sql`
    select dealt_at
    from settlement_legs
    where environment = ${environment} and scheme = ${scheme} and not private
    order by dealt_at
    limit 1`);
  return row?.dealt_at;
}

export async function listStates(
  db: Db,
  settlementIds: readonly string[],
): Promise<Pick<SettlementRow, "settlement_id" | "state">[]> {
  return await db.rows(sql`
    select settlement_id, state
    from settlements
    where settlement_id = any(${settlementIds}::text[])`);
}

/** The buyers of unfunded settlements. */
export async function listUnfundedBuyers(db: Db, environment: Environment): Promise<string[]> {
  const rows = await db.rows<{ buyer_firm_id: string }>(sql`
    select distinct buyer_firm_id
    from settlements
    where environment = ${environment} and state = 'pending'`);
  return rows.map((row) => row.buyer_firm_id);
}

/** The sum of unfunded purchases by firm; firms without any are left out. */
export function listUnfunded(
  environment: Environment,
  firmIds: readonly string[],
): Query<{ firm_id: string; unfunded_paise: number }[]> {
  return query(sql`
    select buyer_firm_id as firm_id,
      least(sum(buyer_paise), 9007199254740991)::bigint as unfunded_paise
    from settlements
    where state = 'pending' and buyer_firm_id = any(${firmIds}::text[])
      and environment = ${environment}
    group by buyer_firm_id`);
}

/** Where a task stands in its list, by its deadline. */
type TaskPlace = {
  readonly settlement_id: string;
  readonly kind: TaskKind;
  /** The place of its credit; -1 for the payment. */
  readonly ordinal: number;
  readonly at: Date;
  readonly place: string;
};

type TaskFilter = {
  readonly statuses: readonly string[];
  readonly kind: string | null;
  readonly firmId: string | null;
  readonly dueBefore: Date | null;
  /** Tasks that are done or void are read of deals that were made since. */
  readonly since: Date;
  readonly now: Date;
};

const payment = fragment`
  s.settlement_id, 'pay' as kind, -1 as ordinal, coalesce(s.pay_due_at, s.created_at) as at,
  case
    when s.state = 'pending' and s.pay_due_at < asked.now then 'late'
    when s.state = 'pending' then 'waiting'
    when s.state = 'failed' and s.paid_at is null then 'void'
    else 'done'
  end as status`;

const initiation = fragment`
  l.settlement_id, 'initiate' as kind, l.ordinal,
  coalesce(l.initiate_due_at, l.initiated_at) as at,
  case
    when l.state in ('to_initiate', 'missing') and l.initiate_due_at < asked.now then 'late'
    when l.state in ('to_initiate', 'missing') then 'waiting'
    when l.initiated_at is null then 'void'
    else 'done'
  end as status`;

const acceptance = fragment`
  l.settlement_id, 'accept' as kind, l.ordinal, coalesce(l.accept_due_at, l.initiated_at) as at,
  case
    when l.state = 'to_accept' and l.accept_due_at < asked.now then 'late'
    when l.state in ('to_accept', 'missing') then 'waiting'
    when l.state = 'failed' and l.accepted_at is null then 'void'
    else 'done'
  end as status`;

const ofBuyer = fragment`
  s.buyer_desk_id = asked.desk_id and s.buyer_firm_id not in ${houses}
    and s.buyer_firm_id = coalesce(asked.firm_id, s.buyer_firm_id)`;

const ofSeller = fragment`
  l.seller_desk_id = asked.desk_id and l.seller_firm_id not in ${houses}
    and l.seller_firm_id = coalesce(asked.firm_id, l.seller_firm_id)
    and coalesce(l.initiate_due_at, l.initiated_at) is not null`;

/** Reads what is open of a desk only, however much is done. */
const openTasks = fragment`
  select ${payment}
  from asked
  join settlements as s on ${ofBuyer} and s.due_at is not null
  union all
  select ${initiation}
  from asked
  join settlement_legs as l on ${ofSeller} and l.awaited
  union all
  select ${acceptance}
  from asked
  join settlements as s on ${ofBuyer} and s.due_at is not null
  join settlement_legs as l on l.settlement_id = s.settlement_id and l.initiated_at is not null`;

/** Reads what is done of a desk too, of deals that were made since. */
const recentTasks = fragment`
  select ${payment}
  from asked
  join settlements as s on ${ofBuyer} and s.created_at >= asked.since
  union all
  select ${initiation}
  from asked
  join settlement_legs as l on ${ofSeller} and l.dealt_at >= asked.since
  union all
  select ${acceptance}
  from asked
  join settlements as s on ${ofBuyer} and s.created_at >= asked.since
  join settlement_legs as l on l.settlement_id = s.settlement_id and l.initiated_at is not null`;

const isWanted = fragment`
  t.status = any(asked.statuses) and t.kind = coalesce(asked.kind, t.kind)
    and (asked.due_before is null or t.at < asked.due_before)`;

const place = fragment`t.settlement_id || ' ' || t.kind || ' ' || t.ordinal`;

/** The soonest due first. */
export async function listTaskPlaces(
  db: Db,
  deskId: string,
  { statuses, kind, firmId, dueBefore, since, now }: TaskFilter,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<TaskPlace[]> {
  const [at, id] = [after?.at ?? null, after?.id ?? null];
  if (areOpen(statuses)) {
    return await db.rows(sql`
      with asked as (
        select ${deskId}::text as desk_id, ${firmId}::text as firm_id, ${kind}::text as kind,
          ${statuses}::text[] as statuses, ${dueBefore}::timestamptz as due_before,
          ${now}::timestamptz as now
      )
      select t.settlement_id, t.kind, t.ordinal, t.at, ${place} as place
      from (${openTasks}) as t
      cross join asked
      where ${isWanted}
        and (${at}::timestamptz is null or (t.at, ${place}) > (${at}::timestamptz, ${id}::text))
      order by t.at, ${place}
      limit ${fetch}`);
  }
  return await db.rows(sql`
    with asked as (
      select ${deskId}::text as desk_id, ${firmId}::text as firm_id, ${kind}::text as kind,
        ${statuses}::text[] as statuses, ${dueBefore}::timestamptz as due_before,
        ${since}::timestamptz as since, ${now}::timestamptz as now
    )
    select t.settlement_id, t.kind, t.ordinal, t.at, ${place} as place
    from (${recentTasks}) as t
    cross join asked
    where ${isWanted}
      and (${at}::timestamptz is null or (t.at, ${place}) > (${at}::timestamptz, ${id}::text))
    order by t.at, ${place}
    limit ${fetch}`);
}

export async function countTasks(
  db: Db,
  deskId: string,
  { statuses, kind, firmId, dueBefore, since, now }: TaskFilter,
): Promise<number> {
  if (areOpen(statuses)) {
    const [row] = await db.rows<{ total: number }>(sql`
      with asked as (
        select ${deskId}::text as desk_id, ${firmId}::text as firm_id, ${kind}::text as kind,
          ${statuses}::text[] as statuses, ${dueBefore}::timestamptz as due_before,
          ${now}::timestamptz as now
      )
      select count(*) as total
      from (${openTasks}) as t
      cross join asked
      where ${isWanted}`);
    return row?.total ?? 0;
  }
  const [row] = await db.rows<{ total: number }>(sql`
    with asked as (
      select ${deskId}::text as desk_id, ${firmId}::text as firm_id, ${kind}::text as kind,
        ${statuses}::text[] as statuses, ${dueBefore}::timestamptz as due_before,
        ${since}::timestamptz as since, ${now}::timestamptz as now
    )
    select count(*) as total
    from (${recentTasks}) as t
    cross join asked
    where ${isWanted}`);
  return row?.total ?? 0;
}

function areOpen(statuses: readonly string[]): boolean {
  return statuses.every((status) => status === "waiting" || status === "late");
}

const ledgerReports = table("ledger_reports", {
  report_id: text(),
  environment: text<Environment>(),
  /** Of the file and its time. */
  digest: text(),
  as_of: time(),
  is_whole: flag(),
  transferred: int(),
  refused: int(),
  pending: int(),
  absent: int(),
  missing: int(),
  known: int(),
  queued: json<readonly QueuedRow[]>(),
  imported_at: time(),
  imported_by: text(),
});
export type LedgerReportRow = RowOf<typeof ledgerReports>;

const reportColumns = ledgerReports.as("r");

export const { insert: insertReport } = rowsBy(ledgerReports, { key: ["report_id"] });

export async function findReport(
  db: Db,
  environment: Environment,
  digest: string,
): Promise<LedgerReportRow | undefined> {
  const [row] = await db.rows<LedgerReportRow>(sql`
    select ${reportColumns}
    from ledger_reports as r
    where r.environment = ${environment} and r.digest = ${digest}`);
  return row;
}

/** Newest first. */
export async function listReports(
  db: Db,
  {
    environment,
    before,
    limit,
  }: {
    readonly environment: Environment;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<LedgerReportRow[]> {
  return await db.rows(sql`
    select ${reportColumns}
    from ledger_reports as r
    where r.environment = ${environment}
      and (${before}::text is null or r.report_id < ${before})
    order by r.report_id desc
    limit ${limit}`);
}

/** The open settlements whose parties were told to begin. */
export async function listBegunIds(
  db: Db,
  environment: Environment,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ settlement_id: string }>(sql`
    select s.settlement_id
    from unnest(array['funded', 'transfer_initiated']) as open (state)
    cross join lateral (
      select found.settlement_id
      from settlements as found
      where found.environment = ${environment} and found.state = open.state
        and found.due_at is not null and found.begun
      order by found.due_at
      limit ${limit}
    ) as s
    order by s.settlement_id
    limit ${limit}`);
  return rows.map((row) => row.settlement_id);
}

/** The settlements in which these credits were dealt, whatever became of them. */
export async function listIdsOfCredits(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ settlement_id: string }>(sql`
    select distinct l.settlement_id
    from unnest(${scripNos}::text[]) as asked (scrip_no)
    cross join lateral (
      select settlement_id
      from settlement_legs as found
      where found.environment = ${environment} and found.scrip_no = asked.scrip_no
      offset 0
    ) as l
    order by l.settlement_id`);
  return rows.map((row) => row.settlement_id);
}

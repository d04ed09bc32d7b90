// Settlements, their legs and the commission rates of desks: writes, and reads under a lock. Workers
// claim rows with `for update skip locked`, so that two workers never take the same row.

import { type Environment, environments } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import type { StoredSteps } from "../kernel/lifecycle.ts";
import type { OriginKind, Scheme } from "../kernel/scheme.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { command, type Db, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import {
  bigint,
  flag,
  int,
  json,
  type RowOf,
  shape,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { LegState, SettlementState } from "./rules.ts";

export const settlements = table("settlements", {
  settlement_id: text(),
  environment: text<Environment>(),
  scheme: text<Scheme>(),
  /** The id of the order or cross that made the deal. */
  origin: text(),
  origin_kind: text<OriginKind>(),
  buyer_desk_id: text(),
  buyer_firm_id: text(),
  buyer_order_id: text().orNull,
  state: text<SettlementState>(),
  reason: text().orNull,
  face_paise: bigint(),
  buyer_paise: bigint(),
  due_at: time().orNull,
  money_apart: flag(),
  history: json<StoredSteps<SettlementState>>(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type SettlementRow = RowOf<typeof settlements>;

const settlementLegs = table("settlement_legs", {
  settlement_id: text(),
  scrip_no: text(),
  ordinal: int(),
  environment: text<Environment>(),
  scheme: text<Scheme>(),
  dealt_at: time(),
  seller_desk_id: text(),
  seller_firm_id: text(),
  seller_order_id: text().orNull,
  face_paise: bigint(),
  seller_bps: int(),
  buyer_bps: int(),
  seller_paise: bigint(),
  buyer_paise: bigint(),
  buyer_fee_paise: bigint(),
  buyer_gst_paise: bigint(),
  seller_fee_paise: bigint(),
  seller_gst_paise: bigint(),
  private: flag(),
  state: text<LegState>(),
  reason: text().orNull,
  /** When it was delivered or failed. */
  answered_at: time().orNull,
});
export type LegRow = RowOf<typeof settlementLegs>;

export const settlementColumns = settlements.as("s");
export const legColumns = settlementLegs.as("l");

const movedColumns = [
  "state",
  "reason",
  "due_at",
  "money_apart",
  "history",
  "version",
  "updated_at",
] as const;
const setMovedColumns = settlements.assign(movedColumns);

const answeredColumns = ["state", "reason", "answered_at"] as const;
const setAnsweredColumns = settlementLegs.assign(answeredColumns);

const lateStates = shape({ state: text(), until: time() });

export function insertSettlements(rows: readonly SettlementRow[], now: Date): Query<void> {
  const shared = { reason: null, money_apart: false, created_at: now, updated_at: now };
  return command(sql`
    insert into settlements ${settlements.values(settlements.all, rows, shared)}`);
}

/** Writes legs that are dealt now, and adds each to its minute of the tape. */
export function insertLegs(rows: readonly LegRow[], now: Date): Query<void> {
  const shared = { dealt_at: now, reason: null, answered_at: null };
  return command(sql`
    with written as (
      insert into settlement_legs ${settlementLegs.values(settlementLegs.all, rows, shared)}
      returning environment, scheme, dealt_at, face_paise, private
    )
    insert into deal_minutes as m (environment, scheme, minute, deals, shown_paise)
    select environment, scheme, date_trunc('minute', dealt_at, 'UTC') as minute, count(*),
      sum(shown_face(face_paise))
    from written
    where not private
    group by environment, scheme, minute
    order by environment, scheme, minute
    on conflict (environment, scheme, minute) do update
    set deals = m.deals + excluded.deals, shown_paise = m.shown_paise + excluded.shown_paise`);
}

/** The rows are locked. Joins by ctid, so the planner cannot choose a sequential scan. */
export async function setSettlements(tx: Tx, rows: readonly SettlementRow[]): Promise<void> {
  await tx.rows(sql`
    update settlements as s
    set ${setMovedColumns}
    from ${settlements.rows(["settlement_id", ...movedColumns], rows)} as r
    cross join lateral (
      select ctid as place
      from settlements as found
      where found.settlement_id = r.settlement_id
      limit 1
    ) as f
    where s.ctid = f.place`);
}

/** Sets state, reason and time. The settlements are locked. Joins by ctid, as above. */
export async function setLegs(tx: Tx, rows: readonly LegRow[]): Promise<void> {
  await tx.rows(sql`
    update settlement_legs as l
    set ${setAnsweredColumns}
    from ${settlementLegs.rows(["settlement_id", "scrip_no", ...answeredColumns], rows)} as r
    cross join lateral (
      select ctid as place
      from settlement_legs as found
      where found.settlement_id = r.settlement_id and found.scrip_no = r.scrip_no
      limit 1
    ) as f
    where l.ctid = f.place`);
}

/** A lateral lookup per id: the planner would otherwise scan the table for a large set. */
export async function listLegs(db: Db, settlementIds: readonly string[]): Promise<LegRow[]> {
  return await db.rows(sql`
    select ${legColumns}
    from (select distinct unnest(${settlementIds}::text[]) as settlement_id) as asked
    cross join lateral (
      select *
      from settlement_legs as found
      where found.settlement_id = asked.settlement_id
      offset 0
    ) as l
    order by l.settlement_id, l.ordinal`);
}

export async function lockSettlements(
  tx: Tx,
  settlementIds: readonly string[],
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.settlement_id = any(${settlementIds}::text[])
    order by s.settlement_id
    for update`);
}

/**
 * The environments with a settlement in one of these states, due by `dueBy` if given. Workers ask this
 * first, because usually there is none and no transaction is needed.
 */
export async function listEnvironmentsWith(
  db: Db,
  states: readonly SettlementState[],
  dueBy: Date | null = null,
): Promise<Environment[]> {
  const rows = await db.rows<{ environment: Environment }>(sql`
    select asked.environment
    from unnest(${environments}::text[]) as asked (environment)
    where exists (
      select
      from settlements as s
      where s.environment = asked.environment and s.state = any(${states}::text[])
        and s.due_at <= coalesce(${dueBy}::timestamptz, 'infinity')
    )`);
  return rows.map(({ environment }) => environment);
}

/** The settlements with an open leg for one of these credits. */
export async function listByCredits(
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
      where found.environment = ${environment} and found.scrip_no = asked.scrip_no and found.awaited
      offset 0
    ) as l
    order by l.settlement_id`);
  return rows.map((row) => row.settlement_id);
}

/** Locks the next open settlements in which only this desk and the house take part. */
export async function lockWithin(
  tx: Tx,
  { environment, deskId }: { readonly environment: Environment; readonly deskId: string },
  { after, limit }: Cursor,
): Promise<SettlementRow[]> {
  const desks = [deskId, houseFirmId[environment]];
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.due_at is not null
      and s.buyer_desk_id = any(${desks}::text[])
      and not exists (
        select
        from settlement_legs as l
        where l.settlement_id = s.settlement_id and l.seller_desk_id <> all(${desks}::text[])
      )
      and (
        s.buyer_desk_id = ${deskId}
        or exists (
          select
          from settlement_legs as l
          where l.settlement_id = s.settlement_id and l.seller_desk_id = ${deskId}
        )
      )
      and s.settlement_id || '' > ${after}
    order by s.settlement_id || ''
    limit ${limit}
    for update`);
}

/**
 * Locks the debts of desks and their firms, in one order. Advisory locks, because a debt is the sum of
 * settlements, of which the next does not exist yet.
 */
export function lockUnfunded(deskIds: readonly string[]): Query<void> {
  return command(sql`
    select pg_advisory_xact_lock(hashtext('unfunded buys'), hashtext(desk_id))
    from (
      select desk_id
      from unnest(${deskIds}::text[]) as asked (desk_id)
      order by desk_id
    ) as desks_in_order`);
}

/** Claims funded settlements, whose transfer can begin. */
export async function claimFunded(
  tx: Tx,
  environment: Environment,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = 'funded' and s.due_at is not null
      and (${only}::text[] is null or s.settlement_id = any(${only}::text[]))
      and s.settlement_id <> all(${except}::text[])
    order by s.due_at
    limit ${limit}
    for update skip locked`);
}

/** Claims unfunded settlements of these buyers, oldest first. */
export async function claimUnfunded(
  tx: Tx,
  environment: Environment,
  {
    buyerFirmIds,
    dueAfter,
    limit,
    only,
    except,
  }: Choice & {
    readonly buyerFirmIds: readonly string[];
    readonly dueAfter: Date | null;
    readonly limit: number;
  },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = 'pending'
      and s.buyer_firm_id = any(${buyerFirmIds}::text[])
      and (${dueAfter}::timestamptz is null or s.due_at > ${dueAfter})
      and (${only}::text[] is null or s.settlement_id = any(${only}::text[]))
      and s.settlement_id <> all(${except}::text[])
    order by s.due_at, s.settlement_id
    limit ${limit}
    for update skip locked`);
}

/**
 * Claims settlements in these states whose deadline is at or before the instant given for the state, up
 * to the limit of each. Of those that wait for money, only `mayEnd`; null is all.
 */
export async function claimOverdue(
  tx: Tx,
  {
    environment,
    states,
    mayEnd,
    limit,
    only,
    except,
  }: Choice & {
    readonly environment: Environment;
    readonly mayEnd: readonly string[] | null;
    readonly states: readonly { readonly state: SettlementState; readonly lateUntil: Date }[];
    readonly limit: number;
  },
): Promise<SettlementRow[]> {
  const late = lateStates.rows(
    { state: ({ state }) => state, until: ({ lateUntil }) => lateUntil },
    states,
  );
  return await tx.rows(sql`
    select ${settlementColumns}
    from ${late} as late
    cross join lateral (
      select *
      from settlements as o
      where o.environment = ${environment} and o.state = late.state and o.due_at <= late.until
        and (${only}::text[] is null or o.settlement_id = any(${only}::text[]))
        and o.settlement_id <> all(${except}::text[])
        and (${mayEnd}::text[] is null or o.state <> 'pending' or o.settlement_id = any(${mayEnd}::text[]))
      order by o.due_at
      limit ${limit}
      for update skip locked
    ) as s`);
}

type PastDue = { firmIds: readonly string[] | null; dueUntil: Date; limit: number };
export async function listPastDueRows(db: Db, environment: Environment, late: PastDue) {
  return await db.rows<SettlementRow & { readonly due_at: Date }>(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = 'pending' and s.due_at <= ${late.dueUntil}
      and (${late.firmIds}::text[] is null or s.buyer_firm_id = any(${late.firmIds}::text[]))
    order by s.due_at, s.settlement_id
    limit ${late.limit}`);
}

/** Moves deadlines earlier. The rows are locked. */
export async function moveSettlementsEarlier(
  tx: Tx,
  settlementIds: readonly string[],
  { seconds, now }: ClockAdvance,
): Promise<void> {
  await tx.rows(sql`
    update settlements
    set due_at = due_at - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where settlement_id = any(${settlementIds}::text[])`);
}

type CommissionRateRow = {
  readonly desk_id: string;
  readonly environment: Environment;
  readonly bps: number;
  readonly version: number;
  readonly updated_at: Date;
};

/** Desks without a row have the default rate. */
export async function listCommissionRates(
  db: Db,
  deskIds: readonly string[],
): Promise<CommissionRateRow[]> {
  return await db.rows(sql`
    select desk_id, environment, bps, version, updated_at
    from commission_rates
    where desk_id = any(${deskIds}::text[])`);
}

/** Concurrent calls queue on the row, so each raises the version by one. */
export async function upsertCommissionRate(
  tx: Tx,
  rate: Omit<CommissionRateRow, "version">,
): Promise<Pick<CommissionRateRow, "version">> {
  const [row] = await tx.rows<{ version: number }>(sql`
    insert into commission_rates as known (desk_id, environment, bps, version, updated_at)
    values (${rate.desk_id}, ${rate.environment}, ${rate.bps}, 1, ${rate.updated_at})
    on conflict (desk_id) do update
    set bps = excluded.bps, version = known.version + 1, updated_at = excluded.updated_at
    returning version`);
  return row ?? { version: 1 };
}

// Settlements, their legs, deals that were not paid and the commission rates of desks: writes, and reads under a lock. Workers
// claim rows with `for update skip locked`, so that two workers never take the same row.

import { type Environment, environments } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import type { StoredSteps } from "../kernel/lifecycle.ts";
import type { OriginKind, Scheme, Side } from "../kernel/scheme.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import {
  command,
  type Db,
  type Query,
  query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
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
import type {
  DealStep,
  LegScenario,
  LegState,
  SettlementState,
  TaskActor,
  TaskKind,
} from "./rules.ts";

const settlements = table("settlements", {
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
  /** When the clock ends what is open of it; null while only customs may end it. */
  ends_at: time().orNull,
  /** The earliest deadline of a task that nobody was told is late. */
  next_late_at: time().orNull,
  /** Whether its parties have been told to begin the transfers. */
  begun: flag(),
  paid_at: time().orNull,
  pay_due_at: time().orNull,
  /** What the buyer gave as the reference of its payment. */
  pay_reference: text().orNull,
  pay_late_at: time().orNull,
  money_apart: flag(),
  /** What a side that is late pays, of face. */
  default_bps: int(),
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
  /** The step that was awaited when it failed. */
  failed_step: text<DealStep>().orNull,
  /** Who initiates the transfer: the holder, or the house by its mandate or as the holder. */
  initiate_by: text<TaskActor>(),
  /** What the simulated parties do with it, in the sandbox. */
  scenario: text<LegScenario>().orNull,
  initiate_due_at: time().orNull,
  initiated_at: time().orNull,
  initiate_reference: text().orNull,
  accept_due_at: time().orNull,
  accepted_at: time().orNull,
  accept_reference: text().orNull,
  missing_at: time().orNull,
  missing_reference: text().orNull,
  missing_note: text().orNull,
  customs_due_at: time().orNull,
  /** When its party was told that the step is late. */
  late_at: time().orNull,
  /** Since when customs shows the transfer as pending, and when that was seen last. */
  pending_from: time().orNull,
  pending_until: time().orNull,
  /** The side that pays for being late, how much, and when the other side got it. */
  default_by: text<Side>().orNull,
  default_paise: bigint(),
  default_paid_at: time().orNull,
});
export type LegRow = RowOf<typeof settlementLegs>;

export type DealRows = { readonly settlement: SettlementRow; readonly legs: readonly LegRow[] };

export const settlementColumns = settlements.as("s");
export const legColumns = settlementLegs.as("l");

const movedColumns = [
  "state",
  "reason",
  "due_at",
  "ends_at",
  "next_late_at",
  "begun",
  "paid_at",
  "pay_due_at",
  "pay_reference",
  "pay_late_at",
  "money_apart",
  "history",
  "version",
  "updated_at",
] as const;
const setMovedColumns = settlements.assign(movedColumns);

const answeredColumns = [
  "state",
  "reason",
  "answered_at",
  "failed_step",
  "initiated_at",
  "default_by",
  "default_paise",
  "default_paid_at",
] as const;
const setAnsweredColumns = settlementLegs.assign(answeredColumns);

const steppedColumns = [
  "state",
  "scenario",
  "initiate_due_at",
  "initiated_at",
  "initiate_reference",
  "accept_due_at",
  "accepted_at",
  "accept_reference",
  "missing_at",
  "missing_reference",
  "missing_note",
  "customs_due_at",
  "late_at",
  "pending_from",
  "pending_until",
] as const;
const setSteppedColumns = settlementLegs.assign(steppedColumns);

const lateStates = shape({ state: text(), until: time() });

export function insertSettlements(rows: readonly SettlementRow[], now: Date): Query<void> {
  const shared = {
    reason: null,
    money_apart: false,
    pay_reference: null,
    pay_late_at: null,
    created_at: now,
    updated_at: now,
  };
  return command(sql`
    insert into settlements ${settlements.values(settlements.all, rows, shared)}`);
}

/** Writes legs that are dealt now, and adds each to its minute of the tape. */
export function insertLegs(rows: readonly LegRow[], now: Date): Query<void> {
  const shared = {
    dealt_at: now,
    reason: null,
    answered_at: null,
    failed_step: null,
    scenario: null,
    initiate_reference: null,
    accept_reference: null,
    missing_at: null,
    missing_reference: null,
    missing_note: null,
    late_at: null,
    pending_from: null,
    pending_until: null,
    default_by: null,
    default_paise: 0,
    default_paid_at: null,
  };
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
export function setSettlements(rows: readonly SettlementRow[]): Query<void> {
  return command(sql`
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
export function setLegs(rows: readonly LegRow[]): Query<void> {
  return command(sql`
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

/** Sets what the parties have done with legs. The settlements are locked. Joins by ctid, as above. */
export async function setSteppedLegs(tx: Tx, rows: readonly LegRow[]): Promise<void> {
  await tx.rows(sql`
    update settlement_legs as l
    set ${setSteppedColumns}
    from ${settlementLegs.rows(["settlement_id", "scrip_no", ...steppedColumns], rows)} as r
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

export const {
  list: listSettlementsById,
  find: findAnySettlement,
  lock: lockSettlements,
} = rowsBy(settlements, {
  key: ["settlement_id"],
});

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

/** Locks the next open settlements in these states, by their ids. */
export async function lockOpenAfter(
  tx: Tx,
  environment: Environment,
  {
    states,
    after,
    limit,
  }: {
    readonly states: readonly SettlementState[];
    readonly after: string;
    readonly limit: number;
  },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = any(${states}::text[])
      and s.due_at is not null and s.settlement_id || '' > ${after}
    order by s.settlement_id || ''
    limit ${limit}
    for update`);
}

/** Claims funded settlements whose parties are to be told to begin. */
export async function claimFunded(
  tx: Tx,
  environment: Environment,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = 'funded' and not s.begun
      and (${only}::text[] is null or s.settlement_id = any(${only}::text[]))
      and s.settlement_id <> all(${except}::text[])
    order by s.due_at
    limit ${limit}
    for update skip locked`);
}

/** Claims settlements with a task that is late and nobody was told of, by the office that counts. */
export async function claimLate(
  tx: Tx,
  environment: Environment,
  {
    until,
    limit,
    only,
    except,
  }: Choice & {
    readonly until: readonly { readonly state: SettlementState; readonly lateUntil: Date }[];
    readonly limit: number;
  },
): Promise<SettlementRow[]> {
  const late = lateStates.rows(
    { state: ({ state }) => state, until: ({ lateUntil }) => lateUntil },
    until,
  );
  return await tx.rows(sql`
    select ${settlementColumns}
    from ${late} as late
    cross join lateral (
      select *
      from settlements as o
      where o.environment = ${environment} and o.state = late.state
        and o.next_late_at <= late.until
        and (${only}::text[] is null or o.settlement_id = any(${only}::text[]))
        and o.settlement_id <> all(${except}::text[])
      order by o.next_late_at
      limit ${limit}
      for update skip locked
    ) as s`);
}

/** Claims settlements with a default that was paid and of which the other side has not got it. */
export async function claimCollected(
  tx: Tx,
  environment: Environment,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.settlement_id = any(array(
      select l.settlement_id
      from settlement_legs as l
      join settlements as deal on deal.settlement_id = l.settlement_id
      where l.environment = ${environment} and l.default_by is not null
        and l.default_paid_at is null
        and (${only}::text[] is null or l.settlement_id = any(${only}::text[]))
        and l.settlement_id <> all(${except}::text[])
        and not exists (
          select
          from ledger_balances as b
          where b.posted_paise < 0 and b.balance = 'firm_dues:' ||
            case l.default_by when 'sell' then l.seller_firm_id else deal.buyer_firm_id end
        )
      order by l.settlement_id
      limit ${limit}
    ))
    order by s.settlement_id
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
 * Claims settlements in these states that the clock ends at or before the instant given for the state, up
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
      where o.environment = ${environment} and o.state = late.state and o.ends_at <= late.until
        and (${only}::text[] is null or o.settlement_id = any(${only}::text[]))
        and o.settlement_id <> all(${except}::text[])
        and (${mayEnd}::text[] is null or o.state <> 'pending' or o.settlement_id = any(${mayEnd}::text[]))
      order by o.ends_at
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

/** Moves the deadlines of what is awaited earlier; what was done was in time or late. The rows are locked. */
export async function moveSettlementsEarlier(
  tx: Tx,
  settlementIds: readonly string[],
  { seconds, now }: ClockAdvance,
): Promise<void> {
  await tx.rows(sql`
    with by as (
      select make_interval(secs => ${seconds}) as span
    ), legs as (
      update settlement_legs
      set initiate_due_at = case
          when state in ('to_initiate', 'missing') then initiate_due_at - span
          else initiate_due_at
        end,
        accept_due_at = case when state = 'to_accept' then accept_due_at - span else accept_due_at end,
        customs_due_at = customs_due_at - span
      from by
      where settlement_id = any(${settlementIds}::text[]) and awaited
    )
    update settlements
    set due_at = due_at - span, ends_at = ends_at - span, next_late_at = next_late_at - span,
      pay_due_at = pay_due_at - span, version = version + 1, updated_at = ${now}
    from by
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
export function listCommissionRates(deskIds: readonly string[]): Query<CommissionRateRow[]> {
  return query(sql`
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

const unpaidDeals = table("unpaid_deals", {
  settlement_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  pan: text().orNull,
  buyer_paise: bigint(),
  /** What it did not do. */
  failed_step: text<TaskKind>(),
  failed_at: time(),
  until: time(),
  lifted_at: time().orNull,
  lifted_by: text().orNull,
  lift_reason: text().orNull,
});
export type UnpaidRow = RowOf<typeof unpaidDeals>;

const unpaidColumns = unpaidDeals.as("u");

export const { insert: insertUnpaid } = rowsBy(unpaidDeals, { key: ["settlement_id", "firm_id"] });

/** Those of the firms that an unpaid deal counts against: their own, or one of their PAN. */
export function listBarred(
  environment: Environment,
  firmIds: readonly string[],
  now: Date,
): Query<{ readonly firm_id: string }[]> {
  return query(sql`
    select f.firm_id
    from unnest(${firmIds}::text[]) as asked (firm_id)
    cross join lateral (
      select firm_id, pan
      from firms
      where firms.firm_id = asked.firm_id
      limit 1
    ) as f
    where exists (
      select from unpaid_deals as u
      where u.firm_id = f.firm_id and u.lifted_at is null and u.until > ${now}
        and u.environment = ${environment}
    ) or exists (
      select from unpaid_deals as u
      where u.pan = f.pan and u.lifted_at is null and u.until > ${now}
        and u.environment = ${environment}
    )`);
}

export async function findUnpaid(db: Db, settlementId: string): Promise<UnpaidRow[]> {
  return await db.rows(sql`
    select ${unpaidColumns}
    from unpaid_deals as u
    where u.settlement_id = ${settlementId}`);
}

/** Locks what still counts against the firms of a deal and their PANs, that deal included. */
export async function lockUnpaid(
  tx: Tx,
  environment: Environment,
  of: readonly Pick<UnpaidRow, "firm_id" | "pan">[],
  now: Date,
): Promise<UnpaidRow[]> {
  return await tx.rows(sql`
    select ${unpaidColumns}
    from unpaid_deals as u
    where (
        u.pan = any(${of.map(({ pan }) => pan)}::text[])
        or u.firm_id = any(${of.map(({ firm_id }) => firm_id)}::text[])
      )
      and u.environment = ${environment} and u.lifted_at is null and u.until > ${now}
    order by u.settlement_id, u.firm_id
    for update`);
}

export function setLifted(
  { ids, firmIds }: { readonly ids: readonly string[]; readonly firmIds: readonly string[] },
  { by, reason, now }: { readonly by: string; readonly reason: string; readonly now: Date },
): Query<void> {
  return command(sql`
    update unpaid_deals
    set lifted_at = ${now}, lifted_by = ${by}, lift_reason = ${reason}
    where settlement_id = any(${ids}::text[]) and firm_id = any(${firmIds}::text[])`);
}

/** Newest first. */
export async function listUnpaid(
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
): Promise<UnpaidRow[]> {
  return await db.rows(sql`
    select ${unpaidColumns}
    from unpaid_deals as u
    where u.environment = ${environment}
      and (
        ${before}::text is null
        or (u.settlement_id, u.firm_id) < (split_part(${before}, ' ', 1), split_part(${before}, ' ', 2))
      )
    order by u.settlement_id desc, u.firm_id desc
    limit ${limit}`);
}

/** The sum of unfunded purchases by desk; desks without any are left out. */
export function listUnfundedOfDesks(
  environment: Environment,
  deskIds: readonly string[],
): Query<{ desk_id: string; unfunded_paise: number }[]> {
  return query(sql`
    select buyer_desk_id as desk_id,
      least(sum(buyer_paise), 9007199254740991)::bigint as unfunded_paise
    from settlements
    where state = 'pending' and buyer_desk_id = any(${deskIds}::text[])
      and environment = ${environment}
    group by buyer_desk_id`);
}

import { type Environment, environments } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme } from "../kernel/scheme.ts";
import {
  command,
  type Db,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import {
  bigint,
  flag,
  int,
  json,
  type RowOf,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { LegState, OriginKind, SettlementState, Step } from "./rules.ts";

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
  history: json<readonly Step[]>(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type SettlementRow = RowOf<typeof settlements>;

export const settlementLegs = table("settlement_legs", {
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

export async function listStates(
  db: Db,
  settlementIds: readonly string[],
): Promise<Pick<SettlementRow, "settlement_id" | "state">[]> {
  return await db.rows(sql`
    select settlement_id, state
    from settlements
    where settlement_id = any(${settlementIds}::text[])`);
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

/** The buyers of unfunded settlements. */
export async function listUnfundedBuyers(db: Db, environment: Environment): Promise<string[]> {
  const rows = await db.rows<{ buyer_firm_id: string }>(sql`
    select distinct buyer_firm_id
    from settlements
    where environment = ${environment} and state = 'pending'`);
  return rows.map((row) => row.buyer_firm_id);
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

/** Locks the open settlements in which only this desk and the house take part. */
export async function lockWithin(
  tx: Tx,
  environment: Environment,
  deskId: string,
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
    order by s.settlement_id
    for update`);
}

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

const answeredColumns = ["state", "reason", "answered_at"] as const;
const setAnsweredColumns = settlementLegs.assign(answeredColumns);

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

/** Moves deadlines earlier. The rows are locked. */
export async function bringSettlementsNearer(
  tx: Tx,
  settlementIds: readonly string[],
  { seconds, now }: Passage,
): Promise<void> {
  await tx.rows(sql`
    update settlements
    set due_at = due_at - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where settlement_id = any(${settlementIds}::text[])`);
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

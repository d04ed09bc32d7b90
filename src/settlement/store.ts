import { type Environment, environments } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { LegState, SettlementState, Step } from "./rules.ts";

export type SettlementRow = {
  readonly settlement_id: string;
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly origin: string;
  readonly buyer_desk_id: string;
  readonly buyer_firm_id: string;
  readonly buyer_order_id: string | null;
  readonly state: SettlementState;
  readonly reason: string | null;
  readonly face_paise: number;
  readonly buyer_paise: number;
  readonly due_at: Date | null;
  readonly money_apart: boolean;
  readonly history: readonly Step[];
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export type LegRow = {
  readonly settlement_id: string;
  readonly scrip_no: string;
  readonly ordinal: number;
  readonly environment: Environment;
  readonly scheme: Scheme;
  readonly dealt_at: Date;
  readonly seller_desk_id: string;
  readonly seller_firm_id: string;
  readonly seller_order_id: string | null;
  readonly face_paise: number;
  readonly seller_bps: number;
  readonly buyer_bps: number;
  readonly seller_paise: number;
  readonly buyer_paise: number;
  readonly buyer_fee_paise: number;
  readonly buyer_gst_paise: number;
  readonly seller_fee_paise: number;
  readonly seller_gst_paise: number;
  readonly private: boolean;
  readonly state: LegState;
  readonly reason: string | null;
  /** When it was delivered or failed. */
  readonly answered_at: Date | null;
};

export const settlementColumns = fragment`
  s.settlement_id, s.environment, s.scheme, s.origin, s.buyer_desk_id, s.buyer_firm_id,
  s.buyer_order_id, s.state, s.reason, s.face_paise, s.buyer_paise, s.due_at, s.money_apart,
  s.history, s.version, s.created_at, s.updated_at`;

export const legColumns = fragment`
  l.settlement_id, l.scrip_no, l.ordinal, l.environment, l.scheme, l.dealt_at, l.seller_desk_id,
  l.seller_firm_id, l.seller_order_id, l.face_paise, l.seller_bps, l.buyer_bps, l.seller_paise,
  l.buyer_paise, l.buyer_fee_paise, l.buyer_gst_paise, l.seller_fee_paise, l.seller_gst_paise,
  l.private, l.state, l.reason, l.answered_at`;

/** What is dealt now. */
export async function insertSettlements(
  tx: Tx,
  rows: readonly SettlementRow[],
  now: Date,
): Promise<void> {
  await tx.rows(sql`
    insert into settlements (
      settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, buyer_order_id,
      state, face_paise, buyer_paise, due_at, history, version, created_at, updated_at
    )
    select
      settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, buyer_order_id,
      state, face_paise, buyer_paise, due_at, history, version, ${now}::timestamptz,
      ${now}::timestamptz
    from unnest(
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.origin)}::text[],
      ${rows.map((row) => row.buyer_desk_id)}::text[],
      ${rows.map((row) => row.buyer_firm_id)}::text[],
      ${rows.map((row) => row.buyer_order_id)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.buyer_paise)}::bigint[],
      ${rows.map((row) => row.due_at)}::timestamptz[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[]
    ) as r (
      settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id, buyer_order_id,
      state, face_paise, buyer_paise, due_at, history, version
    )`);
}

/** Writes legs that are dealt now, and adds each to its minute of the tape. */
export async function insertLegs(tx: Tx, rows: readonly LegRow[], now: Date): Promise<void> {
  await tx.rows(sql`
    with written as (
      insert into settlement_legs (
        settlement_id, scrip_no, ordinal, environment, scheme, seller_desk_id, seller_firm_id,
        seller_order_id, face_paise, seller_bps, buyer_bps, seller_paise, buyer_paise,
        buyer_fee_paise, buyer_gst_paise, seller_fee_paise, seller_gst_paise, private, state,
        dealt_at
      )
      select *, ${now}::timestamptz
      from unnest(
        ${rows.map((row) => row.settlement_id)}::text[],
        ${rows.map((row) => row.scrip_no)}::text[],
        ${rows.map((row) => row.ordinal)}::int[],
        ${rows.map((row) => row.environment)}::text[],
        ${rows.map((row) => row.scheme)}::text[],
        ${rows.map((row) => row.seller_desk_id)}::text[],
        ${rows.map((row) => row.seller_firm_id)}::text[],
        ${rows.map((row) => row.seller_order_id)}::text[],
        ${rows.map((row) => row.face_paise)}::bigint[],
        ${rows.map((row) => row.seller_bps)}::int[],
        ${rows.map((row) => row.buyer_bps)}::int[],
        ${rows.map((row) => row.seller_paise)}::bigint[],
        ${rows.map((row) => row.buyer_paise)}::bigint[],
        ${rows.map((row) => row.buyer_fee_paise)}::bigint[],
        ${rows.map((row) => row.buyer_gst_paise)}::bigint[],
        ${rows.map((row) => row.seller_fee_paise)}::bigint[],
        ${rows.map((row) => row.seller_gst_paise)}::bigint[],
        ${rows.map((row) => row.private)}::boolean[],
        ${rows.map((row) => row.state)}::text[]
      )
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

/** What is still to be delivered and paid for of these settlements, or was. */
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
 * Where there is a settlement in one of these states, and due by then if that is said. Workers ask
 * this before they open a transaction, because usually there is none.
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

/** Who has yet to pay for something. */
export async function listUnfundedBuyers(db: Db, environment: Environment): Promise<string[]> {
  const rows = await db.rows<{ buyer_firm_id: string }>(sql`
    select distinct buyer_firm_id
    from settlements
    where environment = ${environment} and state = 'pending'`);
  return rows.map((row) => row.buyer_firm_id);
}

/** The settlements that still wait for one of these credits. */
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

/** What is open between the firms of a desk and the house, and concerns nobody else. */
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

/** A worker that holds settlements and waits for a credit or a balance gives way to whoever has it. */
export async function yieldToCallers(tx: Tx): Promise<void> {
  await tx.rows(sql`set local lock_timeout = '250ms'`);
}

/** Each was locked before. They are looked up one by one, whatever the planner knows of the table. */
export async function setSettlements(tx: Tx, rows: readonly SettlementRow[]): Promise<void> {
  await tx.rows(sql`
    update settlements as s
    set state = r.state, reason = r.reason, due_at = r.due_at, money_apart = r.money_apart,
      history = r.history, version = r.version, updated_at = r.updated_at
    from unnest(
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.due_at)}::timestamptz[],
      ${rows.map((row) => row.money_apart)}::boolean[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[],
      ${rows.map((row) => row.updated_at)}::timestamptz[]
    ) as r (settlement_id, state, reason, due_at, money_apart, history, version, updated_at)
    cross join lateral (
      select ctid as place
      from settlements as found
      where found.settlement_id = r.settlement_id
      limit 1
    ) as f
    where s.ctid = f.place`);
}

/** What becomes of legs, whose settlements were locked before; their facts stay. */
export async function setLegs(tx: Tx, rows: readonly LegRow[]): Promise<void> {
  await tx.rows(sql`
    update settlement_legs as l
    set state = r.state, reason = r.reason, answered_at = r.answered_at
    from unnest(
      ${rows.map((row) => row.settlement_id)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.answered_at)}::timestamptz[]
    ) as r (settlement_id, scrip_no, state, reason, answered_at)
    cross join lateral (
      select ctid as place
      from settlement_legs as found
      where found.settlement_id = r.settlement_id and found.scrip_no = r.scrip_no
      limit 1
    ) as f
    where l.ctid = f.place`);
}

/** What is open has less time left. Each was locked before. */
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

/** What firms have bought that waits for money; those that have nothing such are left out. */
export async function listUnfunded(
  db: Db,
  environment: Environment,
  firmIds: readonly string[],
): Promise<{ firm_id: string; unfunded_paise: number }[]> {
  return await db.rows(sql`
    select buyer_firm_id as firm_id,
      least(sum(buyer_paise), 9007199254740991)::bigint as unfunded_paise
    from settlements
    where state = 'pending' and buyer_firm_id = any(${firmIds}::text[])
      and environment = ${environment}
    group by buyer_firm_id`);
}

import { type Environment, environments } from "../kernel/caller.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import {
  command,
  type Db,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import type { CrossKind, CrossState, CrossStep } from "./rules.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  flag,
  int,
  json,
  type RowOf,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";

const crosses = table("crosses", {
  cross_id: text(),
  environment: text<Environment>(),
  kind: text<CrossKind>(),
  scheme: text<Scheme>(),
  face_paise: bigint(),
  price_bps: int(),
  fee_bps: int(),
  gst_bps: int(),
  seller_paise: bigint(),
  buyer_paise: bigint(),
  proposed_by: text<Side>(),
  /** The key whose limits were charged by the proposal; null for old rows. */
  proposing_key_id: text().orNull,
  seller_iec: text(),
  seller_desk_id: text().orNull,
  seller_firm_id: text().orNull,
  buyer_iec: text(),
  buyer_desk_id: text().orNull,
  buyer_firm_id: text().orNull,
  awaited_iec: text().orNull,
  names_credits: flag(),
  scrip_nos: textList(),
  terms_hash: text(),
  state: text<CrossState>(),
  reason: text().orNull,
  payment_ref: text().orNull,
  settlement_id: text().orNull,
  netting_ref: text().orNull,
  due_at: time().orNull,
  history: json<readonly CrossStep[]>(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type CrossRow = RowOf<typeof crosses>;

export const crossColumns = crosses.as("c");

export const {
  insert: insertCrosses,
  find: findAnyCross,
  lock: lockCrosses,
} = rowsBy(crosses, { key: ["cross_id"] });

const movedColumns = [
  "seller_desk_id",
  "seller_firm_id",
  "buyer_desk_id",
  "buyer_firm_id",
  "awaited_iec",
  "scrip_nos",
  "state",
  "reason",
  "payment_ref",
  "settlement_id",
  "due_at",
  "history",
  "version",
  "updated_at",
] as const;
const setMovedColumns = crosses.assign(movedColumns);

/** Updates locked crosses; terms never change. */
export function setCrosses(rows: readonly CrossRow[]): Query<void> {
  return command(sql`
    update crosses as c
    set ${setMovedColumns}
    from ${crosses.rows(["cross_id", ...movedColumns], rows)} as r
    where c.cross_id = r.cross_id`);
}

/** The crosses of these settlements. */
export function lockBySettlements(settlementIds: readonly string[]): Query<CrossRow[]> {
  return query(sql`
    select ${crossColumns}
    from crosses as c
    where c.settlement_id = any(${settlementIds}::text[])
    order by c.cross_id
    for update`);
}

/** The crosses that have reserved one of these credits. */
export async function listByCredits(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ cross_id: string }>(sql`
    select cross_id
    from crosses
    where environment = ${environment} and state in ('agreed', 'funded')
      and scrip_nos && ${scripNos}::text[]
    order by cross_id`);
  return rows.map((row) => row.cross_id);
}

/** The environments with a cross that is due by an instant. */
export async function listDueEnvironments(db: Db, dueUntil: Date): Promise<Environment[]> {
  const rows = await db.rows<{ environment: Environment }>(sql`
    select asked.environment
    from unnest(${environments}::text[]) as asked (environment)
    where exists (
      select
      from crosses as c
      where c.environment = asked.environment and c.state in ('proposed', 'agreed', 'funded')
        and c.due_at <= ${dueUntil}
    )`);
  return rows.map(({ environment }) => environment);
}

/** Overdue crosses, locked with `skip locked`. */
export async function claimOverdue(
  tx: Tx,
  {
    environment,
    bankIsUp,
    mayEnd,
    now,
    limit,
    only,
    except,
  }: Choice & {
    readonly environment: Environment;
    /** While the bank is down, crosses that wait for it are not overdue. */
    readonly bankIsUp: boolean;
    /** Which of those that wait for money may end; null for all. */
    readonly mayEnd: readonly string[] | null;
    readonly now: Date;
    readonly limit: number;
  },
): Promise<CrossRow[]> {
  return await tx.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.environment = ${environment} and c.state in ('proposed', 'agreed', 'funded')
      and c.due_at <= ${now}
      and (${bankIsUp} or c.state <> 'agreed' or c.payment_ref is null)
      and (${mayEnd}::text[] is null or c.state <> 'agreed' or c.cross_id = any(${mayEnd}::text[]))
      and (${only}::text[] is null or c.cross_id = any(${only}::text[]))
      and c.cross_id <> all(${except}::text[])
    order by c.due_at
    limit ${limit}
    for update skip locked`);
}

/** The agreed crosses that are due by an instant, the oldest first. */
export async function listPastDueRows(
  db: Db,
  environment: Environment,
  { dueUntil, limit }: { readonly dueUntil: Date; readonly limit: number },
): Promise<(CrossRow & { readonly due_at: Date })[]> {
  return await db.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.environment = ${environment} and c.state = 'agreed' and c.due_at <= ${dueUntil}
    order by c.due_at, c.cross_id
    limit ${limit}`);
}

/** The open proposals of a desk and the open crosses among its own firms. */
export async function lockOpenOfDesk(
  tx: Tx,
  deskId: string,
  { after, limit }: Cursor,
): Promise<CrossRow[]> {
  return await tx.rows(sql`
    select ${crossColumns}
    from crosses as c
    where c.due_at is not null
      and (c.seller_desk_id = ${deskId} or c.seller_desk_id is null)
      and (c.buyer_desk_id = ${deskId} or c.buyer_desk_id is null)
      and c.cross_id || '' > ${after}
    order by c.cross_id || ''
    limit ${limit}
    for update`);
}

export type AddressedFirm = {
  readonly firm_id: string;
  readonly desk_id: string;
  readonly environment: Environment;
  readonly iec: string;
  readonly authorized_at: Date;
};

/** The authorized firms with one of these IECs, on any desk. */
export async function listAddressed(
  db: Db,
  environment: Environment,
  iecs: readonly string[],
): Promise<AddressedFirm[]> {
  return await db.rows(sql`
    select f.firm_id, f.desk_id, f.environment, f.iec, f.authorized_at
    from (select distinct unnest(${iecs}::text[]) as iec) as asked
    cross join lateral (
      select firm_id, desk_id, environment, iec, authorized_at
      from firms as found
      where found.environment = ${environment} and found.iec = asked.iec
        and found.connection_state = 'authorized'
      offset 0
    ) as f
    order by f.firm_id`);
}

/** Moves the deadlines of locked crosses earlier. */
export async function moveDeadlinesEarlier(
  tx: Tx,
  crossIds: readonly string[],
  { seconds, now }: ClockAdvance,
): Promise<void> {
  await tx.rows(sql`
    update crosses
    set due_at = due_at - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where cross_id = any(${crossIds}::text[])`);
}

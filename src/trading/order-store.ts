import type { Environment } from "../kernel/caller.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Bps, Paise } from "../kernel/money.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, fragment, isLockTimeout, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { HistoryEntry, OrderState, TimeInForce } from "./order-rules.ts";

export type OrderRow = {
  readonly order_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly key_id: string;
  readonly side: Side;
  readonly scheme: Scheme;
  readonly state: OrderState;
  readonly scrip_no: string | null;
  readonly face_paise: Paise | null;
  readonly requirement_paise: Paise | null;
  readonly limit_bps: Bps | null;
  readonly time_in_force: TimeInForce;
  readonly expires_at: Date | null;
  readonly quote_ref: string | null;
  readonly client_ref: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly scrip_nos: readonly string[];
  readonly resting_scrip_nos: readonly string[];
  readonly covered_paise: Paise;
  readonly dealt_paise: Paise;
  readonly price_bps: Bps | null;
  readonly all_in_paise: Paise;
  readonly settlement_ids: readonly string[];
  readonly history: readonly HistoryEntry[];
  /** The one firm of the key that placed it; null where that key acts for the desk. */
  readonly bound_firm_id: string | null;
  readonly idempotency_key: string | null;
  readonly request: JsonObject | null;
  readonly rested: boolean;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export const orderColumns = fragment`
  o.order_id, o.environment, o.desk_id, o.firm_id, o.key_id, o.side, o.scheme, o.state, o.scrip_no,
  o.face_paise, o.requirement_paise, o.limit_bps, o.time_in_force, o.expires_at, o.quote_ref,
  o.client_ref, o.metadata, o.scrip_nos, o.resting_scrip_nos, o.covered_paise, o.dealt_paise,
  o.price_bps, o.all_in_paise, o.settlement_ids, o.history, o.idempotency_key, o.request, o.bound_firm_id, o.rested,
  o.version, o.created_at, o.updated_at`;

/**
 * How long whoever matches waits for a row that somebody holds: everybody else waits with it. What
 * travels in a set, or in a part of one that was split, waits on outside the matching; workers hold
 * rows for some tens of milliseconds. Whoever comes alone would be refused.
 */
const heldRowMs = { alone: "500ms", set: "100ms", part: "10ms" } as const;
/** A process that stops while it matches is cut off before those behind it give up (2 s). */
const silenceMaxMs = "1500ms";

const matchingHeld = new WeakSet();

/** Whether the matching itself was not to be had in time: then no part of a set is better off. */
export function isMatchingHeld(error: unknown): boolean {
  return error instanceof Error && matchingHeld.has(error);
}

/** One matcher at a time: held until the transaction ends, and taken before any other row. */
export async function lockMatching(
  tx: Tx,
  environment: Environment,
  inSet?: { readonly isPart: boolean },
): Promise<void> {
  const ofSet = inSet?.isPart ? "part" : "set";
  const patience = heldRowMs[inSet ? ofSet : "alone"];
  const locking = tx.rows(sql`
    with matching as materialized (
      select 1
      from match_locks
      where environment = ${environment}
      for update
    )
    select set_config('lock_timeout', ${patience}, true),
      set_config('idle_in_transaction_session_timeout', ${silenceMaxMs}, true)
    from matching`);
  locking.catch((error: unknown) => {
    if (error instanceof Error && isLockTimeout(error)) matchingHeld.add(error);
  });
  await locking;
}

/** What a set places. Scrip numbers have no comma, so a list of them travels as one text. */
export async function insertOrders(
  tx: Tx,
  { environment, now }: { readonly environment: Environment; readonly now: Date },
  rows: readonly OrderRow[],
): Promise<void> {
  await tx.rows(sql`
    insert into orders (
      order_id, environment, desk_id, firm_id, key_id, side, scheme, state, scrip_no, face_paise,
      requirement_paise, limit_bps, time_in_force, expires_at, quote_ref, client_ref, metadata,
      scrip_nos, resting_scrip_nos, covered_paise, dealt_paise, price_bps, all_in_paise,
      settlement_ids, history, idempotency_key, request, bound_firm_id, rested, version, created_at,
      updated_at
    )
    select
      order_id, ${environment}::text, desk_id, firm_id, key_id, side, scheme, state, scrip_no,
      face_paise, requirement_paise, limit_bps, time_in_force, expires_at, quote_ref, client_ref,
      metadata, string_to_array(scrip_nos, ','), string_to_array(resting_scrip_nos, ','),
      covered_paise, dealt_paise, price_bps, all_in_paise, string_to_array(settlement_ids, ','),
      history, idempotency_key, request, bound_firm_id, rested, 1, ${now}::timestamptz,
      ${now}::timestamptz
    from unnest(
      ${rows.map((row) => row.order_id)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.key_id)}::text[],
      ${rows.map((row) => row.side)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.requirement_paise)}::bigint[],
      ${rows.map((row) => row.limit_bps)}::int[],
      ${rows.map((row) => row.time_in_force)}::text[],
      ${rows.map((row) => row.expires_at)}::timestamptz[],
      ${rows.map((row) => row.quote_ref)}::text[],
      ${rows.map((row) => row.client_ref)}::text[],
      ${rows.map((row) => row.metadata && JSON.stringify(row.metadata))}::jsonb[],
      ${rows.map((row) => row.scrip_nos.join(","))}::text[],
      ${rows.map((row) => row.resting_scrip_nos.join(","))}::text[],
      ${rows.map((row) => row.covered_paise)}::bigint[],
      ${rows.map((row) => row.dealt_paise)}::bigint[],
      ${rows.map((row) => row.price_bps)}::int[],
      ${rows.map((row) => row.all_in_paise)}::bigint[],
      ${rows.map((row) => row.settlement_ids.join(","))}::text[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.idempotency_key)}::text[],
      ${rows.map((row) => row.request && JSON.stringify(row.request))}::jsonb[],
      ${rows.map((row) => row.bound_firm_id)}::text[],
      ${rows.map((row) => row.rested)}::boolean[]
    ) as r (
      order_id, desk_id, firm_id, key_id, side, scheme, state, scrip_no, face_paise,
      requirement_paise, limit_bps, time_in_force, expires_at, quote_ref, client_ref, metadata,
      scrip_nos, resting_scrip_nos, covered_paise, dealt_paise, price_bps, all_in_paise,
      settlement_ids, history, idempotency_key, request, bound_firm_id, rested
    )`);
}

/** What deals and ends change; every row was read under the lock of its market. */
export async function setOrders(tx: Tx, rows: readonly OrderRow[], now: Date): Promise<void> {
  await tx.rows(sql`
    update orders as o
    set state = r.state, scrip_nos = string_to_array(r.scrip_nos, ','),
      resting_scrip_nos = string_to_array(r.resting_scrip_nos, ','),
      covered_paise = r.covered_paise, dealt_paise = r.dealt_paise, price_bps = r.price_bps,
      all_in_paise = r.all_in_paise, settlement_ids = string_to_array(r.settlement_ids, ','),
      history = r.history, version = r.version, updated_at = ${now},
      changed_in = pg_current_xact_id()
    from unnest(
      ${rows.map((row) => row.order_id)}::text[],
      ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.scrip_nos.join(","))}::text[],
      ${rows.map((row) => row.resting_scrip_nos.join(","))}::text[],
      ${rows.map((row) => row.covered_paise)}::bigint[],
      ${rows.map((row) => row.dealt_paise)}::bigint[],
      ${rows.map((row) => row.price_bps)}::int[],
      ${rows.map((row) => row.all_in_paise)}::bigint[],
      ${rows.map((row) => row.settlement_ids.join(","))}::text[],
      ${rows.map((row) => JSON.stringify(row.history))}::jsonb[],
      ${rows.map((row) => row.version)}::int[]
    ) as r (
      order_id, state, scrip_nos, resting_scrip_nos, covered_paise, dealt_paise, price_bps,
      all_in_paise, settlement_ids, history, version
    )
    where o.order_id = r.order_id`);
}

/** What was ordered earlier under these keys of these desks. */
export async function findByIdempotencyKey(
  db: Db,
  keys: readonly (Visibility & { readonly idempotencyKey: string })[],
): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from unnest(
      ${keys.map(({ deskId }) => deskId)}::text[],
      ${keys.map(({ firmId }) => firmId)}::text[],
      ${keys.map(({ idempotencyKey }) => idempotencyKey)}::text[]
    ) as k (desk_id, bound_firm_id, idempotency_key)
    join orders as o on o.desk_id = k.desk_id and o.idempotency_key = k.idempotency_key
      and o.bound_firm_id is not distinct from k.bound_firm_id`);
}

export async function findOrders(db: Db, orderIds: readonly string[]): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.order_id = any(${orderIds}::text[])`);
}

/** In the order of their ids, so that two who settle deals of the same orders wait in one line. */
export async function lockOrders(tx: Tx, orderIds: readonly string[]): Promise<OrderRow[]> {
  return await tx.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.order_id = any(${orderIds}::text[])
    order by o.order_id
    for update`);
}

export async function findOrder(
  db: Db,
  { deskId, firmId }: Visibility,
  orderId: string,
): Promise<OrderRow | undefined> {
  const [row] = await db.rows<OrderRow>(sql`
    select ${orderColumns}
    from orders as o
    where o.order_id = ${orderId} and o.desk_id = ${deskId}
      and (${firmId}::text is null or o.firm_id = ${firmId})`);
  return row;
}

export type OrderFilter = {
  readonly status: string | null;
  readonly side: Side | null;
  readonly scheme: Scheme | null;
  readonly firmId: string | null;
  readonly clientRef: string | null;
  readonly idempotencyKey: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
};

/** Newest first. */
export async function listOrderRows(
  db: Db,
  deskId: string,
  filter: OrderFilter,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.desk_id = ${deskId}
      and (o.created_at, o.order_id) < (
        coalesce(${after?.at ?? null}::timestamptz, 'infinity'), ${after?.id ?? ""}
      )
      and (${filter.status}::text is null or o.state = ${filter.status})
      and (${filter.side}::text is null or o.side = ${filter.side})
      and (${filter.scheme}::text is null or o.scheme = ${filter.scheme})
      and (${filter.firmId}::text is null or o.firm_id = ${filter.firmId})
      and (${filter.clientRef}::text is null or o.client_ref = ${filter.clientRef})
      and (${filter.idempotencyKey}::text is null or o.idempotency_key = ${filter.idempotencyKey})
      and (${filter.from}::timestamptz is null or o.created_at >= ${filter.from})
      and (${filter.to}::timestamptz is null or o.created_at < ${filter.to})
    order by o.created_at desc, o.order_id desc
    limit ${fetch}`);
}

export async function countOrders(db: Db, deskId: string, filter: OrderFilter): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from orders as o
    where o.desk_id = ${deskId}
      and (${filter.status}::text is null or o.state = ${filter.status})
      and (${filter.side}::text is null or o.side = ${filter.side})
      and (${filter.scheme}::text is null or o.scheme = ${filter.scheme})
      and (${filter.firmId}::text is null or o.firm_id = ${filter.firmId})
      and (${filter.clientRef}::text is null or o.client_ref = ${filter.clientRef})
      and (${filter.idempotencyKey}::text is null or o.idempotency_key = ${filter.idempotencyKey})
      and (${filter.from}::timestamptz is null or o.created_at >= ${filter.from})
      and (${filter.to}::timestamptz is null or o.created_at < ${filter.to})`);
  return row?.total ?? 0;
}

/** Open orders whose time has come. */
export async function listOverdue(
  db: Db,
  now: Date,
  { limit, except }: Pick<Choice, "except"> & { readonly limit: number },
): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.state = 'open' and o.expires_at <= ${now}
      and o.order_id <> all(${except}::text[])
    order by o.expires_at
    limit ${limit}`);
}

export async function listOpenOfFirm(db: Db, firmId: string, limit: number): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.firm_id = ${firmId} and o.state = 'open'
    limit ${limit}`);
}

/** What rests of a desk until a given time rests less long; how many there are. */
export async function moveOrderExpiriesEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: Passage,
): Promise<number> {
  const rows = await tx.rows(sql`
    update orders
    set expires_at = expires_at - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}, changed_in = pg_current_xact_id()
    where environment = ${environment} and desk_id = ${deskId} and state = 'open'
      and expires_at is not null
    returning order_id`);
  return rows.length;
}

import { Type } from "typebox";

import type { Environment } from "../kernel/caller.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import { type Scheme, schemes, type Side, sides } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { between, equals, list, ofFirm } from "../platform/postgres/list.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import {
  command,
  type Db,
  failedStatement,
  isLockTimeout,
  query,
  type Query,
  sql,
  type SqlStatement,
  type Tx,
} from "../platform/postgres/postgres.ts";
import type { SetAttempt } from "../platform/postgres/split.ts";
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
import {
  type HistoryEntry,
  type OrderState,
  orderStates,
  type TimeInForce,
} from "./order-rules.ts";

export const orders = table("orders", {
  order_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  key_id: text(),
  side: text<Side>(),
  scheme: text<Scheme>(),
  state: text<OrderState>(),
  scrip_no: text().orNull,
  face_paise: bigint().orNull,
  requirement_paise: bigint().orNull,
  limit_bps: int().orNull,
  time_in_force: text<TimeInForce>(),
  expires_at: time().orNull,
  quote_ref: text().orNull,
  /** The requirement that a buy was placed to cover. */
  requirement_id: text().orNull,
  client_ref: text().orNull,
  metadata: json<Readonly<Record<string, string>>>().orNull,
  scrip_nos: textList(),
  resting_scrip_nos: textList(),
  covered_paise: bigint(),
  dealt_paise: bigint(),
  price_bps: int().orNull,
  all_in_paise: bigint(),
  settlement_ids: textList(),
  history: json<readonly HistoryEntry[]>(),
  idempotency_key: text().orNull,
  request: json<JsonObject>().orNull,
  /** The firm of a sub_account key; null for keys of the desk. */
  bound_firm_id: text().orNull,
  rested: flag(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type OrderRow = RowOf<typeof orders>;

export const orderColumns = orders.as("o");

/**
 * lock_timeout for rows while the match lock is held, because every other set of the environment waits
 * meanwhile. Workers lock rows for some ten milliseconds. A set, or part of a split set, retries
 * without the match lock. A transaction outside sets, and the last try of a set, would fail, so they
 * wait longest: workers that settle many deals of one desk lock its balance for most of the time.
 */
const heldRowMs = {
  alone: "500ms",
  last: "500ms",
  set: "100ms",
  part: "10ms",
} as const;
/** PostgreSQL ends a stalled holder of the match lock before the waiting sets give up (2 s). */
const silenceMaxMs = "1500ms";

/** Whether the match lock itself timed out: then splitting the set does not help. */
export function isMatchingHeld(error: unknown): boolean {
  return isLockTimeout(error) && failedStatement(error)?.text === matchingLock.text;
}

const matchingLock = writeMatchingLock("live", heldRowMs.set);

/**
 * The lock is that of the rows in which the matcher keeps what it has seen of each scheme. They are
 * counted, so that all are locked before the timeout for rows is set.
 */
function writeMatchingLock(environment: Environment, patience: string): SqlStatement {
  return sql`
    with matching as materialized (
      select 1
      from match_locks
      where environment = ${environment}
      order by scheme
      for update
    )
    select set_config('lock_timeout', ${patience}, true),
      set_config('idle_in_transaction_session_timeout', ${silenceMaxMs}, true)
    from (select count(*) as schemes from matching) as locked
    where locked.schemes > 0`;
}

/** Takes the match lock until the transaction ends; always the first lock, so that no two wait in a circle. */
export function lockMatching(environment: Environment, inSet?: SetAttempt): Query<void> {
  const ofWhole = inSet?.isLast ? "last" : "set";
  const ofSet = inSet?.isPart ? "part" : ofWhole;
  return command(writeMatchingLock(environment, heldRowMs[inSet ? ofSet : "alone"]));
}

/** What a set places. */
export function insertOrders(
  { environment, now }: { readonly environment: Environment; readonly now: Date },
  rows: readonly OrderRow[],
): Query<void> {
  const shared = { environment, version: 1, created_at: now, updated_at: now };
  return command(sql`
    insert into orders ${orders.values(orders.all, rows, shared)}`);
}

const dealtColumns = [
  "state",
  "scrip_nos",
  "resting_scrip_nos",
  "covered_paise",
  "dealt_paise",
  "price_bps",
  "all_in_paise",
  "settlement_ids",
  "history",
  "version",
] as const;
const setDealtColumns = orders.assign(dealtColumns);

/** Updates the columns that deals and endings change. The rows were read under the match lock. */
export function setOrders(rows: readonly OrderRow[], now: Date): Query<void> {
  return command(sql`
    update orders as o
    set ${setDealtColumns}, updated_at = ${now}, changed_in = pg_current_xact_id()
    from ${orders.rows(["order_id", ...dealtColumns], rows)} as r
    where o.order_id = r.order_id`);
}

/** Orders that were placed under these idempotency keys. */
export function findByIdempotencyKey(
  keys: readonly (Visibility & { readonly idempotencyKey: string })[],
): Query<OrderRow[]> {
  const asked = orders.rows(
    {
      desk_id: ({ deskId }) => deskId,
      bound_firm_id: ({ firmId }) => firmId,
      idempotency_key: ({ idempotencyKey }) => idempotencyKey,
    },
    keys,
  );
  return query(sql`
    select ${orderColumns}
    from ${asked} as k
    join orders as o on o.desk_id = k.desk_id and o.idempotency_key = k.idempotency_key
      and o.bound_firm_id is not distinct from k.bound_firm_id`);
}

/** The orders that were placed to cover these requirements, oldest first. */
export async function listOrdersOfRequirements(
  db: Db,
  requirementIds: readonly string[],
): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.requirement_id = any(${requirementIds}::text[])
    order by o.order_id`);
}

export function findOrders(orderIds: readonly string[]): Query<OrderRow[]> {
  return query(sql`
    select ${orderColumns}
    from orders as o
    where o.order_id = any(${orderIds}::text[])`);
}

/** Locked in the sequence of their ids: no deadlock between settlements of the same orders. */
export async function lockOrders(tx: Tx, orderIds: readonly string[]): Promise<OrderRow[]> {
  return await tx.rows(sql`
    select ${orderColumns}
    from orders as o
    where o.order_id = any(${orderIds}::text[])
    order by o.order_id
    for update`);
}

const shortText = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));

export const orderList = list(orders, {
  name: "orders",
  within: ["desk_id", "firm_id"],
  newestFirst: ["created_at", "order_id"],
  filters: {
    status: equals(
      "state",
      Type.Optional(closedEnum(orderStates, { description: "Only those in this state." })),
    ),
    side: equals("side", Type.Optional(closedEnum(sides, { description: "Only of this side." }))),
    scheme: equals(
      "scheme",
      Type.Optional(closedEnum(schemes, { description: "Only of this scheme." })),
    ),
    firm_id: ofFirm(shortText(64, "Only those of this firm.")),
    client_ref: equals("client_ref", shortText(100, "Only those that you gave this name.")),
    idempotency_key: equals(
      "idempotency_key",
      shortText(255, "Only those that were placed under this Idempotency-Key."),
    ),
    ...between("created_at", "placed"),
  },
});

/**
 * Orders of every desk, for the operator. An id begins with its time, so the newest are the largest
 * ids, which the primary key finds.
 */
export async function listAllOrderRows(
  db: Db,
  filter: {
    readonly status: OrderState | null;
    readonly side: Side | null;
    readonly scheme: Scheme | null;
    readonly environment: Environment | null;
    readonly fromId: string | null;
    readonly toId: string | null;
  },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<OrderRow[]> {
  return await db.rows(sql`
    select ${orderColumns}
    from orders as o
    where (${after?.id ?? null}::text is null or o.order_id < ${after?.id ?? null})
      and (${filter.environment}::text is null or o.environment = ${filter.environment})
      and (${filter.status}::text is null or o.state = ${filter.status})
      and (${filter.side}::text is null or o.side = ${filter.side})
      and (${filter.scheme}::text is null or o.scheme = ${filter.scheme})
      and (${filter.fromId}::text is null or o.order_id >= ${filter.fromId})
      and (${filter.toId}::text is null or o.order_id < ${filter.toId})
    order by o.order_id desc
    limit ${fetch}`);
}

/** Open orders past their expiry. */
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

/** Moves GTD expiries of a desk earlier; returns the ids. No index has their order. */
export async function moveOrderExpiriesEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: ClockAdvance,
  { after, limit }: Cursor,
): Promise<string[]> {
  const rows = await tx.rows<{ order_id: string }>(sql`
    update orders
    set expires_at = expires_at - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}, changed_in = pg_current_xact_id()
    where order_id = any(array(
      select order_id
      from orders
      where environment = ${environment} and desk_id = ${deskId} and state = 'open'
        and expires_at is not null and created_at <= ${now} and order_id || '' > ${after}
      order by order_id || ''
      limit ${limit}
      for update
    ))
    returning order_id`);
  return rows.map(({ order_id }) => order_id).toSorted();
}

/** The open orders of a desk, without a lock. No index has this order. */
export async function listOpenIds(
  db: Db,
  { environment, deskId }: { readonly environment: Environment; readonly deskId: string },
  { after, limit }: Cursor,
): Promise<string[]> {
  const rows = await db.rows<{ order_id: string }>(sql`
    select order_id
    from orders
    where environment = ${environment} and desk_id = ${deskId} and state = 'open'
      and order_id || '' > ${after}
    order by order_id || ''
    limit ${limit}`);
  return rows.map(({ order_id }) => order_id);
}

// Deliveries that have a row of their own: those that failed, took long or were given up, and all from
// before there were blocks. The table is divided by the month of `created_at`: a statement that changes
// rows by their place in a table names that column too, which says in which month the place is.

import type { Environment } from "../kernel/caller.ts";
import { command, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bigint, int, type RowOf, shape, table, text, time } from "../platform/postgres/table.ts";
import type { DeliveryState, Reason } from "./delivery-rules.ts";
import type { OwnedReceiver, SendRoom } from "./share-rules.ts";

const deliveries = table("deliveries", {
  delivery_id: text(),
  webhook_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  sequence: bigint(),
  event: text(),
  state: text<DeliveryState>(),
  due_at: time(),
  lease: int(),
  attempts: int(),
  tries: int(),
  last_status: int().orNull,
  reason: text<Reason>().orNull,
  version: int(),
  created_at: time(),
  updated_at: time(),
});
type DeliveryColumns = RowOf<typeof deliveries>;

/** A delivery that is given up without an attempt. */
export type DeadLetter = Pick<
  DeliveryColumns,
  | "delivery_id"
  | "webhook_id"
  | "environment"
  | "desk_id"
  | "sequence"
  | "event"
  | "reason"
  | "lease"
  | "version"
  | "created_at"
>;

export async function insertDeadLetters(
  tx: Tx,
  letters: readonly DeadLetter[],
  now: Date,
): Promise<void> {
  const inserted = deliveries.values(deliveries.all, letters, {
    state: "dead",
    due_at: now,
    attempts: 0,
    tries: 0,
    last_status: null,
    updated_at: now,
  });
  await tx.rows(sql`
    insert into deliveries ${inserted}`);
}

export type DueQueue = OwnedReceiver & {
  readonly url: string;
  readonly state: string;
  readonly deleted: boolean;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: Date | null;
};

const roomOfEnvironments = shape({ environment: text<Environment>(), most: int() });

export type EnvironmentRoom = { readonly environment: Environment; readonly most: SendRoom };

/**
 * Claims queues with due deliveries of each environment, least recently served first, except those of
 * full receivers and desks.
 */
export async function claimDueQueues(
  tx: Tx,
  {
    now,
    full,
    rooms,
  }: {
    readonly now: Date;
    readonly full: { readonly webhookIds: readonly string[]; readonly deskIds: readonly string[] };
    readonly rooms: readonly EnvironmentRoom[];
  },
): Promise<DueQueue[]> {
  return await tx.rows(sql`
    select w.webhook_id, w.desk_id, w.environment, w.url, w.state,
      w.deleted_at is not null as deleted, w.secret_sealed, w.previous_secret_sealed,
      w.previous_secret_until
    from ${roomOfEnvironments.rows(roomOfEnvironments.all, rooms)} as room
    cross join lateral (
      select due.webhook_id, due.served_at
      from webhook_queues as due
      cross join lateral (
        select desk_id
        from webhooks as mine
        where mine.webhook_id = due.webhook_id and mine.environment = room.environment
          and (mine.state <> 'paused' or mine.deleted_at is not null)
        limit 1
      ) as owner
      where due.ready_at <= ${now} and due.webhook_id <> all(${full.webhookIds}::text[])
        and owner.desk_id <> all(${full.deskIds}::text[])
      order by due.served_at nulls first, due.webhook_id
      limit room.most
      for no key update of due skip locked
    ) as q
    cross join lateral (
      select *
      from webhooks as own
      where own.webhook_id = q.webhook_id
      limit 1
    ) as w
    order by q.served_at nulls first, q.webhook_id`);
}

export type ClaimedDelivery = {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly event: string;
  readonly lease: number;
  readonly tries: number;
  /** Where its event is. */
  readonly desk_id: string;
  readonly sequence: number;
};

export const roomOfQueues = shape({ webhook_id: text(), most: int() });

export type QueueRoom = { readonly webhook_id: string; readonly most: SendRoom };

/** Leases due deliveries that have rows of their own, up to a number per queue. */
export async function claimDeliveries(
  tx: Tx,
  rooms: readonly QueueRoom[],
  { now, leaseEndsAt }: { readonly now: Date; readonly leaseEndsAt: Date },
): Promise<ClaimedDelivery[]> {
  return await tx.rows(sql`
    update deliveries as d
    set due_at = ${leaseEndsAt}, lease = d.lease + 1
    from ${roomOfQueues.rows(roomOfQueues.all, rooms)} as room
    cross join lateral (
      select ctid as place, created_at
      from deliveries
      where webhook_id = room.webhook_id and state = 'pending' and due_at <= ${now}
      order by due_at
      limit room.most
      for update skip locked
    ) as due
    where d.ctid = due.place and d.created_at = due.created_at
    returning d.delivery_id, d.webhook_id, d.event, d.lease, d.tries, d.desk_id, d.sequence`);
}

/**
 * After a claim: sets when the queues are due next. A lease counts with its end, so that what a crashed
 * process has leased becomes due again.
 */
export function setServed(webhookIds: readonly string[], now: Date): Query<void> {
  return command(sql`
    update webhook_queues as q
    set served_at = ${now},
      ready_at = least(
        (
          select due_at
          from deliveries
          where webhook_id = q.webhook_id and state = 'pending'
          order by due_at
          limit 1
        ),
        (
          select due_at
          from delivery_blocks
          where webhook_id = q.webhook_id
          order by due_at
          limit 1
        )
      )
    where q.webhook_id = any(${webhookIds}::text[])`);
}

/** Marks pending deliveries of disabled or deleted webhooks as dead. */
export async function setDead(
  tx: Tx,
  {
    webhookIds,
    reason,
    fetch,
    now,
  }: {
    readonly webhookIds: readonly string[];
    readonly reason: Reason;
    readonly fetch: number;
    readonly now: Date;
  },
): Promise<number> {
  const rows = await tx.rows(sql`
    update deliveries as d
    set state = 'dead', reason = ${reason}, version = d.version + 1, updated_at = ${now}
    from (
      select ctid as place, created_at
      from deliveries
      where webhook_id = any(${webhookIds}::text[]) and state = 'pending'
      limit ${fetch}
      for update skip locked
    ) as ended
    where d.ctid = ended.place and d.created_at = ended.created_at
    returning 1`);
  return rows.length;
}

export async function setReplayed(
  tx: Tx,
  rows: readonly { readonly deliveryId: string; readonly dueAt: Date }[],
  now: Date,
): Promise<void> {
  const replayed = deliveries.rows(
    { delivery_id: ({ deliveryId }) => deliveryId, due_at: ({ dueAt }) => dueAt },
    rows,
  );
  await tx.rows(sql`
    update deliveries as d
    set state = 'pending', due_at = r.due_at, tries = 0, reason = null, version = d.version + 1,
      updated_at = ${now}
    from ${replayed} as r
    where d.delivery_id = r.delivery_id`);
}

/** Moves `ready_at` of queues earlier, locking them in the order of their ids. */
export async function lowerNextDue(
  tx: Tx,
  webhookIds: readonly string[],
  dueAt: Date,
): Promise<void> {
  await tx.rows(sql`
    with locked as (
      select webhook_id
      from webhook_queues
      where webhook_id = any(${webhookIds}::text[])
      order by webhook_id
      for update
    )
    update webhook_queues as q
    set ready_at = least(q.ready_at, ${dueAt}::timestamptz)
    from locked
    where q.webhook_id = locked.webhook_id`);
}

import { sql, type Tx } from "../platform/postgres/postgres.ts";
import type { Reason } from "./delivery-rules.ts";
import { int, shape, text } from "../platform/postgres/table.ts";
import { deliveries } from "./fan-out-store.ts";

export type DueQueue = {
  readonly webhook_id: string;
  readonly url: string;
  readonly state: string;
  readonly deleted: boolean;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: Date | null;
};

/** Claims queues with due deliveries, least recently served first, except full receivers. */
export async function claimDueQueues(
  tx: Tx,
  {
    now,
    full,
    fetch,
  }: { readonly now: Date; readonly full: readonly string[]; readonly fetch: number },
): Promise<DueQueue[]> {
  return await tx.rows(sql`
    select w.webhook_id, w.url, w.state, w.deleted_at is not null as deleted, w.secret_sealed,
      w.previous_secret_sealed, w.previous_secret_until
    from (
      select webhook_id, served_at
      from webhook_queues
      where next_due_at <= ${now} and webhook_id <> all(${full}::text[])
      order by served_at nulls first, webhook_id
      limit ${fetch}
      for update skip locked
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

const roomOfQueues = shape({ webhook_id: text(), most: int() });

/**
 * Leases due deliveries, up to a number per queue. Sets each queue's
 * `next_due_at` to its earliest pending delivery; a lease counts with its end, so that the deliveries
 * of a crashed process become due again.
 */
export async function claimDeliveries(
  tx: Tx,
  rooms: readonly { readonly webhookId: string; readonly most: number }[],
  { now, leaseEndsAt }: { readonly now: Date; readonly leaseEndsAt: Date },
): Promise<ClaimedDelivery[]> {
  const found = roomOfQueues.rows(
    { webhook_id: ({ webhookId }) => webhookId, most: ({ most }) => most },
    rooms,
  );
  return await tx.rows(sql`
    with room as (
      select webhook_id, most
      from ${found} as r
    ),
    claimed as (
      update deliveries as d
      set due_at = ${leaseEndsAt}, lease = d.lease + 1
      from room
      cross join lateral (
        select ctid as place
        from deliveries
        where webhook_id = room.webhook_id and state = 'pending' and due_at <= ${now}
        order by due_at
        limit room.most
        for update skip locked
      ) as due
      where d.ctid = due.place
      returning d.delivery_id, d.webhook_id, d.event, d.lease, d.tries, d.desk_id, d.sequence
    ),
    served as (
      update webhook_queues as q
      set served_at = ${now},
        next_due_at = least(
          (
            select d.due_at
            from deliveries as d
            where d.webhook_id = q.webhook_id and d.state = 'pending'
              and d.delivery_id not in (select delivery_id from claimed)
            order by d.due_at
            limit 1
          ),
          (select ${leaseEndsAt}::timestamptz from claimed where webhook_id = q.webhook_id limit 1)
        )
      from room
      where q.webhook_id = room.webhook_id
    )
    select delivery_id, webhook_id, event, lease, tries, desk_id, sequence
    from claimed`);
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
      select ctid as place
      from deliveries
      where webhook_id = any(${webhookIds}::text[]) and state = 'pending'
      limit ${fetch}
      for update skip locked
    ) as ended
    where d.ctid = ended.place
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

/** Moves `next_due_at` of queues earlier, locking them in the order of their ids. */
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
    set next_due_at = least(q.next_due_at, ${dueAt}::timestamptz)
    from locked
    where q.webhook_id = locked.webhook_id`);
}

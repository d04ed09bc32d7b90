// The deliveries that are written by the block: those that wait for their first attempt, and those that
// it delivered.

import type { Environment } from "../kernel/caller.ts";
import { type Db, query, type Query, sql, type Tx } from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  bigintList,
  int,
  type RowOf,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { PackedDelivered } from "./block-rules.ts";
import { type QueueRoom, roomOfQueues } from "./delivery-store.ts";

const deliveryBlocks = table("delivery_blocks", {
  webhook_id: text(),
  first_sequence: bigint(),
  environment: text<Environment>(),
  desk_id: text(),
  sequences: bigintList(),
  due_at: time(),
  lease: int(),
  created_at: time(),
});

export type WaitingBlock = RowOf<typeof deliveryBlocks>;

export const { insert: insertBlocks } = rowsBy(deliveryBlocks, {
  key: ["webhook_id", "first_sequence"],
});

/** Due blocks of queues, each queue's that are due longest first, as many as its room takes. */
export async function lockDueBlocks(
  tx: Tx,
  rooms: readonly QueueRoom[],
  now: Date,
): Promise<WaitingBlock[]> {
  return await tx.rows(sql`
    select b.webhook_id, b.first_sequence, b.environment, b.desk_id,
      array_to_json(b.sequences) as sequences, b.due_at, b.lease, b.created_at
    from ${roomOfQueues.rows(roomOfQueues.all, rooms)} as room
    cross join lateral (
      select due.*,
        sum(cardinality(due.sequences)) over (order by due.due_at, due.first_sequence)
          - cardinality(due.sequences) as before
      from (
        select *
        from delivery_blocks
        where webhook_id = room.webhook_id and due_at <= ${now}
        order by due_at, first_sequence
        limit room.most
        for update skip locked
      ) as due
    ) as b
    where b.before < room.most`);
}

/** Leases blocks for what they hold from now on; the rest of each is a block of its own. */
export function takeBlocks(
  taken: readonly WaitingBlock[],
  rest: readonly WaitingBlock[],
): Query<unknown[]> {
  const changed = ["sequences", "due_at", "lease"] as const;
  const rows = deliveryBlocks.rows(["webhook_id", "first_sequence", ...changed], taken);
  return query(sql`
    with rest as (
      insert into delivery_blocks ${deliveryBlocks.values(deliveryBlocks.all, rest)}
    )
    update delivery_blocks as b
    set ${deliveryBlocks.assign(changed)}
    from ${rows} as r
    where b.webhook_id = r.webhook_id and b.first_sequence = r.first_sequence`);
}

/** Takes blocks of disabled or deleted webhooks, also those that are being sent. */
export async function removeBlocks(
  tx: Tx,
  webhookIds: readonly string[],
  fetch: number,
): Promise<WaitingBlock[]> {
  return await tx.rows(sql`
    delete from delivery_blocks as b
    using (
      select ctid as place
      from delivery_blocks
      where webhook_id = any(${webhookIds}::text[])
      limit ${fetch}
      for update skip locked
    ) as ended
    where b.ctid = ended.place
    returning b.webhook_id, b.first_sequence, b.environment, b.desk_id,
      array_to_json(b.sequences) as sequences, b.due_at, b.lease, b.created_at`);
}

export type DeliveredBlock = PackedDelivered & {
  readonly webhook_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly lease: number;
  readonly created_at: Date;
  readonly delivered_at: Date;
};

type PageOfWebhook = {
  readonly webhookId: string;
  /** The sequence before which the page begins; null for the first page. */
  readonly before: number | null;
  readonly fetch: number;
};

/**
 * Waiting blocks that hold the next `fetch` deliveries of a subscription, newest first. The first block
 * may reach past the place where the page begins, so its deliveries do not count.
 */
export async function listWaitingBlocks(
  db: Db,
  { webhookId, before, fetch }: PageOfWebhook,
): Promise<WaitingBlock[]> {
  return await db.rows(sql`
    with next as materialized (
      select *, cardinality(sequences) as deliveries
      from delivery_blocks
      where webhook_id = ${webhookId} and (${before}::bigint is null or first_sequence < ${before})
      order by first_sequence desc
      limit ${fetch}::bigint + 1
    )
    select webhook_id, first_sequence, environment, desk_id,
      array_to_json(sequences) as sequences, due_at, lease, created_at
    from (
      select *,
        sum(deliveries) over latest - deliveries - first_value(deliveries) over latest as later
      from next
      window latest as (order by first_sequence desc)
    ) as summed
    where later < ${fetch}::bigint`);
}

/** The same of blocks that were delivered. */
export async function listDeliveredBlocks(
  db: Db,
  { webhookId, before, fetch }: PageOfWebhook,
): Promise<DeliveredBlock[]> {
  return await db.rows(sql`
    with next as materialized (
      select *
      from delivered_blocks
      where webhook_id = ${webhookId} and (${before}::bigint is null or first_sequence < ${before})
      order by first_sequence desc
      limit ${fetch}::bigint + 1
    )
    select webhook_id, environment, desk_id, lease, encode(ids, 'hex') as ids, packed, created_at,
      delivered_at
    from (
      select *,
        sum(deliveries) over latest - deliveries - first_value(deliveries) over latest as later
      from next
      window latest as (order by first_sequence desc)
    ) as summed
    where later < ${fetch}::bigint`);
}

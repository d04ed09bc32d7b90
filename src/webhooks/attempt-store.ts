// Records the results of delivery attempts: of deliveries that have rows of their own, and of blocks.

import { type Db, fragment, sql } from "../platform/postgres/postgres.ts";
import {
  bigint,
  bytes,
  flag,
  hex,
  int,
  type RowOf,
  shape,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { DeliveryState, DeliveryOutcome, Reason } from "./delivery-rules.ts";

const deliveryAttempts = table("delivery_attempts", {
  delivery_id: text(),
  lease: int(),
  at: time(),
  duration_ms: int(),
  outcome: text<DeliveryOutcome>(),
  status: int().orNull,
  reason: text<Reason>().orNull,
  answer: text(),
});
export type AttemptRow = RowOf<typeof deliveryAttempts>;

export type QueueUpdate = {
  readonly webhookId: string;
  /** The earliest retry; null when there is none. */
  readonly dueAt: Date | null;
  readonly succeeded: boolean;
  readonly failed: boolean;
};

const queueUpdates = shape({
  webhook_id: text(),
  due_at: time().orNull,
  succeeded: flag(),
  failed: flag(),
});

function toQueueRows(news: readonly QueueUpdate[]) {
  return queueUpdates.rows(
    {
      webhook_id: ({ webhookId }) => webhookId,
      due_at: ({ dueAt }) => dueAt,
      succeeded: ({ succeeded }) => succeeded,
      failed: ({ failed }) => failed,
    },
    news,
  );
}

/** Updates the queues that change, in the order of their ids: a part of both statements. */
const tellQueues = fragment`
    told as (
      select q.webhook_id, n.due_at, n.succeeded, n.now
      from news as n
      join webhook_queues as q on q.webhook_id = n.webhook_id
      where n.failed or q.failing_since is not null
      order by q.webhook_id
      for update of q
    ),
    changed as (
      update webhook_queues as q
      set ready_at = least(q.ready_at, told.due_at),
        failing_since = case
          when told.succeeded then null
          else coalesce(q.failing_since, told.now)
        end
      from told
      where q.webhook_id = told.webhook_id
      returning q.webhook_id, q.failing_since
    )`;

export type FailingQueue = { readonly webhook_id: string; readonly failing_since: Date | null };

const attemptResults = shape({
  ...deliveryAttempts.described,
  state: text<DeliveryState>(),
  due_at: time(),
});
/** An attempt, and the next state of its delivery. */
type AttemptResultRow = RowOf<typeof attemptResults>;

/**
 * Records attempts in one statement, because it delays the next claim.
 *
 *   kept      every attempt, even when another process holds the lease by now: the POST was made
 *   settled   deliveries that still have the attempt's lease. Joins by ctid, so that the planner cannot
 *             choose to scan all pending deliveries; `created_at` says in which month that place is
 *
 * Idempotent. Returns since when the queues that it changed have been failing.
 */
export async function settleAttempts(
  db: Db,
  {
    made,
    news,
    now,
  }: {
    readonly made: readonly AttemptResultRow[];
    readonly news: readonly QueueUpdate[];
    readonly now: Date;
  },
): Promise<FailingQueue[]> {
  return await db.rows(sql`
    with made as (
      select *
      from ${attemptResults.rows(attemptResults.all, made)} as m
    ),
    kept as (
      insert into delivery_attempts (${deliveryAttempts.columns})
      select ${deliveryAttempts.columns}
      from made
      on conflict (delivery_id, lease, at) do nothing
    ),
    settled as (
      update deliveries as d
      set state = made.state, due_at = made.due_at, attempts = d.attempts + 1, tries = d.tries + 1,
        last_status = made.status, reason = made.reason, version = d.version + 1,
        updated_at = ${now}
      from made
      cross join lateral (
        select found.ctid as place, found.created_at, found.state, found.version
        from deliveries as found
        where found.delivery_id = made.delivery_id
        limit 1
      ) as f
      where d.ctid = f.place and d.created_at = f.created_at and d.lease = made.lease
        and d.version = f.version and f.state = 'pending'
    ),
    news as (
      select *, ${now}::timestamptz as now
      from ${toQueueRows(news)} as n
    ),
    ${tellQueues}
    select webhook_id, failing_since
    from changed`);
}

/** Keeps attempts whose blocks another process holds by now. */
export async function keepAttempts(db: Db, made: readonly AttemptRow[]): Promise<void> {
  await db.rows(sql`
    insert into delivery_attempts ${deliveryAttempts.values(deliveryAttempts.all, made)}
    on conflict (delivery_id, lease, at) do nothing`);
}

const endedBlocks = shape({
  webhook_id: text(),
  first_sequence: bigint(),
  lease: int(),
  last_sequence: bigint(),
  deliveries: int(),
  ids: hex(),
  packed: bytes(),
});
/** A block whose attempts were made, with those of its deliveries that were taken. */
export type EndedBlock = RowOf<typeof endedBlocks>;

const apartDeliveries = shape({
  webhook_id: text(),
  first_sequence: bigint(),
  delivery_id: text(),
  sequence: bigint(),
  event: text(),
  state: text<DeliveryState>(),
  due_at: time(),
  lease: int(),
  attempts: int(),
  last_status: int().orNull,
  reason: text<Reason>().orNull,
});
/** A delivery that leaves its block, whose first sequence it names. */
export type ApartDelivery = RowOf<typeof apartDeliveries>;

/**
 * Records blocks in one statement.
 *
 *   ended     blocks that still have the lease of the attempts; they wait no longer
 *   taken     their deliveries that were taken, as one row
 *   apart     their deliveries that failed or are still being sent: each gets its row
 *   kept      attempts that failed
 *
 * Idempotent. Returns the blocks that ended, and since when the queues that it changed have been failing.
 */
export async function settleBlocks(
  db: Db,
  {
    blocks,
    apart,
    made,
    news,
    now,
  }: {
    readonly blocks: readonly EndedBlock[];
    readonly apart: readonly ApartDelivery[];
    readonly made: readonly AttemptRow[];
    readonly news: readonly QueueUpdate[];
    readonly now: Date;
  },
): Promise<(FailingQueue & { readonly first_sequence: number | null })[]> {
  return await db.rows(sql`
    with blocks as materialized (
      select *
      from ${endedBlocks.rows(endedBlocks.all, blocks)} as b
    ),
    ended as (
      delete from delivery_blocks as d
      using blocks
      cross join lateral (
        select found.ctid as place
        from delivery_blocks as found
        where found.webhook_id = blocks.webhook_id
          and found.first_sequence = blocks.first_sequence
        limit 1
      ) as f
      where d.ctid = f.place and d.lease = blocks.lease
      returning d.webhook_id, d.first_sequence, d.environment, d.desk_id, d.created_at
    ),
    taken as (
      insert into delivered_blocks (
        webhook_id, first_sequence, last_sequence, environment, desk_id, deliveries, lease, ids,
        packed, created_at, delivered_at
      )
      select b.webhook_id, b.first_sequence, b.last_sequence, e.environment, e.desk_id,
        b.deliveries, b.lease, b.ids, b.packed, e.created_at, ${now}
      from blocks as b
      join ended as e on e.webhook_id = b.webhook_id and e.first_sequence = b.first_sequence
      where b.deliveries > 0
    ),
    apart as (
      insert into deliveries (
        delivery_id, webhook_id, environment, desk_id, sequence, event, state, due_at, lease,
        attempts, tries, last_status, reason, version, created_at, updated_at
      )
      select a.delivery_id, a.webhook_id, e.environment, e.desk_id, a.sequence, a.event, a.state,
        a.due_at, a.lease, a.attempts, a.attempts, a.last_status, a.reason, a.attempts + 1,
        e.created_at, case a.attempts when 0 then e.created_at else ${now} end
      from ${apartDeliveries.rows(apartDeliveries.all, apart)} as a
      join ended as e on e.webhook_id = a.webhook_id and e.first_sequence = a.first_sequence
    ),
    kept as (
      insert into delivery_attempts (${deliveryAttempts.columns})
      select ${deliveryAttempts.columns}
      from ${deliveryAttempts.rows(deliveryAttempts.all, made)} as m
      on conflict (delivery_id, lease, at) do nothing
    ),
    news as (
      select *, ${now}::timestamptz as now
      from ${toQueueRows(news)} as n
    ),
    ${tellQueues}
    select webhook_id, first_sequence, null::timestamptz as failing_since
    from ended
    union all
    select webhook_id, null, failing_since
    from changed`);
}

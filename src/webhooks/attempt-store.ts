// Records the results of delivery attempts.

import { type Db, sql } from "../platform/postgres/postgres.ts";
import { flag, int, type RowOf, shape, table, text, time } from "../platform/postgres/table.ts";
import type { DeliveryState, Outcome, Reason } from "./delivery-rules.ts";

const deliveryAttempts = table("delivery_attempts", {
  delivery_id: text(),
  lease: int(),
  at: time(),
  duration_ms: int(),
  outcome: text<Outcome>(),
  status: int().orNull,
  reason: text<Reason>().orNull,
  answer: text(),
});
export type AttemptRow = RowOf<typeof deliveryAttempts>;

const attemptResults = shape({
  ...deliveryAttempts.described,
  state: text<DeliveryState>(),
  due_at: time(),
});
/** An attempt, and the next state of its delivery. */
export type AttemptResultRow = RowOf<typeof attemptResults>;

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

/**
 * Records attempts in one statement, because it delays the next claim.
 *
 *   kept      every attempt, even when another process holds the lease by now: the POST was made
 *   settled   deliveries that still have the attempt's lease. Joins by ctid, so that the planner cannot
 *             choose to scan all pending deliveries
 *   told      queues that change, in the order of their ids
 *
 * Idempotent. Returns since when those queues have been failing.
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
): Promise<{ webhook_id: string; failing_since: Date | null }[]> {
  const queues = queueUpdates.rows(
    {
      webhook_id: ({ webhookId }) => webhookId,
      due_at: ({ dueAt }) => dueAt,
      succeeded: ({ succeeded }) => succeeded,
      failed: ({ failed }) => failed,
    },
    news,
  );
  return await db.rows(sql`
    with made as (
      select *
      from ${attemptResults.rows(attemptResults.all, made)} as m
    ),
    kept as (
      insert into delivery_attempts (${deliveryAttempts.columns})
      select ${deliveryAttempts.columns}
      from made
      on conflict (delivery_id, lease) do nothing
    ),
    settled as (
      update deliveries as d
      set state = made.state, due_at = made.due_at, attempts = d.attempts + 1, tries = d.tries + 1,
        last_status = made.status, reason = made.reason, version = d.version + 1,
        updated_at = ${now}
      from made
      cross join lateral (
        select found.ctid as place, found.state, found.version
        from deliveries as found
        where found.delivery_id = made.delivery_id
        limit 1
      ) as f
      where d.ctid = f.place and d.lease = made.lease and d.version = f.version
        and f.state = 'pending'
    ),
    told as (
      select q.webhook_id, n.due_at, n.succeeded
      from ${queues} as n
      join webhook_queues as q on q.webhook_id = n.webhook_id
      where n.failed or q.failing_since is not null
      order by q.webhook_id
      for update of q
    )
    update webhook_queues as q
    set next_due_at = least(q.next_due_at, told.due_at),
      failing_since = case
        when told.succeeded then null
        else coalesce(q.failing_since, ${now})
      end
    from told
    where q.webhook_id = told.webhook_id
    returning q.webhook_id, q.failing_since`);
}

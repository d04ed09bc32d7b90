// The statements of the fan-out: finds subscriptions that are behind and moves their cursors.

import type { Environment } from "../kernel/caller.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bigint, table, text, time } from "../platform/postgres/table.ts";

/**
 * Among the next `look` subscriptions after one, those whose desk has events that were not fanned out
 * yet. `next` is where the next look begins; null after the last subscription.
 */
export async function findQueuesBehind(
  db: Db,
  {
    after,
    look,
    fetch,
    not,
  }: {
    readonly after: string;
    readonly look: number;
    readonly fetch: number;
    readonly not: readonly string[];
  },
): Promise<{ readonly behind: readonly string[]; readonly next: string | null }> {
  const [row] = await db.rows<{ behind: string[]; next: string | null }>(sql`
    with looked as materialized (
      select webhook_id, desk_id, after_sequence, state
      from webhooks
      where deleted_at is null and webhook_id > ${after}
      order by webhook_id
      limit ${look}
    ), found as materialized (
      select array(
        select w.webhook_id
        from looked as w
        cross join lateral (
          select last_sequence
          from desk_sequences
          where desk_id = w.desk_id
          limit 1
        ) as s
        left join lateral (
          select fanned_sequence
          from webhook_queues
          where webhook_id = w.webhook_id
          limit 1
        ) as q on true
        where coalesce(q.fanned_sequence, w.after_sequence) < s.last_sequence
          and w.state <> 'paused' and w.webhook_id <> all(${not}::text[])
        order by w.webhook_id
        limit ${fetch}
      ) as behind
    )
    select behind,
      case
        when cardinality(behind) = ${fetch}::int then behind[${fetch}::int]
        when (select count(*) from looked) = ${look}::int then (select max(webhook_id) from looked)
      end as next
    from found`);
  return row ?? { behind: [], next: null };
}

/** A queue is created when its webhook is first behind. */
export async function insertQueues(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  await tx.rows(sql`
    insert into webhook_queues (webhook_id, fanned_sequence)
    select webhook_id, after_sequence
    from webhooks
    where webhook_id = any(${webhookIds}::text[])
    order by webhook_id
    on conflict (webhook_id) do nothing`);
}

export type QueueToFan = {
  readonly webhook_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string | null;
  readonly events: readonly string[];
  readonly state: string;
  readonly enabled_at: Date | null;
  readonly fanned_sequence: number;
};

export async function claimQueuesToFan(
  tx: Tx,
  webhookIds: readonly string[],
): Promise<QueueToFan[]> {
  return await tx.rows(sql`
    select w.webhook_id, w.environment, w.desk_id, w.firm_id,
      array_to_json(coalesce(w.events, array[w.event])) as events, w.state, w.enabled_at,
      q.fanned_sequence
    from webhook_queues as q
    join webhooks as w on w.webhook_id = q.webhook_id
    where q.webhook_id = any(${webhookIds}::text[]) and w.state <> 'paused'
    order by q.webhook_id
    for no key update of q skip locked`);
}

const webhookQueues = table("webhook_queues", {
  webhook_id: text(),
  fanned_sequence: bigint(),
  ready_at: time().orNull,
});

/** When its queue is sent from; null while it is paused. */
export async function setReady(tx: Tx, webhookId: string, at: Date | null): Promise<void> {
  await tx.rows(sql`
    update webhook_queues
    set ready_at = ${at}
    where webhook_id = ${webhookId}`);
}

export async function setFannedSequences(
  tx: Tx,
  queues: readonly {
    readonly webhookId: string;
    readonly sequence: number;
    /** When its first new delivery is due; null when it got none. */
    readonly dueAt: Date | null;
  }[],
): Promise<void> {
  const fanned = webhookQueues.rows(
    {
      webhook_id: ({ webhookId }) => webhookId,
      fanned_sequence: ({ sequence }) => sequence,
      ready_at: ({ dueAt }) => dueAt,
    },
    queues,
  );
  await tx.rows(sql`
    update webhook_queues as q
    set fanned_sequence = n.fanned_sequence, ready_at = least(q.ready_at, n.ready_at)
    from ${fanned} as n
    where q.webhook_id = n.webhook_id`);
}

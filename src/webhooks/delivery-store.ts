import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { DeliveryState, Outcome, Reason } from "./delivery-rules.ts";

export type AttemptRow = {
  readonly delivery_id: string;
  readonly lease: number;
  readonly at: Date;
  readonly duration_ms: number;
  readonly outcome: Outcome;
  readonly status: number | null;
  readonly reason: Reason | null;
  readonly answer: string;
};

export type DueQueue = {
  readonly webhook_id: string;
  readonly url: string;
  readonly state: string;
  readonly deleted: boolean;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: Date | null;
};

/** Queues with something due, by turns, but for those that have no room. */
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
  readonly body: string;
};

/**
 * Leases what is due, up to a number per queue, and fetches what to send. Each queue that was looked
 * at is next due by what stays pending; a lease counts, so that a crash is noticed when it ends.
 */
export async function claimDeliveries(
  tx: Tx,
  rooms: readonly { readonly webhookId: string; readonly most: number }[],
  { now, leaseEndsAt }: { readonly now: Date; readonly leaseEndsAt: Date },
): Promise<ClaimedDelivery[]> {
  return await tx.rows(sql`
    with room as (
      select webhook_id, most
      from unnest(
        ${rooms.map(({ webhookId }) => webhookId)}::text[],
        ${rooms.map(({ most }) => most)}::int[]
      ) as r (webhook_id, most)
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
    select claimed.delivery_id, claimed.webhook_id, claimed.event, claimed.lease, claimed.tries,
      events.body
    from claimed
    join events on events.desk_id = claimed.desk_id and events.sequence = claimed.sequence`);
}

/** What will not be sent any more, because its subscription is disabled or gone. */
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

/** An attempt that was made, and what becomes of its delivery. */
export type MadeRow = AttemptRow & { readonly state: DeliveryState; readonly due_at: Date };

export type QueueNews = {
  readonly webhookId: string;
  /** The earliest of what is to be tried again; null when nothing is. */
  readonly dueAt: Date | null;
  readonly succeeded: boolean;
  readonly failed: boolean;
};

/**
 * One statement for all of it, as it stands between an answer and the next claim.
 *
 *   kept      every attempt, even when its lease has passed to somebody else: the POST was made
 *   settled   deliveries whose lease is still the attempt's; what was claimed since is left alone.
 *             Each is looked up by its id and met by its place: a plan made while nothing is pending
 *             would read all that is pending instead, for every set of a backlog
 *   told      queues for which something changes, in the order of their ids
 *
 * Running it again does nothing more. The answer is since when those queues have been failing.
 */
export async function settleAttempts(
  db: Db,
  {
    made,
    news,
    now,
  }: { readonly made: readonly MadeRow[]; readonly news: readonly QueueNews[]; readonly now: Date },
): Promise<{ webhook_id: string; failing_since: Date | null }[]> {
  return await db.rows(sql`
    with made as (
      select *
      from unnest(
        ${made.map((row) => row.delivery_id)}::text[],
        ${made.map((row) => row.lease)}::int[],
        ${made.map((row) => row.at)}::timestamptz[],
        ${made.map((row) => row.duration_ms)}::int[],
        ${made.map((row) => row.outcome)}::text[],
        ${made.map((row) => row.status)}::int[],
        ${made.map((row) => row.reason)}::text[],
        ${made.map((row) => row.answer)}::text[],
        ${made.map((row) => row.state)}::text[],
        ${made.map((row) => row.due_at)}::timestamptz[]
      ) as m (delivery_id, lease, at, duration_ms, outcome, status, reason, answer, state, due_at)
    ),
    kept as (
      insert into delivery_attempts (
        delivery_id, lease, at, duration_ms, outcome, status, reason, answer
      )
      select delivery_id, lease, at, duration_ms, outcome, status, reason, answer
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
      from unnest(
        ${news.map(({ webhookId }) => webhookId)}::text[],
        ${news.map(({ dueAt }) => dueAt)}::timestamptz[],
        ${news.map(({ succeeded }) => succeeded)}::boolean[],
        ${news.map(({ failed }) => failed)}::boolean[]
      ) as n (webhook_id, due_at, succeeded, failed)
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

export async function setReplayed(
  tx: Tx,
  rows: readonly { readonly deliveryId: string; readonly dueAt: Date }[],
  now: Date,
): Promise<void> {
  await tx.rows(sql`
    update deliveries as d
    set state = 'pending', due_at = r.due_at, tries = 0, reason = null, version = d.version + 1,
      updated_at = ${now}
    from unnest(
      ${rows.map(({ deliveryId }) => deliveryId)}::text[],
      ${rows.map(({ dueAt }) => dueAt)}::timestamptz[]
    ) as r (delivery_id, due_at)
    where d.delivery_id = r.delivery_id`);
}

/** Queues that have something to send from then on at the latest, in the order of their ids. */
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

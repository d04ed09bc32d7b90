// Lists of deliveries and dead letters, for desks and operators.

import type { Environment } from "../kernel/caller.ts";
import type { PageRequest, Position } from "../kernel/page.ts";
import { type Db, fragment, part, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { DeliveryState, Reason } from "./delivery-rules.ts";
import type { AttemptRow } from "./attempt-store.ts";

export type DeliveryRow = {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly sequence: number;
  readonly event: string;
  readonly state: DeliveryState;
  readonly due_at: Date;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly reason: Reason | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

const deliveryColumns = fragment`
  d.delivery_id, d.webhook_id, d.environment, d.desk_id, d.sequence, d.event, d.state, d.due_at,
  d.attempts, d.last_status, d.reason, d.version, d.created_at, d.updated_at`;

/**
 * Deliveries that have rows of their own, newest first; the position of a page is the sequence of its
 * last delivery.
 */
export async function listDeliveries(
  db: Db,
  webhookId: string,
  {
    before,
    state,
    fetch,
  }: {
    readonly before: number | null;
    readonly state: DeliveryState | null;
    readonly fetch: number;
  },
): Promise<DeliveryRow[]> {
  return await db.rows(sql`
    select ${deliveryColumns}
    from deliveries as d
    where d.webhook_id = ${webhookId}
      and (${before}::bigint is null or d.sequence < ${before})
      and (${state}::text is null or d.state = ${state})
    order by d.sequence desc
    limit ${fetch}`);
}

export async function countDeliveries(
  db: Db,
  webhookId: string,
  state: DeliveryState | null,
): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select
      (
        select count(*)
        from deliveries
        where webhook_id = ${webhookId} and (${state}::text is null or state = ${state})
      ) + (
        select coalesce(sum(cardinality(sequences)), 0)
        from delivery_blocks
        where webhook_id = ${webhookId} and coalesce(${state}::text, 'pending') = 'pending'
      ) + (
        select coalesce(sum(deliveries), 0)
        from delivered_blocks
        where webhook_id = ${webhookId} and coalesce(${state}::text, 'delivered') = 'delivered'
      ) as total`);
  return row?.total ?? 0;
}

/** Oldest first. */
export async function listAttempts(db: Db, deliveryIds: readonly string[]): Promise<AttemptRow[]> {
  return await db.rows(sql`
    select delivery_id, lease, at, duration_ms, outcome, status, reason, answer
    from delivery_attempts
    where delivery_id = any(${deliveryIds}::text[])
    order by delivery_id, lease`);
}

/** Dead letters of a desk, of one firm's subscriptions, or of every desk for the operator. */
export type DeadFilter = {
  readonly deskId: string | null;
  readonly firmId: string | null;
  readonly webhookId: string | null;
  readonly event: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
};

const findDead = (filter: DeadFilter) => part`
    from deliveries as d
    cross join lateral (
      select firm_id, state, deleted_at
      from webhooks as found
      where found.webhook_id = d.webhook_id
      limit 1
    ) as w
    where d.state = 'dead' and w.deleted_at is null
      and (${filter.deskId}::text is null or d.desk_id = ${filter.deskId})
      and (${filter.firmId}::text is null or w.firm_id = ${filter.firmId})
      and (${filter.webhookId}::text is null or d.webhook_id = ${filter.webhookId})
      and (${filter.event}::text is null or d.event = ${filter.event})
      and (${filter.since}::timestamptz is null or d.created_at >= ${filter.since})
      and (${filter.until}::timestamptz is null or d.created_at < ${filter.until})`;

/** Newest first. */
export async function listDead(
  db: Db,
  filter: DeadFilter,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<DeliveryRow[]> {
  return await db.rows(sql`
    select ${deliveryColumns}
    ${findDead(filter)}
      and (${after?.at ?? null}::timestamptz is null
        or (d.updated_at, d.delivery_id)
          < (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::text))
    order by d.updated_at desc, d.delivery_id desc
    limit ${fetch}`);
}

/** Where a delivery stands among the dead letters. */
export async function findDeadPlace(db: Db, deliveryId: string): Promise<Position | undefined> {
  const [row] = await db.rows<Position>(sql`
    select updated_at as at, delivery_id as id
    from deliveries
    where delivery_id = ${deliveryId}`);
  return row;
}

export async function countDead(db: Db, filter: DeadFilter): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    ${findDead(filter)}`);
  return row?.total ?? 0;
}

/** The dead letters that a replay takes: the named ones, or all. */
export type ReplayFilter = DeadFilter & { readonly deliveryIds: readonly string[] | null };

export type ReplayableRow = {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string | null;
  readonly version: number;
};

const isNamed = ({ deliveryIds }: ReplayFilter) =>
  part`(${deliveryIds}::text[] is null or d.delivery_id = any(${deliveryIds}::text[]))`;

/** Dead letters of webhooks that are not disabled, oldest first. */
export async function lockReplayable(
  tx: Tx,
  filter: ReplayFilter,
  fetch: number,
): Promise<ReplayableRow[]> {
  return await tx.rows(sql`
    select d.delivery_id, d.webhook_id, d.environment, d.desk_id, w.firm_id, d.version
    ${findDead(filter)} and w.state <> 'disabled' and ${isNamed(filter)}
    order by d.desk_id, d.sequence, d.delivery_id
    limit ${fetch}
    for update of d`);
}

export async function countReplayable(
  tx: Tx,
  filter: ReplayFilter,
): Promise<{ replayable: number; disabled: number }> {
  const [row] = await tx.rows<{ replayable: number; disabled: number }>(sql`
    select
      count(*) filter (where w.state <> 'disabled') as replayable,
      count(*) filter (where w.state = 'disabled') as disabled
    ${findDead(filter)} and ${isNamed(filter)}`);
  return row ?? { replayable: 0, disabled: 0 };
}

/** Whether any queue has a due delivery; usually none has. */
export async function hasDue(db: Db, now: Date): Promise<boolean> {
  const rows = await db.rows(sql`
    select
    from webhook_queues
    where ready_at <= ${now}
    limit 1`);
  return rows.length > 0;
}

export type DeliveryBacklog = {
  readonly due: number;
  readonly dead: number;
  readonly oldest_due_at: Date | null;
  readonly unfanned: number;
};

/** The backlog and the dead letters of all desks. */
export async function findBacklog(db: Db, now: Date): Promise<DeliveryBacklog> {
  const [row] = await db.rows<DeliveryBacklog>(sql`
    select
      (select count(*) from deliveries where state = 'pending' and due_at <= ${now})
        + (
          select coalesce(sum(cardinality(sequences)), 0)
          from delivery_blocks
          where due_at <= ${now}
        ) as due,
      (select count(*) from deliveries where state = 'dead') as dead,
      least(
        (select min(due_at) from deliveries where state = 'pending' and due_at <= ${now}),
        (select min(due_at) from delivery_blocks where due_at <= ${now})
      ) as oldest_due_at,
      (
        select coalesce(sum(s.last_sequence - coalesce(q.fanned_sequence, w.after_sequence)), 0)::bigint
        from webhooks as w
        join desk_sequences as s on s.desk_id = w.desk_id
        left join webhook_queues as q on q.webhook_id = w.webhook_id
        where w.deleted_at is null
      ) as unfanned`);
  return row ?? { due: 0, dead: 0, oldest_due_at: null, unfanned: 0 };
}

import { Type } from "typebox";

import { eventCatalog } from "../journal/event-rules.ts";
import { findEvents } from "../journal/find-events.ts";
import type { Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { unpagedMax, readPage } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { measureOnDemand, type Metrics } from "../platform/metrics.ts";
import { closedEnum } from "../platform/http/wire.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { readDelivered } from "./block-rules.ts";
import {
  type DeliveredBlock,
  listDeliveredBlocks,
  listWaitingBlocks,
  type WaitingBlock,
} from "./block-store.ts";
import {
  type DeliveryBacklog,
  countDead,
  countDeliveries,
  type DeadFilter,
  type DeliveryRow,
  findBacklog,
  findDeadPlace,
  listAttempts,
  listDead,
  listDeliveries as listRows,
} from "./delivery-lists-store.ts";
import { deliveryLifecycle, type DeliveryState } from "./delivery-rules.ts";
import type { AttemptRow } from "./attempt-store.ts";
import { findVisibleWebhook } from "./read-webhooks.ts";
import { buildDeliveryId } from "./rules.ts";
import { type Attempt, DeliveriesParams, Delivery, LoggedDelivery } from "./schema.ts";

/** The deliveries of a subscription, each with its attempts. */
export const deliveriesOfWebhook = deskPages({
  name: "deliveries",
  params: DeliveriesParams,
  query: {
    status: Type.Optional(
      closedEnum(deliveryLifecycle.states, { description: "Only deliveries in this state." }),
    ),
  },
  of: LoggedDelivery,
  order: "Newest first.",
  listTitle: "DeliveryList",
  read: async (ctx, caller, { webhook_id: webhookId, status, ...query }) => {
    await findVisibleWebhook(ctx.db, caller, webhookId);
    const state = status ?? null;
    const question = { list: "deliveries", desk: caller.deskId, webhook: webhookId, status };
    const page = await readPage(
      { query, question, signingKey: ctx.cursorKey },
      {
        list: ({ after, fetch }) => {
          const before = after ? Number(after.id) : null;
          return listEntries(ctx.db.planned, webhookId, { before, state, fetch });
        },
        count: () => countDeliveries(ctx.db.planned, webhookId, state),
        toPosition: (row) => ({ at: row.created_at, id: String(row.sequence) }),
      },
    );
    const told = await joinEvents(ctx, page.rows);
    const made = await listAttempts(
      ctx.db.planned,
      told.map(({ delivery_id }) => delivery_id),
    );
    const attempts = Map.groupBy(made, ({ delivery_id }) => delivery_id);
    const view = (row: Told<LogEntry>) => ({
      ...viewDelivery(row),
      attempt_log: joinAttempts(row.attempt, attempts.get(row.delivery_id) ?? []).map(viewAttempt),
    });
    return { ...page, rows: await mapPaced(told, view, openPace()) };
  },
});

type BlockAttempt = Omit<AttemptRow, "delivery_id">;

/** A delivery in the log: of a row of its own, or of a block. */
type LogEntry = Omit<DeliveryRow, "delivery_id" | "event"> & {
  /** Null in a block that waits: it follows from the event. */
  readonly delivery_id: string | null;
  /** The attempt that is recorded with its block. */
  readonly attempt?: BlockAttempt;
};

/**
 * A page of the log, newest first. A delivery leaves a waiting block only for one that was delivered or
 * for a row of its own, so these are read in this order and none is missed; of one that moved meanwhile,
 * what was read last counts.
 */
async function listEntries(
  db: Db,
  webhookId: string,
  { before, state, fetch }: { before: number | null; state: DeliveryState | null; fetch: number },
): Promise<LogEntry[]> {
  const isAsked = (one: DeliveryState) => state === null || state === one;
  const place = { webhookId, before, fetch };
  const waiting = isAsked("pending") ? await listWaitingBlocks(db, place) : [];
  const delivered = isAsked("delivered") ? await listDeliveredBlocks(db, place) : [];
  const rows = await listRows(db, webhookId, { before, state, fetch });
  const entries: LogEntry[] = [
    ...waiting.flatMap(listWaiting),
    ...delivered.flatMap(listDelivered),
    ...rows,
  ];
  const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]));
  return [...bySequence.values()]
    .filter(({ sequence }) => before === null || sequence < before)
    .toSorted((a, b) => b.sequence - a.sequence)
    .slice(0, fetch);
}

function listWaiting({ sequences, ...block }: WaitingBlock): LogEntry[] {
  const { webhook_id, environment, desk_id, due_at, created_at } = block;
  return sequences.map((sequence) => ({
    delivery_id: null,
    webhook_id,
    environment,
    desk_id,
    sequence,
    state: "pending",
    due_at,
    attempts: 0,
    last_status: null,
    reason: null,
    version: 1,
    created_at,
    updated_at: created_at,
  }));
}

function listDelivered(block: DeliveredBlock): LogEntry[] {
  const { webhook_id, environment, desk_id, lease, created_at, delivered_at } = block;
  return readDelivered(block).map(({ deliveryId, sequence, at, durationMs, status, answer }) => ({
    delivery_id: deliveryId,
    webhook_id,
    environment,
    desk_id,
    sequence,
    state: "delivered",
    due_at: delivered_at,
    attempts: 1,
    last_status: status,
    reason: null,
    version: 2,
    created_at,
    updated_at: delivered_at,
    attempt: {
      lease,
      at,
      duration_ms: durationMs,
      outcome: "delivered",
      status,
      reason: null,
      answer,
    },
  }));
}

/** Oldest first. The attempt of a block that was recorded twice counts once. */
function joinAttempts(
  attempt: BlockAttempt | undefined,
  others: readonly AttemptRow[],
): readonly BlockAttempt[] {
  if (!attempt) return others;
  return [...others.filter(({ lease }) => lease !== attempt.lease), attempt].toSorted(
    (a, b) => a.lease - b.lease,
  );
}

/** Dead letters, newest first. */
export const failuresOfDesk = deskPages({
  name: "failures",
  query: {
    webhook_id: Type.Optional(Type.String({ description: "Only of this webhook." })),
    event: Type.Optional(closedEnum(eventCatalog, { description: "Only of this event." })),
  },
  of: Delivery,
  order: "Newest first.",
  listTitle: "FailureList",
  read: async (ctx, caller, { webhook_id, event, ...query }) => {
    const owner = visibleTo(caller);
    const filter = { ...anyDead, ...owner, webhookId: webhook_id ?? null, event: event ?? null };
    const question = {
      list: "failures",
      desk: owner.deskId,
      firm: owner.firmId ?? undefined,
      webhook: webhook_id,
      event,
    };
    const named = webhook_id === undefined || isId("whk", webhook_id);
    const page = await readPage(
      { query, question, signingKey: ctx.cursorKey },
      {
        list: async (request) => (named ? await listDead(ctx.db.planned, filter, request) : []),
        count: async () => (named ? await countDead(ctx.db.planned, filter) : 0),
        toPosition: (row) => ({ at: row.updated_at, id: row.delivery_id }),
      },
    );
    return { ...page, rows: (await joinEvents(ctx, page.rows)).map(viewDelivery) };
  },
});

/** The dead letters of every desk, newest first, for the operator: those that died before one, if given. */
export async function listAllFailures(
  ctx: Pick<Context, "db">,
  {
    deskId,
    firmId,
    from,
    to,
    webhookId,
    before,
    limit = unpagedMax,
  }: DeskSearch & {
    readonly webhookId: string | null;
    readonly before?: string | undefined;
    readonly limit?: number;
  },
): Promise<(Delivery & { environment: Environment; desk_id: string })[]> {
  // A desk's own subscriptions belong to no firm.
  const ofFirm = firmId === deskId ? null : firmId;
  const filter = { ...anyDead, webhookId, deskId, firmId: ofFirm, since: from, until: to };
  const after = before === undefined ? undefined : await findDeadPlace(ctx.db, before);
  const rows = await listDead(ctx.db.planned, filter, { after, fetch: limit });
  return (await joinEvents(ctx, rows)).map((row) => ({
    ...viewDelivery(row),
    environment: row.environment,
    desk_id: row.desk_id,
  }));
}

const anyDead: DeadFilter = {
  deskId: null,
  firmId: null,
  webhookId: null,
  event: null,
  since: null,
  until: null,
};

type Told<Row> = Row & {
  readonly delivery_id: string;
  readonly event: string;
  readonly event_id: string;
};

async function joinEvents<Row extends LogEntry>(
  { db }: Pick<Context, "db">,
  rows: readonly Row[],
): Promise<Told<Row>[]> {
  const findEvent = await findEvents(db.planned, rows);
  return rows.flatMap((row) => {
    const event = findEvent(row);
    if (!event) return [];
    const delivery_id = row.delivery_id ?? buildDeliveryId(row.webhook_id, event);
    return [{ ...row, delivery_id, event: event.event, event_id: event.event_id }];
  });
}

function viewDelivery(row: Told<LogEntry>): Delivery {
  return {
    delivery_id: row.delivery_id,
    webhook_id: row.webhook_id,
    event: row.event,
    event_id: row.event_id,
    sequence: row.sequence,
    status: row.state,
    reason: row.reason,
    attempts: row.attempts,
    last_status: row.last_status,
    next_attempt_at: row.state === "pending" ? istTimestamp(row.due_at) : null,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: allowedActions(deliveryLifecycle, row.state),
  };
}

function viewAttempt(row: BlockAttempt): Attempt {
  return {
    at: istTimestamp(row.at),
    duration_ms: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
    reason: row.reason,
    answer: row.answer,
  };
}

/** Gauges of the backlog, read from the database at each scrape. */
export function measureDeliveries(
  { db, now }: Pick<Context, "db" | "now">,
  metrics: Metrics,
): void {
  let reading: Promise<DeliveryBacklog> | undefined;

  /** All gauges of one scrape share one statement. */
  async function look(): Promise<DeliveryBacklog> {
    reading ??= findBacklog(db, now()).finally(() => (reading = undefined));
    return await reading;
  }

  function measure(
    name: string,
    help: string,
    toValue: (backlog: DeliveryBacklog) => number,
  ): void {
    measureOnDemand(metrics, {
      name: `scripdesk_webhook_${name}`,
      help,
      read: async () => toValue(await look()),
    });
  }

  measure("deliveries_due", "Deliveries whose next attempt is due and not begun", ({ due }) => due);
  measure("deliveries_dead", "Deliveries that were given up", ({ dead }) => dead);
  measure(
    "events_behind",
    "Events that have not become deliveries yet, counted for each subscription",
    ({ unfanned }) => unfanned,
  );
  measure(
    "lag_seconds",
    "How long the delivery that is due longest has been waiting for its attempt",
    ({ oldest_due_at: oldest }) => (oldest ? (now().getTime() - oldest.getTime()) / 1_000 : 0),
  );
}

import { findEvents } from "../journal/find-events.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { closePage, countOnce, openPage, type Page, unpagedMax } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { measureOnDemand, type Metrics } from "../platform/metrics.ts";
import {
  type Backlog,
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
import { deliveryLifecycle } from "./delivery-rules.ts";
import type { AttemptRow } from "./attempt-store.ts";
import { findVisibleWebhook } from "./read-webhooks.ts";
import type {
  Attempt,
  Delivery,
  ListDeliveriesQuery,
  ListFailuresQuery,
  LoggedDelivery,
} from "./schema.ts";

/** The deliveries of a subscription, each with its attempts. */
export async function listDeliveries(
  ctx: Context,
  caller: Caller,
  { webhookId, status, ...query }: { readonly webhookId: string } & ListDeliveriesQuery,
): Promise<Page<LoggedDelivery>> {
  await findVisibleWebhook(ctx.db, caller, webhookId);
  const state = status ?? null;
  const question = { list: "deliveries", desk: caller.deskId, webhook: webhookId, status };
  const request = openPage(query, question, ctx.cursorKey);
  const before = request.after ? Number(request.after.id) : null;
  const rows = await listRows(ctx.db.planned, webhookId, { before, state, fetch: request.fetch });
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await countOnce(request, () => countDeliveries(ctx.db.planned, webhookId, state)),
    toPosition: (row) => ({ at: row.created_at, id: String(row.sequence) }),
  });
  const ids = page.rows.map(({ delivery_id }) => delivery_id);
  const made = await listAttempts(ctx.db.planned, ids);
  const attempts = Map.groupBy(made, ({ delivery_id }) => delivery_id);
  const told = await joinEvents(ctx, page.rows);
  const view = (row: ToldRow) => ({
    ...viewDelivery(row),
    attempt_log: (attempts.get(row.delivery_id) ?? []).map(viewAttempt),
  });
  return { ...page, rows: await mapPaced(told, view, openPace()) };
}

/** Dead letters, newest first. */
export async function listFailures(
  ctx: Context,
  caller: Caller,
  { webhook_id, event, ...query }: ListFailuresQuery,
): Promise<Page<Delivery>> {
  const owner = visibleTo(caller);
  const filter = { ...anyDead, ...owner, webhookId: webhook_id ?? null, event: event ?? null };
  const question = {
    list: "failures",
    desk: owner.deskId,
    firm: owner.firmId ?? undefined,
    webhook: webhook_id,
    event,
  };
  const request = openPage(query, question, ctx.cursorKey);
  const named = webhook_id === undefined || isId("whk", webhook_id);
  const rows = named ? await listDead(ctx.db.planned, filter, request) : [];
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: named ? await countOnce(request, () => countDead(ctx.db.planned, filter)) : 0,
    toPosition: (row) => ({ at: row.updated_at, id: row.delivery_id }),
  });
  return { ...page, rows: (await joinEvents(ctx, page.rows)).map(viewDelivery) };
}

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

type ToldRow = DeliveryRow & { readonly event_id: string };

async function joinEvents(
  { db }: Pick<Context, "db">,
  rows: readonly DeliveryRow[],
): Promise<ToldRow[]> {
  const findEvent = await findEvents(db.planned, rows);
  return rows.flatMap((row) => {
    const event = findEvent(row);
    return event ? [{ ...row, event_id: event.event_id }] : [];
  });
}

function viewDelivery(row: ToldRow): Delivery {
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

function viewAttempt(row: AttemptRow): Attempt {
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
  let reading: Promise<Backlog> | undefined;

  /** All gauges of one scrape share one statement. */
  async function look(): Promise<Backlog> {
    reading ??= findBacklog(db, now()).finally(() => (reading = undefined));
    return await reading;
  }

  function measure(name: string, help: string, valueOf: (backlog: Backlog) => number): void {
    measureOnDemand(metrics, {
      name: `scripdesk_webhook_${name}`,
      help,
      read: async () => valueOf(await look()),
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

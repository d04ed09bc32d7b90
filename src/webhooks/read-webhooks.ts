import type { FastifyReply } from "fastify";

import { eventCatalog } from "../journal/event-rules.ts";
import type { Change, ChangeEvent } from "../kernel/actor.ts";
import type { Caller } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import type { Page } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { sendPage } from "../platform/http/calls.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { readNewest } from "../platform/postgres/list.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { maskSecret, oneEvent, webhookActions, webhookLifecycle } from "./rules.ts";
import { Webhook, WebhookList } from "./schema.ts";
import {
  findWebhook,
  listAllWebhookRows,
  listWebhookRows,
  lockWebhook,
  type WebhookRow,
} from "./store.ts";

export async function readWebhook(
  ctx: Context,
  caller: Caller,
  webhookId: string,
): Promise<Webhook> {
  return viewWebhook(await findVisibleWebhook(ctx.db, caller, webhookId));
}

/** The subscriptions that the caller sees, and the event names that can be subscribed to. */
export const webhooksOfDesk = {
  ...deskPages({
    name: "webhooks",
    of: Webhook,
    order: "Newest first.",
    read: async (ctx, caller, query) => {
      const owner = visibleTo(caller);
      const question = { list: "webhooks", desk: owner.deskId, firm: owner.firmId ?? undefined };
      const page = await readNewest(ctx, { query, question }, listWebhookRows(owner));
      return { ...page, rows: page.rows.map(viewWebhook) };
    },
  }),
  answer: WebhookList,
  send: (reply: FastifyReply, page: Page<Webhook>) =>
    sendPage(reply, "webhooks", page, { events: eventCatalog }),
};

/** Every desk's subscriptions, for the operator. */
export async function listAllWebhooks(
  ctx: Pick<Context, "db">,
  search: DeskSearch,
): Promise<{ legal_name: string; webhook: Webhook }[]> {
  const rows = await listAllWebhookRows(ctx.db.planned, search);
  return rows.map((row) => ({ legal_name: row.legal_name, webhook: viewWebhook(row) }));
}

/** A subscription as its desk sees it, with the secret masked. */
export function viewWebhook(row: WebhookRow): Webhook {
  return {
    webhook_id: row.webhook_id,
    environment: row.environment,
    firm_id: row.firm_id,
    url: row.url,
    event: oneEvent(row.events),
    events: [...row.events],
    description: row.description,
    signing_secret: maskSecret(row.secret_hint),
    previous_secret_until: row.previous_secret_until && istTimestamp(row.previous_secret_until),
    status: row.state,
    tested_at: row.tested_at && istTimestamp(row.tested_at),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: [...webhookActions, ...allowedActions(webhookLifecycle, row.state)],
  };
}

/** A change of a subscription for the audit trail, with its event if it has one. */
export function describeChange(
  action: string,
  {
    before,
    after,
    event,
  }: {
    readonly before: WebhookRow | null;
    readonly after: WebhookRow | null;
    readonly event?: Pick<ChangeEvent, "name" | "data">;
  },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change is of something");
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id ?? row.desk_id,
    action: `webhook.${action}`,
    entity: {
      type: "webhook",
      id: row.webhook_id,
      version: row.version,
      href: `/v1/webhooks/${row.webhook_id}`,
    },
    after: after && viewWebhook(after),
    event: event && { ...event, from: before?.state ?? null, to: after?.state ?? null },
  };
}

export async function findVisibleWebhook(
  db: Db,
  caller: Caller,
  webhookId: string,
): Promise<WebhookRow> {
  const known = isId("whk", webhookId);
  const row = known ? await findWebhook(db, visibleTo(caller), webhookId) : undefined;
  if (!row) throw notFound("webhook_id");
  return row;
}

export async function lockVisibleWebhook(
  tx: Tx,
  caller: Caller,
  webhookId: string,
): Promise<WebhookRow> {
  const known = isId("whk", webhookId);
  const row = known ? await lockWebhook(tx, visibleTo(caller), webhookId) : undefined;
  if (!row) throw notFound("webhook_id");
  return row;
}

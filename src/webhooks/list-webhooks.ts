import { eventCatalog, type EventName } from "../events/rules.ts";
import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import type { ListWebhooksQuery, Webhook } from "./schema.ts";
import { countWebhooks, listWebhooks as listRows } from "./store.ts";
import { viewWebhook } from "./view-webhook.ts";
import { ownerOf } from "./webhook-of-caller.ts";

/** The names that a subscription can ask for today. */
export function listEventNames(): EventName[] {
  return [...eventCatalog];
}

export async function listWebhooks(
  ctx: Context,
  caller: Caller,
  query: ListWebhooksQuery,
): Promise<Page<Webhook>> {
  const owner = ownerOf(caller);
  const question = { list: "webhooks", desk: owner.deskId, firm: owner.firmId ?? undefined };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db, owner, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countWebhooks(ctx.db, owner)),
    positionOf: (row) => ({ at: row.created_at, id: row.webhook_id }),
  });
  return { ...page, rows: page.rows.map(viewWebhook) };
}

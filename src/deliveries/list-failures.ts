import type { Caller, Environment } from "../kernel/caller.ts";
import { isId } from "../kernel/ids.ts";
import { closePage, openPage, type Page, totalOf, unpagedMax } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { ownerOf } from "../webhooks/webhook-of-caller.ts";
import type { Delivery, ListFailuresQuery } from "./schema.ts";
import { countDead, type DeadFilter, listDead } from "./lists-store.ts";
import { viewDelivery } from "./view-delivery.ts";

/** Dead letters: what was given up, newest first. */
export async function listFailures(
  ctx: Context,
  caller: Caller,
  { webhook_id, event, ...query }: ListFailuresQuery,
): Promise<Page<Delivery>> {
  const owner = ownerOf(caller);
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
    total: named ? await totalOf(request, () => countDead(ctx.db.planned, filter)) : 0,
    positionOf: (row) => ({ at: row.updated_at, id: row.delivery_id }),
  });
  return { ...page, rows: page.rows.map(viewDelivery) };
}

/** Those of every desk, for the operator. */
export async function listAllFailures(
  ctx: Context,
  webhookId: string | null,
): Promise<(Delivery & { environment: Environment; desk_id: string })[]> {
  const filter = { ...anyDead, webhookId };
  const rows = await listDead(ctx.db.planned, filter, { after: undefined, fetch: unpagedMax });
  return rows.map((row) => ({
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

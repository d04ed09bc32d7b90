import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { webhookOfCaller } from "../webhooks/webhook-of-caller.ts";
import type { ListDeliveriesQuery, LoggedDelivery } from "./schema.ts";
import { countDeliveries, listAttempts, listDeliveries as listRows } from "./lists-store.ts";
import { viewAttempt, viewDelivery } from "./view-delivery.ts";

/** What was sent to a subscription and how it was answered, attempt by attempt. */
export async function listDeliveries(
  ctx: Context,
  caller: Caller,
  { webhookId, status, ...query }: { readonly webhookId: string } & ListDeliveriesQuery,
): Promise<Page<LoggedDelivery>> {
  await webhookOfCaller(ctx.db, caller, webhookId);
  const state = status ?? null;
  const question = { list: "deliveries", desk: caller.deskId, webhook: webhookId, status };
  const request = openPage(query, question, ctx.cursorKey);
  const before = request.after ? Number(request.after.id) : null;
  const rows = await listRows(ctx.db.planned, webhookId, { before, state, fetch: request.fetch });
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countDeliveries(ctx.db.planned, webhookId, state)),
    positionOf: (row) => ({ at: row.created_at, id: String(row.sequence) }),
  });
  const ids = page.rows.map(({ delivery_id }) => delivery_id);
  const attempts = Map.groupBy(await listAttempts(ctx.db, ids), ({ delivery_id }) => delivery_id);
  return {
    ...page,
    rows: page.rows.map((row) => ({
      ...viewDelivery(row),
      attempt_log: (attempts.get(row.delivery_id) ?? []).map(viewAttempt),
    })),
  };
}

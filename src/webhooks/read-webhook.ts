import type { Caller } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { Webhook } from "./schema.ts";
import { viewWebhook } from "./view-webhook.ts";
import { webhookOfCaller } from "./webhook-of-caller.ts";

export async function readWebhook(
  ctx: Context,
  caller: Caller,
  webhookId: string,
): Promise<Webhook> {
  return viewWebhook(await webhookOfCaller(ctx.db, caller, webhookId));
}

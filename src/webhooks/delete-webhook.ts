import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { Webhook } from "./schema.ts";
import { setDeleted } from "./store.ts";
import { changeOfWebhook, viewWebhook } from "./view-webhook.ts";
import { lockWebhookOfCaller } from "./webhook-of-caller.ts";

/** Nothing is sent to it any more; the answer is what it was. */
export async function deleteWebhook(ctx: Context, call: Call, webhookId: string): Promise<Webhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockWebhookOfCaller(tx, call.caller, webhookId);
      await setDeleted(tx, webhookId, now);
      const change = changeOfWebhook("delete", { before, after: null });
      await recordChanges(tx, actorOf(call), [change], now);
      return viewWebhook(before);
    },
    { rollBack: call.dryRun },
  );
}

import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { webhookLifecycle } from "./rules.ts";
import type { Webhook } from "./schema.ts";
import { setEnabled } from "./store.ts";
import { changeOfWebhook, viewWebhook } from "./view-webhook.ts";
import { lockWebhookOfCaller } from "./webhook-of-caller.ts";

/** A receiver that was given up is sent to again; what it missed waits to be replayed. */
export async function enableWebhook(ctx: Context, call: Call, webhookId: string): Promise<Webhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockWebhookOfCaller(tx, call.caller, webhookId);
      if (before.state !== "disabled") return viewWebhook(before);
      const state = advance(webhookLifecycle, before.state, "enable");
      const after = await setEnabled(tx, webhookId, { state, now });
      if (!after) throw new Error("a locked row is there");
      const change = changeOfWebhook("enable", { before, after });
      await recordChanges(tx, actorOf(call), [change], now);
      return viewWebhook(after);
    },
    { rollBack: call.dryRun },
  );
}

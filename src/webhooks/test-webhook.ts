import { recordChanges } from "../journal/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { deliveryIdOf } from "./rules.ts";
import type { TestedWebhook } from "./schema.ts";
import { setTested } from "./store.ts";
import { changeOfWebhook, lockWebhookOfCaller, viewWebhook } from "./read-webhooks.ts";

/** An event for this subscription alone, whichever events it wants: it travels as any other does. */
export async function testWebhook(
  ctx: Context,
  call: Call,
  webhookId: string,
): Promise<TestedWebhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockWebhookOfCaller(tx, call.caller, webhookId);
      const after = await setTested(tx, webhookId, now);
      if (!after) throw new Error("a locked row is there");
      const event = { name: "webhook.ping", data: { url: after.url } };
      const change = changeOfWebhook("test", { before, after, event });
      const [ping] = await recordChanges(tx, actorOf(call), [change], now);
      if (!ping) throw new Error("a change with an event is told");
      const { version, allowed_actions } = viewWebhook(after);
      const { sequence } = ping;
      const delivery_id = deliveryIdOf(webhookId, ping);
      return {
        webhook_id: webhookId,
        event: "webhook.ping",
        delivery_id,
        sequence,
        version,
        allowed_actions,
      };
    },
    { rollBack: call.dryRun },
  );
}

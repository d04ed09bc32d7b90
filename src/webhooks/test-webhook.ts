import { recordChanges } from "../journal/record-changes.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { buildDeliveryId } from "./rules.ts";
import type { TestedWebhook } from "./schema.ts";
import { setTested } from "./store.ts";
import { describeChange, lockVisibleWebhook, viewWebhook } from "./read-webhooks.ts";

/** Sends a ping to this subscription only, whatever its filter, by the same path as other events. */
export async function testWebhook(
  ctx: Context,
  call: Call,
  webhookId: string,
): Promise<TestedWebhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockVisibleWebhook(tx, call.caller, webhookId);
      const after = await setTested(tx, webhookId, now);
      if (!after) throw new Error("a locked row is there");
      const event = { name: "webhook.ping", data: { url: after.url } };
      const change = describeChange("test", { before, after, event });
      const [ping] = await recordChanges(tx, toActor(call), [change], now);
      if (!ping) throw new Error("the ping was not recorded");
      const { version, allowed_actions } = viewWebhook(after);
      const { sequence } = ping;
      const delivery_id = buildDeliveryId(webhookId, ping);
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

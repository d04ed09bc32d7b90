import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { seal } from "../platform/seal.ts";
import { graceSDefault, newSigningSecret } from "./rules.ts";
import type { RotateSecretBody, Webhook } from "./schema.ts";
import { sealPurpose } from "./secrets.ts";
import { setSecret } from "./store.ts";
import { changeOfWebhook, viewWebhook } from "./view-webhook.ts";
import { lockWebhookOfCaller } from "./webhook-of-caller.ts";

/** The new secret is in this one answer and in no other; the old one signs too until its grace ends. */
export async function rotateSecret(
  ctx: Context,
  call: Call,
  { webhookId, grace_s = graceSDefault }: { readonly webhookId: string } & RotateSecretBody,
): Promise<Webhook> {
  const now = ctx.now();
  const { secret, hint } = newSigningSecret();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockWebhookOfCaller(tx, call.caller, webhookId);
      const after = await setSecret(tx, webhookId, {
        secretSealed: seal(secret, sealPurpose(webhookId), ctx.sealKey),
        hint,
        previousUntil: grace_s === 0 ? null : new Date(now.getTime() + grace_s * 1_000),
        now,
      });
      if (!after) throw new Error("a locked row is there");
      const change = changeOfWebhook("rotate_secret", { before, after });
      await recordChanges(tx, actorOf(call), [change], now);
      const webhook = viewWebhook(after);
      return call.dryRun ? webhook : { ...webhook, signing_secret: secret };
    },
    { rollBack: call.dryRun },
  );
}

import { recordChanges } from "../journal/record-changes.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import { open, seal } from "../platform/seal.ts";
import { describeChange, lockVisibleWebhook, viewWebhook } from "./read-webhooks.ts";
import { graceSDefault, newSigningSecret } from "./rules.ts";
import type { RotateSecretBody, Webhook } from "./schema.ts";
import { previousColumn, secretColumn, setSecret } from "./store.ts";

/** Binds a sealed secret to its subscription. */
export function sealPurpose(webhookId: string): string {
  return `webhook:${webhookId}`;
}

type SealedSecrets = {
  readonly webhook_id: string;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: Date | null;
};

/** The secrets to sign with: the current one, then the previous one during its grace period. */
export function openSecrets(row: SealedSecrets, sealKey: Buffer, now: Date): string[] {
  const purpose = sealPurpose(row.webhook_id);
  const current = open(row.secret_sealed, purpose, sealKey);
  const inGrace = row.previous_secret_until !== null && row.previous_secret_until > now;
  if (!inGrace || row.previous_secret_sealed === null) return [current];
  return [current, open(row.previous_secret_sealed, purpose, sealKey)];
}

/** The sealed columns of this room, for a change of the master key. */
export function sealedWebhooks({ db }: Pick<Context, "db">): SealedPlace[] {
  return [
    { name: "webhook secrets", column: secretColumn },
    { name: "previous webhook secrets", column: previousColumn },
  ].map(({ name, column }) => ({
    name,
    list: async (after, limit) => {
      const rows = await column.list(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: sealPurpose(row.id) }));
    },
    set: (rows) => column.set(db, rows),
  }));
}

/** The new secret is shown in this response only. The old one signs too until its grace period ends. */
export async function rotateSecret(
  ctx: Context,
  call: Call,
  {
    webhook_id: webhookId,
    grace_s = graceSDefault,
  }: { readonly webhook_id: string } & RotateSecretBody,
): Promise<Webhook> {
  const now = ctx.now();
  const { secret, hint } = newSigningSecret();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockVisibleWebhook(tx, call.caller, webhookId);
      const after = await setSecret(tx, webhookId, {
        secretSealed: seal(secret, sealPurpose(webhookId), ctx.sealKey),
        hint,
        previousUntil: grace_s === 0 ? null : new Date(now.getTime() + grace_s * 1_000),
        now,
      });
      if (!after) throw new Error("a locked row is there");
      const change = describeChange("rotate_secret", { before, after });
      await recordChanges(tx, toActor(call), [change], now);
      const webhook = viewWebhook(after);
      return call.dryRun ? webhook : { ...webhook, signing_secret: secret };
    },
    { rollBack: call.dryRun },
  );
}

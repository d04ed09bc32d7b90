import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { changeOfKey } from "./change-of-key.ts";
import { isWithinReach, keyLifecycle, newApiKey, stateOf } from "./rules.ts";
import type { ReissuedKey } from "./schema.ts";
import { lockKey, setKeySecret } from "./store.ts";
import { viewKey } from "./view-key.ts";

/** A new secret for the same key. The old one stops matching with this answer. */
export async function reissueKey(ctx: Context, call: Call, keyId: string): Promise<ReissuedKey> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const row = isId("key", keyId) ? await lockKey(tx, call.caller.deskId, keyId) : undefined;
      if (!row || !isWithinReach(call.caller, row)) throw notFound();
      advance(keyLifecycle, stateOf(row, now), "reissue");
      const { apiKey, sealed } = newApiKey(row.environment, row.key_id);
      const changed = await setKeySecret(tx, keyId, sealed, now);
      if (!changed) throw new Error("a locked key can be changed");
      const change = changeOfKey(row, changed, { action: "reissue", now });
      await recordChanges(tx, actorOf(call), [change], now);
      const key = viewKey(changed, now);
      return call.dryRun ? key : { ...key, api_key: apiKey };
    },
    { rollBack: call.dryRun },
  );
}

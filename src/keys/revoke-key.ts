import type { Call } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { keyLifecycle, stateOf } from "./rules.ts";
import type { Key } from "./schema.ts";
import { findDeskOfKey, lockKey, setKeyRevoked } from "./store.ts";
import { viewKey } from "./view-key.ts";

/** Ends a key and every child of it, from the next request on. Revoking twice is no conflict. */
export async function revokeKey(ctx: Context, call: Call, keyId: string): Promise<Key> {
  return await revoke(ctx, { deskId: call.caller.deskId, keyId, dryRun: call.dryRun });
}

/** The same, by the operator, who may revoke any desk's key. */
export async function revokeKeyAsOperator(ctx: Context, keyId: string): Promise<Key> {
  const deskId = await findDeskOfKey(ctx.db, keyId);
  if (deskId === undefined) throw new Failure("not_found", `no key ${keyId}`);
  return await revoke(ctx, { deskId, keyId, dryRun: false });
}

async function revoke(
  ctx: Context,
  { deskId, keyId, dryRun }: { deskId: string; keyId: string; dryRun: boolean },
): Promise<Key> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const row = isId("key", keyId) ? await lockKey(tx, deskId, keyId) : undefined;
      if (!row) throw notFound();
      const state = stateOf(row, now);
      if (state === "revoked") return viewKey(row, now);
      advance(keyLifecycle, state, "revoke");
      const revoked = await setKeyRevoked(tx, keyId, now);
      const changed = revoked.find(({ key_id }) => key_id === keyId);
      if (!changed) throw new Error("a locked key that is not revoked can be revoked");
      return viewKey(changed, now);
    },
    { rollBack: dryRun },
  );
}

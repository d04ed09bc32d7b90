import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, operator, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { isKeyVisible, keyLifecycle, findKeyState } from "./key-rules.ts";
import type { Key } from "./schema.ts";
import { buildKeyChange, viewKey } from "./read-keys.ts";
import {
  findDeskOfKey,
  type KeyRow,
  lockKey,
  lockKeysOfFirm,
  lockWithChildren,
  setKeysRevoked,
} from "./key-store.ts";

/** Revokes a key and its children from the next request on; revoking again does nothing. */
export async function revokeKey(ctx: Context, call: Call, keyId: string): Promise<Key> {
  const { caller, dryRun } = call;
  return await revokeKeyOfDesk(ctx, toActor(call), {
    deskId: caller.deskId,
    keyId,
    caller,
    dryRun,
  });
}

/** The same for any desk's key, by the operator. */
export async function revokeKeyAsOperator(
  ctx: Context,
  keyId: string,
  actor = operator,
): Promise<Key> {
  const deskId = await findDeskOfKey(ctx.db, keyId);
  if (deskId === undefined) throw new Failure("not_found", `no key ${keyId}`);
  return await revokeKeyOfDesk(ctx, actor, { deskId, keyId, dryRun: false });
}

/** Revokes the sub_account keys of a firm that leaves its desk. */
export async function revokeKeysOfFirm(
  tx: Tx,
  _actor: Actor,
  { deskId, firmId }: { readonly deskId: string; readonly firmId: string },
  now: Date,
): Promise<Change[]> {
  return await revokeAll(tx, await lockKeysOfFirm(tx, deskId, firmId), now);
}

async function revokeKeyOfDesk(
  ctx: Context,
  actor: Actor,
  {
    deskId,
    keyId,
    caller,
    dryRun,
  }: { deskId: string; keyId: string; caller?: Caller; dryRun: boolean },
): Promise<Key> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const row = isId("key", keyId) ? await lockKey(tx, deskId, keyId) : undefined;
      if (!row || (caller && !isKeyVisible(caller, row))) throw notFound("key_id");
      const state = findKeyState(row, now);
      if (state === "revoked") return await viewKey(tx, row, now);
      advance(keyLifecycle, state, "revoke");
      const changes = await revokeAll(tx, await lockWithChildren(tx, keyId), now);
      await recordChanges(tx, actor, changes, now);
      const revoked = await lockKey(tx, deskId, keyId);
      if (!revoked) throw new Error("a revoked key can still be read");
      return await viewKey(tx, revoked, now);
    },
    { rollBack: dryRun },
  );
}

/** Revokes locked keys. */
export async function revokeAll(tx: Tx, rows: readonly KeyRow[], now: Date): Promise<Change[]> {
  const before = new Map(rows.map((row) => [row.key_id, row]));
  const revoked = await setKeysRevoked(tx, [...before.keys()], now);
  return revoked.map((row) =>
    buildKeyChange(before.get(row.key_id) ?? null, row, {
      action: "revoke",
      event: { name: "key.revoked", data: { name: row.name, kind: row.kind } },
      now,
    }),
  );
}

// A key is changed after it was issued: by its desk, which narrows it, and by the operator, who gives a
// root key's children to another root key. Either way no key gets more than it had.
//
// Lock order: the root keys and then their children, each by id. A mint shares its root key's lock, so
// that no child is minted beside the narrowing of its root.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { notFound, unprocessable } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { exactJson } from "../kernel/json.ts";
import { advance } from "../kernel/lifecycle.ts";
import { parseInstant } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { findKeyState, isKeyVisible, keyLifecycle } from "./key-rules.ts";
import { type KeyRow, lockKey, lockKeys, lockWithChildren, setKeys } from "./key-store.ts";
import {
  confineChild,
  findEndProblems,
  findGrowth,
  findNetworkProblems,
  narrowKey,
} from "./narrow-rules.ts";
import { buildKeyChange, viewKey, viewKeys } from "./read-keys.ts";
import { revokeAll } from "./revoke-keys.ts";
import type { Key, UpdateKeyBody } from "./schema.ts";

/** Renames a key or narrows it, and its children with it. A child of which nothing is left is revoked. */
export async function updateKey(
  ctx: Context,
  call: Call,
  { key_id: keyId, ...asked }: UpdateKeyBody & { readonly key_id: string },
): Promise<Key> {
  const now = ctx.now();
  const expiresAt = asked.expires_at === undefined ? null : parseInstant(asked.expires_at);
  const problems = [...findEndProblems(expiresAt, now), ...findNetworkProblems(asked.ip_allowlist)];
  if (problems.length > 0) throw unprocessable(...problems);
  return await ctx.db.transaction(
    async (tx) => {
      const before = isId("key", keyId) ? await lockKey(tx, call.caller.deskId, keyId) : undefined;
      if (!before || !isKeyVisible(call.caller, before)) throw notFound("key_id");
      advance(keyLifecycle, findKeyState(before, now), "update");
      const narrowed = narrowKey(before, asked, expiresAt ?? undefined);
      const growth = findGrowth(before, narrowed);
      if (growth.length > 0) throw unprocessable(...growth);
      const after = { ...narrowed, name: asked.name ?? before.name };
      if (exactJson(after) === exactJson(before)) return await viewKey(tx, before, now);
      const updated = renew(after, now);
      const changes = [
        ...(await confineChildren(tx, updated, now)),
        noteUpdate(before, updated, now),
      ];
      await setKeys(tx, [updated]);
      await recordChanges(tx, toActor(call), changes, now);
      return await viewKey(tx, updated, now);
    },
    { rollBack: call.dryRun },
  );
}

async function confineChildren(tx: Tx, root: KeyRow, now: Date): Promise<Change[]> {
  const family = await lockWithChildren(tx, root.key_id);
  const children = family.filter(({ key_id }) => key_id !== root.key_id);
  return await writeConfined(tx, children, {
    confine: (child) => confineChild(child, root),
    now,
  });
}

async function writeConfined(
  tx: Tx,
  children: readonly KeyRow[],
  { confine, now }: { confine: (child: KeyRow) => KeyRow | undefined; now: Date },
): Promise<Change[]> {
  const changed: KeyRow[] = [];
  const ended: KeyRow[] = [];
  const changes: Change[] = [];
  for (const child of children) {
    const after = confine(child);
    if (!after) ended.push(child);
    else if (exactJson(after) !== exactJson(child)) {
      const updated = renew(after, now);
      changed.push(updated);
      changes.push(noteUpdate(child, updated, now));
    }
  }
  if (changed.length > 0) await setKeys(tx, changed);
  if (ended.length > 0) changes.push(...(await revokeAll(tx, ended, now)));
  return changes;
}

function renew(row: KeyRow, now: Date): KeyRow {
  return { ...row, version: row.version + 1, updated_at: now };
}

function noteUpdate(before: KeyRow, after: KeyRow, now: Date): Change {
  const event = { name: "key.updated", data: { name: after.name, kind: after.kind } };
  return buildKeyChange(before, after, { action: "update", event, now });
}

/**
 * Gives the children of a root key to another of the same desk and plan, so that the first can be
 * revoked. They keep what both root keys may do; one of which nothing is left is revoked.
 */
export async function moveChildKeys(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { key_id: fromId, to_key_id: toId }: { readonly key_id: string; readonly to_key_id: string },
): Promise<{ keys: Key[] }> {
  const now = ctx.now();
  if (fromId === toId) throw unprocessable({ path: "to_key_id", problem: "is another root key" });
  return await ctx.db.transaction(async (tx) => {
    const roots = await lockKeys(tx, [fromId, toId]);
    const from = roots.find(({ key_id }) => key_id === fromId);
    if (!from) throw notFound("key_id");
    const to = roots.find(({ key_id }) => key_id === toId);
    const problem = findMoveProblem(from, to, now);
    if (!to || problem) throw unprocessable({ path: "to_key_id", problem: problem ?? "is no key" });
    advance(keyLifecycle, findKeyState(from, now), "update");
    const family = await lockWithChildren(tx, fromId);
    const children = family.filter(({ key_id }) => key_id !== fromId);
    const changes = await writeConfined(tx, children, {
      confine(child) {
        const kept = confineChild(child, from);
        const moved = kept && confineChild(kept, to);
        return moved && { ...moved, parent_key_id: toId };
      },
      now,
    });
    await recordChanges(tx, actor, changes, now);
    const after = await lockKeys(
      tx,
      children.map(({ key_id }) => key_id),
    );
    return { keys: await viewKeys(tx, after, now) };
  });
}

function findMoveProblem(from: KeyRow, to: KeyRow | undefined, now: Date): string | undefined {
  if (from.kind !== "root" || to?.kind !== "root") return "children go from a root key to another";
  if (to.desk_id !== from.desk_id || to.environment !== from.environment) {
    return "must be of the same desk and environment";
  }
  // Children are metered by their root key's plan, and would grow with it.
  if (to.plan !== from.plan) return "must be on the same plan";
  return findKeyState(to, now) === "active" ? undefined : "must be active";
}

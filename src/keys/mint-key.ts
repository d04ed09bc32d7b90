import { recordChanges } from "../events/record-changes.ts";
import { refuseOffboarded } from "../firms/firm-of-caller.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { parseNetwork } from "../kernel/networks.ts";
import { parseInstant } from "../kernel/time.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfKey } from "./change-of-key.ts";
import { isWithinReach, newApiKey, refuseExcess, refuseMoreChildren } from "./rules.ts";
import type { Key, MintKeyBody, MintedKey } from "./schema.ts";
import { countChildren, findKey, insertKey, type KeyRow, lockFirstRootKey } from "./store.ts";
import { viewKey } from "./view-key.ts";

/** A child key of the caller's root key. Its secret is in this one answer and in no other. */
export async function mintKey(
  ctx: Context,
  call: Call,
  body: MintKeyBody,
): Promise<Creation<Key | MintedKey>> {
  const now = ctx.now();
  const row = childOf(call, body, now);
  return await ctx.db.transaction(
    async (tx) => {
      const mintedBefore = await claimIdempotencyKey(tx, {
        call,
        operation: "mintKey",
        body,
        idField: "key_id",
        newId: row.key_id,
        mayKnow: async (keyId) => await isVisible(tx, call.caller, keyId),
        now,
      });
      if (mintedBefore) {
        return { outcome: "replayed", resource: await mintedEarlier(tx, call, mintedBefore, now) };
      }
      const firm = await firmOfDesk(tx, row.desk_id, row.firm_id);
      refuseExcess(call.caller, { scopes: row.scopes, buySide: row.buy_side });
      if (row.kind === "sub_account") refuseOffboarded(firm);
      await refuseBeyondPlan(tx, call.caller, now);
      const { apiKey, sealed } = newApiKey(row.environment, row.key_id);
      await insertKey(tx, row, sealed);
      const minted = { ...row, hint: sealed.hint };
      const key = viewKey(minted, now);
      const event = { name: "key.created", data: { name: row.name, kind: row.kind } };
      const change = changeOfKey(null, minted, { action: "mint", event, now });
      await recordChanges(tx, actorOf(call), [change], now);
      // A key that was only tried does not exist, so there is no secret to show.
      if (call.dryRun) return { outcome: "tried", resource: key };
      return { outcome: "created", resource: { ...key, api_key: apiKey } };
    },
    { rollBack: call.dryRun },
  );
}

async function refuseBeyondPlan(tx: Tx, { deskId, keyId }: Caller, now: Date): Promise<void> {
  await lockFirstRootKey(tx, deskId);
  const counted = await countChildren(tx, deskId, { rootKeyId: keyId, now });
  if (!counted) throw new Error("a root key that mints exists and has a plan");
  refuseMoreChildren(counted);
}

async function mintedEarlier(tx: Tx, { caller }: Call, keyId: string, now: Date): Promise<Key> {
  const row = await findKey(tx, caller.deskId, keyId);
  if (!row) throw new Error("a key bound to an idempotency key exists");
  // Another root key of the desk may have minted it, with scopes that this one could not have given.
  refuseExcess(caller, { scopes: row.scopes, buySide: row.buy_side });
  return viewKey(row, now);
}

async function isVisible(tx: Tx, caller: Caller, keyId: string): Promise<boolean> {
  const row = await findKey(tx, caller.deskId, keyId);
  return row !== undefined && isWithinReach(caller, row);
}

function childOf({ caller }: Call, body: MintKeyBody, now: Date): KeyRow {
  const expiresAt = body.expires_at === undefined ? null : parseInstant(body.expires_at);
  const problems = problemsOf(body, { expiresAt, caller, now });
  if (problems.length > 0) throw unprocessable(...problems);
  return {
    key_id: newId("key", now),
    environment: caller.environment,
    desk_id: caller.deskId,
    firm_id: body.firm_id ?? caller.firmId,
    kind: body.kind,
    parent_key_id: caller.keyId,
    name: body.name,
    plan: null,
    scopes: [...new Set(body.scopes)],
    buy_side: body.buy_side ?? false,
    per_minute: body.limits?.per_minute ?? null,
    monthly_quota: body.limits?.monthly_quota ?? null,
    max_order_paise: body.limits?.max_order_paise ?? null,
    daily_notional_paise: body.limits?.daily_notional_paise ?? null,
    ip_allowlist: body.ip_allowlist ?? [],
    expires_at: expiresAt ?? null,
    hint: "",
    revoked_at: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

function problemsOf(
  body: MintKeyBody,
  { expiresAt, caller, now }: { expiresAt: Date | null | undefined; caller: Caller; now: Date },
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (body.kind === "sub_account" && body.firm_id === undefined) {
    problems.push({ path: "firm_id", problem: "names the client firm of a sub_account key" });
  }
  if (body.kind === "sub_account" && body.firm_id === caller.deskId) {
    problems.push({ path: "firm_id", problem: "must be a client firm, not the desk's own" });
  }
  if (body.kind === "app" && body.firm_id !== undefined) {
    problems.push({ path: "firm_id", problem: "only a sub_account key is bound to a client firm" });
  }
  if (expiresAt === undefined) {
    problems.push({ path: "expires_at", problem: "must be ISO 8601 with an offset" });
  } else if (expiresAt && expiresAt <= now) {
    problems.push({ path: "expires_at", problem: "must be in the future" });
  }
  body.ip_allowlist?.forEach((text, index) => {
    if (parseNetwork(text)) return;
    problems.push({ path: `ip_allowlist.${index}`, problem: "must be an IP address or network" });
  });
  return problems;
}

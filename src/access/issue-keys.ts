// How keys come to be: the operator issues root keys, a root key mints child keys, and a key gets a
// new secret. The secret is in one answer only; the database keeps its salted hash.

import { refuseOffboarded, requireAnyFirm, requireFirmOfDesk } from "../firms/find-firms.ts";
import { openDesk, type OpenedDesk } from "../firms/register-firm.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { operator, toActor } from "../kernel/actor.ts";
import { type Call, type Caller, type Environment, isScope, scopes } from "../kernel/caller.ts";
import { type Failure, type FieldProblem, notFound, unprocessable } from "../kernel/failure.ts";
import { isId, looksLikeId, newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { parseInstant } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import { type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import {
  isKeyName,
  isKeyVisible,
  keyLifecycle,
  keyNameLengthMax,
  makeApiKey,
  refuseExcess,
  refuseMoreChildren,
  findKeyState,
} from "./key-rules.ts";
import {
  countChildren,
  findKey,
  insertKey,
  type KeyRow,
  lockFirstRootKey,
  lockKey,
  setKeySecret,
  shareRootKey,
} from "./key-store.ts";
import { confineChild, findEndProblems, findNetworkProblems } from "./narrow-rules.ts";
import { buildKeyChange, viewKey } from "./read-keys.ts";
import { hasPlan } from "./usage-store.ts";
import type { Key, MintedKey, MintKeyBody, ReissuedKey } from "./schema.ts";

/** Mints a child key of the caller's root key. */
export async function mintKey(
  ctx: Context,
  call: Call,
  body: MintKeyBody,
): Promise<Creation<Key | MintedKey>> {
  const now = ctx.now();
  const asked = buildChildKey(call, body, now);
  return await ctx.db.transaction(
    async (tx) => {
      const mintedBefore = await claimIdempotencyKey(tx, {
        call,
        operation: "mintKey",
        body,
        idField: "key_id",
        newId: asked.key_id,
        mayKnow: async (keyId) => await canSeeKey(tx, call.caller, keyId),
        now,
      });
      if (mintedBefore) {
        return {
          outcome: "replayed",
          resource: await findMintedEarlier(tx, call, mintedBefore, now),
        };
      }
      const firm = await requireFirmOfDesk(tx, asked.desk_id, asked.firm_id);
      await lockFirstRootKey(tx, asked.desk_id); // Before its own, which may be the same row.
      const root = await shareRootKey(tx, call.caller.keyId);
      if (!root) throw new Error("a root key that mints exists");
      refuseExcess(
        { scopes: root.scopes, buySide: root.buy_side },
        { scopes: asked.scopes, buySide: asked.buy_side },
      );
      const row = confineChild(asked, root);
      if (!row) throw outsideParent();
      if (row.kind === "sub_account") refuseOffboarded(firm);
      await refuseBeyondPlan(tx, call.caller, now);
      const { apiKey, sealed } = makeApiKey(row.environment, row.key_id);
      await insertKey(tx, row, sealed);
      const minted = { ...row, hint: sealed.hint };
      const key = await viewKey(tx, minted, now);
      const event = { name: "key.created", data: { name: row.name, kind: row.kind } };
      const change = buildKeyChange(null, minted, { action: "mint", event, now });
      await recordChanges(tx, toActor(call), [change], now);
      // A dry run creates no key, so there is no secret to show.
      if (call.dryRun) return { outcome: "dry_run", resource: key };
      return { outcome: "created", resource: { ...key, api_key: apiKey } };
    },
    { rollBack: call.dryRun },
  );
}

function outsideParent(): Failure {
  const problem = "is outside where the parent key may be used from";
  return unprocessable({ path: "ip_allowlist", problem });
}

async function refuseBeyondPlan(tx: Tx, { deskId, keyId }: Caller, now: Date): Promise<void> {
  const counted = await countChildren(tx, deskId, { rootKeyId: keyId, now });
  if (!counted) throw new Error("a root key that mints exists and has a plan");
  refuseMoreChildren(counted);
}

async function findMintedEarlier(tx: Tx, { caller }: Call, keyId: string, now: Date): Promise<Key> {
  const row = await findKey(tx, caller.deskId, keyId);
  if (!row) throw new Error("a key bound to an idempotency key exists");
  // Another root key of the desk may have minted it with scopes that this one does not hold.
  refuseExcess(caller, { scopes: row.scopes, buySide: row.buy_side });
  return await viewKey(tx, row, now);
}

async function canSeeKey(tx: Tx, caller: Caller, keyId: string): Promise<boolean> {
  const row = await findKey(tx, caller.deskId, keyId);
  return row !== undefined && isKeyVisible(caller, row);
}

function buildChildKey({ caller }: Call, body: MintKeyBody, now: Date): KeyRow {
  const expiresAt = body.expires_at === undefined ? null : parseInstant(body.expires_at);
  const problems = findProblems(body, { expiresAt, caller, now });
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
    withdrawals: body.limits?.withdrawals ?? true,
    ip_allowlist: body.ip_allowlist ?? [],
    expires_at: expiresAt ?? null,
    hint: "",
    revoked_at: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

function findProblems(
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
  return [
    ...problems,
    ...findEndProblems(expiresAt, now),
    ...findNetworkProblems(body.ip_allowlist),
  ];
}

type IssueKey = {
  /** The desk by its name; made when there is none of that name. */
  readonly firmName?: string | undefined;
  /** Or a desk that there is, by its id. */
  readonly deskId?: string | undefined;
  readonly environment: Environment;
  readonly scopes: readonly string[];
  readonly plan: string;
  readonly buySide: boolean;
  readonly name: string;
  readonly iec?: string | undefined;
  readonly pan?: string | undefined;
};

export type IssuedKey = {
  readonly api_key: string;
  readonly key_id: string;
  readonly firm_id: string;
};

const planConstraints = new Set(["api_keys_plan_fkey", "api_keys_plan_of_environment"]);

/** Issues a root key, for the operator; opens the desk when it is new. */
export async function issueKey(
  ctx: Pick<Context, "db" | "now">,
  command: IssueKey,
  actor = operator,
): Promise<IssuedKey> {
  const now = ctx.now();
  const granted = command.scopes.filter(isScope);
  if (granted.length === 0 || granted.length < command.scopes.length) {
    throw unprocessable({ path: "scopes", problem: `must be some of ${scopes.join(", ")}` });
  }
  if (!isKeyName(command.name)) {
    throw unprocessable({ path: "name", problem: `must be 1 to ${keyNameLengthMax} characters` });
  }
  if (!(await hasPlan(ctx.db, command.plan))) {
    throw noPlan(command.plan, command.environment);
  }
  // Sandbox keys are always on the sandbox plan.
  const plan = command.environment === "sandbox" ? "sandbox" : command.plan;
  try {
    return await ctx.db.transaction(async (tx) => {
      const { desk, opened } = await findOrOpenDesk(tx, command, now);
      const keyId = newId("key", now);
      const { apiKey, sealed } = makeApiKey(command.environment, keyId);
      const key: KeyRow = {
        key_id: keyId,
        environment: command.environment,
        desk_id: desk.firm_id,
        firm_id: desk.firm_id,
        kind: "root",
        parent_key_id: null,
        name: command.name,
        plan,
        scopes: [...new Set(granted)],
        buy_side: command.buySide,
        per_minute: null,
        monthly_quota: null,
        max_order_paise: null,
        daily_notional_paise: null,
        withdrawals: true,
        ip_allowlist: [],
        expires_at: null,
        hint: sealed.hint,
        revoked_at: null,
        version: 1,
        created_at: now,
        updated_at: now,
      };
      await insertKey(tx, key, sealed);
      const event = { name: "key.created", data: { name: key.name, kind: key.kind } };
      const change = buildKeyChange(null, key, { action: "issue", event, now });
      await recordChanges(tx, actor, [...opened, change], now);
      return { api_key: apiKey, key_id: keyId, firm_id: desk.firm_id };
    });
  } catch (error) {
    if (planConstraints.has(violatedConstraint(error) ?? "")) {
      throw noPlan(plan, command.environment);
    }
    throw error;
  }
}

function noPlan(plan: string, environment: Environment): Failure {
  return unprocessable({
    path: "plan",
    problem: `there is no plan ${plan} for ${environment} keys`,
  });
}

async function findOrOpenDesk(tx: Tx, command: IssueKey, now: Date): Promise<OpenedDesk> {
  const { firmName, deskId, environment } = command;
  if (deskId !== undefined) {
    const desk = await requireAnyFirm(tx, deskId);
    if (desk.desk_id === desk.firm_id && desk.environment === environment) {
      return { desk, opened: [] };
    }
    throw unprocessable({ path: "desk_id", problem: `is no ${environment} desk` });
  }
  if (firmName === undefined || looksLikeId(firmName)) {
    const problem = "is a desk's name; a desk that there is can be given by its id as desk";
    throw unprocessable({ path: "firm", problem });
  }
  return await openDesk(tx, { ...command, legalName: firmName }, now);
}

/** Gives the key a new secret; the old one stops matching at commit. */
export async function reissueKey(ctx: Context, call: Call, keyId: string): Promise<ReissuedKey> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const row = isId("key", keyId) ? await lockKey(tx, call.caller.deskId, keyId) : undefined;
      if (!row || !isKeyVisible(call.caller, row)) throw notFound("key_id");
      advance(keyLifecycle, findKeyState(row, now), "reissue");
      const { apiKey, sealed } = makeApiKey(row.environment, row.key_id);
      const changed = await setKeySecret(tx, keyId, sealed, now);
      if (!changed) throw new Error("a locked key can be changed");
      const event = { name: "key.updated", data: { name: changed.name, kind: changed.kind } };
      const change = buildKeyChange(row, changed, { action: "reissue", event, now });
      await recordChanges(tx, toActor(call), [change], now);
      const key = await viewKey(tx, changed, now);
      return call.dryRun ? key : { ...key, api_key: apiKey };
    },
    { rollBack: call.dryRun },
  );
}

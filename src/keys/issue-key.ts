import { recordChanges } from "../events/record-changes.ts";
import { openDesk } from "../firms/open-desk.ts";
import { operator } from "../kernel/actor.ts";
import { type Environment, isScope, scopes } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import { violatedConstraint } from "../platform/postgres.ts";
import { changeOfKey } from "./change-of-key.ts";
import { isKeyName, keyNameLengthMax, newApiKey } from "./rules.ts";
import { insertKey, type KeyRow } from "./store.ts";

export type IssueKey = {
  readonly firmName: string;
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

/** A root key, by the operator: how every desk's first key is made. */
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
  // A sandbox key is unmetered whatever plan was named.
  const plan = command.environment === "sandbox" ? "sandbox" : command.plan;
  try {
    return await ctx.db.transaction(async (tx) => {
      const { desk, opened } = await openDesk(tx, { ...command, legalName: command.firmName }, now);
      const keyId = newId("key", now);
      const { apiKey, sealed } = newApiKey(command.environment, keyId);
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
      const change = changeOfKey(null, key, { action: "issue", event, now });
      await recordChanges(tx, actor, [...opened, change], now);
      return { api_key: apiKey, key_id: keyId, firm_id: desk.firm_id };
    });
  } catch (error) {
    if (planConstraints.has(violatedConstraint(error) ?? "")) {
      throw unprocessable({
        path: "plan",
        problem: `there is no plan ${plan} for ${command.environment} keys`,
      });
    }
    throw error;
  }
}

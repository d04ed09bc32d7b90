// What a desk says takes two keys. Taking less than before is itself such an act: otherwise whoever has
// one key would begin with it.

import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import type { Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import type { Permit, PermittedCall } from "./gate.ts";
import type { FindKeys } from "./proposals.ts";
import { isLooser, noRules, refuseWithoutPair, type SecondKeyRules } from "./rules.ts";
import { findRules, lockRules, putRules, type RulesRow } from "./store.ts";

export async function readDeskRules({ db }: Pick<Context, "db">, { deskId }: Caller) {
  return viewRules(await findRules(db, deskId));
}

export async function setDeskRules(
  ctx: Pick<Context, "db" | "now">,
  call: PermittedCall,
  { findKeys, ...asked }: SecondKeyRules & { readonly findKeys: FindKeys },
) {
  const now = ctx.now();
  const { environment, deskId } = call.caller;
  return await ctx.db.transaction(
    async (tx) => {
      await lockRules(tx, deskId);
      const found = await findRules(tx, deskId);
      const before: SecondKeyRules = found ?? noRules;
      const passed = await passRules(tx, call, { before, after: asked, now });
      const { bank_changes, withdrawals_from_paise } = asked;
      const isSame =
        before.bank_changes === bank_changes &&
        before.withdrawals_from_paise === withdrawals_from_paise;
      if (isSame) return viewRules(found);
      if (bank_changes || withdrawals_from_paise !== null) {
        refuseWithoutPair(await findKeys(tx, deskId, now));
      }
      const after: RulesRow = {
        desk_id: deskId,
        environment,
        bank_changes,
        withdrawals_from_paise,
        version: (found?.version ?? 0) + 1,
        updated_at: now,
      };
      await putRules(tx, after);
      const changes = [buildRulesChange(after), ...passed];
      await recordChanges(tx, toActor(call), changes, now);
      return viewRules(after);
    },
    { rollBack: call.dryRun },
  );
}

async function passRules(
  tx: Tx,
  { caller, permit }: { readonly caller: Caller; readonly permit?: Permit | undefined },
  {
    before,
    after,
    now,
  }: { readonly before: SecondKeyRules; readonly after: SecondKeyRules; readonly now: Date },
): Promise<readonly Change[]> {
  const { deskId } = caller;
  const fact = `${before.bank_changes} ${before.withdrawals_from_paise}`;
  if (permit) return await permit(tx, { kind: "rules", deskId, firmId: deskId, fact }, now);
  if (!isLooser(before, after)) return [];
  throw new Failure("conflict", "asking for less takes a second key: propose it", {
    detail: { reason: "rules_take_two", kind: "rules", propose_at: "POST /v1/approvals" },
  });
}

function viewRules(row: RulesRow | undefined) {
  return {
    bank_changes: row?.bank_changes ?? noRules.bank_changes,
    withdrawals_from_paise: row?.withdrawals_from_paise ?? noRules.withdrawals_from_paise,
    updated_at: row ? istTimestamp(row.updated_at) : null,
    version: row?.version ?? 0,
  };
}

function buildRulesChange(after: RulesRow): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.desk_id,
    action: "second_key.set_rules",
    entity: {
      type: "approval_rules",
      id: after.desk_id,
      version: after.version,
      href: "/v1/approvals/rules",
    },
    after: viewRules(after),
  };
}

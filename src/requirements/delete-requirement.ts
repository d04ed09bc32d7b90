import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { lockRequirementOfFirm, type RequirementOfFirm } from "./requirement-of-firm.ts";
import type { Requirement } from "./schema.ts";
import { deleteRequirement as deleteRow } from "./store.ts";
import { requirementChange, viewRequirement } from "./view-requirement.ts";

/** Takes a requirement back; the answer is what it was. */
export async function deleteRequirement(
  ctx: Context,
  call: Call,
  requirement: RequirementOfFirm,
): Promise<Requirement> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockRequirementOfFirm(tx, call.caller, requirement);
      await deleteRow(tx, before.desk_id, before.requirement_id);
      const deleted = requirementChange("requirement.deleted", { before, after: null });
      await recordChanges(tx, actorOf(call), [deleted], now);
      return viewRequirement(before);
    },
    { rollBack: call.dryRun },
  );
}

import { recordChanges } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { lockRequirementOfFirm, referring, type RequirementOfFirm } from "./requirement-of-firm.ts";
import { changedTerms, sameTerms } from "./rules.ts";
import type { Requirement, UpdateRequirementBody } from "./schema.ts";
import { setRequirementTerms } from "./store.ts";
import { requirementChange, viewRequirement } from "./view-requirement.ts";

/** Changes the fields that are named. What they are already changes nothing. */
export async function updateRequirement(
  ctx: Context,
  call: Call,
  { firmId, requirementId, ...change }: RequirementOfFirm & UpdateRequirementBody,
): Promise<Requirement> {
  const now = ctx.now();
  const { deskId } = call.caller;
  return await referring(ctx, { deskId, firmId, reference: change.reference }, () =>
    ctx.db.transaction(
      async (tx) => {
        const before = await lockRequirementOfFirm(tx, call.caller, { firmId, requirementId });
        const terms = changedTerms(before, change, istDay(now));
        if (sameTerms(before, terms)) return viewRequirement(before);
        const after = await setRequirementTerms(tx, deskId, { ...terms, requirementId, now });
        if (!after) throw new Error("a locked requirement can be changed");
        const updated = requirementChange("requirement.updated", { before, after });
        await recordChanges(tx, actorOf(call), [updated], now);
        return viewRequirement(after);
      },
      { rollBack: call.dryRun },
    ),
  );
}

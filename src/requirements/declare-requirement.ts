import { recordChanges } from "../events/record-changes.ts";
import { firmOfCaller, refuseOffboarded } from "../firms/firm-of-caller.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { istDay } from "../kernel/time.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import type { Tx } from "../platform/postgres.ts";
import { referring } from "./requirement-of-firm.ts";
import { refusePastDay } from "./rules.ts";
import type { DeclareRequirementBody, Requirement } from "./schema.ts";
import { findRequirement, insertRequirement, type RequirementRow } from "./store.ts";
import { requirementChange, viewRequirement } from "./view-requirement.ts";

export async function declareRequirement(
  ctx: Context,
  call: Call,
  { firmId, ...body }: { readonly firmId: string } & DeclareRequirementBody,
): Promise<Creation<Requirement>> {
  const now = ctx.now();
  const { environment, deskId } = call.caller;
  const row: RequirementRow = {
    requirement_id: newId("rqm", now),
    environment,
    desk_id: deskId,
    firm_id: firmId,
    scheme: body.scheme ?? null,
    amount_paise: body.amount_paise,
    due_on: body.due_on,
    reference: body.reference,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  return await referring(ctx, { deskId, firmId, reference: row.reference }, () =>
    ctx.db.transaction(
      async (tx): Promise<Creation<Requirement>> => {
        const firm = await firmOfCaller(tx, call.caller, firmId);
        const declaredBefore = await claimIdempotencyKey(tx, {
          call,
          operation: "declareRequirement",
          body: { ...body, firm_id: firmId },
          idField: "requirement_id",
          newId: row.requirement_id,
          now,
        });
        if (declaredBefore) {
          return { outcome: "replayed", resource: await declaredEarlier(tx, row, declaredBefore) };
        }
        // A retry finds its original even when the day or the firm has gone since; new ones do not.
        refusePastDay(row.due_on, istDay(now));
        refuseOffboarded(firm);
        await insertRequirement(tx, row);
        const declared = requirementChange("requirement.declared", { before: null, after: row });
        await recordChanges(tx, actorOf(call), [declared], now);
        return { outcome: call.dryRun ? "tried" : "created", resource: viewRequirement(row) };
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** What the key created may be gone by now; creating it again is not what a retry asks for. */
async function declaredEarlier(
  tx: Tx,
  { desk_id, firm_id }: RequirementRow,
  requirementId: string,
): Promise<Requirement> {
  const row = await findRequirement(tx, { deskId: desk_id, firmId: firm_id }, requirementId);
  if (row) return viewRequirement(row);
  throw new Failure("conflict", "the requirement this idempotency key created has been deleted", {
    detail: { reason: "deleted", requirement_id: requirementId },
  });
}

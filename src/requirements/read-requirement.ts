import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { RequirementOfFirm } from "./requirement-of-firm.ts";
import type { Requirement } from "./schema.ts";
import { findRequirement } from "./store.ts";
import { viewRequirement } from "./view-requirement.ts";

export async function readRequirement(
  ctx: Context,
  caller: Caller,
  { firmId, requirementId }: RequirementOfFirm,
): Promise<Requirement> {
  const { desk_id: deskId } = await firmOfCaller(ctx.db, caller, firmId);
  const row = isId("rqm", requirementId)
    ? await findRequirement(ctx.db, { deskId, firmId }, requirementId)
    : undefined;
  if (!row) throw notFound();
  return viewRequirement(row);
}

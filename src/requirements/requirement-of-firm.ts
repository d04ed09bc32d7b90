import { firmOfCaller } from "../firms/firm-of-caller.ts";
import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, violatedConstraint } from "../platform/postgres.ts";
import {
  findRequirementByReference,
  type FirmOfDesk,
  lockRequirement,
  referenceConstraint,
  type RequirementRow,
} from "./store.ts";

export type RequirementOfFirm = { readonly firmId: string; readonly requirementId: string };

/** A requirement of a firm that the caller may act for, locked. */
export async function lockRequirementOfFirm(
  tx: Tx,
  caller: Caller,
  { firmId, requirementId }: RequirementOfFirm,
): Promise<RequirementRow> {
  const firm = await firmOfCaller(tx, caller, firmId);
  const row = isId("rqm", requirementId)
    ? await lockRequirement(tx, { deskId: firm.desk_id, firmId: firm.firm_id }, requirementId)
    : undefined;
  if (!row) throw notFound();
  return row;
}

/** Runs a write that gives a reference, and says which requirement has it when one has. */
export async function referring<Result>(
  ctx: Context,
  { reference, ...firm }: FirmOfDesk & { readonly reference: string | undefined },
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (violatedConstraint(error) !== referenceConstraint || reference === undefined) throw error;
    const holder = await findRequirementByReference(ctx.db, firm, reference);
    throw new Failure("conflict", "a requirement of this firm has this reference", {
      detail: {
        reason: "reference_taken",
        ...(holder && { requirement_id: holder.requirement_id }),
      },
    });
  }
}

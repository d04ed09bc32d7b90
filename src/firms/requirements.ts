import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import type { Page } from "../kernel/page.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey, createdWasDeleted } from "../platform/http/idempotency.ts";
import { type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { requireVisibleFirm, refuseOffboarded } from "./find-firms.ts";
import {
  applyTermChanges,
  refusePastDay,
  requirementActions,
  isSameTerms,
} from "./requirement-rules.ts";
import type {
  DeclareRequirementBody,
  Requirement,
  UpdateRequirementBody,
} from "./requirement-schema.ts";
import {
  deleteRequirement as deleteRow,
  findRequirement,
  findRequirementByReference,
  type FirmKey,
  insertRequirement,
  lockRequirement,
  referenceConstraint,
  requirementList,
  type RequirementRow,
  setRequirementTerms,
} from "./requirement-store.ts";

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
  return await catchReferenceConflict(ctx, { deskId, firmId, reference: row.reference }, () =>
    ctx.db.transaction(
      async (tx): Promise<Creation<Requirement>> => {
        const firm = await requireVisibleFirm(tx, call.caller, firmId);
        const declaredBefore = await claimIdempotencyKey(tx, {
          call,
          operation: "declareRequirement",
          body: { ...body, firm_id: firmId },
          idField: "requirement_id",
          newId: row.requirement_id,
          now,
        });
        if (declaredBefore) {
          return {
            outcome: "replayed",
            resource: await findDeclaredEarlier(tx, row, declaredBefore),
          };
        }
        // After the claim, so that a retry finds its original when the day has passed meanwhile.
        refusePastDay(row.due_on, istDay(now));
        refuseOffboarded(firm);
        await insertRequirement(tx, row);
        const declared = buildRequirementChange("requirement.declared", {
          before: null,
          after: row,
        });
        await recordChanges(tx, toActor(call), [declared], now);
        return { outcome: call.dryRun ? "tried" : "created", resource: viewRequirement(row) };
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** Changes the given fields; does nothing when none differs. */
export async function updateRequirement(
  ctx: Context,
  call: Call,
  { firmId, requirementId, ...change }: RequirementOfFirm & UpdateRequirementBody,
): Promise<Requirement> {
  const now = ctx.now();
  const { deskId } = call.caller;
  return await catchReferenceConflict(ctx, { deskId, firmId, reference: change.reference }, () =>
    ctx.db.transaction(
      async (tx) => {
        const before = await lockRequirementOfFirm(tx, call.caller, { firmId, requirementId });
        const terms = applyTermChanges(before, change, istDay(now));
        if (isSameTerms(before, terms)) return viewRequirement(before);
        const after = await setRequirementTerms(tx, deskId, { ...terms, requirementId, now });
        if (!after) throw new Error("a locked requirement can be changed");
        const updated = buildRequirementChange("requirement.updated", { before, after });
        await recordChanges(tx, toActor(call), [updated], now);
        return viewRequirement(after);
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** Deletes a requirement and returns it as it was. */
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
      const deleted = buildRequirementChange("requirement.deleted", { before, after: null });
      await recordChanges(tx, toActor(call), [deleted], now);
      return viewRequirement(before);
    },
    { rollBack: call.dryRun },
  );
}

export async function readRequirement(
  ctx: Context,
  caller: Caller,
  { firmId, requirementId }: RequirementOfFirm,
): Promise<Requirement> {
  const { desk_id: deskId } = await requireVisibleFirm(ctx.db, caller, firmId);
  const row = isId("rqm", requirementId)
    ? await findRequirement(ctx.db, { deskId, firmId }, requirementId)
    : undefined;
  if (!row) throw notFound();
  return viewRequirement(row);
}

export const ListRequirementsQuery = requirementList.queryWith({});

export async function listRequirements(
  ctx: Context,
  caller: Caller,
  { firmId, ...query }: { readonly firmId: string } & Parameters<typeof requirementList.read>[2],
): Promise<Page<Requirement>> {
  const { desk_id: deskId } = await requireVisibleFirm(ctx.db, caller, firmId);
  const page = await requirementList.read(ctx, { deskId, firmId }, query);
  return { ...page, rows: await mapPaced(page.rows, viewRequirement, openPace()) };
}

type RequirementOfFirm = { readonly firmId: string; readonly requirementId: string };

/** Runs a write that sets a reference, and turns the unique violation into a conflict. */
async function catchReferenceConflict<Result>(
  ctx: Context,
  { reference, ...firm }: FirmKey & { readonly reference: string | undefined },
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

/** A retry whose requirement was deleted is refused: a retry never creates a second one. */
async function findDeclaredEarlier(
  tx: Tx,
  { desk_id, firm_id }: RequirementRow,
  requirementId: string,
): Promise<Requirement> {
  const row = await findRequirement(tx, { deskId: desk_id, firmId: firm_id }, requirementId);
  if (row) return viewRequirement(row);
  throw createdWasDeleted("requirement", requirementId);
}

function viewRequirement(row: RequirementRow): Requirement {
  return {
    requirement_id: row.requirement_id,
    firm_id: row.firm_id,
    scheme: row.scheme,
    amount_paise: row.amount_paise,
    due_on: row.due_on,
    reference: row.reference,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: [...requirementActions],
  };
}

/** A change of a requirement for the audit trail; there is no event for it. */
function buildRequirementChange(
  action: string,
  {
    before,
    after,
  }: { readonly before: RequirementRow | null; readonly after: RequirementRow | null },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change has a row before or after it");
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id,
    action,
    entity: {
      type: "requirement",
      id: row.requirement_id,
      version: row.version,
      href: `/v1/firms/${row.firm_id}/requirements/${row.requirement_id}`,
    },
    before: before && viewRequirement(before),
    after: after && viewRequirement(after),
  };
}

/** A requirement of a firm that the caller can see, locked. */
async function lockRequirementOfFirm(
  tx: Tx,
  caller: Caller,
  { firmId, requirementId }: RequirementOfFirm,
): Promise<RequirementRow> {
  const firm = await requireVisibleFirm(tx, caller, firmId);
  const row = isId("rqm", requirementId)
    ? await lockRequirement(tx, { deskId: firm.desk_id, firmId: firm.firm_id }, requirementId)
    : undefined;
  if (!row) throw notFound();
  return row;
}

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, type ChangeEvent, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import {
  type ClockAdvance,
  clockAheadMaxS,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey, createdWasDeleted } from "../platform/http/idempotency.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import { type Db, type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { requireVisibleFirm, refuseOffboarded } from "./find-firms.ts";
import {
  applyTermChanges,
  type Cover,
  coverRests,
  findToldUntil,
  findUncoveredPaise,
  nothingBought,
  refuseChangeUnderCover,
  refusePastDay,
  requirementActions,
  isSameTerms,
} from "./requirement-rules.ts";
import {
  type DeclareRequirementBody,
  Requirement,
  RequirementsParams,
  type UpdateRequirementBody,
} from "./requirement-schema.ts";
import {
  claimUntold,
  deleteRequirement as deleteRow,
  findRequirement,
  findRequirementByReference,
  type FirmKey,
  insertRequirement,
  lockRequirement,
  lockRequirements,
  moveDueDaysEarlier,
  referenceConstraint,
  requirementList,
  type RequirementRow,
  setChecked,
  setRequirementTerms,
} from "./requirement-store.ts";

/** What orders have bought for requirements, by requirement; orders are of an upper room. */
export type FindCovers = (
  db: Db,
  requirementIds: readonly string[],
) => Promise<ReadonlyMap<string, Cover>>;

type RequirementContext = Context & { readonly findCovers: FindCovers };

export async function declareRequirement(
  ctx: RequirementContext,
  call: Call,
  body: { readonly firm_id: string } & DeclareRequirementBody,
): Promise<Creation<Requirement>> {
  const { firm_id: firmId } = body;
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
    uncovered_told_for: null,
    uncovered_checked_on: null,
    updated_at: now,
  };
  return await catchReferenceConflict(ctx, { deskId, firmId, reference: row.reference }, () =>
    ctx.db.transaction(
      async (tx): Promise<Creation<Requirement>> => {
        const firm = await requireVisibleFirm(tx, call.caller, firmId);
        const declaredBefore = await claimIdempotencyKey(tx, {
          call,
          operation: "declareRequirement",
          body,
          idField: "requirement_id",
          newId: row.requirement_id,
          now,
        });
        if (declaredBefore) {
          return {
            outcome: "replayed",
            resource: await findDeclaredEarlier(ctx, tx, row, declaredBefore),
          };
        }
        // After the claim, so that a retry finds its original when the day has passed meanwhile.
        refusePastDay(row.due_on, istDay(now));
        refuseOffboarded(firm);
        await insertRequirement(tx, [row]);
        const declared = buildRequirementChange("requirement.declared", {
          before: null,
          after: row,
        });
        await recordChanges(tx, toActor(call), [declared], now);
        return {
          outcome: call.dryRun ? "dry_run" : "created",
          resource: viewRequirement(row, nothingBought),
        };
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** Changes the given fields; does nothing when none differs. */
export async function updateRequirement(
  ctx: RequirementContext,
  call: Call,
  asked: RequirementOfFirm & UpdateRequirementBody,
): Promise<Requirement> {
  const now = ctx.now();
  const { deskId } = call.caller;
  const { firm_id: firmId, requirement_id: requirementId, reference } = asked;
  return await catchReferenceConflict(ctx, { deskId, firmId, reference }, () =>
    ctx.db.transaction(
      async (tx) => {
        const before = await lockRequirementOfFirm(tx, call.caller, asked);
        const terms = applyTermChanges(before, asked, istDay(now));
        const bought = await findBought(ctx, tx, before);
        if (isSameTerms(before, terms)) return viewRequirement(before, bought);
        refuseChangeUnderCover(before, terms, bought);
        const after = await setRequirementTerms(tx, deskId, { ...terms, requirementId, now });
        if (!after) throw new Error("a locked requirement can be changed");
        const updated = buildRequirementChange("requirement.updated", { before, after });
        await recordChanges(tx, toActor(call), [updated], now);
        return viewRequirement(after, bought);
      },
      { rollBack: call.dryRun },
    ),
  );
}

/** Deletes a requirement and returns it as it was. */
export async function deleteRequirement(
  ctx: RequirementContext,
  call: Call,
  requirement: RequirementOfFirm,
): Promise<Requirement> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockRequirementOfFirm(tx, call.caller, requirement);
      const bought = await findBought(ctx, tx, before);
      if (bought.restingPaise > 0) throw coverRests(bought);
      await deleteRow(tx, before.desk_id, before.requirement_id);
      const deleted = buildRequirementChange("requirement.deleted", { before, after: null });
      await recordChanges(tx, toActor(call), [deleted], now);
      return viewRequirement(before, bought);
    },
    { rollBack: call.dryRun },
  );
}

export async function readRequirement(
  ctx: RequirementContext,
  caller: Caller,
  requirement: RequirementOfFirm,
): Promise<Requirement> {
  const row = await requireRequirement(ctx.db, caller, requirement);
  return viewRequirement(row, await findBought(ctx, ctx.db, row));
}

/** A requirement of a firm that the caller sees. */
export async function requireRequirement(
  db: Db,
  caller: Caller,
  { firm_id: firmId, requirement_id: requirementId }: RequirementOfFirm,
): Promise<RequirementRow> {
  const { desk_id: deskId } = await requireVisibleFirm(db, caller, firmId, "requirement_id");
  const row = isId("rqm", requirementId)
    ? await findRequirement(db, { deskId, firmId }, requirementId)
    : undefined;
  if (!row) throw notFound("requirement_id");
  return row;
}

/** The amounts of requirements that orders are to cover, locked; without those that are gone. */
export async function lockAmounts(
  tx: Tx,
  requirementIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await lockRequirements(tx, [...new Set(requirementIds)]);
  return new Map(rows.map((row) => [row.requirement_id, row.amount_paise]));
}

export const requirementsOfFirm = deskPages({
  name: "requirements",
  params: RequirementsParams,
  query: requirementList.parameters,
  of: Requirement,
  order: "Newest first.",
  read: async (ctx, caller, { firm_id: firmId, ...query }, { findCovers }) => {
    const { desk_id: deskId } = await requireVisibleFirm(ctx.db, caller, firmId);
    const page = await requirementList.read(ctx, { deskId, firmId }, query);
    const ids = page.rows.map((row) => row.requirement_id);
    const covers = await findCovers(ctx.db, ids);
    const view = (row: RequirementRow) =>
      viewRequirement(row, covers.get(row.requirement_id) ?? nothingBought);
    return { ...page, rows: await mapPaced(page.rows, view, openPace()) };
  },
});

export type RequirementOfFirm = { readonly firm_id: string; readonly requirement_id: string };

/** Runs a write that sets a reference, and turns the unique violation into a conflict. */
async function catchReferenceConflict<Result>(
  ctx: RequirementContext,
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
  ctx: RequirementContext,
  tx: Tx,
  { desk_id, firm_id }: RequirementRow,
  requirementId: string,
): Promise<Requirement> {
  const row = await findRequirement(tx, { deskId: desk_id, firmId: firm_id }, requirementId);
  if (row) return viewRequirement(row, await findBought(ctx, tx, row));
  throw createdWasDeleted("requirement", requirementId);
}

async function findBought(
  { findCovers }: Pick<RequirementContext, "findCovers">,
  db: Db,
  { requirement_id }: RequirementRow,
): Promise<Cover> {
  return (await findCovers(db, [requirement_id])).get(requirement_id) ?? nothingBought;
}

function viewRequirement(row: RequirementRow, bought: Cover): Requirement {
  return {
    ...describeRequirement(row),
    covered_paise: bought.coveredPaise,
    uncovered_paise: findUncoveredPaise(row.amount_paise, bought),
    resting_paise: bought.restingPaise,
    order_ids: [...bought.orderIds],
    allowed_actions: [...requirementActions],
  };
}

/** Its own fields, without what orders have bought for it. */
function describeRequirement(row: RequirementRow) {
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
  };
}

/** A change of a requirement for the audit trail; a desk's own changes tell it no event. */
function buildRequirementChange(
  action: string,
  {
    before,
    after,
    event,
  }: {
    readonly before: RequirementRow | null;
    readonly after: RequirementRow | null;
    readonly event?: ChangeEvent;
  },
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
    after: after && describeRequirement(after),
    event,
  };
}

const setSizeMax = 500;
const clock: Actor = { kind: "worker", id: "clock", requestId: null };

/** Tells desks of requirements that are due soon and not covered, one set at a time. */
export async function warnOfUncovered(
  ctx: Pick<RequirementContext, "db" | "now" | "findCovers">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  const today = istDay(now);
  const dueUntil = findToldUntil(today, await readCalendar(ctx.db));
  const done = await workInParts(offenders, (choice, claimed) =>
    ctx.db.transaction(async (tx) => {
      const due = await claimUntold(tx, { dueUntil, today }, { limit: setSizeMax, ...choice });
      claimed(due.map((row) => row.requirement_id));
      if (due.length > 0) await tell(tx, due);
      return due.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";

  async function tell(tx: Tx, due: readonly RequirementRow[]): Promise<void> {
    const ids = due.map((row) => row.requirement_id);
    const covers = await ctx.findCovers(tx, ids);
    const checked = due.map((row) => {
      const bought = covers.get(row.requirement_id) ?? nothingBought;
      const isUncovered = findUncoveredPaise(row.amount_paise, bought) > 0;
      // Nothing fails any more of what is past its day and covered.
      const isDone = isUncovered || row.due_on < today;
      const told = isDone ? row.due_on : row.uncovered_told_for;
      const after = { ...row, uncovered_told_for: told, uncovered_checked_on: today };
      return { after, bought, isUncovered };
    });
    await setChecked(
      tx,
      checked.map(({ after }) => after),
    );
    const changes = checked
      .filter(({ isUncovered }) => isUncovered)
      .map(({ after, bought }) =>
        buildRequirementChange("requirement.warn", {
          before: after,
          after,
          event: {
            name: "requirement.uncovered",
            from: null,
            to: null,
            data: describeUncovered(after, bought),
          },
        }),
      );
    if (changes.length > 0) await recordChanges(tx, clock, changes, now);
  }
}

function describeUncovered(row: RequirementRow, bought: Cover) {
  const { requirement_id, ...shown } = viewRequirement(row, bought);
  const { reference, scheme, amount_paise, due_on } = shown;
  const { covered_paise, uncovered_paise, resting_paise } = shown;
  const paise = { amount_paise, covered_paise, uncovered_paise, resting_paise };
  return { requirement_id, reference, scheme, due_on, ...paise };
}

/** What is due moves by whole days; what was due long ago stays, so that dates stay dates. */
export async function moveRequirementDays(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  const { days, now } = clockAdvance;
  if (days === 0) return { count: 0, next: undefined };
  const oldest = istDay(new Date(now.getTime() - clockAheadMaxS * 1_000));
  return toMovedSet(await moveDueDaysEarlier(tx, clockAdvance, { ...cursor, oldest }), cursor);
}

/** A requirement of a firm that the caller can see, locked. */
async function lockRequirementOfFirm(
  tx: Tx,
  caller: Caller,
  { firm_id: firmId, requirement_id: requirementId }: RequirementOfFirm,
): Promise<RequirementRow> {
  const { desk_id: deskId } = await requireVisibleFirm(tx, caller, firmId, "requirement_id");
  const row = isId("rqm", requirementId)
    ? await lockRequirement(tx, { deskId, firmId }, requirementId)
    : undefined;
  if (!row) throw notFound("requirement_id");
  return row;
}

// What the parties of a deal, and the house for them, say that they did. A claim starts the next task and
// its clock, and proves nothing: the bank's line funds a deal, and customs' answer ends it.
//
//   pay        is noted; the bank's line does the task
//   initiate   the receiver is told to accept
//   accept     customs' answer is awaited
//   missing    the receiver finds nothing to accept: the holder's task waits again, nobody's clock ends the
//              deal, and it stands first in the operators' queue
//
// A claim that was made before is answered as the first one was.

import type { Static, TObject } from "typebox";

import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { type Page, type PageQuery, readPage } from "../kernel/page.ts";
import { parseQueryInstant } from "../kernel/query-time.ts";
import { isVisible, toFirmFilter, type Visibility, visibleTo } from "../kernel/visibility.ts";
import { dayMs, istDay, istDayStart } from "../kernel/time.ts";
import { addWorkingDays, countWorkingDays, lateUntil } from "../kernel/working-days.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { isPortUp, type PortOfEnvironment } from "../outside/ask.ts";
import { readCalendar } from "../outside/calendar.ts";
import { findParties } from "../outside/scenarios.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import {
  buildSettlementChanges,
  buildSideChange,
  listSides,
  placeDeadlines,
} from "./move-settlement.ts";
import { askForMoney } from "./open-settlements.ts";
import { loadParties, viewSettlement } from "./read-settlements.ts";
import { countTasks, findSettlement, listTaskPlaces } from "./read-store.ts";
import {
  findStep,
  isAtCustoms,
  isOpen,
  noSettlement,
  type OpenState,
  openStates,
  type SettlementState,
} from "./rules.ts";
import {
  type MissingBody,
  type Settlement,
  taskFilters,
  TaskOfList,
  type TaskParams,
} from "./schema.ts";
import {
  claimLate,
  type DealRows,
  type LegRow,
  listEnvironmentsWith,
  listLegs,
  listSettlementsById,
  lockOpenAfter,
  lockSettlements,
  setSettlements,
  setSteppedLegs,
  type SettlementRow,
} from "./store.ts";
import {
  buildLateChanges,
  instruct,
  isOpenTask,
  listLateTasks,
  listTasks,
  type Task,
  taskNotOpen,
  taskOfHouse,
  toTaskId,
  viewTask,
} from "./read-tasks.ts";
import { followLegs, playLeg, playSandbox, stepLeg, type LegStep } from "./decide-legs.ts";
import { listDeskIds, type SettlementHooks, storeSteps } from "./transfer-legs.ts";

const setSizeMax = 200;
/** Tasks that are done or void are listed of deals that are no older. */
const doneDays = 92;
/** Deals whose deadlines are moved with one statement. */
const movedAtOnce = 500;
const taskWorker: Actor = { kind: "worker", id: "tasks", requestId: null };

type Claiming = Pick<Context, "db" | "now"> & { readonly settlementHooks: SettlementHooks };
type TaskClaim = Static<typeof TaskParams> & MissingBody;

/** A party says that it has done its task. */
export async function finishTask(
  { settlementHooks, ...ctx }: Claiming,
  call: Call,
  claim: TaskClaim,
): Promise<Settlement> {
  return await claimTask(ctx, call, claim, async (tx, deal, task, now) => {
    if (!isOpenTask(task)) {
      if (task.status === "void") throw taskNotOpen(task);
      return [];
    }
    if (task.by === "house") throw taskOfHouse();
    if (task.leg === null) return await notePayment(tx, deal, claim.reference ?? null, now);
    const move = task.kind === "accept" ? ("accept" as const) : ("initiate" as const);
    const step = { move, reference: claim.reference ?? null };
    return await takeStep(tx, deal, { legs: [task.leg], step, settlementHooks, now });
  });
}

/** A receiver says that there is nothing to accept. */
export async function reportMissing(
  { settlementHooks, ...ctx }: Claiming & Pick<Context, "log">,
  call: Call,
  claim: TaskClaim,
): Promise<Settlement> {
  return await claimTask(ctx, call, claim, async (tx, deal, task, now) => {
    if (task.leg === null || task.kind !== "accept") {
      throw new Failure("conflict", `a task to ${task.kind} misses nothing`, {
        detail: { reason: "nothing_to_miss" },
      });
    }
    if (task.leg.state === "missing") return [];
    if (task.leg.state !== "to_accept") throw taskNotOpen(task);
    const { reference = null, note = null } = claim;
    const step = { move: "miss", reference, note } as const;
    const changes = await takeStep(tx, deal, { legs: [task.leg], step, settlementHooks, now });
    const { settlement_id, scrip_no } = task.leg;
    ctx.log.warn({ settlement_id, scrip_no }, "a receiver finds no transfer to accept");
    return changes;
  });
}

/** The house has initiated what it initiates in a deal: for holders by their mandate, or as the holder. */
export async function initiateAsHouse(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  {
    settlementId,
    reference,
    settlementHooks,
  }: {
    readonly settlementId: string;
    readonly reference: string;
    readonly settlementHooks: SettlementHooks;
  },
): Promise<{ readonly initiated: number }> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const [settlement] = await lockSettlements(tx, [settlementId]);
    if (!settlement) throw noSettlement(settlementId);
    const deal = { settlement, legs: await listLegs(tx, [settlementId]) };
    const own = deal.legs.filter((leg) => leg.initiate_by === "house");
    const legs = own.filter(({ state }) => state === "to_initiate" || state === "missing");
    if (legs.length === 0) {
      // The command was run before.
      if (own.some(({ state }) => isAtCustoms(state))) return { initiated: 0 };
      throw new Failure("conflict", `the house has nothing to initiate in ${settlementId}`, {
        detail: { reason: "nothing_to_initiate", state: settlement.state },
      });
    }
    const step = { move: "initiate", reference } as const;
    const changes = await takeStep(tx, deal, { legs, step, settlementHooks, now });
    await recordChanges(tx, operator, changes, now);
    return { initiated: legs.length };
  });
}

/** The tasks that a caller sees, the soonest due first; without a status those that are open. */
export const tasksOfDesk = deskPages({
  name: "tasks",
  query: taskFilters,
  of: TaskOfList,
  order: "The soonest due first.",
  listTitle: "TaskList",
  read: (ctx, caller, query) => listVisibleTasks(ctx, visibleTo(caller), query),
});

/** A page of the tasks of a desk's firms, the soonest due first; without a status those that are open. */
export async function listVisibleTasks(
  ctx: Pick<Context, "db" | "now" | "cursorKey">,
  visible: Visibility,
  query: Static<TObject<typeof taskFilters>> & PageQuery,
): Promise<Page<TaskOfList>> {
  const { deskId } = visible;
  const now = ctx.now();
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = {
    statuses: query.status === undefined ? ["waiting", "late"] : [query.status],
    kind: query.kind ?? null,
    firmId: toFirmFilter(visible, query.firm_id),
    dueBefore: parseQueryInstant("due_before", query.due_before),
    since: new Date(now.getTime() - doneDays * dayMs),
    now,
  };
  const question = { list: "tasks", desk: deskId, firm: visible.firmId ?? "", ...filters };
  const page = await readPage(
    { query, question, signingKey: ctx.cursorKey },
    {
      list: (request) => listTaskPlaces(ctx.db.planned, deskId, filter, request),
      count: () => countTasks(ctx.db.planned, deskId, filter),
      toPosition: (row) => ({ at: row.at, id: row.place }),
    },
  );
  const ids = [...new Set(page.rows.map((row) => row.settlement_id))];
  const settlements = await listSettlementsById(ctx.db.planned, ids);
  const legs = await listLegs(ctx.db.planned, ids);
  const parties = await loadParties(ctx.db.planned, settlements, { legs, now });
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  const known = new Map(
    settlements.map((settlement) => {
      const tasks = listTasks(
        { settlement, legs: legsById.get(settlement.settlement_id) ?? [] },
        now,
      );
      const byPlace = tasks.filter((task) => isVisible(visible, task));
      return [settlement.settlement_id, { settlement, tasks: byPlace }];
    }),
  );
  const rows = page.rows.flatMap(({ settlement_id, kind, ordinal }) => {
    const deal = known.get(settlement_id);
    const task = deal?.tasks.find(
      (one) => one.kind === kind && (one.leg?.ordinal ?? -1) === ordinal,
    );
    if (!deal || !task) return [];
    const instructions = instruct(deal.settlement, task, parties);
    return [{ settlement_id, ...viewTask(settlement_id, task), instructions }];
  });
  return { ...page, rows };
}

/** Tells one set of tasks that are late, each once. While a port is down nobody is late at it. */
export async function tellLateTasks(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let told = 0;
  for (const environment of await listEnvironmentsWith(ctx.db, openStates, ctx.now())) {
    const now = ctx.now();
    const bankUp = await isPortUp(ctx.db, environment, "bank");
    const customsUp = await isPortUp(ctx.db, environment, "registry");
    const calendar = await readCalendar(ctx.db);
    const isLive = environment === "live";
    const bankUntil = isLive ? lateUntil(now, "bank", calendar) : now;
    const customsUntil = isLive ? lateUntil(now, "customs", calendar) : now;
    const until = openStates
      .filter((state) => (state === "pending" ? bankUp : customsUp))
      .map((state) => ({ state, lateUntil: state === "pending" ? bankUntil : customsUntil }));
    told += await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const claimed = await claimLate(tx, environment, { until, limit: setSizeMax, ...choice });
        note(claimed.map((row) => row.settlement_id));
        if (claimed.length === 0) return 0;
        yieldToCallers(tx);
        const untilByState = new Map(until.map((each) => [each.state, each.lateUntil]));
        const findUntil = ({ state }: SettlementRow) => untilByState.get(state as OpenState) ?? now;
        const changes = await markLate(tx, claimed, { findUntil, now });
        await recordChanges(tx, taskWorker, changes, now);
        return claimed.length;
      }),
    );
  }
  return told > 0 ? "more" : "idle";
}

/**
 * Moves the deadlines that were not over when a port went down: by as many working days as it took in
 * live, by its time in the sandbox. What was told as late meanwhile is not.
 */
export async function moveTaskDeadlines(
  tx: Tx,
  { environment, port, since }: PortOfEnvironment & { readonly since: Date },
  now: Date,
): Promise<readonly Change[]> {
  const states: readonly SettlementState[] =
    port === "bank" ? ["pending"] : ["funded", "transfer_initiated"];
  const office = port === "bank" ? "bank" : "customs";
  const calendar = await readCalendar(tx);
  const days = countWorkingDays({ from: since, to: now }, office, calendar);
  const move = (dueAt: Date | null) => {
    if (dueAt === null || dueAt < since) return dueAt;
    if (environment === "sandbox")
      return new Date(dueAt.getTime() + now.getTime() - since.getTime());
    return addWorkingDays(istDayStart(istDay(dueAt)), days, office, calendar);
  };
  const changes: Change[] = [];
  let after = "";
  for (;;) {
    const settlements = await lockOpenAfter(tx, environment, { states, after, limit: movedAtOnce });
    const last = settlements.at(-1);
    if (!last) return changes;
    after = last.settlement_id;
    const legs = Map.groupBy(
      await listLegs(
        tx,
        settlements.map((row) => row.settlement_id),
      ),
      (leg) => leg.settlement_id,
    );
    const moved = settlements.map((row) => {
      const own = (legs.get(row.settlement_id) ?? []).map((leg) => moveLeg(leg, move));
      const isPay = row.state === "pending";
      const paying = isPay ? { pay_due_at: move(row.pay_due_at), pay_late_at: null } : {};
      const next = { ...row, ...paying, version: row.version + 1, updated_at: now };
      const due = row.begun || isPay ? next : moveUnbegun(next, move);
      return { before: row, after: placeDeadlines(due, own), legs: own };
    });
    tx.defer(setSettlements(moved.map((one) => one.after)));
    await setSteppedLegs(
      tx,
      moved.flatMap((one) => one.legs),
    );
    changes.push(
      ...moved.flatMap((one) => buildSettlementChanges({ action: "move_deadlines", ...one })),
    );
  }
}

type MoveDue = (dueAt: Date | null) => Date | null;

/** The deadline of the step that is awaited; what was done was in time or late. */
function moveLeg(leg: LegRow, move: MoveDue): LegRow {
  switch (findStep(leg.state)) {
    case "initiate":
      return { ...leg, initiate_due_at: move(leg.initiate_due_at), late_at: null };
    case "accept":
      return { ...leg, accept_due_at: move(leg.accept_due_at), late_at: null };
    case "customs":
      return { ...leg, customs_due_at: move(leg.customs_due_at), late_at: null };
    default:
      return leg;
  }
}

/** A deal whose parties were not told to begin yet. */
function moveUnbegun(row: SettlementRow, move: MoveDue): SettlementRow {
  return { ...row, due_at: move(row.due_at), ends_at: move(row.ends_at) };
}

async function markLate(
  tx: Tx,
  settlements: readonly SettlementRow[],
  { findUntil, now }: { readonly findUntil: (row: SettlementRow) => Date; readonly now: Date },
): Promise<Change[]> {
  const legsById = Map.groupBy(
    await listLegs(
      tx,
      settlements.map((row) => row.settlement_id),
    ),
    (leg) => leg.settlement_id,
  );
  const marked = settlements.map((settlement) => {
    const deal = { settlement, legs: legsById.get(settlement.settlement_id) ?? [] };
    const late = listLateTasks(deal, findUntil(settlement));
    const legs = deal.legs.map((leg) =>
      late.some((task) => task.leg?.ordinal === leg.ordinal) ? { ...leg, late_at: now } : leg,
    );
    const isPayLate = late.some((task) => task.leg === null);
    const row = {
      ...settlement,
      pay_late_at: isPayLate ? now : settlement.pay_late_at,
      version: settlement.version + 1,
      updated_at: now,
    };
    return { deal, late, legs, after: placeDeadlines(row, legs) };
  });
  tx.defer(setSettlements(marked.map(({ after }) => after)));
  await setSteppedLegs(
    tx,
    marked.flatMap(({ legs }) => legs.filter((leg) => leg.late_at === now)),
  );
  return marked.flatMap(({ after, legs, late }) =>
    buildLateChanges({ settlement: after, legs }, late),
  );
}

/** Finds and locks the deal of a task that the caller sees, and answers with the settlement. */
async function claimTask(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  { settlement_id: settlementId, task_id }: TaskClaim,
  act: (tx: Tx, deal: DealRows, task: Task, now: Date) => Promise<readonly Change[]>,
): Promise<Settlement> {
  const visible = visibleTo(call.caller);
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const known = isId("stl", settlementId)
        ? await findSettlement(tx, visible, settlementId)
        : undefined;
      if (!known) throw notFound("settlement_id");
      const [settlement] = await lockSettlements(tx, [settlementId]);
      if (!settlement) throw new Error("a settlement that was found stays");
      const deal = { settlement, legs: await listLegs(tx, [settlementId]) };
      const task = listTasks(deal, now)
        .filter((one) => isVisible(visible, one))
        .find((one) => toTaskId(settlementId, one) === task_id);
      if (!task) throw notFound("task_id");
      await recordChanges(tx, toActor(call), await act(tx, deal, task, now), now);
      const [after] = await listSettlementsById(tx, [settlementId]);
      if (!after) throw new Error("a settlement that was found stays");
      const legs = await listLegs(tx, [settlementId]);
      const parties = await loadParties(tx, [after], { legs, now });
      return viewSettlement(after, legs, { visible, parties, now });
    },
    { rollBack: call.dryRun },
  );
}

/** The bank is asked where the buyer of the sandbox pays by itself. */
async function notePayment(
  tx: Tx,
  { settlement, legs }: DealRows,
  reference: string | null,
  now: Date,
): Promise<readonly Change[]> {
  if (settlement.pay_reference !== null || reference === null) return [];
  const after = {
    ...settlement,
    pay_reference: reference,
    version: settlement.version + 1,
    updated_at: now,
  };
  tx.defer(setSettlements([after]));
  if (settlement.environment === "sandbox") await tx.run(askForMoney([settlement], now));
  return listSides(after, legs)
    .filter(({ side }) => side === "buy")
    .map((side) => {
      const { state } = after;
      return buildSideChange({ action: "claim_payment", side, after, from: state, to: state });
    });
}

/** Takes a step of some legs, and what the simulated receiver does then. */
async function takeStep(
  tx: Tx,
  deal: DealRows,
  {
    legs: stepping,
    step,
    settlementHooks,
    now,
  }: {
    readonly legs: readonly LegRow[];
    readonly step: LegStep;
    readonly settlementHooks: SettlementHooks;
    readonly now: Date;
  },
): Promise<readonly Change[]> {
  const { settlement } = deal;
  const { environment } = settlement;
  if (!isOpen(settlement.state)) throw new Error(`${settlement.settlement_id} has no open task`);
  settlementHooks.lockCrosses(tx, [settlement.settlement_id]);
  const when = { now, calendar: await readCalendar(tx) };
  const parties = await tx.run(findParties(environment, listDeskIds(deal)));
  const ordinals = new Set(stepping.map(({ ordinal }) => ordinal));
  const legs = deal.legs.map((leg) => {
    if (!ordinals.has(leg.ordinal)) return leg;
    const stepped = stepLeg(leg, step, when);
    if (environment === "live") return stepped;
    const { scenario } = leg;
    const { manual } = parties;
    return playLeg(stepped, playSandbox(settlement, stepped, { scenario, manual }), when);
  });
  return await storeSteps(tx, environment, [followLegs(deal, legs, now)], { now });
}

// What the actions of a party share: lock the cross, check that the caller has a side (404) and the
// role (403), run the action, which checks the state (409), and record the changes. Refusals tell a
// caller nothing about the other side but that it cannot deal.

import { recordChanges } from "../journal/record-changes.ts";
import { type Change, toActor } from "../kernel/actor.ts";
import { buySideOff, type Call } from "../kernel/caller.ts";
import { Failure, notFound, unprocessable } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Side } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Calendar } from "../kernel/working-days.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { requireCross, findStanding } from "./read-crosses.ts";
import { type FoundCross, lockCross } from "./read-store.ts";
import {
  advanceCross,
  type AwaitingMove,
  buildConflict,
  type CrossAction,
  type CrossState,
  computeDueAt,
  type LastMove,
  otherSide,
  refuseRole,
  type Standing,
} from "./rules.ts";
import type { Cross } from "./schema.ts";
import type { CrossRow } from "./store.ts";

/** A locked cross, and the caller's standing in it. */
export type LockedCross = {
  readonly call: Call;
  readonly cross: FoundCross;
  readonly standing: Standing;
  readonly now: Date;
};

/** Writes the action and returns its changes, which are recorded last. */
type Act = (tx: Tx, acting: LockedCross) => Promise<readonly Change[]>;

export async function actOnCross(
  ctx: Context,
  call: Call,
  { crossId, action }: { readonly crossId: string; readonly action: CrossAction },
  act: Act,
): Promise<Cross> {
  const now = ctx.now();
  const party = visibleTo(call.caller);
  return await ctx.db.transaction(
    async (tx) => {
      const cross = isId("crs", crossId) ? await lockCross(tx, party, crossId) : undefined;
      if (!cross) throw notFound("cross_id");
      const standing = findStanding(cross, party);
      refuseRole(action, standing);
      if (findBoundSide(action, standing) === "buy" && !call.caller.buySide) throw buySideOff();
      const changes = await act(tx, { call, cross, standing, now });
      await recordChanges(tx, toActor(call), changes, now);
      return await requireCross(tx, call.caller, crossId);
    },
    { rollBack: call.dryRun },
  );
}

/** Moves the cross, with a new deadline and a step in its history. */
export function moveToDeadline(
  row: CrossRow,
  move: AwaitingMove,
  { now, calendar }: { readonly now: Date; readonly calendar: Calendar },
): CrossRow {
  const state = advanceCross(row.state, move);
  const due_at = computeDueAt(state, row.environment, now, calendar);
  return { ...addStep(row, state, { reason: null, now }), due_at };
}

/** Moves the cross to a state without a deadline. */
export function moveCross(
  row: CrossRow,
  move: LastMove,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): CrossRow {
  return { ...addStep(row, advanceCross(row.state, move), { reason, now }), due_at: null };
}

/** One answer for every reason: the buyer must not learn what happened to the seller's credit. */
export function creditUnavailable(standing?: Standing): Failure {
  const reason = "credit_unavailable";
  const message = "a credit of this cross is not available";
  if (standing) return buildConflict(standing, reason, message);
  return new Failure("conflict", message, { detail: { reason } });
}

export function counterpartyUnavailable(): Failure {
  return new Failure("conflict", "the other side cannot deal now", {
    detail: { reason: "counterparty_unavailable" },
  });
}

/** A company cannot deal with itself through two firms. */
export function samePan(path: string): Failure {
  return unprocessable({ path, problem: "both sides are the same company" });
}

/** The side that an action commits; undefined for actions that commit neither. */
function findBoundSide(action: CrossAction, { proposedBy }: Standing): Side | undefined {
  switch (action) {
    case "accept":
      return otherSide(proposedBy);
    case "fund":
      return "buy";
    default:
      return undefined;
  }
}

function addStep(
  row: CrossRow,
  state: CrossState,
  { reason, now }: { readonly reason: string | null; readonly now: Date },
): CrossRow {
  return {
    ...row,
    state,
    reason,
    history: [...row.history, { status: state, at: istTimestamp(now), reason }],
    version: row.version + 1,
    updated_at: now,
  };
}

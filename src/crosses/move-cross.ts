import { istTimestamp } from "../kernel/time.ts";
import type { Calendar } from "../kernel/working-days.ts";
import { type AwaitingMove, type CrossState, dueAtOf, type LastMove, stateAfter } from "./rules.ts";
import type { CrossRow } from "./store.ts";

/** The cross one move further, with a new deadline and the step in its history. */
export function moveToDeadline(
  row: CrossRow,
  move: AwaitingMove,
  { now, calendar }: { readonly now: Date; readonly calendar: Calendar },
): CrossRow {
  const state = stateAfter(row.state, move);
  const due_at = dueAtOf(state, row.environment, now, calendar);
  return { ...stepped(row, state, { reason: null, now }), due_at };
}

/** The cross one move further, when neither party is waited for any more. */
export function moveCross(
  row: CrossRow,
  move: LastMove,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): CrossRow {
  return { ...stepped(row, stateAfter(row.state, move), { reason, now }), due_at: null };
}

function stepped(
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

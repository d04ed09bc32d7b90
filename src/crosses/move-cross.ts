import { istTimestamp } from "../kernel/time.ts";
import { type CrossMove, dueAtOf, stateAfter } from "./rules.ts";
import type { CrossRow } from "./store.ts";

/** The cross one move further, with a new deadline and the step in its history. */
export function moveCross(
  row: CrossRow,
  move: CrossMove,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): CrossRow {
  const state = stateAfter(row.state, move);
  return {
    ...row,
    state,
    reason,
    due_at: dueAtOf(state, row.environment, now),
    history: [...row.history, { status: state, at: istTimestamp(now), reason }],
    version: row.version + 1,
    updated_at: now,
  };
}

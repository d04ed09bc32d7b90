import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { dueAtOf, settlementLifecycle } from "./rules.ts";
import type { SettlementRow } from "./store.ts";

/** The settlement one move further, with a new deadline and the step in its history. */
export function moveSettlement(
  row: SettlementRow,
  action: keyof typeof settlementLifecycle.moves,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
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

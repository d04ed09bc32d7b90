import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Calendar } from "../kernel/working-days.ts";
import { dueAtOf, settlementLifecycle, type SettlementState } from "./rules.ts";
import type { SettlementRow } from "./store.ts";

type Action = keyof typeof settlementLifecycle.moves;

/** The moves after which somebody has something to do in time. */
type AwaitingAction = "fund" | "initiate";

/** The settlement one move further, with a new deadline and the step in its history. */
export function moveToDeadline(
  row: SettlementRow,
  action: AwaitingAction,
  { now, calendar }: { readonly now: Date; readonly calendar: Calendar },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  const due_at = dueAtOf(state, row.environment, now, calendar);
  return { ...stepped(row, state, { reason: null, now }), due_at };
}

/** The settlement one move further, when nobody is waited for any more. */
export function moveSettlement(
  row: SettlementRow,
  action: Exclude<Action, AwaitingAction>,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  return { ...stepped(row, state, { reason, now }), due_at: null };
}

function stepped(
  row: SettlementRow,
  state: SettlementState,
  { reason, now }: { readonly reason: string | null; readonly now: Date },
): SettlementRow {
  return {
    ...row,
    state,
    reason,
    history: [...row.history, { status: state, at: istTimestamp(now), reason }],
    version: row.version + 1,
    updated_at: now,
  };
}

import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { nextLook, type PayoutAction, payoutLifecycle, railOf } from "./rules.ts";
import type { PayoutRow } from "./store.ts";

/** The payout one move further, with the step in its history. */
export function movePayout(
  row: PayoutRow,
  action: PayoutAction,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): PayoutRow {
  const state = advance(payoutLifecycle, row.state, action);
  const isUnsent = state === "scheduled" || state === "held";
  // What is here again leaves anew, with whatever is due then.
  const remitted = isUnsent && {
    remitted_with: null,
    remitted_paise: null,
    rail: railOf(row.paise),
  };
  return {
    ...row,
    ...remitted,
    state,
    reason,
    held_until: null,
    look_at: isUnsent ? nextLook(row.environment, now) : null,
    history: [...row.history, { status: state, at: istTimestamp(now), reason }],
    version: row.version + 1,
    updated_at: now,
  };
}

import { maskedAccountNo } from "../firms/rules.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { payoutLifecycle } from "./rules.ts";
import type { Payout } from "./schema.ts";
import type { PayoutLineRow, PayoutRow } from "./store.ts";

export function viewPayout(row: PayoutRow, lines: readonly PayoutLineRow[]): Payout {
  const { ifsc, last4 } = row;
  const isKnown = ifsc !== null && last4 !== null;
  return {
    payout_id: row.payout_id,
    firm_id: row.firm_id,
    settlement_id: row.settlement_id,
    resend_of: row.resend_of,
    paise: row.paise,
    rail: row.rail,
    bank: isKnown ? { ifsc, account_no_masked: maskedAccountNo(last4) } : null,
    status: row.state,
    reason: row.reason,
    held_until: row.held_until && istTimestamp(row.held_until),
    utr: row.utr,
    lines: lines.map(({ order_id, scrip_no, paise }) => ({ order_id, scrip_no, paise })),
    history: [...row.history],
    version: row.version,
    allowed_actions: allowedActions(payoutLifecycle, row.state),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

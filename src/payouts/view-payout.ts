import { maskedAccountNo } from "../firms/rules.ts";
import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { payoutLifecycle } from "./rules.ts";
import type { Payout } from "./schema.ts";
import type { PayoutLineRow, PayoutRow } from "./store.ts";

/** What of a payout is told in its events, too, as it is shown. */
export function factsOfPayout(row: PayoutRow) {
  return {
    kind: row.kind,
    settlement_id: row.settlement_id,
    resend_of: row.resend_of,
    amount_paise: row.paise,
    rail: row.rail,
    remittance:
      row.remitted_with === null
        ? null
        : { payout_id: row.remitted_with, amount_paise: row.remitted_paise ?? row.paise },
    utr: row.utr,
    status: row.state,
    reason: row.reason,
  };
}

export function viewPayout(row: PayoutRow, lines: readonly PayoutLineRow[]): Payout {
  const { ifsc, last4 } = row;
  const isKnown = ifsc !== null && last4 !== null;
  return {
    payout_id: row.payout_id,
    firm_id: row.firm_id,
    ...factsOfPayout(row),
    bank: isKnown ? { ifsc, account_no_masked: maskedAccountNo(last4) } : null,
    held_until: row.held_until && istTimestamp(row.held_until),
    lines: lines.map(viewLine),
    history: [...row.history],
    version: row.version,
    allowed_actions: allowedActions(payoutLifecycle, row.state),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** What sold the credit is an order or a cross, and each has a field of its own. */
function viewLine({ order_id, scrip_no, paise }: PayoutLineRow): Payout["lines"][number] {
  const isCross = isId("crs", order_id);
  return {
    order_id: isCross ? null : order_id,
    cross_id: isCross ? order_id : null,
    scrip_no,
    amount_paise: paise,
  };
}

import type { Change } from "../kernel/actor.ts";
import { eventOfState, type PayoutAction } from "./rules.ts";
import type { PayoutRow } from "./store.ts";

/** A change of a payout, as events and the audit trail record it. */
export function changeOfPayout({
  action,
  before,
  after,
}: {
  readonly action: PayoutAction | "schedule";
  readonly before: PayoutRow | null;
  readonly after: PayoutRow;
}): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `payout.${action}`,
    entity: {
      type: "payout",
      id: after.payout_id,
      version: after.version,
      href: `/v1/payouts/${after.payout_id}`,
    },
    before: before && factsOf(before),
    after: factsOf(after),
    event: {
      name: eventOfState[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: factsOf(after),
    },
  };
}

function factsOf(row: PayoutRow): object {
  return {
    settlement_id: row.settlement_id,
    resend_of: row.resend_of,
    paise: row.paise,
    rail: row.rail,
    utr: row.utr,
    status: row.state,
    reason: row.reason,
  };
}

import type { Change } from "../kernel/actor.ts";
import { eventOfState, type PayoutAction } from "./rules.ts";
import type { PayoutRow } from "./store.ts";
import { factsOfPayout } from "./view-payout.ts";

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
    before: before && factsOfPayout(before),
    after: factsOfPayout(after),
    event: {
      name: eventOfState[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: factsOfPayout(after),
    },
  };
}

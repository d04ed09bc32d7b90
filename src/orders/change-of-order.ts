import type { Change } from "../kernel/actor.ts";
import type { OrderState } from "./rules.ts";
import type { OrderRow } from "./store.ts";
import { factsOfOrder } from "./view-order.ts";

const eventOf = {
  open: "order.accepted",
  matched: "order.matched",
  cancelled: "order.cancelled",
  expired: "order.expired",
  failed: "order.failed",
} as const satisfies Record<OrderState, string>;

/** A change of an order, as events and the audit trail record it. */
export function changeOfOrder({
  action,
  before,
  after,
}: {
  readonly action: "place" | "match" | "cancel" | "expire" | "fail";
  readonly before: OrderRow | null;
  readonly after: OrderRow;
}): Change {
  const told = tellOrder(after);
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `order.${action}`,
    entity: {
      type: "order",
      id: after.order_id,
      version: after.version,
      href: `/v1/orders/${after.order_id}`,
    },
    before: before && tellOrder(before),
    after: told,
    event: {
      // A resting order of which a part was dealt stays open, and what is told is the deal.
      name: action === "match" ? "order.matched" : eventOf[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: told,
    },
  };
}

function tellOrder(row: OrderRow): object {
  return { ...factsOfOrder(row), reason: row.history.at(-1)?.reason ?? null };
}

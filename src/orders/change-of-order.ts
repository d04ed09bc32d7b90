import type { Change } from "../kernel/actor.ts";
import type { OrderState } from "./rules.ts";
import type { OrderRow } from "./store.ts";

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
  const facts = factsOf(after);
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
    before: before && factsOf(before),
    after: facts,
    event: {
      // A resting order of which a part was dealt stays open, and what is told is the deal.
      name: action === "match" ? "order.matched" : eventOf[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: facts,
    },
  };
}

function factsOf(row: OrderRow): object {
  return {
    client_ref: row.client_ref,
    side: row.side,
    scheme: row.scheme,
    scrip_nos: row.scrip_nos,
    face_paise: row.face_paise,
    requirement_paise: row.requirement_paise,
    covered_paise: row.covered_paise,
    price_bps: row.price_bps,
    limit_bps: row.limit_bps,
    all_in_paise: row.all_in_paise,
    quote_ref: row.quote_ref,
    settlement_id: row.settlement_ids.at(-1) ?? null,
    status: row.state,
    reason: row.history.at(-1)?.reason ?? null,
  };
}

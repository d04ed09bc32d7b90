import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { OrderStanding } from "../settlement/order-standings.ts";
import type { SettlementState } from "../settlement/rules.ts";
import { orderLifecycle } from "./rules.ts";
import type { Order } from "./schema.ts";
import type { OrderRow } from "./store.ts";

/** What of an order is told in its events, too, as it is shown: a price only once there is a deal. */
export function factsOfOrder(row: OrderRow) {
  const asked = row.requirement_paise ?? row.face_paise ?? 0;
  const dealt = row.dealt_paise > 0;
  return {
    client_ref: row.client_ref,
    side: row.side,
    scheme: row.scheme,
    scrip_nos: row.scrip_nos,
    ...(row.side === "sell" ? { face_paise: asked } : { requirement_paise: asked }),
    covered_paise: row.covered_paise,
    price_bps: dealt ? row.price_bps : null,
    limit_bps: row.limit_bps,
    all_in_paise: dealt ? row.all_in_paise : null,
    quote_ref: row.quote_ref,
    settlement_id: row.settlement_ids.at(-1) ?? null,
    status: row.state,
  };
}

/** Where the latest settlement of an order stands for it, and what all of them have settled of it. */
export type OrderSettled = {
  readonly settlementStatus: SettlementState | null;
  readonly settledPaise: number;
};

const unsettled: OrderSettled = { settlementStatus: null, settledPaise: 0 };

export function viewSettled(row: OrderRow, standing: OrderStanding | undefined): OrderSettled {
  if (!standing) return unsettled;
  const latest = standing.states.get(row.settlement_ids.at(-1) ?? "");
  return { settlementStatus: latest ?? null, settledPaise: standing.settledPaise };
}

/** An order as its desk sees it; the state of its settlement is the settlement's, never copied. */
export function viewOrder(
  row: OrderRow,
  { settlementStatus, settledPaise }: OrderSettled = unsettled,
): Order {
  const asked = row.requirement_paise ?? row.face_paise ?? 0;
  const dealt = row.dealt_paise > 0;
  return {
    order_id: row.order_id,
    ...factsOfOrder(row),
    scrip_nos: [...row.scrip_nos],
    firm_id: row.firm_id,
    residual_paise: asked - row.covered_paise,
    savings_paise: dealt && row.side === "buy" ? row.dealt_paise - row.all_in_paise : null,
    time_in_force: row.time_in_force,
    expires_at: row.expires_at && istTimestamp(row.expires_at),
    metadata: row.metadata ?? {},
    settlement_ids: [...row.settlement_ids],
    settlement_status: settlementStatus,
    settled_paise: dealt ? settledPaise : null,
    version: row.version,
    allowed_actions: allowedActions(orderLifecycle, row.state),
    history: [...row.history],
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

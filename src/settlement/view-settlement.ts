import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import {
  orderIdsOf,
  shareOf,
  type SideOfSettlement,
  sidesOf,
  sumsOf,
} from "./change-of-settlement.ts";
import { settlementLifecycle, waitingOnOf } from "./rules.ts";
import type { Settlement } from "./schema.ts";
import type { Party } from "./read-store.ts";
import type { LegRow, SettlementRow } from "./store.ts";

/** A settlement as one party sees it: what its own firms deliver or buy, at their own prices. */
export function viewSettlement(
  row: SettlementRow,
  legs: readonly LegRow[],
  { deskId, firmId }: Party,
): Settlement {
  const own = sidesOf(row, legs).filter(
    (side) => side.deskId === deskId && (firmId === null || side.firmId === firmId),
  );
  return {
    settlement_id: row.settlement_id,
    // An order that made a deal is its own desk's; a cross is both sides'.
    cross_id: isId("crs", row.origin) ? row.origin : null,
    scheme: row.scheme,
    status: row.state,
    reason: row.reason,
    waiting_on: waitingOnOf(row.state),
    due_at: row.due_at && istTimestamp(row.due_at),
    sides: own.map((side) => viewSide(row, side)),
    history: [...row.history],
    version: row.version,
    allowed_actions: allowedActions(settlementLifecycle, row.state),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

function viewSide(row: SettlementRow, side: SideOfSettlement): Settlement["sides"][number] {
  return {
    side: side.side,
    firm_id: side.firmId,
    order_ids: orderIdsOf(side, row),
    ...sumsOf(side),
    legs: side.legs.map((leg) => ({
      scrip_no: leg.scrip_no,
      order_id: side.side === "buy" ? row.buyer_order_id : leg.seller_order_id,
      face_paise: leg.face_paise,
      ...shareOf(side, leg),
      status: leg.state,
      reason: leg.reason,
    })),
  };
}

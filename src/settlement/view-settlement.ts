import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import {
  findReason,
  orderIdsOf,
  shareOf,
  type SideOfSettlement,
  sidesOf,
  sumsOf,
} from "./change-of-settlement.ts";
import {
  isOpen,
  isOpenLeg,
  movesAfter,
  settlementLifecycle,
  sideState,
  type Step,
  waitingOnOf,
} from "./rules.ts";
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
  const ownLegs = own.flatMap((side) => side.legs);
  const status = sideState(row.state, ownLegs);
  const isOver = !isOpen(status);
  return {
    settlement_id: row.settlement_id,
    // An order that made a deal is its own desk's; a cross is both sides'.
    cross_id: isId("crs", row.origin) ? row.origin : null,
    scheme: row.scheme,
    status,
    reason: findReason(row, ownLegs, status),
    waiting_on: waitingOnOf(status),
    due_at: isOver ? null : row.due_at && istTimestamp(row.due_at),
    sides: own.map((side) => viewSide(row, side)),
    history: buildHistory(row, ownLegs),
    version: row.version,
    allowed_actions: allowedActions(settlementLifecycle, status),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** The steps that concern these legs: up to their own end, and a reversal of what they delivered. */
function buildHistory(row: SettlementRow, legs: readonly LegRow[]): Step[] {
  if (legs.some((leg) => isOpenLeg(leg.state))) return [...row.history];
  const answered = legs.flatMap((leg) => leg.answered_at?.getTime() ?? []);
  const at = istTimestamp(new Date(Math.max(...answered)));
  const before = row.history.filter((step) => isOpen(step.status) && step.at <= at);
  const reversed = row.history.filter((step) => step.status === "reversed");
  const ends = movesAfter(legs).map((action) => {
    const status = settlementLifecycle.moves[action].to;
    return { status, at, reason: findReason(row, legs, status) };
  });
  const isFailed = ends.some(({ status }) => status === "failed");
  return [...before, ...ends, ...(isFailed ? [] : reversed)];
}

function viewSide(row: SettlementRow, side: SideOfSettlement): Settlement["sides"][number] {
  return {
    side: side.side,
    firm_id: side.firmId,
    order_ids: orderIdsOf(side, row),
    status: sideState(row.state, side.legs),
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

import type { Change } from "../kernel/actor.ts";
import { isHouse } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Calendar } from "../kernel/working-days.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { computeDueAt, settlementLifecycle, type SettlementState, findSideState } from "./rules.ts";
import { type LegRow, listStates, type SettlementRow } from "./store.ts";

type Action = keyof typeof settlementLifecycle.moves;

/** The moves after which somebody has something to do in time. */
type AwaitingAction = "fund" | "initiate";

/** The settlement one move further, with a new deadline and the step in its history. */
export function moveToDeadline(
  row: SettlementRow,
  action: AwaitingAction,
  { now, calendar }: { readonly now: Date; readonly calendar: Calendar },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  const due_at = computeDueAt(state, row.environment, now, calendar);
  return { ...appendStep(row, state, { reason: null, now }), due_at };
}

/** The settlement one move further, when nobody is waited for any more. */
export function moveSettlement(
  row: SettlementRow,
  action: Exclude<Action, AwaitingAction>,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  return { ...appendStep(row, state, { reason, now }), due_at: null };
}

function appendStep(
  row: SettlementRow,
  state: SettlementState,
  { reason, now }: { readonly reason: string | null; readonly now: Date },
): SettlementRow {
  return {
    ...row,
    state,
    reason,
    history: [...row.history, { status: state, at: istTimestamp(now), reason }],
    version: row.version + 1,
    updated_at: now,
  };
}

/** A firm's side of a settlement: what it delivers or what it buys, and nothing of the other's. */
export type SettlementSide = {
  readonly side: "sell" | "buy";
  readonly deskId: string;
  readonly firmId: string;
  readonly legs: readonly LegRow[];
};

/** The clients on both sides, each firm once; the house keeps no desk that is told of things. */
export function listSides(settlement: SettlementRow, legs: readonly LegRow[]): SettlementSide[] {
  const sellers = [...Map.groupBy(legs, (leg) => leg.seller_firm_id)].map(
    ([firmId, own]): SettlementSide => ({
      side: "sell",
      deskId: own[0]?.seller_desk_id ?? "",
      firmId,
      legs: own,
    }),
  );
  const buyer: SettlementSide = {
    side: "buy",
    deskId: settlement.buyer_desk_id,
    firmId: settlement.buyer_firm_id,
    legs,
  };
  return [...sellers, buyer].filter(({ firmId }) => !isHouse(firmId));
}

/**
 * What every desk that has a side is told of a change of a settlement: its own side. A side of which
 * nothing was delivered has failed for good, and is told of nothing more.
 */
export function buildSettlementChanges({
  action,
  event,
  before,
  after,
  legs,
}: {
  readonly action: string;
  readonly event?: `settlement.${string}`;
  readonly before: SettlementRow | null;
  readonly after: SettlementRow;
  readonly legs: readonly LegRow[];
}): Change[] {
  return listSides(after, legs).flatMap((side) => {
    const from = before && findSideState(before.state, side.legs);
    const to = findSideState(after.state, side.legs);
    return from === "failed"
      ? []
      : [buildSideChange({ action, ...(event && { event }), side, after, from, to })];
  });
}

/** One side's change, which goes from one state to another or stays in its state. */
export function buildSideChange({
  action,
  event,
  side,
  after,
  from,
  to,
}: {
  readonly action: string;
  readonly event?: `settlement.${string}`;
  readonly side: SettlementSide;
  readonly after: SettlementRow;
  readonly from: SettlementState | null;
  readonly to: SettlementState;
}): Change {
  const shown = viewForSide(side, after, to);
  return {
    environment: after.environment,
    deskId: side.deskId,
    firmId: side.firmId,
    action: `settlement.${action}`,
    entity: {
      type: "settlement",
      id: after.settlement_id,
      version: after.version,
      href: `/v1/settlements/${after.settlement_id}`,
    },
    before: from && viewForSide(side, after, from),
    after: shown,
    event: event && { name: event, from, to, data: shown },
  };
}

function viewForSide(side: SettlementSide, settlement: SettlementRow, status: SettlementState) {
  return {
    side: side.side,
    scheme: settlement.scheme,
    order_ids: listOrderIds(side, settlement),
    scrip_nos: side.legs.map((leg) => leg.scrip_no),
    ...sumSide(side),
    status,
    reason: findReason(settlement, side.legs, status),
  };
}

/** Why these legs of a settlement failed, or why it was reversed. */
export function findReason(
  settlement: SettlementRow,
  legs: readonly LegRow[],
  status: SettlementState,
): string | null {
  if (status === "failed") return legs.find((leg) => leg.reason)?.reason ?? null;
  return status === "reversed" ? settlement.reason : null;
}

/** The orders that this side dealt by. */
export function listOrderIds({ side, legs }: SettlementSide, settlement: SettlementRow): string[] {
  const ids = side === "buy" ? [settlement.buyer_order_id] : legs.map((leg) => leg.seller_order_id);
  return [...new Set(ids.filter((id) => id !== null))];
}

/** What of a leg is this side's money, at this side's price. */
export function toSideMoney({ side }: Pick<SettlementSide, "side">, leg: LegRow) {
  return side === "sell"
    ? { price_bps: leg.seller_bps, all_in_paise: leg.seller_paise }
    : { price_bps: leg.buyer_bps, all_in_paise: leg.buyer_paise };
}

/** What was agreed, and what of it was settled and what was not: at the end the two are all of it. */
export function sumSide(side: SettlementSide) {
  const paise = (legs: readonly LegRow[]) =>
    legs.reduce((sum, leg) => sum + toSideMoney(side, leg).all_in_paise, 0);
  return {
    face_paise: side.legs.reduce((sum, leg) => sum + leg.face_paise, 0),
    all_in_paise: paise(side.legs),
    settled_paise: paise(side.legs.filter(({ state }) => state === "delivered")),
    undelivered_paise: paise(side.legs.filter(({ state }) => state === "failed")),
  };
}

/** Where these settlements stand, by their ids. */
export async function findSettlementStates(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, SettlementState>> {
  if (settlementIds.length === 0) return new Map();
  const rows = await listStates(db, settlementIds);
  return new Map(rows.map((row) => [row.settlement_id, row.state]));
}

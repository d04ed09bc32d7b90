import { sumParts } from "../kernel/money.ts";
import type { Change } from "../kernel/actor.ts";
import { isHouse } from "../kernel/ids.ts";
import { advance, writeStep } from "../kernel/lifecycle.ts";
import type { Calendar } from "../kernel/working-days.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { computeDueAt, settlementLifecycle, type SettlementState, findSideState } from "./rules.ts";
import { type LegRow, type SettlementRow } from "./store.ts";
import { listStates } from "./read-store.ts";

type Action = keyof typeof settlementLifecycle.moves;

/** The moves after which a deadline runs. */
type AwaitingAction = "fund" | "initiate";

/** Moves a settlement to a state with a new deadline. */
export function moveToDeadline(
  row: SettlementRow,
  action: AwaitingAction,
  { now, calendar }: { readonly now: Date; readonly calendar: Calendar },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  const due_at = computeDueAt(state, row.environment, now, calendar);
  return { ...appendStep(row, state, { reason: null, now }), due_at };
}

/** Moves a settlement to a state without a deadline. */
export function moveSettlement(
  row: SettlementRow,
  action: Exclude<Action, AwaitingAction>,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  return { ...appendStep(row, state, { reason, now }), due_at: null };
}

/** A firm's side of a settlement, with the legs that it delivers or buys. */
export type SettlementSide = {
  readonly side: "sell" | "buy";
  readonly deskId: string;
  readonly firmId: string;
  readonly legs: readonly LegRow[];
};

/** The clients' sides, each firm once. The house is left out: nothing is reported to it. */
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
 * One change per side, which shows that side only. A side that has failed gets no further changes.
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

/** The change of one side, from one state to another or within one state. */
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
    after: shown,
    event: event && { name: event, from, to, data: shown },
  };
}

/** The reason of failed legs or of a reversal. */
export function findReason(
  settlement: SettlementRow,
  legs: readonly LegRow[],
  status: SettlementState,
): string | null {
  if (status === "failed") return legs.find((leg) => leg.reason)?.reason ?? null;
  return status === "reversed" ? settlement.reason : null;
}

/** The orders of this side. */
export function listOrderIds({ side, legs }: SettlementSide, settlement: SettlementRow): string[] {
  const ids = side === "buy" ? [settlement.buyer_order_id] : legs.map((leg) => leg.seller_order_id);
  return [...new Set(ids.filter((id) => id !== null))];
}

/** This side's price and money for a leg. */
export function toSideMoney({ side }: Pick<SettlementSide, "side">, leg: LegRow) {
  return side === "sell"
    ? { price_bps: leg.seller_bps, all_in_paise: leg.seller_paise }
    : { price_bps: leg.buyer_bps, all_in_paise: leg.buyer_paise };
}

/** Sums of a side. Once it has ended, settled and undelivered add up to all-in. */
export function sumSide(side: SettlementSide) {
  const paise = (legs: readonly LegRow[]) =>
    sumParts(legs.map((leg) => toSideMoney(side, leg).all_in_paise));
  return {
    face_paise: sumParts(side.legs.map((leg) => leg.face_paise)),
    all_in_paise: paise(side.legs),
    settled_paise: paise(side.legs.filter(({ state }) => state === "delivered")),
    undelivered_paise: paise(side.legs.filter(({ state }) => state === "failed")),
  };
}

/** States by settlement. */
export async function findSettlementStates(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, SettlementState>> {
  if (settlementIds.length === 0) return new Map();
  const rows = await listStates(db, settlementIds);
  return new Map(rows.map((row) => [row.settlement_id, row.state]));
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
    history: [...row.history, writeStep(state, now, reason)],
    version: row.version + 1,
    updated_at: now,
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

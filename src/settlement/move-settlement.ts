import { sumParts } from "../kernel/money.ts";
import type { Change } from "../kernel/actor.ts";
import { isHouse } from "../kernel/ids.ts";
import { advance, writeStep } from "../kernel/lifecycle.ts";
import type { Calendar } from "../kernel/working-days.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  computeDueAt,
  type DealStep,
  findLegDueAt,
  findLegEndsAt,
  findSideState,
  isOpen,
  isOpenLeg,
  settlementLifecycle,
  type SettlementState,
} from "./rules.ts";
import { type LegRow, type SettlementRow } from "./store.ts";
import { listStates } from "./read-store.ts";
import { findNextLateAt } from "./read-tasks.ts";

type Action = keyof typeof settlementLifecycle.moves;

/** Moves a settlement to another state by what became of its legs. */
export function moveSettlement(
  row: SettlementRow,
  action: Action,
  { reason = null, now }: { readonly reason?: string | null; readonly now: Date },
): SettlementRow {
  const state = advance(settlementLifecycle, row.state, action);
  return {
    ...row,
    state,
    reason,
    history: [...row.history, writeStep(state, now, reason)],
    version: row.version + 1,
    updated_at: now,
  };
}

/** Its parties are told once customs can be asked; its deadline counts from the payment. */
export function payFor(
  row: SettlementRow,
  { now, calendar }: { readonly now: Date; readonly calendar: Calendar },
): SettlementRow {
  const due_at = computeDueAt("initiate", row.environment, now, calendar);
  const paid = { ...moveSettlement(row, "fund", { now }), paid_at: now, begun: false };
  return { ...paid, due_at, ends_at: due_at, next_late_at: null };
}

/** The deadlines of a settlement by its legs: the next one, when the clock ends something, and what is told. */
export function placeDeadlines(row: SettlementRow, legs: readonly LegRow[]): SettlementRow {
  if (!isOpen(row.state)) return { ...row, due_at: null, ends_at: null, next_late_at: null };
  const next_late_at = findNextLateAt({ settlement: row, legs });
  if (row.state === "pending") {
    return { ...row, due_at: row.pay_due_at, ends_at: row.pay_due_at, next_late_at };
  }
  if (!row.begun) return row;
  const due_at = findEarliest(legs.map((leg) => findLegDueAt(leg)));
  return { ...row, due_at, ends_at: findEarliest(legs.map(findLegEndsAt)), next_late_at };
}

function findEarliest(times: readonly (Date | null)[]): Date | null {
  const known = times.flatMap((at) => at?.getTime() ?? []);
  return known.length === 0 ? null : new Date(Math.min(...known));
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
  const isMove = before?.state !== after.state;
  return listSides(after, legs).flatMap((side) => {
    const from = before && findSideState(before.state, side.legs);
    const to = findSideState(after.state, side.legs);
    // A side that ended before the settlement did gets no more of its steps.
    const isOver = isMove && from === to && !side.legs.some((leg) => isOpenLeg(leg.state));
    return from === "failed" || isOver
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

/** The step that the first failed leg waited for. */
export function findFailedStep(legs: readonly LegRow[], status: SettlementState): DealStep | null {
  if (status !== "failed") return null;
  return legs.find((leg) => leg.failed_step)?.failed_step ?? null;
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
    default_owed_paise: sumDefaults(side.legs.filter((leg) => leg.default_by === side.side)),
    default_due_paise: sumDefaults(side.legs.filter((leg) => leg.default_by !== side.side)),
  };
}

function sumDefaults(legs: readonly LegRow[]) {
  return sumParts(legs.map((leg) => leg.default_paise));
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

function viewForSide(side: SettlementSide, settlement: SettlementRow, status: SettlementState) {
  return {
    side: side.side,
    scheme: settlement.scheme,
    order_ids: listOrderIds(side, settlement),
    scrip_nos: side.legs.map((leg) => leg.scrip_no),
    ...sumSide(side),
    status,
    reason: findReason(settlement, side.legs, status),
    failed_step: findFailedStep(side.legs, status),
  };
}

// A settlement is delivery of whole credits against one payment:
//
//   pending ──fund──▶ funded ──initiate──▶ transfer_initiated ──confirm──▶ transfer_confirmed ──settle──▶ settled
//      │                 │                        │                                                    │
//      └──────fail───────┴──────────fail──────────┴──▶ failed                           reversed ◀──reverse┘
//
//   the buyer    funds it, at once where its balance or the house's own money covers it
//   the seller   initiates the transfer at customs; the service does so under the seller's mandate,
//                with the deal itself when it is funded, unless customs is down
//   customs      confirms or refuses each credit; a credit and its money change hands in one
//                transaction, so confirmed and settled come together
//   the clock    fails it at its deadline, unless a transfer may be open at customs
//
// One leg is one credit: pending ──▶ transferring ──▶ delivered, or failed from either. Delivered legs
// settle, failed legs are refunded, and a settlement without a delivered leg fails.
//
// A transfer that was begun may be open at customs, where it can still go through: its leg ends only
// by what customs says, so that nobody gets both the credit and its money. Past its deadline the
// settlement is late, which ends nothing. What goes through after all is taken back (`reverse-settlement.ts`).

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Fee, Paise } from "../kernel/money.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { OriginKind, Side } from "../kernel/scheme.ts";
import { addWorkingDays, type Calendar, type Office } from "../kernel/working-days.ts";

export const settlementStates = [
  "pending",
  "funded",
  "transfer_initiated",
  "transfer_confirmed",
  "settled",
  "failed",
  "reversed",
] as const;

export type SettlementState = (typeof settlementStates)[number];

/** A deal that waits for its buyer's money. */
export type UnpaidDeal = {
  readonly dealId: string;
  readonly firmId: string;
  readonly paise: number;
  readonly dealtAt: Date;
  readonly dueAt: Date;
};

export function noSettlement(settlementId: string): Failure {
  return new Failure("not_found", `no settlement ${settlementId}`);
}

export const settlementLifecycle = {
  noun: "settlement",
  initial: ["pending", "funded"],
  states: settlementStates,
  moves: {
    fund: { from: ["pending"], to: "funded", by: "bank" },
    initiate: { from: ["funded"], to: "transfer_initiated", by: "deal" },
    confirm: { from: ["transfer_initiated"], to: "transfer_confirmed", by: "registry" },
    settle: { from: ["transfer_confirmed"], to: "settled", by: "deal" },
    fail: { from: ["pending", "funded", "transfer_initiated"], to: "failed", by: "deal" },
    reverse: { from: ["settled"], to: "reversed", by: "operator" },
  },
} as const satisfies Lifecycle<SettlementState>;

export const legStates = ["pending", "transferring", "delivered", "failed"] as const;

export type LegState = (typeof legStates)[number];

export const legLifecycle = {
  noun: "leg",
  initial: ["pending"],
  states: legStates,
  moves: {
    begin: { from: ["pending"], to: "transferring", by: "deal" },
    deliver: { from: ["transferring"], to: "delivered", by: "registry" },
    refuse: { from: ["transferring"], to: "failed", by: "registry" },
    fail: { from: ["pending"], to: "failed", by: "deal" },
  },
} as const satisfies Lifecycle<LegState>;

export const waitingOn = ["buyer", "seller", "customs", "bank", "none"] as const;

export type WaitingOn = (typeof waitingOn)[number];

/** The party whose move is awaited. */
export function findAwaitedParty(state: SettlementState): WaitingOn {
  switch (state) {
    case "pending":
      return "buyer";
    case "funded":
      return "seller";
    case "transfer_initiated":
      return "customs";
    case "transfer_confirmed":
      return "bank";
    default:
      return "none";
  }
}

/** The working days that each state may last, and the office whose calendar counts them. */
export const workingDaysFor = {
  pending: { days: 1, office: "bank" },
  funded: { days: 1, office: "customs" },
  transfer_initiated: { days: 2, office: "customs" },
} as const satisfies Partial<
  Record<SettlementState, { readonly days: number; readonly office: Office }>
>;

/** Deadlines of the sandbox are short, so that a client's test can watch one pass. */
const sandboxSecondsFor: Readonly<Partial<Record<SettlementState, number>>> = {
  pending: 60,
  funded: 60,
  transfer_initiated: 30,
};

/** The office whose working days count in a state. */
export function findOffice(state: (typeof openStates)[number]): Office {
  return workingDaysFor[state].office;
}

/** The deadline of a state that begins now; null when the state has none. */
export function computeDueAt(
  state: SettlementState,
  environment: Environment,
  now: Date,
  calendar: Calendar,
): Date | null {
  if (environment === "sandbox") {
    const seconds = sandboxSecondsFor[state];
    return seconds === undefined ? null : new Date(now.getTime() + seconds * 1_000);
  }
  if (!isOpen(state)) return null;
  const { days, office } = workingDaysFor[state];
  return addWorkingDays(now, days, office, calendar);
}

/** The states that have a deadline. */
export const openStates = [
  "pending",
  "funded",
  "transfer_initiated",
] as const satisfies readonly SettlementState[];

export function isOpen(state: SettlementState): state is (typeof openStates)[number] {
  return (openStates as readonly SettlementState[]).includes(state);
}

/** Whether what is awaited has not come by its deadline. */
export function isLate(
  { state, due_at }: { readonly state: SettlementState; readonly due_at: Date | null },
  now: Date,
): boolean {
  return isOpen(state) && due_at !== null && due_at < now;
}

export function isOpenLeg(state: LegState): boolean {
  return state === "pending" || state === "transferring";
}

/**
 * The state of one side, from its own legs only. While one of them is open it is the settlement's.
 */
export function findSideState(
  state: SettlementState,
  legs: readonly { readonly state: LegState }[],
): SettlementState {
  if (legs.some((leg) => isOpenLeg(leg.state))) return state;
  if (!legs.some((leg) => leg.state === "delivered")) return "failed";
  return state === "reversed" ? "reversed" : "settled";
}

/** Why a settlement or a leg failed. */
export const failureReasons = [
  "timeout",
  "not_funded",
  "refused",
  "credit_suspended",
  "credit_cancelled",
  "credit_used",
  "credit_unavailable",
  "by_operator",
  "by_desk",
] as const;

export type FailureReason = (typeof failureReasons)[number];

/** The reasons of a deal that ends while it waits for its buyer's money. */
const wantsOfMoney: readonly string[] = ["timeout", "not_funded"] satisfies FailureReason[];

/** Whether legs that were answered now failed because the buyer's money was not there. */
export function isUnpaid(
  { state, origin_kind }: { readonly state: SettlementState; readonly origin_kind: OriginKind },
  answered: readonly { readonly reason: string | null }[],
): boolean {
  if (state !== "pending" || origin_kind === "cross") return false;
  return answered.some(({ reason }) => reason !== null && wantsOfMoney.includes(reason));
}

/** The move that ends a leg. */
export type LegOutcome =
  | { readonly move: "deliver"; readonly reason: null }
  | { readonly move: "refuse" | "fail"; readonly reason: FailureReason };

/** The refusal to end a deal whose transfer may be open at customs. */
export function transferOpen(settlementId: string): Failure {
  return new Failure(
    "conflict",
    `a transfer of ${settlementId} may be open at customs: give a reference that nothing is pending`,
    { detail: { reason: "transfer_open", settlement_id: settlementId } },
  );
}

/** The fee and GST within each side's money. */
export type LegFees = {
  readonly buyer_fee_paise: Paise;
  readonly buyer_gst_paise: Paise;
  readonly seller_fee_paise: Paise;
  readonly seller_gst_paise: Paise;
};

export function toSideFee(side: Side, leg: LegFees): Fee {
  return side === "sell"
    ? { feePaise: leg.seller_fee_paise, gstPaise: leg.seller_gst_paise }
    : { feePaise: leg.buyer_fee_paise, gstPaise: leg.buyer_gst_paise };
}

/**
 * The moves of a settlement after legs were answered: none while a leg is open, and two at once when
 * the last one is answered and any was delivered.
 */
export function listMoves(
  legs: readonly { readonly state: LegState }[],
): readonly ("confirm" | "settle" | "fail")[] {
  if (legs.some(({ state }) => isOpenLeg(state))) return [];
  return legs.some(({ state }) => state === "delivered") ? ["confirm", "settle"] : ["fail"];
}

export const eventByState = {
  pending: "settlement.created",
  funded: "settlement.funded",
  transfer_initiated: "settlement.transfer_initiated",
  transfer_confirmed: "settlement.transfer_confirmed",
  settled: "settlement.settled",
  failed: "settlement.failed",
  reversed: "settlement.reversed",
} as const satisfies Record<SettlementState, string>;

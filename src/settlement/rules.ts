// A settlement is delivery of whole credits against one payment:
//
//   pending ──fund──▶ funded ──initiate──▶ transfer_initiated ──confirm──▶ transfer_confirmed ──settle──▶ settled
//      │                 │                        │                                                    │
//      └──────fail───────┴──────────fail──────────┴──▶ failed                           reversed ◀──reverse┘
//
//   the buyer    funds it; what it has with us, or the house's own purse, funds at once
//   the seller   initiates the transfer at customs, by our hand under its mandate: with the deal
//                itself when it is funded by then, unless customs is away
//   customs      confirms or refuses each credit by itself; a credit and its money change hands in
//                one transaction, so confirmed and settled come together
//   the clock    ends what was not done in time
//
// One leg is one credit: pending ──▶ transferring ──▶ delivered, or failed from either. What was
// delivered settles, the rest is refunded, and a settlement of which nothing was delivered fails.

import type { Environment } from "../kernel/caller.ts";
import type { Fee, Paise } from "../kernel/money.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { Side } from "../kernel/scheme.ts";
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
    fail: { from: ["pending", "transferring"], to: "failed", by: "deal" },
  },
} as const satisfies Lifecycle<LegState>;

export const waitingOn = ["buyer", "seller", "customs", "bank", "none"] as const;

export type WaitingOn = (typeof waitingOn)[number];

/** Whose move it is. */
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

/** How many working days each party has for its move, and whose days they are. */
const workingDaysFor = {
  pending: { days: 1, office: "bank" },
  funded: { days: 1, office: "customs" },
  transfer_initiated: { days: 2, office: "customs" },
} as const satisfies Partial<
  Record<SettlementState, { readonly days: number; readonly office: Office }>
>;

/** The sandbox does in seconds what takes days; a test sees a deadline pass within a minute. */
const sandboxSecondsFor: Readonly<Partial<Record<SettlementState, number>>> = {
  pending: 60,
  funded: 60,
  transfer_initiated: 30,
};

/** Whose working days count while a settlement is in one of these states. */
export function findOffice(state: (typeof openStates)[number]): Office {
  return workingDaysFor[state].office;
}

/** By when what is waited for must have happened; null when nothing is. */
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

/** The states in which something is still waited for. */
export const openStates = [
  "pending",
  "funded",
  "transfer_initiated",
] as const satisfies readonly SettlementState[];

export function isOpen(state: SettlementState): state is (typeof openStates)[number] {
  return (openStates as readonly SettlementState[]).includes(state);
}

export function isOpenLeg(state: LegState): boolean {
  return state === "pending" || state === "transferring";
}

/**
 * Where one side of a settlement stands, by its own legs: what becomes of the legs of others is not
 * its business. While one of its own is open it stands where the settlement does.
 */
export function findSideState(
  state: SettlementState,
  legs: readonly { readonly state: LegState }[],
): SettlementState {
  if (legs.some((leg) => isOpenLeg(leg.state))) return state;
  if (!legs.some((leg) => leg.state === "delivered")) return "failed";
  return state === "reversed" ? "reversed" : "settled";
}

/** Why a settlement or a leg of it failed. */
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

/** One step of a settlement, as its history shows it. */
export type Step = {
  readonly status: SettlementState;
  readonly at: string;
  readonly reason: string | null;
};

/** What an answered leg is from then on. */
export type LegOutcome =
  | { readonly state: "delivered"; readonly reason: null }
  | { readonly state: "failed"; readonly reason: string };

/** What of a leg's money is fee and tax, on each side. */
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
 * The moves a settlement makes when some of its legs are answered: none while others are open, and
 * two at once when the last of them is and something was delivered.
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

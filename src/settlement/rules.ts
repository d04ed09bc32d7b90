// A settlement is delivery of whole credits against one payment:
//
//   pending ──fund──▶ funded ──initiate──▶ transfer_initiated ──confirm──▶ transfer_confirmed ──settle──▶ settled
//      │                 │                        │                                                    │
//      └──────fail───────┴──────────fail──────────┴──▶ failed                           reversed ◀──reverse┘
//
//   the buyer    funds it; what it has with us, or the house's own purse, funds at once
//   the seller   initiates the transfer at customs, by our hand under its mandate
//   customs      confirms or refuses each credit by itself: what was delivered settles, the rest is
//                refunded, and a settlement of which nothing was delivered fails

import type { Lifecycle } from "../kernel/lifecycle.ts";
import { addWorkingDays } from "../kernel/working-days.ts";

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

export const waitingOn = ["buyer", "seller", "customs", "bank", "none"] as const;

export type WaitingOn = (typeof waitingOn)[number];

/** Whose move it is. */
export function waitingOnOf(state: SettlementState): WaitingOn {
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

/** How many working days each party has for its move. */
const workingDaysFor: Readonly<Partial<Record<SettlementState, number>>> = {
  pending: 1,
  funded: 1,
  transfer_initiated: 2,
};

/** By when what is waited for must have happened; null when nothing is. */
export function dueAtOf(state: SettlementState, now: Date): Date | null {
  const days = workingDaysFor[state];
  return days === undefined ? null : addWorkingDays(now, days);
}

// A cross is a deal between two named firms, away from the market. Both consent to the same terms,
// which a hash names, and money waits in escrow until the credits are let go:
//
//   proposed ──accept──▶ agreed ──fund──▶ funded ──release──▶ released ──settle──▶ settled
//     │ └──decline──▶ declined              │                     └──fail──▶ failed
//     │                   │                 └──refund──▶ refunded
//     └───cancel, expire──┴──▶ cancelled, expired
//
//   the proposer       may take its proposal back until it is answered
//   the counterparty   accepts or declines
//   the buyer          funds; from then on it waits for the seller or for the deadline
//   the seller         releases, or gives the money back, which the deadline does otherwise
//   the settlement     of what was released settles or fails the cross
//
// Agreement is what reserves the credits: a proposal binds nobody and holds nothing.

import { createHash } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { canonicalJson } from "../kernel/json.ts";
import { advance, type Lifecycle } from "../kernel/lifecycle.ts";
import { type Bps, type Paise, priceCeil, priceFloor } from "../kernel/money.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { addWorkingDays, type Calendar } from "../kernel/working-days.ts";
import type { WaitingOn } from "../settlement/rules.ts";

export const crossKinds = ["block", "intra_group"] as const;

export type CrossKind = (typeof crossKinds)[number];

export const crossStates = [
  "proposed",
  "agreed",
  "funded",
  "released",
  "settled",
  "declined",
  "cancelled",
  "expired",
  "refunded",
  "failed",
] as const;

export type CrossState = (typeof crossStates)[number];

export const crossLifecycle = {
  noun: "cross",
  initial: ["proposed", "agreed"],
  states: crossStates,
  moves: {
    accept: { from: ["proposed"], to: "agreed" },
    decline: { from: ["proposed"], to: "declined" },
    cancel: { from: ["proposed", "agreed"], to: "cancelled" },
    fund: { from: ["agreed"], to: "funded" },
    release: { from: ["funded"], to: "released" },
    expire: { from: ["proposed", "agreed"], to: "expired", by: "clock" },
    // The clock's, and what becomes of a funded cross that its seller cancels or a credit leaves.
    refund: { from: ["funded"], to: "refunded", by: "clock" },
    lose: { from: ["agreed"], to: "cancelled", by: "registry" },
    settle: { from: ["released"], to: "settled", by: "deal" },
    fail: { from: ["released"], to: "failed", by: "deal" },
  },
} as const satisfies Lifecycle<CrossState>;

export type CrossMove = keyof typeof crossLifecycle.moves;

/** The moves after which a party has something to do in time. */
export type AwaitingMove = "accept" | "fund";

/** Those after which neither is waited for any more. */
export type LastMove = Exclude<CrossMove, AwaitingMove>;

type Role = "proposer" | "counterparty" | "buyer" | "seller" | "either side";

/** Who may do what, and in which states of a cross. */
export const crossActions = {
  accept: { proposed: "counterparty" },
  decline: { proposed: "counterparty" },
  cancel: { proposed: "proposer", agreed: "either side", funded: "seller" },
  fund: { agreed: "buyer" },
  release: { funded: "seller" },
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<CrossState, Role>>>>>;

export type CrossAction = keyof typeof crossActions;

/** What decides who may do what: the sides that the caller has, and which one proposed. */
export type Standing = {
  readonly state: CrossState;
  readonly proposedBy: Side;
  readonly sides: readonly Side[];
};

/** What this caller can do with a cross now. */
export function listAllowedActions(standing: Standing): CrossAction[] {
  const { state } = standing;
  return actionNames.filter((action) => hasRole(findRole(action, state), standing));
}

const actionNames = Object.keys(crossActions) as CrossAction[];

function findRole(action: CrossAction, state: CrossState): Role | undefined {
  const byState: Readonly<Partial<Record<CrossState, Role>>> = crossActions[action];
  return byState[state];
}

function hasRole(role: Role | undefined, { proposedBy, sides }: Standing): boolean {
  switch (role) {
    case undefined:
      return false;
    case "either side":
      return sides.length > 0;
    case "buyer":
      return sides.includes("buy");
    case "seller":
      return sides.includes("sell");
    case "proposer":
      return sides.includes(proposedBy);
    case "counterparty":
      return sides.includes(otherSide(proposedBy));
  }
}

export function otherSide(side: Side): Side {
  return side === "sell" ? "buy" : "sell";
}

/** The side that never does this, whatever the state, acts outside its role. */
export function refuseRole(action: CrossAction, standing: Standing): void {
  if (crossStates.some((state) => hasRole(findRole(action, state), standing))) return;
  throw new Failure("forbidden", `it is the other side that may ${action} this cross`, {
    detail: { reason: "wrong_side", action },
  });
}

/** The move that an action makes, or the conflict that says what is allowed instead. */
export function requireMove<Action extends CrossAction>(
  action: Action,
  standing: Standing,
): Action | "refund" {
  const { state } = standing;
  if (!hasRole(findRole(action, state), standing)) {
    throw buildConflict(
      standing,
      "wrong_state",
      `a cross that is ${state} does not allow ${action}`,
    );
  }
  return action === "cancel" && state === "funded" ? "refund" : action;
}

/** A refusal by how things stand, with what can be done instead. */
export function buildConflict(standing: Standing, reason: string, message: string): Failure {
  const { state } = standing;
  return new Failure("conflict", message, {
    detail: { reason, state, allowed_actions: listAllowedActions(standing) },
  });
}

export function advanceCross(state: CrossState, move: CrossMove): CrossState {
  return advance(crossLifecycle, state, move);
}

/** The states in which a party of the cross still has something to do. */
export const openStates = ["proposed", "agreed", "funded"] as const satisfies CrossState[];

/** How many working days the party whose move it is has for it. */
const workingDaysFor: Readonly<Partial<Record<CrossState, number>>> = {
  proposed: 1,
  agreed: 1,
  funded: 1,
};

/** Long enough to be done by hand, short enough to see a deadline pass. */
const sandboxSeconds = 900;

/** By when what is waited for must have happened; null when nothing is. */
export function computeDueAt(
  state: CrossState,
  environment: Environment,
  now: Date,
  calendar: Calendar,
): Date | null {
  const days = workingDaysFor[state];
  if (days === undefined) return null;
  if (environment === "live") return addWorkingDays(now, days, "bank", calendar);
  return new Date(now.getTime() + sandboxSeconds * 1_000);
}

/** Whose move it is. */
export function findWaitingOn({
  state,
  proposed_by,
  payment_ref,
}: {
  readonly state: CrossState;
  readonly proposed_by: Side;
  readonly payment_ref: string | null;
}): WaitingOn {
  switch (state) {
    case "proposed":
      return proposed_by === "sell" ? "buyer" : "seller";
    case "agreed":
      return payment_ref === null ? "buyer" : "bank";
    case "funded":
      return "seller";
    case "released":
      return "customs";
    default:
      return "none";
  }
}

export const stateEvents = {
  proposed: "cross.proposed",
  agreed: "cross.agreed",
  funded: "cross.funded",
  released: "cross.released",
  settled: "cross.settled",
  declined: "cross.declined",
  cancelled: "cross.cancelled",
  expired: "cross.expired",
  refunded: "cross.refunded",
  failed: "cross.failed",
} as const satisfies Record<CrossState, string>;

/** One step of a cross, as its history shows it. */
export type Step = {
  readonly status: CrossState;
  readonly at: string;
  readonly reason: string | null;
};

/** The least face of a block, ₹1 crore, unless the operator says otherwise. */
export const blockMinPaise: Paise = 1_000_000_000;

/** What each side pays the house, tax included. */
export const feeBpsByKind = { block: 2, intra_group: 0 } as const satisfies Record<CrossKind, Bps>;

export type Terms = {
  readonly kind: CrossKind;
  readonly sellerIec: string;
  readonly buyerIec: string;
  readonly scheme: Scheme;
  readonly facePaise: Paise;
  readonly priceBps: Bps;
  readonly feeBps: Bps;
  /** Null where the seller is to choose what it delivers. */
  readonly scripNos: readonly string[] | null;
};

/** What both sides consent to, as one name. The bytes never change; other terms get another version. */
export function hashTerms(terms: Terms): string {
  const { kind, sellerIec, buyerIec, scheme, facePaise, priceBps, feeBps, scripNos } = terms;
  const text = canonicalJson({
    kind,
    seller_iec: sellerIec,
    buyer_iec: buyerIec,
    scheme,
    face_paise: facePaise,
    price_bps: priceBps,
    fee_bps: feeBps,
    scrip_nos: scripNos && scripNos.toSorted(),
  });
  return createHash("sha256").update(`cross terms 1\n${text}`).digest("hex");
}

export type Sums = {
  readonly valuePaise: Paise;
  /** What each side pays the house, tax included. */
  readonly feePaise: Paise;
  readonly sellerPaise: Paise;
  readonly buyerPaise: Paise;
};

/** Rounded down where the seller is paid, up where the house is; undefined when nothing is left. */
export function computeSums({
  facePaise,
  priceBps,
  feeBps,
}: Pick<Terms, "facePaise" | "priceBps" | "feeBps">): Sums | undefined {
  const valuePaise = priceFloor(facePaise, priceBps);
  const feePaise = priceCeil(facePaise, feeBps);
  const sellerPaise = valuePaise - feePaise;
  const buyerPaise = valuePaise + feePaise;
  if (sellerPaise < 1 || !Number.isSafeInteger(buyerPaise)) return undefined;
  return { valuePaise, feePaise, sellerPaise, buyerPaise };
}

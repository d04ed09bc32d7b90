// A cross is a deal between two named firms, outside the order book. Both accept the same terms,
// identified by a hash, and the money is in escrow until the credits are released:
//
//   proposed ──accept──▶ agreed ──fund──▶ funded ──release──▶ released ──settle──▶ settled
//     │ └──decline──▶ declined              │                     └──fail──▶ failed
//     │                   │                 └──refund──▶ refunded
//     └───cancel, expire──┴──▶ cancelled, expired
//
//   the proposer       may cancel its proposal until it is answered
//   the counterparty   accepts or declines
//   the buyer          funds, and then waits for the seller or the deadline
//   the seller         releases or refunds; the deadline refunds
//   the settlement     settles or fails the released cross
//
// Agreement reserves the credits; a proposal reserves nothing.

import { createHash } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { canonicalJson } from "../kernel/json.ts";
import { advance, type Lifecycle, wrongState } from "../kernel/lifecycle.ts";
import {
  sumParts,
  addedCeil,
  addedFloor,
  type Bps,
  type Fee,
  feeWithin,
  noFee,
  type Paise,
  priceCeil,
  priceFloor,
} from "../kernel/money.ts";
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
    // By the clock, by a seller that cancels a funded cross, or when a credit is lost.
    refund: { from: ["funded"], to: "refunded", by: "clock" },
    lose: { from: ["agreed"], to: "cancelled", by: "registry" },
    settle: { from: ["released"], to: "settled", by: "deal" },
    fail: { from: ["released"], to: "failed", by: "deal" },
  },
} as const satisfies Lifecycle<CrossState>;

export type CrossMove = keyof typeof crossLifecycle.moves;

/** The moves after which a party has a deadline. */
export type AwaitingMove = "accept" | "fund";

/** The moves after which there is no deadline. */
export type LastMove = Exclude<CrossMove, AwaitingMove>;

type CrossRole = "proposer" | "counterparty" | "buyer" | "seller" | "either side";

/** The role that each action needs, by state. */
export const crossActions = {
  accept: { proposed: "counterparty" },
  decline: { proposed: "counterparty" },
  cancel: { proposed: "proposer", agreed: "either side", funded: "seller" },
  fund: { agreed: "buyer" },
  release: { funded: "seller" },
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<CrossState, CrossRole>>>>>;

export type CrossAction = keyof typeof crossActions;

/** A caller's standing in a cross: its state, the proposing side and the caller's sides. */
export type Standing = {
  readonly state: CrossState;
  readonly proposedBy: Side;
  readonly sides: readonly Side[];
};

export function listAllowedActions(standing: Standing): CrossAction[] {
  const { state } = standing;
  return actionNames.filter((action) => hasRole(findRole(action, state), standing));
}

const actionNames = Object.keys(crossActions) as CrossAction[];

function findRole(action: CrossAction, state: CrossState): CrossRole | undefined {
  const byState: Readonly<Partial<Record<CrossState, CrossRole>>> = crossActions[action];
  return byState[state];
}

function hasRole(role: CrossRole | undefined, { proposedBy, sides }: Standing): boolean {
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

/** Refuses a caller whose sides have the role in no state. */
export function refuseRole(action: CrossAction, standing: Standing): void {
  if (crossStates.some((state) => hasRole(findRole(action, state), standing))) return;
  throw new Failure("forbidden", `it is the other side that may ${action} this cross`, {
    detail: { reason: "wrong_side", action },
  });
}

/** The move of an action; refused with the allowed actions when the state does not permit it. */
export function requireMove<Action extends CrossAction>(
  action: Action,
  standing: Standing,
): Action | "refund" {
  const { state } = standing;
  if (!hasRole(findRole(action, state), standing)) {
    const allowed = listAllowedActions(standing);
    throw wrongState(`a cross that is ${state} does not allow ${action}`, { state, allowed });
  }
  return action === "cancel" && state === "funded" ? "refund" : action;
}

/** A conflict with the state and the allowed actions. */
export function buildConflict(standing: Standing, reason: string, message: string): Failure {
  const { state } = standing;
  return new Failure("conflict", message, {
    detail: { reason, state, allowed_actions: listAllowedActions(standing) },
  });
}

export function advanceCross(state: CrossState, move: CrossMove): CrossState {
  return advance(crossLifecycle, state, move);
}

/** The states in which a party can still act. */
export const openStates = ["proposed", "agreed", "funded"] as const satisfies CrossState[];

/** Working days until the deadline of a state. */
const workingDaysFor: Readonly<Partial<Record<CrossState, number>>> = {
  proposed: 1,
  agreed: 1,
  funded: 1,
};

/** Long enough to act by hand, short enough to see a deadline pass. */
const sandboxSeconds = 900;

/** The deadline of a state; null for states without one. */
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

/** Who has to act next. */
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

/** One step in the history of a cross. */
export type CrossStep = {
  readonly status: CrossState;
  readonly at: string;
  readonly reason: string | null;
};

/** The default minimum face of a block: ₹1 crore. */
export const blockMinPaise: Paise = 1_000_000_000;

/** What each side pays the house, tax included. */
export const feeBpsByKind = { block: 2, intra_group: 0 } as const satisfies Record<CrossKind, Bps>;

export type CrossTerms = {
  readonly kind: CrossKind;
  readonly sellerIec: string;
  readonly buyerIec: string;
  readonly scheme: Scheme;
  readonly facePaise: Paise;
  readonly priceBps: Bps;
  readonly feeBps: Bps;
  /** The rate of the tax within the fee. */
  readonly gstBps: Bps;
  /** Null when the seller will choose. */
  readonly scripNos: readonly string[] | null;
};

/** Identifies the terms. The hashed bytes never change; other terms get the next version. */
export function hashTerms(terms: CrossTerms): string {
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

/** Rounds the value down and the fee up; undefined when nothing is left for the seller. */
export function computeSums({
  facePaise,
  priceBps,
  feeBps,
}: Pick<CrossTerms, "facePaise" | "priceBps" | "feeBps">): Sums | undefined {
  const valuePaise = priceFloor(facePaise, priceBps);
  const feePaise = priceCeil(facePaise, feeBps);
  const sellerPaise = valuePaise - feePaise;
  const buyerPaise = valuePaise + feePaise;
  if (sellerPaise < 1 || !Number.isSafeInteger(buyerPaise)) return undefined;
  return { valuePaise, feePaise, sellerPaise, buyerPaise };
}

type Share = {
  readonly sellerPaise: Paise;
  readonly buyerPaise: Paise;
  readonly fees: { readonly buyer: Fee; readonly seller: Fee };
};

/**
 * The shares of the legs, in order. A leg is delivered or refunded by itself, so each has its own
 * sums, which add up exactly to those of the cross.
 */
export function computeShares(
  faces: readonly Paise[],
  { priceBps, feeBps, gstBps }: Pick<CrossTerms, "priceBps" | "feeBps" | "gstBps">,
): Share[] {
  const values = computeRunningShares(faces, (before, face) => addedFloor(before, face, priceBps));
  const buyerFees = computeRunningShares(faces, (before, face) => addedCeil(before, face, feeBps));
  const sellerFees = limitFees(values, buyerFees);
  const buyerSplit = splitFees(buyerFees, gstBps);
  const sellerSplit = splitFees(sellerFees, gstBps);
  return faces.map((_, at) => ({
    sellerPaise: (values[at] ?? 0) - (sellerFees[at] ?? 0),
    buyerPaise: (values[at] ?? 0) + (buyerFees[at] ?? 0),
    fees: {
      buyer: buyerSplit[at] ?? noFee,
      seller: sellerSplit[at] ?? noFee,
    },
  }));
}

/** Each share is the difference of two rounded running totals, so that the shares add up. */
function computeRunningShares<Item extends number>(
  items: readonly Item[],
  added: (before: number, item: Item) => number,
): number[] {
  let before = 0;
  return items.map((item) => {
    const share = added(before, item);
    before += item;
    return share;
  });
}

/**
 * Moves parts of fees to other legs where a fee exceeds the value of its leg, which happens for
 * credits of a few paise. The sum of fees is at most the sum of values, so all of it fits.
 */
function limitFees(values: readonly Paise[], fees: readonly Paise[]): Paise[] {
  const kept = fees.map((fee, at) => Math.min(fee, values[at] ?? 0));
  let left = sumParts(fees) - sumParts(kept);
  return kept.map((fee, at) => {
    const room = Math.min(left, (values[at] ?? 0) - fee);
    left -= room;
    return fee + room;
  });
}

/** Fee and tax of each leg; they add up to fee and tax of the whole. */
function splitFees(fees: readonly Paise[], gstBps: Bps): Fee[] {
  return computeRunningShares(fees, (before, fee) => {
    return feeWithin(before + fee, gstBps).gstPaise - feeWithin(before, gstBps).gstPaise;
  }).map((gstPaise, at) => ({ feePaise: (fees[at] ?? 0) - gstPaise, gstPaise }));
}

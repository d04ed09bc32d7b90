// A desk's commission is a share of the face that its clients deal. The house pays it out of what it
// keeps of the credit, and never more than that, when the credit is delivered, and claws it back when
// the settlement is reversed. Without the cap, firms of one desk would gain by dealing with each other
// and with the house at a loss that the commission is more than. Each payment
// and each clawback is an entry about the settlement; its ordinal encodes the leg and the side.

import {
  asAmount,
  type Bps,
  type Paise,
  type PaiseSum,
  priceCeil,
  priceFloor,
  subtractPaise,
  sumParts,
} from "../kernel/money.ts";
import { type Side, sides } from "../kernel/scheme.ts";
import type { Account, Entry } from "../ledger/rules.ts";

/** The rate of a desk for which the operator has set none. */
export const commissionBpsDefault: Bps = 5;
/** One percent of face is more than any spread. */
export const commissionBpsMax: Bps = 100;

/** One side of a delivered leg whose firm is a client of a desk. */
export type CommissionedSide = {
  readonly environment: Entry["environment"];
  readonly settlementId: string;
  readonly legOrdinal: number;
  readonly side: Side;
  readonly deskId: string;
  readonly facePaise: Paise;
};

/** What a credit was dealt for. */
export type DealtFor = {
  readonly facePaise: Paise;
  readonly buyerPaise: Paise;
  readonly sellerPaise: Paise;
  /** GST on both sides' fees, which the house owes to the state. */
  readonly taxPaise: Paise;
  /** Which side the house is; null between two clients. */
  readonly house: Side | null;
};

/**
 * What the house keeps of a dealt credit, taxes apart: between clients what the buyer pays more than
 * the seller gets, and as a party what the credit is worth more, or was worth less, at the mid. Never
 * below zero; nothing where there was no mid.
 */
export function computeKept(dealt: DealtFor, midBps: Bps | undefined): Paise {
  const { facePaise, buyerPaise, sellerPaise, taxPaise, house: side } = dealt;
  if (side !== null && midBps === undefined) return 0;
  const paid = side === "buy" ? priceFloor(facePaise, midBps ?? 0) : buyerPaise;
  const cost = side === "sell" ? priceCeil(facePaise, midBps ?? 0) : sellerPaise;
  return Math.max(paid - cost - taxPaise, 0);
}

/** The commissions on one credit, cut in proportion where they are more than the house keeps. */
export function capCommissions(wanted: readonly Paise[], keptPaise: Paise): Paise[] {
  const all = sumParts(wanted);
  if (all <= keptPaise) return [...wanted];
  return wanted.map((paise) => Number((BigInt(paise) * BigInt(keptPaise)) / BigInt(all)));
}

/** The commission on a face amount, rounded down: the house never pays more than the rate. */
export function computeCommission(facePaise: Paise, bps: Bps): Paise {
  return priceFloor(facePaise, bps);
}

/** A leg has up to four entries: a payment and a clawback for each side. */
export const entriesPerLeg = 4;
const clawbackOffset = sides.length;

function toOrdinal({ legOrdinal, side }: CommissionedSide): number {
  return legOrdinal * entriesPerLeg + sides.indexOf(side);
}

export function isPayment(ordinal: number): boolean {
  return ordinal % entriesPerLeg < clawbackOffset;
}

/** The leg and side that are encoded in an entry's ordinal. */
export function parseOrdinal(ordinal: number): {
  readonly legOrdinal: number;
  readonly side: Side;
} {
  const side = sides[ordinal % sides.length] ?? "sell";
  return { legOrdinal: Math.floor(ordinal / entriesPerLeg), side };
}

const house: Account = { kind: "house_cash" };

/** The entry that pays a commission; none when it is zero paise. */
export function buildPayment(side: CommissionedSide, paise: Paise): Entry[] {
  if (paise === 0) return [];
  return [
    {
      environment: side.environment,
      kind: "commission",
      subject: side.settlementId,
      ordinal: toOrdinal(side),
      phase: "posted",
      movements: [{ from: house, to: { kind: "desk_commission", firmId: side.deskId }, paise }],
    },
  ];
}

/** A paid commission, as read from the books. */
export type PaidCommission = Pick<Entry, "environment" | "subject"> & {
  readonly ordinal: number;
  readonly deskId: string;
  readonly paise: Paise;
};

/** The entry that claws a commission back; what the desk's balance does not cover becomes its dues. */
export function buildClawback(paid: PaidCommission, coveredPaise: Paise): Entry {
  const owed = paid.paise - coveredPaise;
  const earned: Account = { kind: "desk_commission", firmId: paid.deskId };
  const dues: Account = { kind: "firm_dues", firmId: paid.deskId };
  return {
    environment: paid.environment,
    kind: "commission",
    subject: paid.subject,
    ordinal: paid.ordinal + clawbackOffset,
    phase: "posted",
    movements: [
      ...(coveredPaise > 0 ? [{ from: earned, to: house, paise: coveredPaise }] : []),
      ...(owed > 0 ? [{ from: dues, to: house, paise: owed }] : []),
    ],
  };
}

/** Claws back payment by payment, and deducts each from the desk's balance in `left`. */
export function buildClawbacks(
  paid: readonly PaidCommission[],
  left: Map<string, PaiseSum>,
): Entry[] {
  return paid.map((commission) => {
    const available = left.get(commission.deskId) ?? 0;
    const covered = Math.min(commission.paise, asAmount(available));
    left.set(commission.deskId, subtractPaise(available, covered));
    return buildClawback(commission, covered);
  });
}

// A desk's commission is a share of the face of what its clients deal, paid by the house out of its
// spread when a credit is delivered, and taken back when that is reversed. Each payment and each
// taking back is an entry about the settlement, whose ordinal says which leg and side it is for.

import {
  asAmount,
  type Bps,
  type Paise,
  type PaiseSum,
  priceFloor,
  subtractPaise,
} from "../kernel/money.ts";
import { type Side, sides } from "../kernel/scheme.ts";
import type { Account, Entry } from "../ledger/rules.ts";

/** What a desk gets until the operator says otherwise. */
export const commissionBpsDefault: Bps = 5;
/** One percent of face is more than any spread. */
export const commissionBpsMax: Bps = 100;

/** One side of a delivered leg that a client of a desk was on. */
export type CommissionedSide = {
  readonly environment: Entry["environment"];
  readonly settlementId: string;
  readonly legOrdinal: number;
  readonly side: Side;
  readonly deskId: string;
  readonly facePaise: Paise;
};

/** What the house pays for a face: never more than the rate says. */
export function computeCommission(facePaise: Paise, bps: Bps): Paise {
  return priceFloor(facePaise, bps);
}

/** Four entries can be about one leg: for each side the payment and its taking back. */
export const entriesPerLeg = 4;
const clawbackOffset = sides.length;

function toOrdinal({ legOrdinal, side }: CommissionedSide): number {
  return legOrdinal * entriesPerLeg + sides.indexOf(side);
}

export function isPayment(ordinal: number): boolean {
  return ordinal % entriesPerLeg < clawbackOffset;
}

/** The leg and side that an entry's ordinal stands for. */
export function parseOrdinal(ordinal: number): {
  readonly legOrdinal: number;
  readonly side: Side;
} {
  const side = sides[ordinal % sides.length] ?? "sell";
  return { legOrdinal: Math.floor(ordinal / entriesPerLeg), side };
}

const house: Account = { kind: "house_cash" };

/** The entry that pays a commission; none when the rate makes less than a paisa of it. */
export function buildPayment(side: CommissionedSide, bps: Bps): Entry[] {
  const paise = computeCommission(side.facePaise, bps);
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

/** A commission that was paid, as the books have it. */
export type PaidCommission = Pick<Entry, "environment" | "subject"> & {
  readonly ordinal: number;
  readonly deskId: string;
  readonly paise: Paise;
};

/** The entry that takes one back; what the desk no longer has with us it owes. */
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

/** Takes back payment by payment, from what each desk still has; that is used up. */
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

// What each credit of a cross bears of its money. A leg is delivered or refunded by itself, so every
// leg needs its own sums, and together they are exactly the cross's.

import { type Fee, feeWithin } from "../kernel/fees.ts";
import { addedCeil, addedFloor, type Paise } from "../kernel/money.ts";
import type { Terms } from "./rules.ts";

export type Share = {
  readonly sellerPaise: Paise;
  readonly buyerPaise: Paise;
  readonly fees: { readonly buyer: Fee; readonly seller: Fee };
};

/** One share per face, in their order. */
export function sharesOf(
  faces: readonly Paise[],
  { priceBps, feeBps }: Pick<Terms, "priceBps" | "feeBps">,
): Share[] {
  const values = runningShares(faces, (before, face) => addedFloor(before, face, priceBps));
  const buyerFees = runningShares(faces, (before, face) => addedCeil(before, face, feeBps));
  const sellerFees = within(values, buyerFees);
  const buyerSplit = splitOf(buyerFees);
  const sellerSplit = splitOf(sellerFees);
  return faces.map((_, at) => ({
    sellerPaise: (values[at] ?? 0) - (sellerFees[at] ?? 0),
    buyerPaise: (values[at] ?? 0) + (buyerFees[at] ?? 0),
    fees: {
      buyer: buyerSplit[at] ?? feeWithin(0),
      seller: sellerSplit[at] ?? feeWithin(0),
    },
  }));
}

/** What each item adds to what the ones before it come to. */
function runningShares<Item extends number>(
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
 * The same fees, moved between legs where one would be more than its leg is worth, as it can be for a
 * credit of a few paise. Their sum is within the values' sum, so there is room for all.
 */
function within(values: readonly Paise[], fees: readonly Paise[]): Paise[] {
  const kept = fees.map((fee, at) => Math.min(fee, values[at] ?? 0));
  let left = sum(fees) - sum(kept);
  return kept.map((fee, at) => {
    const room = Math.min(left, (values[at] ?? 0) - fee);
    left -= room;
    return fee + room;
  });
}

/** Fee and tax of each, which sum to fee and tax of the whole. */
function splitOf(fees: readonly Paise[]): Fee[] {
  return runningShares(fees, (before, fee) => {
    return feeWithin(before + fee).gstPaise - feeWithin(before).gstPaise;
  }).map((gstPaise, at) => ({ feePaise: (fees[at] ?? 0) - gstPaise, gstPaise }));
}

function sum(amounts: readonly Paise[]): Paise {
  return amounts.reduce((total, amount) => total + amount, 0);
}

// What a card changes, price by price: the same function that prices, asked at both ends of every
// size band and at every validity band of both cards.

import { askOf, bidOf, type RateCard } from "./rules.ts";

/** Bid and ask for a size and a validity, before and after; null where there is no price. */
export type PricedBand = {
  readonly from_paise: number;
  /** The first face that is no longer in the band; null for the last one. */
  readonly below_paise: number | null;
  readonly from_days: number;
  readonly bid_before_bps: number | null;
  readonly bid_after_bps: number | null;
  readonly ask_before_bps: number | null;
  readonly ask_after_bps: number | null;
};

export function priceBands(before: RateCard | undefined, after: RateCard): PricedBand[] {
  const cards = before ? [before, after] : [after];
  const bounds = unite(
    cards.flatMap(({ size_bands }) => size_bands.map((b) => b.below_paise ?? 0)),
  );
  const edges = unite([1, ...bounds.filter((bound) => bound > 1)]);
  const days = unite(cards.flatMap((card) => card.validity_bands.map((b) => b.from_days)));
  return edges.flatMap((from_paise, index) =>
    days.toReversed().map((from_days) => ({
      from_paise,
      below_paise: edges[index + 1] ?? null,
      from_days,
      bid_before_bps: (before && bidOf(before, from_paise, from_days)) ?? null,
      bid_after_bps: bidOf(after, from_paise, from_days) ?? null,
      ask_before_bps: before ? askOf(before, from_paise) : null,
      ask_after_bps: askOf(after, from_paise),
    })),
  );
}

/** The largest change of any price that both cards have. */
export function largestMove(before: RateCard | undefined, after: RateCard): number {
  const moves = priceBands(before, after).flatMap((band) => [
    distance(band.bid_before_bps, band.bid_after_bps),
    distance(band.ask_before_bps, band.ask_after_bps),
  ]);
  return Math.max(0, ...moves);
}

function distance(one: number | null, other: number | null): number {
  return one === null || other === null ? 0 : Math.abs(one - other);
}

function unite(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

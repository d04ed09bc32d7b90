// A buy is priced by the sum of its bundle, and the price says which offers the bundle may contain.
// Tiers end that circle: each is a range of sums with one price, so within it the offers are fixed
// before the search.
//
//   tiers     from the largest sums down, each below the one before
//   bundle    of the first tier that has one: the largest sum whose own price pays for every offer
//   proof     a tier without a bundle counts as searched only where the bound of its search is below it
//
// Which bundles a tier may have does not depend on the requirement. So a larger requirement never
// covers less, and never covers the same at another price.

import { sumParts } from "../kernel/money.ts";
import { chooseBundle } from "./choose-bundle.ts";
import type { OfferIndex, Usable } from "./offer-index.ts";
import { type Bundle, stepsDefault, type Tier } from "./rules.ts";

/** What one buyer may take, from the largest sums down to the requirement's smallest tier. */
export type CoverWanted = Pick<Usable, "min_day" | "buyer"> & {
  readonly requirement_paise: number;
  readonly tiers: readonly Tier[];
};

/** A bundle and its tier; undefined where nothing can be taken. */
export type TieredBundle = Bundle & { readonly tier: Tier | undefined };

/** The bundle of the first tier that has one. The tiers share the steps. */
export function chooseInTiers(
  index: OfferIndex,
  { requirement_paise, tiers, ...usable }: CoverWanted,
  steps = stepsDefault,
): TieredBundle {
  let left = steps;
  let isSettled = true;
  /** No bundle of a tier that was searched has a larger sum. */
  let sumMax = 0;
  for (const tier of tiers) {
    const { least_paise, most_paise } = tier;
    if (index.depth(1, most_paise + 1).face_paise < least_paise) continue;
    const wanted = { ...usable, ...tier, requirement_paise: most_paise, steps: Math.max(1, left) };
    const bundle = chooseBundle(index, wanted);
    left -= bundle.steps;
    const bound = most_paise - bundle.proof.residual_bound_paise;
    const isFound = bundle.covered_paise >= least_paise;
    if (!isFound && bound < least_paise) continue;
    sumMax = Math.max(sumMax, bound);
    isSettled &&= bundle.isSettled;
    if (!isFound) continue;
    const proof = { ...bundle.proof, ...proveSum(bundle.covered_paise) };
    const residual_paise = requirement_paise - bundle.covered_paise;
    return { ...bundle, tier, residual_paise, proof, steps: steps - left, isSettled };
  }
  return {
    tier: undefined,
    offers: [],
    covered_paise: 0,
    residual_paise: requirement_paise,
    proof: { ...proveSum(0), fewest: "proven", fewest_bound: 0, earliest: "proven" },
    steps: steps - left,
    isSettled,
  };

  function proveSum(coveredPaise: number) {
    const residual = coveredPaise === sumMax ? ("optimal" as const) : ("bounded" as const);
    return { residual, residual_bound_paise: requirement_paise - sumMax };
  }
}

/** These offers and their tier, if all are present and their own sum pays for every one. */
export function findInTiers(
  index: OfferIndex,
  { tiers, ...usable }: CoverWanted,
  scripNos: readonly string[],
): Pick<TieredBundle, "offers" | "covered_paise" | "tier"> | undefined {
  for (const tier of tiers) {
    const offers = index.findAll(scripNos, { ...usable, ...tier });
    const covered_paise = sumParts((offers ?? []).map((offer) => offer.face_paise));
    const isInTier = covered_paise >= tier.least_paise && covered_paise <= tier.most_paise;
    if (offers && isInTier) return { offers, covered_paise, tier };
  }
  return undefined;
}

// Searches for cover: a quick search on the event loop, then a longer one in a thread.
//
//   quick    100,000 steps per search and four times that per set, while other requests wait. When a
//            thread could improve its result, SearchNeeded defers the request
//   thread   250,000 steps, on a copy of the book's columns and outside any transaction. Several
//            requirements are one job, each on the offers that the ones before left. It returns a plan
//   confirm  chooseCover takes the plan if its offers are still in the book. Otherwise, or when no thread
//            was free, the result of the quick search stands
//
// The proof belongs to the bundle: its residual is `optimal` or `bounded`.

import { sumParts } from "../kernel/money.ts";
import type { Context } from "../platform/context.ts";
import {
  type Heavy,
  heavyKind,
  type HeavyOptions,
  NobodyWaits,
  type Stop,
} from "../platform/heavy/kinds.ts";
import { Overloaded } from "../platform/postgres/coalesce.ts";
import { chooseBundle } from "./choose-bundle.ts";
import { OfferIndex, type Usable } from "./offer-index.ts";
import type { OfferColumns } from "./offer-rows.ts";
import {
  type Bundle,
  type BundleProof,
  type Offer,
  stepsDefault,
  stepsQuick,
  type Tier,
} from "./rules.ts";

/** A bundle that a thread found: scrip numbers, and what is proven about them. */
export type CoverPlan = { readonly scripNos: readonly string[]; readonly proof: BundleProof };

/** The quick search did not settle the bundle: the request is deferred to a thread. */
export class SearchNeeded extends Error {
  readonly index: OfferIndex;
  readonly cover: CoverWanted;

  constructor(index: OfferIndex, cover: CoverWanted) {
    super("cover is to be searched for in a thread");
    this.index = index;
    this.cover = cover;
  }
}

type ChosenCover = {
  readonly offers: readonly Offer[];
  readonly covered_paise: number;
  readonly proof: BundleProof;
  /** Undefined where nothing can be taken. */
  readonly tier: Tier | undefined;
  readonly steps: number;
  /** Whether a longer search may find or prove more, and can be made. */
  readonly canImprove: boolean;
};

/** A larger book is not sent to a thread: with so many offers a quick search meets its target. */
const columnsMax = 100_000;

/** The budget of one job for all of its requirements: some seconds. */
const jobStepsMax = 20_000_000;

type ToSearch = { readonly columns: OfferColumns; readonly wanted: readonly CoverWanted[] };

type FoundCover = { readonly places: readonly number[]; readonly proof: BundleProof };

/** Runs in the thread: searches each requirement on the offers that the ones before left. */
export function searchColumns({ columns, wanted }: ToSearch, stop: Stop): readonly FoundCover[] {
  const index = new OfferIndex();
  index.loadColumns(columns);
  const steps = Math.min(stepsDefault, Math.floor(jobStepsMax / wanted.length));
  return wanted.map((one) => {
    if (stop.isAsked()) throw new NobodyWaits();
    const { offers, proof } = chooseInTiers(index, one, steps);
    for (const { scrip_no } of offers) index.remove(scrip_no);
    return { places: offers.map(({ scrip_no }) => Number(scrip_no)), proof };
  });
}

export const searchCover = heavyKind("cover", searchColumns);

/** Plans for these requirements, in sequence; undefined when the book is too large to be sent. */
async function planCover(
  heavy: Heavy,
  index: OfferIndex,
  wanted: readonly CoverWanted[],
  options: HeavyOptions,
): Promise<readonly CoverPlan[] | undefined> {
  const most = Math.max(...wanted.map(({ requirement_paise }) => requirement_paise));
  const columns = index.columns(most, columnsMax);
  if (!columns) return undefined;
  const coded = wanted.map(({ buyer, ...one }) => ({
    ...one,
    ...(buyer !== undefined && { buyer: String(index.sellerCode(buyer)) }),
  }));
  const { rows, ...sent } = columns;
  const found = await heavy.run(searchCover, { columns: sent, wanted: coded }, options);
  return found.map(({ places, proof }) => ({
    // A row may hold another offer by now; chooseCover checks every offer of a plan.
    scripNos: places.map((place) => index.numberAt(rows[place] ?? 0)),
    proof,
  }));
}

/**
 * Plans for deferred searches, by index. Null when the quick search has to do: the book is too
 * large to be sent, the threads are overloaded, or the search failed. It throws only when the
 * caller has gone, because other orders of the same call may be placed already.
 */
export async function planSearches(
  { heavy, log }: Pick<Context, "heavy" | "log">,
  searches: readonly SearchNeeded[],
  options: HeavyOptions,
): Promise<readonly (CoverPlan | null)[]> {
  const plans = new Map<SearchNeeded, CoverPlan>();
  for (const [index, ofIndex] of Map.groupBy(searches, (search) => search.index)) {
    const wanted = ofIndex.map(({ cover }) => cover);
    const found = await planCover(heavy, index, wanted, options).catch((error: unknown) => {
      if (error instanceof NobodyWaits) throw error;
      if (!(error instanceof Overloaded)) log.error({ err: error }, "a search for cover failed");
      return undefined;
    });
    ofIndex.forEach((search, at) => {
      const plan = found?.[at];
      if (plan) plans.set(search, plan);
    });
  }
  return searches.map((search) => plans.get(search) ?? null);
}

/** The planned bundle if it is still available, otherwise the result of a quick search. */
export function chooseCover(
  index: OfferIndex,
  wanted: CoverWanted,
  { plan, steps = stepsQuick }: { readonly plan?: CoverPlan | undefined; readonly steps?: number },
): ChosenCover {
  const planned = plan && findInTiers(index, wanted, plan.scripNos);
  if (plan && planned) {
    return { ...planned, proof: plan.proof, steps: planned.offers.length, canImprove: false };
  }
  const bundle = chooseInTiers(index, wanted, steps);
  // To defer a full quick search of a book that no thread gets would only repeat it.
  const canDefer = steps < stepsQuick || index.countUpTo(wanted.requirement_paise) <= columnsMax;
  return { ...bundle, canImprove: !bundle.isSettled && canDefer };
}

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

/** What one buyer may take, from the largest sums down to the requirement's smallest tier. */
export type CoverWanted = Pick<Usable, "min_day" | "buyer"> & {
  readonly requirement_paise: number;
  readonly tiers: readonly Tier[];
};

/** A bundle and its tier; undefined where nothing can be taken. */
type TieredBundle = Bundle & { readonly tier: Tier | undefined };

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
function findInTiers(
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

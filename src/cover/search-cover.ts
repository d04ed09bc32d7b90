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

import { Overloaded } from "../platform/postgres/coalesce.ts";
import type { Context } from "../platform/context.ts";
import {
  type Heavy,
  heavyKind,
  type HeavyOptions,
  NobodyWaits,
  type Stop,
} from "../platform/heavy/kinds.ts";
import { OfferIndex } from "./offer-index.ts";
import type { OfferColumns } from "./offer-rows.ts";
import { type Offer, type BundleProof, stepsDefault, stepsQuick, type Tier } from "./rules.ts";
import { chooseInTiers, type CoverWanted, findInTiers } from "./tiers.ts";

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

export type ChosenCover = {
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

// Cover by a thread, for what a quick search leaves open. The thread gets the offers as columns, in
// the order of the queue, and answers with places among them; whoever asked then looks whether these
// offers are still there. Several requirements are searched for in one go, each on what the ones
// before it left.
//
// Work is counted in steps and not in time, so that the same offers always give the same bundle. While
// others wait (a quote, or a set that holds the matching) a search has 100,000 steps and a whole set
// four times that. What is not proven by then is put off to a thread with a million steps, on a copy of
// the book's columns and outside any transaction; its plan is confirmed on the book as it then is. A
// plan that no longer holds, or no free thread, leaves it at the quick search. The proof goes with the
// bundle: the residual is `optimal` or `bounded`.

import { Overloaded } from "../platform/postgres/coalesce.ts";
import type { Context } from "../platform/context.ts";
import {
  type Heavy,
  heavyKind,
  type HeavyOptions,
  NobodyWaits,
  type Stop,
} from "../platform/heavy/kinds.ts";
import { chooseBundle } from "./choose-bundle.ts";
import { OfferIndex, type Usable } from "./offer-index.ts";
import type { OfferColumns } from "./offer-rows.ts";
import { type Offer, type Proof, stepsDefault, stepsQuick } from "./rules.ts";

export type CoverWanted = Usable & { readonly requirement_paise: number };

/** What a thread found: offers by number, and what is proven about them. */
export type CoverPlan = { readonly scripNos: readonly string[]; readonly proof: Proof };

/** A quick search left something open: the answer waits for a longer one. */
export class SearchNeeded extends Error {
  readonly index: OfferIndex;
  readonly cover: CoverWanted;

  constructor(index: OfferIndex, cover: CoverWanted) {
    super("cover is to be searched for in a thread");
    this.index = index;
    this.cover = cover;
  }
}

export type Cover = { readonly offers: readonly Offer[]; readonly proof: Proof };

/** A book with more offers than this is not sent: in so many a quick search meets its target. */
const columnsMax = 100_000;

/** What one job may do for all of its requirements: some seconds. */
const jobStepsMax = 20_000_000;

type ToSearch = { readonly columns: OfferColumns; readonly wanted: readonly CoverWanted[] };

type FoundCover = { readonly places: readonly number[]; readonly proof: Proof };

/** What a thread does: each requirement on what the ones before it left. */
export function searchColumns({ columns, wanted }: ToSearch, stop: Stop): readonly FoundCover[] {
  const index = new OfferIndex();
  index.loadColumns(columns);
  const steps = Math.min(stepsDefault, Math.floor(jobStepsMax / wanted.length));
  return wanted.map((one) => {
    if (stop.isAsked()) throw new NobodyWaits();
    const { offers, proof } = chooseBundle(index, { ...one, steps });
    for (const { scrip_no } of offers) index.remove(scrip_no);
    return { places: offers.map(({ scrip_no }) => Number(scrip_no)), proof };
  });
}

export const searchCover = heavyKind("cover", searchColumns);

/** Plans for these requirements, in their order; undefined when the book is too large to be sent. */
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
    // A row that was given to another offer since is found out by who looks for the number.
    scripNos: places.map((place) => index.numberAt(rows[place] ?? 0)),
    proof,
  }));
}

/**
 * Plans for searches that were put off, each at its place; null where a quick search has to do,
 * because the book is too large to be sent, too much waits for the threads, or the search failed:
 * orders that travel with it may be placed by now, so it never fails a caller that is still there.
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

/** What was planned if it can still be had, otherwise what a quick search finds. */
export function chooseCover(
  index: OfferIndex,
  wanted: CoverWanted,
  { plan, steps = stepsQuick }: { readonly plan?: CoverPlan | undefined; readonly steps?: number },
): Cover & { readonly steps: number; readonly isSettled: boolean } {
  const planned = plan && index.findAll(plan.scripNos, wanted);
  const covered = planned?.reduce((sum, { face_paise }) => sum + face_paise, 0) ?? 0;
  if (plan && planned && covered > 0 && covered <= wanted.requirement_paise) {
    return { offers: planned, proof: plan.proof, steps: planned.length, isSettled: true };
  }
  return chooseBundle(index, { ...wanted, steps });
}

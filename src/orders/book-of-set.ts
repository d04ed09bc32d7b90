import type { Book, Offers } from "../book/open-book.ts";
import { smallestUsable } from "../cover/choose-bundle.ts";
import type { Usable } from "../cover/offer-index.ts";
import { type Offer, stepsQuick } from "../cover/rules.ts";
import { coverBy, SearchFirst } from "../cover/search-cover.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayNumber } from "../kernel/time.ts";
import type { BookSession, Books, Wanted } from "./workings.ts";

/** What all searches of a set may do together while it holds the matching; some ten milliseconds. */
const setStepsMax = 4 * stepsQuick;

/** The book as sets of orders use it: what a set takes is gone for the next, unless it is undone. */
export function booksOf(book: Book): Books {
  return { session: (environment, without) => sessionOf(book, environment, without) };
}

function sessionOf(
  book: Book,
  environment: Environment,
  without: ReadonlySet<string>,
): BookSession {
  let offers: Offers | undefined;
  const done: (() => void)[] = [];
  let stepsLeft = setStepsMax;
  /** Others look at the book while this set pauses, and are still offered what it took or does without. */
  const taken = new Set(without);

  function each(scheme: Scheme, of: readonly Offer[], does: "put" | "remove"): void {
    const index = offers?.[scheme];
    for (const offer of index ? of : []) {
      if (does === "put") index?.put(offer);
      else index?.remove(offer.scrip_no);
    }
  }

  const choose: BookSession["choose"] = (sought) => {
    const { requirementPaise, plan, ...wanted } = sought;
    const index = offers?.[wanted.scheme];
    if (!index) return [];
    const cover = { requirement_paise: requirementPaise, ...usableBy(wanted) };
    if (plan === undefined && stepsLeft <= 0) return new SearchFirst(index, cover);
    const steps = Math.max(1, Math.min(stepsQuick, stepsLeft));
    const found = coverBy(index, cover, { plan: plan ?? undefined, steps });
    stepsLeft -= found.steps;
    const back = found.offers.filter(({ scrip_no }) => taken.has(scrip_no));
    if (back.length > 0) {
      each(wanted.scheme, back, "remove");
      return choose(sought);
    }
    if (plan === undefined && !found.isSettled) return new SearchFirst(index, cover);
    return found.offers;
  };

  return {
    async refresh() {
      offers = await book.look(environment);
      book.setAside(environment, [...without]);
    },
    choose,
    smallest(wanted) {
      const index = offers?.[wanted.scheme];
      return index && smallestUsable(index, usableBy(wanted));
    },
    take(scheme, bundle) {
      each(scheme, bundle, "remove");
      for (const { scrip_no } of bundle) taken.add(scrip_no);
      done.push(() => each(scheme, bundle, "put"));
    },
    put(scheme, added) {
      each(scheme, added, "put");
      done.push(() => each(scheme, added, "remove"));
    },
    undo() {
      for (const back of done.toReversed()) back();
      done.length = 0;
    },
    setAside(scripNos) {
      book.setAside(environment, scripNos);
    },
  };
}

function usableBy({ pool, pan, expiresFrom }: Wanted): Usable {
  return {
    min_day: dayNumber(expiresFrom),
    price_max_bps: Math.max(0, pool.limitBpsMax),
    ...(pool.fromHouse ? {} : { price_min_bps: 1 }),
    ...(pan === null ? {} : { buyer: pan }),
  };
}

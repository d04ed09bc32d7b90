import type { Book, Offers } from "../book/open-book.ts";
import { chooseBundle, smallestUsable } from "../cover/choose-bundle.ts";
import type { Usable } from "../cover/offer-index.ts";
import type { Offer } from "../cover/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayNumber } from "../kernel/time.ts";
import type { BookSession, Books, Wanted } from "./workings.ts";

/** The book as sets of orders use it: what a set takes is gone for the next, unless it is undone. */
export function booksOf(book: Book): Books {
  return { session: (environment) => sessionOf(book, environment) };
}

function sessionOf(book: Book, environment: Environment): BookSession {
  let offers: Offers | undefined;
  const done: (() => void)[] = [];

  function each(scheme: Scheme, of: readonly Offer[], does: "put" | "remove"): void {
    const index = offers?.[scheme];
    for (const offer of index ? of : []) {
      if (does === "put") index?.put(offer);
      else index?.remove(offer.scrip_no);
    }
  }

  return {
    async refresh() {
      offers = await book.look(environment);
    },
    choose(wanted) {
      const index = offers?.[wanted.scheme];
      if (!index) return [];
      const requirement = { requirement_paise: wanted.requirementPaise, ...usableBy(wanted) };
      return chooseBundle(index, requirement).offers;
    },
    smallest(wanted) {
      const index = offers?.[wanted.scheme];
      return index && smallestUsable(index, usableBy(wanted));
    },
    take(scheme, taken) {
      each(scheme, taken, "remove");
      done.push(() => each(scheme, taken, "put"));
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

// The book as one set of orders uses it. Offers that the set takes are gone for its later orders, and
// stay gone when the set is stored; undo() puts them back when it is dropped.

import { findSmallestUsable } from "../cover/choose-bundle.ts";
import { OfferIndex, type Usable } from "../cover/offer-index.ts";
import { type Offer, priceInTier, setStepsMax, stepsQuick, type Tier } from "../cover/rules.ts";
import { chooseCover, type CoverPlan, SearchNeeded } from "../cover/search-cover.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Bps, Paise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { dayNumber, type IstDay } from "../kernel/time.ts";
import type { Book, Offers } from "./book.ts";

/** The offers that one buyer may take. */
type BuyerTerms = {
  readonly scheme: Scheme;
  readonly tiers: readonly Tier[];
  /** Offers of this PAN are left out. */
  readonly pan: string | null;
  readonly expiresFrom: IstDay;
};

/** A bundle and its one price. */
export type PricedBundle = { readonly offers: readonly Offer[]; readonly priceBps: Bps };

/** What deciding an order needs of the book. */
export type SetBook = {
  /**
   * The bundle that leaves the least uncovered; undefined when nothing can be taken. Without a plan,
   * a quick search that a thread could improve returns SearchNeeded; plan null accepts what it found.
   */
  choose(
    wanted: BuyerTerms & {
      readonly requirementPaise: Paise;
      readonly plan: CoverPlan | null | undefined;
    },
  ): PricedBundle | SearchNeeded | undefined;
  /** The smallest face at the price of the largest sums; undefined when there is none. */
  smallest(wanted: BuyerTerms): Paise | undefined;
  /** Whether a credit that another transaction locks would fit. */
  hasHeld(wanted: BuyerTerms): boolean;
  take(scheme: Scheme, offers: readonly Offer[]): void;
  put(scheme: Scheme, offers: readonly Offer[]): void;
};

/** A book that one set changes; undo() reverts every change. */
export type BookSession = SetBook & {
  /** Brings the book up to date. */
  refresh(): Promise<void>;
  undo(): void;
  /** Puts back the offers that others locked; the offers that the set took stay out. */
  close(): void;
  /** Takes out offers that are not available now; the book checks them again later. */
  setAside(scripNos: readonly string[]): void;
};

export type BookSessions = {
  /** The book without these credits, and without those that other transactions lock. */
  session(
    environment: Environment,
    without: ReadonlySet<string>,
    held?: ReadonlySet<string>,
  ): BookSession;
};

/** Sessions on one book. What a session takes is gone for the next one, unless it is undone. */
export function openBookSessions(book: Book): BookSessions {
  return {
    session: (environment, without, held = new Set()) =>
      openBookSession(book, environment, { without, held }),
  };
}

function openBookSession(
  book: Book,
  environment: Environment,
  { without, held }: Record<"without" | "held", ReadonlySet<string>>,
): BookSession {
  let offers: Offers | undefined;
  const done: (() => void)[] = [];
  let stepsLeft = setStepsMax;
  /** A concurrent look may put offers back into the book that this set took or leaves out. */
  const taken = new Set([...without, ...held]);
  /** Offers that others lock; out of the book until the session closes. */
  const heldOffers = new Map<Scheme, OfferIndex>();
  const backAtEnd: (() => void)[] = [];

  function changeOffers(scheme: Scheme, of: readonly Offer[], does: "put" | "remove"): void {
    const index = offers?.[scheme];
    for (const offer of index ? of : []) {
      if (does === "put") index?.put(offer);
      else index?.remove(offer.scrip_no);
    }
  }

  function takeOutHeld(): void {
    for (const scheme of held.size > 0 ? schemes : []) {
      const found = [...held].flatMap((scripNo) => offers?.[scheme].find(scripNo) ?? []);
      changeOffers(scheme, found, "remove");
      const index = new OfferIndex();
      for (const offer of found) index.put(offer);
      heldOffers.set(scheme, index);
      backAtEnd.push(() => changeOffers(scheme, found, "put"));
    }
  }

  const choose: BookSession["choose"] = (sought) => {
    const { requirementPaise, plan, ...wanted } = sought;
    const index = offers?.[wanted.scheme];
    if (!index) return undefined;
    const { tiers } = wanted;
    const cover = { requirement_paise: requirementPaise, tiers, ...describeBuyer(wanted) };
    if (plan === undefined && stepsLeft <= 0) return new SearchNeeded(index, cover);
    const steps = Math.max(1, Math.min(stepsQuick, stepsLeft));
    const found = chooseCover(index, cover, { plan: plan ?? undefined, steps });
    stepsLeft -= found.steps;
    const back = found.offers.filter(({ scrip_no }) => taken.has(scrip_no));
    if (back.length > 0) {
      changeOffers(wanted.scheme, back, "remove");
      return choose(sought);
    }
    if (plan === undefined && found.canImprove) return new SearchNeeded(index, cover);
    const { offers: bundle, tier } = found;
    return tier && { offers: bundle, priceBps: priceInTier(tier, bundle) };
  };

  const findSmallest = (index: OfferIndex, wanted: BuyerTerms, tier: Tier) =>
    findSmallestUsable(index, { ...describeBuyer(wanted), ...tier });

  return {
    async refresh() {
      offers = await book.look(environment);
      book.setAside(environment, [...without]);
      takeOutHeld();
    },
    choose,
    smallest(wanted) {
      const index = offers?.[wanted.scheme];
      const [largest] = wanted.tiers;
      return index && largest && findSmallest(index, wanted, largest);
    },
    hasHeld(wanted) {
      const index = heldOffers.get(wanted.scheme);
      return wanted.tiers.some(
        (tier) => index && (findSmallest(index, wanted, tier) ?? Infinity) <= tier.most_paise,
      );
    },
    take(scheme, bundle) {
      changeOffers(scheme, bundle, "remove");
      for (const { scrip_no } of bundle) taken.add(scrip_no);
      done.push(() => changeOffers(scheme, bundle, "put"));
    },
    put(scheme, added) {
      changeOffers(scheme, added, "put");
      done.push(() => changeOffers(scheme, added, "remove"));
    },
    undo() {
      for (const back of done.toReversed()) back();
      done.length = 0;
    },
    close() {
      for (const back of backAtEnd) back();
      backAtEnd.length = 0;
    },
    setAside(scripNos) {
      book.setAside(environment, scripNos);
    },
  };
}

function describeBuyer({ pan, expiresFrom }: BuyerTerms): Usable {
  return { min_day: dayNumber(expiresFrom), ...(pan === null ? {} : { buyer: pan }) };
}

// Sells by amount deliver the whole credits of their firm whose sum is the largest within the amount.
//
//   plan      a call's sells by amount are searched for in sequence, each among the credits that the
//             ones before left, on rows that are read without a lock. Long searches are made in a thread
//   confirm   under the match lock a plan holds while its credits are there and no others have come
//   search    under the match lock only for what has no plan that holds, within a budget that all sells
//             of the set share

import { chooseBundle, indexOwnCredits } from "../cover/choose-bundle.ts";
import type { OfferIndex } from "../cover/offer-index.ts";
import { setStepsMax, stepsQuick } from "../cover/rules.ts";
import { planSearches, SearchNeeded } from "../cover/search-cover.ts";
import { estimateSurvey } from "../cover/survey.ts";
import {
  type FoundCredit,
  type DealtCredit,
  findDeliverable,
  type ListedCredit,
} from "../credits/reserve-credits.ts";
import { findTradingFirms, type TradingFirm } from "../firms/find-firms.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { isId } from "../kernel/ids.ts";
import { type Paise, sumParts } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayNumber, type IstDay, istDay } from "../kernel/time.ts";
import { isVisible, visibleTo } from "../kernel/visibility.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db, Query } from "../platform/postgres/postgres.ts";
import { amountDaysMin } from "../rates/rules.ts";
import type { Intent } from "./order-rules.ts";
import { findQuotes, type LockedQuote } from "./quotes.ts";

/** An order as far as it says what it sells, and for whom. */
type SellToSearch = {
  readonly call: Call;
  readonly intent: Intent;
};

/** The steps that the sells by amount of a set may take together. */
export type SearchBudget = { left: number };

/** The credits that a search without the match lock chose for a sell by amount. */
export type DeliveryPlan = {
  readonly scripNos: readonly string[];
  /** How many credits it chose among; it says nothing about a stock that has more. */
  readonly among: number;
};

type ChosenCredits<Credit> = {
  readonly credits: readonly Credit[];
  /** Whether a search of the usual length chose them. */
  readonly isSearched: boolean;
};

type StockCredit = Pick<DealtCredit, "credit_id" | "scrip_no" | "face_paise" | "expires_on">;

/** The credits of one firm and scheme for the sells by amount of one set. */
export class DeliverableCredits<Credit extends StockCredit = DealtCredit> {
  /** The largest first. */
  readonly #byNumber: Map<string, Credit>;
  readonly #budget: SearchBudget;
  #index: OfferIndex | undefined;

  constructor(credits: readonly Credit[], budget: SearchBudget) {
    this.#budget = budget;
    const sorted = credits.toSorted((a, b) => b.face_paise - a.face_paise);
    this.#byNumber = new Map(sorted.map((credit) => [credit.scrip_no, credit]));
  }

  get size(): number {
    return this.#byNumber.size;
  }

  /** Made on first use: most plans hold, and need no search. */
  get index(): OfferIndex {
    this.#index ??= indexOwnCredits(
      [...this.#byNumber.values()].map(({ scrip_no, face_paise, expires_on }) => ({
        scrip_no,
        face_paise,
        expires_on: dayNumber(expires_on),
      })),
    );
    return this.#index;
  }

  /**
   * The whole credits whose sum is the largest within the amount: those of the plan where all of them
   * are there and no others have come, otherwise the better of what is left of it and a search. Never
   * less than the largest that fit.
   */
  choose(facePaise: Paise, plan?: DeliveryPlan | null): ChosenCredits<Credit> {
    const planned = this.#findAll(plan?.scripNos ?? []);
    const facesPaise = sumFaces(planned);
    const fits = facesPaise <= facePaise && facesPaise >= sumFaces(this.#takeLargest(facePaise));
    const isWhole = planned.length === plan?.scripNos.length && this.size <= plan.among;
    if (fits && isWhole) return { credits: planned, isSearched: true };
    const found = this.#search(facePaise);
    return fits && facesPaise > sumFaces(found.credits) ? { ...found, credits: planned } : found;
  }

  take(scripNo: string): void {
    if (this.#byNumber.delete(scripNo)) this.#index?.remove(scripNo);
  }

  #findAll(scripNos: readonly string[]): Credit[] {
    return scripNos.flatMap((scripNo) => this.#byNumber.get(scripNo) ?? []);
  }

  #search(facePaise: Paise): ChosenCredits<Credit> {
    const { left } = this.#budget;
    if (left <= 0) return { credits: this.#takeLargest(facePaise), isSearched: false };
    const steps = Math.min(stepsQuick, left);
    const bundle = chooseBundle(this.index, { requirement_paise: facePaise, steps });
    this.#budget.left -= bundle.steps + estimateSurvey(this.size);
    return {
      credits: this.#findAll(bundle.offers.map(({ scrip_no }) => scrip_no)),
      isSearched: bundle.isSettled || steps === stepsQuick,
    };
  }

  /** A look that costs next to nothing: again and again the largest credit that fits. */
  #takeLargest(facePaise: Paise): Credit[] {
    let left = facePaise;
    return [...this.#byNumber.values()].filter(({ face_paise }) => {
      const fits = face_paise <= left;
      if (fits) left -= face_paise;
      return fits;
    });
  }
}

export function sumFaces(credits: readonly Pick<DealtCredit, "face_paise">[]): Paise {
  return sumParts(credits.map((credit) => credit.face_paise));
}

/** The credits that orders of one firm and scheme may deliver, and the orders that need a long search. */
type Stock = {
  readonly credits: DeliverableCredits<ListedCredit>;
  readonly waiting: { readonly at: number; readonly search: SearchNeeded }[];
};

/**
 * Adds to the sells by amount of one call what each would deliver; null where no search could be made.
 * Throws when the caller has gone.
 */
export async function planAmounts<Order extends SellToSearch>(
  ctx: Context,
  call: Call,
  orders: readonly Order[],
): Promise<readonly (Order & { readonly delivery?: DeliveryPlan | null })[]> {
  const mayAsk = ({ intent: { ask } }: SellToSearch) =>
    ask.kind === "amount" || ask.kind === "quote";
  if (!orders.some(mayAsk)) return orders;
  const { db, now } = contextFor(ctx, call.caller);
  const quotes = await db.run(findNamedQuotes(orders, findQuotes));
  const firms = await findSellers(db, orders, quotes);
  const listed = await findAmounts(db, orders, { quotes, firms, today: istDay(now()) });
  const budget = { left: setStepsMax };
  const stocks = new Map(
    [...new Set(listed)].map((credits): [readonly ListedCredit[], Stock] => [
      credits,
      { credits: new DeliverableCredits(credits, budget), waiting: [] },
    ]),
  );
  const quick = await mapPaced(
    orders,
    (order, at) => {
      const named = findNamedCredit(order, quotes[at]);
      if (named !== undefined) takeNamed(stocks.values(), named);
      const stock = stocks.get(listed[at] ?? nothing);
      const facePaise = findAmount(order, quotes[at]);
      return stock && facePaise !== undefined ? planQuickly(stock, at, facePaise) : undefined;
    },
    openPace(),
  );
  const long = await planWaiting(ctx, call, [...stocks.values()]);
  return orders.map((order, at) => ({ ...order, delivery: quick[at] ?? long.get(at) ?? null }));
}

/** What waits is searched for among all that was there when the first had to wait. */
function takeNamed(stocks: Iterable<Stock>, scripNo: string) {
  for (const { credits, waiting } of stocks) if (waiting.length === 0) credits.take(scripNo);
}

/** The plan of an order; undefined where it needs a long search, or is behind one that does. */
function planQuickly(
  { credits, waiting }: Stock,
  at: number,
  facePaise: Paise,
): DeliveryPlan | undefined {
  const found = waiting.length === 0 ? credits.choose(facePaise) : undefined;
  if (!found?.isSearched) {
    waiting.push({ at, search: searchFor(credits.index, facePaise) });
    return undefined;
  }
  const plan = { scripNos: found.credits.map(({ scrip_no }) => scrip_no), among: credits.size };
  for (const { scrip_no } of found.credits) credits.take(scrip_no);
  return plan;
}

/** By place of the order, the plans that threads make; each on what the ones before leave. */
async function planWaiting(
  ctx: Context,
  { caller, gone }: Call,
  stocks: readonly Stock[],
): Promise<ReadonlyMap<number, DeliveryPlan>> {
  const searches = stocks.flatMap(({ waiting }) => waiting.map(({ search }) => search));
  const found = await planSearches(ctx, searches, { by: caller, signal: gone?.() });
  const plans = new Map<number, DeliveryPlan>();
  let next = 0;
  for (const { credits, waiting } of stocks) {
    let among = credits.size;
    for (const { at } of waiting) {
      const scripNos = found[next++]?.scripNos;
      if (scripNos) plans.set(at, { scripNos, among });
      among -= scripNos?.length ?? 0;
    }
  }
  return plans;
}

/** A search for the largest sum within an amount, at whatever price. */
function searchFor(index: OfferIndex, facePaise: Paise): SearchNeeded {
  const tier = {
    least_paise: 0,
    most_paise: facePaise,
    price_max_bps: 0,
    price_min_bps: 0,
    dealt_at: { price_bps: 0 },
  };
  return new SearchNeeded(index, { requirement_paise: facePaise, tiers: [tier] });
}

/** By index of the order, the firm that sells by amount, as far as the caller may see it. */
async function findSellers(
  db: Db,
  orders: readonly SellToSearch[],
  quotes: readonly (LockedQuote | undefined)[],
): Promise<readonly (TradingFirm | undefined)[]> {
  const firmIds = orders.map(({ call, intent }, at) => {
    const quote = quotes[at];
    const isAmount = schemeOfAmount({ intent }, quote) !== undefined;
    return isAmount
      ? actingFirm(call.caller, intent.firmId, { quote, credit: undefined })
      : undefined;
  });
  const firms = await findTradingFirms(db, [...new Set(firmIds.flatMap((id) => id ?? []))]);
  return orders.map(({ call }, at) => findVisibleFirm(firms, call.caller, firmIds[at]));
}

/** The amount of a sale by amount; undefined for other orders. */
function findAmount({ intent }: Pick<SellToSearch, "intent">, quote: LockedQuote | undefined) {
  if (schemeOfAmount({ intent }, quote) === undefined) return undefined;
  if (intent.ask.kind === "amount") return intent.ask.facePaise;
  return quote?.side === "sell" ? quote.face_paise : undefined;
}

/** The credit that an order sells by its number, or that of its quote. */
function findNamedCredit({ intent: { ask } }: SellToSearch, quote: LockedQuote | undefined) {
  if (ask.kind === "credit") return ask.scripNo;
  return quote?.side === "sell" ? (quote.scrip_no ?? undefined) : undefined;
}

const nothing: readonly ListedCredit[] = [];

/** By index of the order, its quote. */
export function findNamedQuotes(
  orders: readonly SellToSearch[],
  find: typeof findQuotes,
): Query<readonly (LockedQuote | undefined)[]> {
  const asked = orders.flatMap(({ call, intent }, at) =>
    intent.ask.kind === "quote" ? [{ at, caller: call.caller, quoteRef: intent.ask.quoteRef }] : [],
  );
  return find(asked).map((found) => {
    const quotes: (LockedQuote | undefined)[] = [];
    asked.forEach(({ at }, place) => (quotes[at] = found[place]));
    return quotes;
  });
}

/** By index of the order, the credits that its firm could deliver; one list per firm and scheme. */
export async function findAmounts(
  db: Db,
  orders: readonly SellToSearch[],
  {
    quotes,
    firms,
    today,
  }: {
    readonly quotes: readonly (LockedQuote | undefined)[];
    readonly firms: readonly (TradingFirm | undefined)[];
    readonly today: IstDay;
  },
): Promise<readonly (readonly ListedCredit[])[]> {
  const stocks = new Map<string, { readonly firmId: string; readonly scheme: Scheme }>();
  const names = orders.map((order, at) => {
    const scheme = schemeOfAmount(order, quotes[at]);
    const firmId = firms[at]?.firm_id;
    if (!scheme || !firmId) return "";
    const name = `${firmId} ${scheme}`;
    stocks.set(name, { firmId, scheme });
    return name;
  });
  const wanted = [...stocks.values()].map((stock) =>
    findDeliverable({ ...stock, daysMin: amountDaysMin, today }),
  );
  const found = wanted.length > 0 ? await db.pipeline(wanted) : [];
  const lists = new Map([...stocks.keys()].map((name, place) => [name, found[place] ?? nothing]));
  return names.map((name) => lists.get(name) ?? nothing);
}

/** The scheme of a sale by amount; undefined for other orders. */
function schemeOfAmount(
  { intent }: Pick<SellToSearch, "intent">,
  quote: LockedQuote | undefined,
): Scheme | undefined {
  if (quote) return quote.side === "sell" && quote.scrip_no === null ? quote.scheme : undefined;
  return intent.ask.kind === "amount" ? intent.ask.scheme : undefined;
}

/**
 * The firm that an order acts for: the holder of its credit, the firm that its quote was given to,
 * the firm it names, or the key's own. A quote of the desk's own firm serves any firm of the desk.
 */
export function actingFirm(
  caller: Caller,
  named: string | null,
  {
    quote,
    credit,
  }: { readonly quote: LockedQuote | undefined; readonly credit: FoundCredit | undefined },
): string | undefined {
  const quoted = quote && (quote.scrip_no !== null || quote.firm_id !== caller.deskId);
  const firmId = credit?.firm_id ?? (quoted ? quote.firm_id : (named ?? caller.firmId));
  return isId("frm", firmId) ? firmId : undefined;
}

export function findVisibleFirm(
  firms: ReadonlyMap<string, TradingFirm>,
  caller: Caller,
  firmId: string | undefined,
): TradingFirm | undefined {
  const firm = firms.get(firmId ?? "");
  if (!firm) return undefined;
  const isKnown = isVisible(visibleTo(caller), { deskId: firm.desk_id, firmId: firm.firm_id });
  return isKnown ? firm : undefined;
}

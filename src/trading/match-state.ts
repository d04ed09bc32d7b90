// What a set of orders has taken and agreed so far. One is made per set, filled in the order of the
// commands, and read when the set is stored; a set that is refused by the database is simply dropped.
//
// What a firm can deliver for the amounts that a set sells. Its credits are put in order once for the
// set, however many amounts are sold of them, and each that an order takes is gone for the next.

import { chooseBundle, indexOwnCredits } from "../cover/choose-bundle.ts";
import type { OfferIndex } from "../cover/offer-index.ts";
import { type Offer, stepsQuick } from "../cover/rules.ts";
import type { CoverPlan, SearchNeeded } from "../cover/search-cover.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import type { TradingFirm } from "../firms/find-firms.ts";
import { refusalToTrade } from "../firms/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import type { Bps, Paise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { dayNumber, type IstDay } from "../kernel/time.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import type { FindCard } from "../rates/current-cards.ts";
import type { OpenQuotes } from "../rates/open-quotes.ts";
import type { CardToday } from "../rates/rules.ts";
import type { PurchasingPower } from "../settlement/fund-settlements.ts";
import type { Pool, RestingBuy } from "./match-rules.ts";
import { findRemainingPaise } from "./order-rules.ts";
import type { OrderRow } from "./order-store.ts";

/** Which offers a buyer could take. */
export type Wanted = {
  readonly scheme: Scheme;
  readonly pool: Pool;
  /** Whose own credits are left out. */
  readonly pan: string | null;
  readonly expiresFrom: IstDay;
};

/** The book as one set sees it: what it takes is gone for the orders after it. */
type SetBook = {
  /**
   * The bundle that leaves the least uncovered; empty when nothing can be taken. What a quick search
   * leaves open is put off, unless there is a plan for it or it must do without one.
   */
  choose(
    wanted: Wanted & {
      readonly requirementPaise: Paise;
      readonly plan: CoverPlan | null | undefined;
    },
  ): readonly Offer[] | SearchNeeded;
  /** The smallest face that could be taken for such a wish; undefined when there is none. */
  smallest(wanted: Wanted): Paise | undefined;
  /** Whether a credit that somebody else holds could be taken for such a wish. */
  hasHeld(wanted: Wanted & { readonly requirementPaise: Paise }): boolean;
  take(scheme: Scheme, offers: readonly Offer[]): void;
  put(scheme: Scheme, offers: readonly Offer[]): void;
};

/** A book that a set may take from and put into, and that takes all of it back when asked. */
export type BookSession = SetBook & {
  /** Brings the book up to what this transaction sees. */
  refresh(db: Db): Promise<void>;
  undo(): void;
  /** Puts back what others held; whatever the set took stays out. */
  close(): void;
  /** Takes out offers that cannot be had now; they return when they can. */
  setAside(scripNos: readonly string[]): void;
};

export type BookSessions = {
  /** The book without these credits, whatever it offers, and without those that others hold now. */
  session(
    environment: Environment,
    without: ReadonlySet<string>,
    held?: ReadonlySet<string>,
  ): BookSession;
};

/** One credit of a deal: its seller's price, and both sides' shares of the money. */
export type Leg = {
  readonly scripNo: string;
  readonly facePaise: Paise;
  readonly sellerBps: Bps;
  /** Null when the house sells. */
  readonly sellerOrderId: string | null;
  /** Undefined for a sell that rested before this set: its order is loaded afterwards. */
  readonly sellerPaise: Paise | undefined;
  readonly buyerPaise: Paise;
};

export type DealDraft = {
  readonly settlementId: string;
  readonly scheme: Scheme;
  /** The order whose arrival made the deal. */
  readonly originOrderId: string;
  readonly buyerFirmId: string;
  /** Null when the house buys. */
  readonly buyerOrderId: string | null;
  readonly buyerBps: Bps;
  /** Whether the buyer has the money with us. */
  readonly isFunded: boolean;
  readonly legs: readonly Leg[];
};

export type MatchState = {
  readonly environment: Environment;
  readonly now: Date;
  readonly today: IstDay;
  readonly book: SetBook;
  /** Credits by number that the books refuse to move for their holders. */
  readonly disputed?: ReadonlySet<string> | undefined;
  /** What is held for quotes of this process; nothing where it is not given. */
  readonly openQuotes?: Pick<OpenQuotes, "heldFor"> | undefined;
  readonly firms: ReadonlyMap<string, TradingFirm>;
  /** What buyers have to pay with, less with every deal of the set; by firm. */
  readonly means?: Map<string, PurchasingPower>;
  /** How much of a firm's buys may wait for money, by the key that ordered. */
  readonly unfundedMax?: ReadonlyMap<string, Paise>;
  /** Card and what is left of the house's day, by scheme; less with every deal of the house. */
  readonly markets: Map<Scheme, CardToday>;
  /** Resting buys whose firms may trade, best first; replaced as they are dealt. */
  readonly restingBuys: OrderRow[];
  /** By desk and idempotency key: what was ordered earlier, also in this set. */
  readonly originals: Map<string, OrderRow>;
  /** Orders of this set. */
  readonly placed: Map<string, OrderRow>;
  /** Orders that rested before this set and were dealt in it. */
  readonly dealt: Map<string, DealtOrder>;
  readonly deals: DealDraft[];
  /** Credits by id that an order of this set has, and the order. */
  readonly reserved: Map<string, { readonly credit: DealtCredit; readonly orderId: string }>;
  /** What firms can deliver for amounts, by firm and scheme; made when one is first sold. */
  readonly deliverable: Map<string, DeliverableCredits>;
  readonly usedQuotes: Map<string, string>;
  /** What each limited key had ordered today before this set, and what this set adds. */
  readonly orderedByKey: ReadonlyMap<string, Paise>;
  readonly addedByKey: Map<string, Paise>;
  /** What the house takes on by this set, and quotes that are used: from here on they hold nothing. */
  readonly released: Set<string>;
  /** How much face the house takes on by this set. */
  readonly houseTaken: Map<Scheme, Paise>;
};

type DealtOrder = {
  readonly before: OrderRow;
  readonly after: OrderRow;
  /** The order of this set that dealt with it. */
  readonly dealtBy: string;
};

/** The state of a set that has done nothing yet. */
export function newMatchState({
  findCard,
  ...facts
}: Pick<
  MatchState,
  | "environment"
  | "now"
  | "today"
  | "book"
  | "disputed"
  | "openQuotes"
  | "means"
  | "unfundedMax"
  | "firms"
  | "restingBuys"
  | "originals"
  | "orderedByKey"
> & { readonly findCard: FindCard }): MatchState {
  const { firms, now } = facts;
  const mayTrade = ({ firm_id }: OrderRow) => {
    const firm = firms.get(firm_id);
    return firm !== undefined && refusalToTrade(firm, now) === undefined;
  };
  return {
    ...facts,
    restingBuys: facts.restingBuys.filter(mayTrade),
    markets: new Map(
      schemes.flatMap((scheme) => {
        const market = findCard(facts.environment, scheme);
        return market ? [[scheme, market] as const] : [];
      }),
    ),
    placed: new Map(),
    dealt: new Map(),
    deals: [],
    reserved: new Map(),
    deliverable: new Map(),
    usedQuotes: new Map(),
    addedByKey: new Map(),
    released: new Set(),
    houseTaken: new Map(),
  };
}

/** How a deal leaves what rests of an order in this market. */
export function restOptions({ markets, now }: MatchState, scheme: Scheme) {
  return { restMinPaise: restMin(markets.get(scheme)), now };
}

/** With how much face an order may rest; any where there is no card. */
export function restMin(market: CardToday | undefined): Paise {
  return market?.rest_min_paise ?? 1;
}

export function newDealId({ now }: Pick<MatchState, "now">): string {
  return newId("stl", now);
}

type Charge = "paid" | "waits" | "over_limit";

/** How a buyer would pay for more: at once, later, or not, since too much of its waits already. */
export function decideCharge(
  { means, unfundedMax }: MatchState,
  { firm_id, key_id }: Pick<OrderRow, "firm_id" | "key_id">,
  costPaise: Paise,
): Charge {
  const has = means?.get(firm_id);
  if (!has) return "waits";
  if (costPaise <= has.availablePaise) return "paid";
  const max = unfundedMax?.get(key_id) ?? 0;
  return has.unfundedPaise + costPaise <= max ? "waits" : "over_limit";
}

/** Takes the cost from what the buyer can pay at once, or adds it to what waits. */
export function chargeBuyer(
  matchState: MatchState,
  buyer: Pick<OrderRow, "firm_id" | "key_id">,
  costPaise: Paise,
): Charge {
  const charge = decideCharge(matchState, buyer, costPaise);
  const has = matchState.means?.get(buyer.firm_id);
  if (!has || charge === "over_limit") return charge;
  const { availablePaise, unfundedPaise } = has;
  matchState.means?.set(
    buyer.firm_id,
    charge === "paid"
      ? { unfundedPaise, availablePaise: availablePaise - costPaise }
      : { availablePaise, unfundedPaise: unfundedPaise + costPaise },
  );
  return charge;
}

/** The market as it is for what is held by quotes of its own: that is room for it. */
export function marketFor(
  { markets, openQuotes }: MatchState,
  scheme: Scheme,
  ids: readonly string[],
): CardToday | undefined {
  const market = markets.get(scheme);
  const held = ids.reduce((sum, id) => sum + (openQuotes?.heldFor(id) ?? 0), 0);
  return market && held > 0 ? { ...market, taken_paise: market.taken_paise - held } : market;
}

/** The house took on more of its day: these credits, by a quote or without. */
export function takeFromHouse(
  matchState: MatchState,
  scheme: Scheme,
  { facePaise, ids }: { readonly facePaise: Paise; readonly ids: readonly string[] },
): void {
  const free = ids.filter((id) => !matchState.released.has(id));
  const market = marketFor(matchState, scheme, free);
  if (!market) return;
  for (const id of ids) matchState.released.add(id);
  matchState.markets.set(scheme, { ...market, taken_paise: market.taken_paise + facePaise });
  matchState.houseTaken.set(scheme, (matchState.houseTaken.get(scheme) ?? 0) + facePaise);
}

/** A resting buy after a deal: it keeps its place until nothing of it rests. */
export function replaceResting(matchState: MatchState, order: OrderRow): void {
  const at = matchState.restingBuys.findIndex(({ order_id }) => order_id === order.order_id);
  if (order.state === "open") matchState.restingBuys[at] = order;
  else matchState.restingBuys.splice(at, 1);
}

export function toRestingBuys(matchState: MatchState, scheme: Scheme): RestingBuy[] {
  return matchState.restingBuys
    .filter((order) => order.scheme === scheme)
    .map((order) => ({
      orderId: order.order_id,
      pan: findPan(matchState, order.firm_id),
      priceBps: order.price_bps ?? 0,
      remainingPaise: findRemainingPaise(order),
    }));
}

export function findPan({ firms }: MatchState, firmId: string): string | null {
  return firms.get(firmId)?.pan ?? null;
}

/** How an order of this set, or one that was dealt in it, stands now. */
export function currentOrder({ placed, dealt }: MatchState, orderId: string): OrderRow | undefined {
  return placed.get(orderId) ?? dealt.get(orderId)?.after;
}

/** A resting order was dealt with; however often that happens in a set, it is one change of it. */
export function recordDealt(matchState: MatchState, dealt: DealtOrder): void {
  const { order_id } = dealt.after;
  if (matchState.placed.has(order_id)) {
    matchState.placed.set(order_id, dealt.after);
    return;
  }
  const before = matchState.dealt.get(order_id)?.before ?? dealt.before;
  const after = { ...dealt.after, version: before.version + 1 };
  matchState.dealt.set(order_id, { ...dealt, before, after });
}

export class DeliverableCredits {
  readonly #byNumber: Map<string, DealtCredit>;
  readonly #index: OfferIndex;

  constructor(credits: readonly DealtCredit[]) {
    this.#byNumber = new Map(credits.map((credit) => [credit.scrip_no, credit]));
    this.#index = indexOwnCredits(
      credits.map(({ scrip_no, face_paise, expires_on }) => ({
        scrip_no,
        face_paise,
        expires_on: dayNumber(expires_on),
      })),
    );
  }

  /** The whole credits whose sum is the largest within the amount. */
  choose(facePaise: Paise): DealtCredit[] {
    const wanted = { requirement_paise: facePaise, steps: stepsQuick };
    const { offers } = chooseBundle(this.#index, wanted);
    return offers.flatMap(({ scrip_no }) => this.#byNumber.get(scrip_no) ?? []);
  }

  take({ credit_id, scrip_no }: DealtCredit): void {
    if (this.#byNumber.get(scrip_no)?.credit_id !== credit_id) return;
    this.#byNumber.delete(scrip_no);
    this.#index.remove(scrip_no);
  }
}

// The state of one set of orders: what its orders have taken and agreed so far. It is filled
// command by command and read when the set is stored. A set that is rolled back drops it.

import type { UnfundedLimits } from "../access/money-limits.ts";
import { setStepsMax } from "../cover/rules.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import type { TradingFirm } from "../firms/find-firms.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { addPaise, asAmount, sumParts, type Bps, type Paise } from "../kernel/money.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import type { DeskTaking, FindCard } from "../rates/current-cards.ts";
import type { OpenQuotes } from "../rates/open-quotes.ts";
import { type CardToday, type DeskDay, nothingOfDay } from "../rates/rules.ts";
import type { PurchasingPower } from "../settlement/fund-settlements.ts";
import type { SetBook } from "./book-session.ts";
import type { RestingBuy } from "./match-rules.ts";
import { fundsFirst, unfundedDeskLimit, unfundedLimit } from "./order-refusals.ts";
import { findRemainingPaise } from "./order-rules.ts";
import type { OrderRow } from "./order-store.ts";
import type { DeliverableCredits, SearchBudget } from "./sell-amounts.ts";

/** One credit of a deal: the seller's price, and both sides' shares of the money. */
export type Leg = {
  readonly scripNo: string;
  readonly facePaise: Paise;
  readonly sellerBps: Bps;
  /** Null when the house sells. */
  readonly sellerOrderId: string | null;
  /** Undefined for a sell that rested before this set: its order is loaded at the confirm step. */
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
  /** Whether the buyer pays from its balance. */
  readonly isFunded: boolean;
  readonly legs: readonly Leg[];
};

export type MatchState = {
  readonly environment: Environment;
  readonly now: Date;
  readonly today: IstDay;
  readonly book: SetBook;
  /** Scrip numbers whose holder is not the owner in the ledger. */
  readonly disputed?: ReadonlySet<string> | undefined;
  /** House limit held by open quotes of this process. */
  readonly openQuotes?: Pick<OpenQuotes, "heldFor"> | undefined;
  readonly firms: ReadonlyMap<string, TradingFirm>;
  /** The money of buyers, by firm; each deal of the set reduces it. */
  readonly means?: Map<string, PurchasingPower>;
  /** What all firms of a desk have bought unfunded, by desk; each unfunded deal adds to it. */
  readonly deskUnfunded?: Map<string, Paise>;
  /** How much a firm and a desk may owe for their buys, by the key that orders. */
  readonly unfundedMax?: ReadonlyMap<string, UnfundedLimits>;
  /** Card and house limit used today, by scheme; each deal of the house uses more. */
  readonly markets: Map<Scheme, CardToday>;
  /** Resting buys whose firms may trade, best first; updated as they are dealt. */
  readonly restingBuys: OrderRow[];
  /** Orders by visibility and idempotency key, those of this set included. */
  readonly originals: Map<string, OrderRow>;
  /** Orders of this set. */
  readonly placed: Map<string, OrderRow>;
  /** Orders that rested before this set and were dealt in it. */
  readonly dealt: Map<string, DealtOrder>;
  readonly deals: DealDraft[];
  /** By credit id, the order of this set that sells it. */
  readonly reserved: Map<string, { readonly credit: DealtCredit; readonly orderId: string }>;
  /** Credits for sales by amount, by firm and scheme; made on first use. */
  readonly deliverable: Map<string, DeliverableCredits>;
  readonly sellSearch: SearchBudget;
  readonly usedQuotes: Map<string, string>;
  /** Notional per limited key: ordered today before this set, and added by this set. */
  readonly orderedByKey: ReadonlyMap<string, Paise>;
  readonly addedByKey: Map<string, Paise>;
  /** Credits the house buys and quotes that are used: they no longer hold house limit. */
  readonly released: Set<string>;
  /** The face that the house buys in this set. */
  readonly houseTaken: Map<Scheme, Paise>;
  /** What a desk has had of the sandbox's house before this set; null in live. */
  readonly findDeskDay: (scheme: Scheme, deskId: string) => DeskDay | null;
  /** What desks get of the sandbox's house in this set, by scheme and desk. */
  readonly deskTaken: Map<string, DeskTaking>;
};

type DealtOrder = {
  readonly before: OrderRow;
  readonly after: OrderRow;
  /** The order whose arrival made the deal. */
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
  | "deskUnfunded"
  | "unfundedMax"
  | "firms"
  | "restingBuys"
  | "originals"
  | "orderedByKey"
> & { readonly findCard: FindCard }): MatchState {
  const { firms, now } = facts;
  const mayTrade = ({ firm_id }: OrderRow) => {
    const firm = firms.get(firm_id);
    return firm !== undefined && findTradingRefusal(firm, now) === undefined;
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
    sellSearch: { left: setStepsMax },
    usedQuotes: new Map(),
    addedByKey: new Map(),
    released: new Set(),
    houseTaken: new Map(),
    findDeskDay: (scheme, deskId) => findCard(facts.environment, scheme, deskId)?.desk_day ?? null,
    deskTaken: new Map(),
  };
}

/** When the remainder of a dealt order may go on resting. */
export function restOptions({ markets, now }: MatchState, scheme: Scheme) {
  return { restMinPaise: restMin(markets.get(scheme)), now };
}

/** The least face that may rest; 1 paisa without a card. */
export function restMin(market: CardToday | undefined): Paise {
  return market?.rest_min_paise ?? 1;
}

export function newDealId({ now }: Pick<MatchState, "now">): string {
  return newId("stl", now);
}

type Buyer = Pick<OrderRow, "desk_id" | "firm_id" | "key_id">;

/** How a buyer would pay: now or later; a refusal when it may not owe so much, or anything. */
export function decideCharge(
  { means, deskUnfunded, unfundedMax }: MatchState,
  { desk_id, firm_id, key_id }: Buyer,
  costPaise: Paise,
): "paid" | "waits" | Failure {
  const has = means?.get(firm_id);
  if (!has) return "waits";
  if (costPaise <= has.availablePaise) return "paid";
  if (has.isBarred) return fundsFirst();
  const { firmPaise, deskPaise } = unfundedMax?.get(key_id) ?? { firmPaise: 0, deskPaise: 0 };
  if (has.unfundedPaise + costPaise > firmPaise) return unfundedLimit(firmPaise);
  const ofDesk = deskUnfunded?.get(desk_id) ?? 0;
  return ofDesk + costPaise > deskPaise ? unfundedDeskLimit(deskPaise) : "waits";
}

/** Takes the cost from the balance of the buyer, or adds it to what the buyer and its desk owe. */
export function chargeBuyer(
  matchState: MatchState,
  buyer: Buyer,
  costPaise: Paise,
): "paid" | "waits" | Failure {
  const { means, deskUnfunded } = matchState;
  const { desk_id, firm_id } = buyer;
  const charge = decideCharge(matchState, buyer, costPaise);
  const has = means?.get(firm_id);
  if (!has || charge instanceof Failure) return charge;
  if (charge === "paid") {
    means?.set(firm_id, { ...has, availablePaise: has.availablePaise - costPaise });
  } else {
    means?.set(firm_id, { ...has, unfundedPaise: sumParts([has.unfundedPaise, costPaise]) });
    deskUnfunded?.set(desk_id, sumParts([deskUnfunded.get(desk_id) ?? 0, costPaise]));
  }
  return charge;
}

/**
 * The market as a desk sees it, without the holds of these ids: a sell may use the limit that its own
 * quotes hold.
 */
export function marketFor(
  { markets, openQuotes, ...state }: MatchState,
  { scheme, desk_id: deskId }: Pick<OrderRow, "scheme" | "desk_id">,
  ids: readonly string[] = [],
): CardToday | undefined {
  const card = markets.get(scheme);
  const market = card && { ...card, desk_day: sumDeskDay(state, scheme, deskId) };
  const held = sumParts(ids.map((id) => openQuotes?.heldFor(id) ?? 0));
  return market && held > 0 ? { ...market, taken_paise: market.taken_paise - held } : market;
}

/** Counts a purchase of the house against its daily limit, and releases the holds of its quotes. */
export function takeFromHouse(
  matchState: MatchState,
  seller: Pick<OrderRow, "scheme" | "desk_id">,
  { facePaise, ids }: { readonly facePaise: Paise; readonly ids: readonly string[] },
): void {
  const { scheme } = seller;
  const free = ids.filter((id) => !matchState.released.has(id));
  const market = marketFor(matchState, seller, free);
  if (!market) return;
  for (const id of ids) matchState.released.add(id);
  const taken_paise = asAmount(addPaise(market.taken_paise, facePaise));
  matchState.markets.set(scheme, { ...market, taken_paise, desk_day: null });
  addToDeskDay(matchState, seller, { taken_paise: facePaise, shelf_credits: 0 });
  const before = matchState.houseTaken.get(scheme) ?? 0;
  matchState.houseTaken.set(scheme, sumParts([before, facePaise]));
}

/** Counts what a desk gets of the sandbox's house. */
export function addToDeskDay(
  { environment, deskTaken }: MatchState,
  { scheme, desk_id }: Pick<OrderRow, "scheme" | "desk_id">,
  added: DeskDay,
): void {
  if (environment === "live") return;
  const key = `${scheme} ${desk_id}`;
  const before = deskTaken.get(key) ?? nothingOfDay;
  deskTaken.set(key, {
    scheme,
    desk_id,
    taken_paise: asAmount(addPaise(before.taken_paise, added.taken_paise)),
    shelf_credits: before.shelf_credits + added.shelf_credits,
  });
}

function sumDeskDay(
  { findDeskDay, deskTaken }: Pick<MatchState, "findDeskDay" | "deskTaken">,
  scheme: Scheme,
  deskId: string,
): DeskDay | null {
  const before = findDeskDay(scheme, deskId);
  const added = deskTaken.get(`${scheme} ${deskId}`);
  return before && added
    ? {
        taken_paise: asAmount(addPaise(before.taken_paise, added.taken_paise)),
        shelf_credits: before.shelf_credits + added.shelf_credits,
      }
    : before;
}

/** Updates a resting buy after a deal, or removes it when nothing of it rests. */
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

/** The current row of an order that this set placed or dealt. */
export function currentOrder({ placed, dealt }: MatchState, orderId: string): OrderRow | undefined {
  return placed.get(orderId) ?? dealt.get(orderId)?.after;
}

/** Records a deal of a resting order. Several deals in one set are one change and one version. */
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

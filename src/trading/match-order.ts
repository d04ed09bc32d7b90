// Matches one order against the market. It is dealt, it rests, or it is cancelled unfilled.
//
//   sellCredits        a sell: resting buys, then the house, then the book
//   buyCover           a buy without a quote: a bundle from the book
//   buyQuoted          a buy with a quote: the quoted bundle, if all of it is unchanged
//   chooseDeliverable  the credits that a sale by amount delivers
//   dealSell, takeBundle   make the deal; the matcher uses them too

import { findShelfRoom } from "../rates/rules.ts";
import type { Offer } from "../cover/rules.ts";
import { type CoverPlan, SearchNeeded } from "../cover/search-cover.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import { countDaysLeft, sellableDaysMin, isShelfNo } from "../credits/rules.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { addedCeil, type Bps, coversSellerShare, type Paise, sumParts } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { addDays, dayNumber } from "../kernel/time.ts";
import type { PricedBundle } from "./book-session.ts";
import {
  comparePriority,
  isSamePan,
  listTiers,
  matchSell,
  type RestingBuy,
  type SellMatch,
  exceedsShelf,
} from "./match-rules.ts";
import {
  chargeBuyer,
  decideCharge,
  findPan,
  type Leg,
  addToDeskDay,
  marketFor,
  type MatchState,
  newDealId,
  recordDealt,
  replaceResting,
  restMin,
  restOptions,
  takeFromHouse,
  toRestingBuys,
} from "./match-state.ts";
import {
  amountChanged,
  bundleGone,
  factsChanged,
  noCover,
  noPrice,
  nothingToDeliver,
  restsTooLittle,
} from "./order-refusals.ts";
import { dealPart, type DealtPart, endRest, newHistoryEntry } from "./order-rules.ts";
import type { OrderRow } from "./order-store.ts";
import { type BuyFacts, isPricedAmount, isPricedOffer, type SellFacts } from "./quote-rules.ts";
import { DeliverableCredits, type DeliveryPlan, sumFaces } from "./sell-amounts.ts";

/** An order before it is matched, and the price of its quote. */
export type Draft = { readonly order: OrderRow; readonly quotedBps: Bps | null };

/** Sells these credits, which are locked and sellable, now or by resting. */
export function sellCredits(
  matchState: MatchState,
  { order: asked, quotedBps }: Draft,
  credits: readonly DealtCredit[],
): OrderRow | Failure {
  const order = { ...asked, ...describeChosen(credits) };
  const { scheme } = order;
  const market = marketFor(matchState, order, listHoldingIds(order, credits));
  const match = matchSell(market, findPayingBuys(matchState, scheme, order.covered_paise), {
    facePaise: order.covered_paise,
    faces: credits.map((credit) => credit.face_paise),
    daysLeft: findShortestLife(matchState, credits),
    pan: findPan(matchState, order.firm_id),
    limitBps: order.limit_bps,
    quotedBps,
  });
  if (!match && order.limit_bps === null) return noPrice();
  if (!match && order.time_in_force === "IOC") return cancelUnfilled(matchState, order);
  const min = restMin(market);
  if (!match && order.covered_paise < min) {
    return restsTooLittle(order.scrip_no === null ? "face_paise" : "scrip_no", min);
  }
  for (const credit of credits) {
    matchState.reserved.set(credit.credit_id, { credit, orderId: order.order_id });
    matchState.deliverable.get(buildStockKey(credit))?.take(credit.scrip_no);
  }
  if (match) return dealSell(matchState, order, credits, match);
  matchState.book.put(scheme, toOffers(matchState, order, credits));
  return restOrder(matchState, order);
}

/** Deals these credits at one price; returns the sell afterwards. */
export function dealSell(
  matchState: MatchState,
  order: OrderRow,
  credits: readonly DealtCredit[],
  match: SellMatch,
): OrderRow {
  const { environment } = matchState;
  const part = {
    settlementId: newDealId(matchState),
    credits: credits.map((credit) => ({ scripNo: credit.scrip_no, facePaise: credit.face_paise })),
  };
  const asSold = { ...restOptions(matchState, order.scheme), rests: false };
  const seller = dealPart(order, { ...part, priceBps: match.sellerBps }, asSold);
  const buyer =
    match.with === "client"
      ? dealRestingBuy(matchState, match, { ...part, by: order.order_id })
      : undefined;
  if (!buyer) {
    const taken = { facePaise: sumFaces(credits), ids: listHoldingIds(order, credits) };
    takeFromHouse(matchState, order, taken);
  }
  const buyerShares = buyer?.shares ?? seller.shares;
  const charge = buyer ? chargeBuyer(matchState, buyer.order, sumParts(buyer.shares)) : "paid";
  matchState.deals.push({
    settlementId: part.settlementId,
    scheme: order.scheme,
    originOrderId: order.order_id,
    buyerFirmId: buyer?.order.firm_id ?? houseFirmId[environment],
    buyerOrderId: buyer?.order.order_id ?? null,
    buyerBps: match.buyerBps,
    isFunded: charge === "paid",
    legs: part.credits.map((credit, index) => ({
      ...credit,
      sellerBps: match.sellerBps,
      sellerOrderId: order.order_id,
      sellerPaise: seller.shares[index],
      buyerPaise: buyerShares[index] ?? 0,
    })),
  });
  return seller.order;
}

/**
 * Takes the bundle that leaves the least uncovered, and rests with the remainder if it may. When the
 * only credits that fit are locked by others, an order that may not rest is retried.
 */
export function buyCover(
  matchState: MatchState,
  { order }: Draft,
  plan: CoverPlan | null | undefined,
): OrderRow | Failure | SearchNeeded | "held" {
  const { scheme } = order;
  const requirementPaise = order.requirement_paise ?? 0;
  const market = marketFor(matchState, order);
  const wanted = {
    scheme,
    tiers: listTiers(market, { requirementPaise, limitBps: order.limit_bps }),
    pan: findPan(matchState, order.firm_id),
    expiresFrom: addDays(matchState.today, sellableDaysMin),
  };
  const chosen = matchState.book.choose({ ...wanted, requirementPaise, plan });
  if (chosen instanceof SearchNeeded) return chosen;
  if (chosen && exceedsShelf(chosen.offers, findShelfRoom(market ?? {}))) return noPrice();
  if (chosen) {
    const bought = takeBundle(matchState, order, chosen);
    return bought instanceof Failure ? bought : restIfOpen(matchState, bought);
  }
  const mayRest = order.limit_bps !== null && order.time_in_force !== "IOC";
  if (!mayRest && matchState.book.hasHeld(wanted)) return "held";
  if (order.limit_bps === null) {
    const smallest = matchState.book.smallest(wanted) ?? 0;
    return smallest > requirementPaise ? noCover(smallest) : noPrice();
  }
  if (order.time_in_force === "IOC") return cancelUnfilled(matchState, order);
  const min = restMin(market);
  if (requirementPaise < min) return restsTooLittle("requirement_paise", min);
  return restBuy(matchState, order, order.limit_bps);
}

/** Takes the quoted bundle at the quoted price, if every credit is available and unchanged. */
export function buyQuoted(
  matchState: MatchState,
  { order, quotedBps }: Draft,
  bundle: readonly (Offer | string)[],
  { offers: facts }: BuyFacts,
): OrderRow | Failure {
  const sold = new Set(matchState.deals.flatMap((deal) => deal.legs.map((leg) => leg.scripNo)));
  const pan = findPan(matchState, order.firm_id);
  const offers = bundle.filter(
    (offer) =>
      typeof offer !== "string" && !sold.has(offer.scrip_no) && !isSamePan(offer.seller, pan),
  ) as Offer[]; // A string is the number of a credit that is gone.
  if (offers.length < bundle.length || quotedBps === null) return bundleGone();
  const changed = offers.filter((offer, at) => !isPricedOffer(facts?.[at], offer));
  if (changed.length > 0) return factsChanged(changed.map((offer) => offer.scrip_no));
  if (!offers.every((offer) => isPaidFor(offer, quotedBps))) return noPrice();
  const priced = { offers, priceBps: quotedBps };
  return takeBundle(matchState, order, priced);
}

function isPaidFor({ order_id, face_paise, limit_bps }: Offer, priceBps: Bps): boolean {
  return order_id === null || coversSellerShare(face_paise, priceBps, limit_bps);
}

/** Deals a bundle at one price; refused when the firm may not owe so much. */
export function takeBundle(
  matchState: MatchState,
  order: OrderRow,
  { offers: bundle, priceBps }: PricedBundle,
): OrderRow | Failure {
  const settlementId = newDealId(matchState);
  const credits = bundle.map((offer) => ({
    scripNo: offer.scrip_no,
    facePaise: offer.face_paise,
  }));
  const rests = order.time_in_force !== "IOC";
  const options = { ...restOptions(matchState, order.scheme), rests };
  const bought = dealPart(order, { settlementId, credits, priceBps }, options);
  const charge = chargeBuyer(matchState, order, sumParts(bought.shares));
  if (charge instanceof Failure) return charge;
  matchState.book.take(order.scheme, bundle);
  const shelf = bundle.filter(({ scrip_no }) => isShelfNo(scrip_no));
  addToDeskDay(matchState, order, { taken_paise: 0, shelf_credits: shelf.length });
  matchState.deals.push({
    settlementId,
    scheme: order.scheme,
    originOrderId: order.order_id,
    buyerFirmId: order.firm_id,
    buyerOrderId: order.order_id,
    buyerBps: priceBps,
    isFunded: charge === "paid",
    legs: bundle.map((offer, index) => toLeg(offer, priceBps, bought.shares[index] ?? 0)),
  });
  return bought.order;
}

/**
 * The firm's whole credits with the largest sum within the amount, without those already taken. An
 * order that the set has no steps left for is searched for without the match lock, once; and one whose
 * quote a short search does not meet is tried again later.
 */
export function chooseDeliverable(
  matchState: MatchState,
  deliverable: readonly DealtCredit[],
  {
    facePaise,
    daysMin,
    facts,
    plan,
  }: {
    readonly facePaise: Paise;
    readonly daysMin: number;
    /** The facts behind the quote, if there is one. */
    readonly facts: SellFacts | undefined;
    readonly plan: DeliveryPlan | null | undefined;
  },
): readonly DealtCredit[] | Failure | "unplanned" | "held" {
  const stock = findStock(matchState, deliverable);
  if (!stock || stock.size === 0) return nothingToDeliver(daysMin);
  const { credits: chosen, isSearched } = stock.choose(facePaise, plan);
  if (plan === undefined && !isSearched) return "unplanned";
  if (chosen.length === 0) return nothingToDeliver(daysMin);
  const delivery = { facePaise: sumFaces(chosen), daysLeft: findShortestLife(matchState, chosen) };
  if (facts === undefined || isPricedAmount(facts, delivery)) return chosen;
  return isSearched ? amountChanged(delivery.facePaise) : "held";
}

function describeChosen(credits: readonly DealtCredit[]) {
  const scripNos = credits.map((credit) => credit.scrip_no);
  return { scrip_nos: scripNos, resting_scrip_nos: scripNos, covered_paise: sumFaces(credits) };
}

/** The ids under which open quotes hold part of the house limit for this sell. */
function listHoldingIds({ quote_ref }: OrderRow, credits: readonly DealtCredit[]): string[] {
  const creditIds = credits.map(({ credit_id }) => credit_id);
  return quote_ref === null ? creditIds : [...creditIds, quote_ref];
}

/** The resting buys whose firms can pay for this face now, or may owe it. */
function findPayingBuys(matchState: MatchState, scheme: Scheme, facePaise: Paise): RestingBuy[] {
  const buys = new Map(matchState.restingBuys.map((order) => [order.order_id, order]));
  return toRestingBuys(matchState, scheme).filter(({ orderId, priceBps }) => {
    const order = buys.get(orderId);
    if (!order) return false;
    const cost = addedCeil(order.dealt_paise, facePaise, priceBps);
    return !(decideCharge(matchState, order, cost) instanceof Failure);
  });
}

function findShortestLife({ today }: MatchState, credits: readonly DealtCredit[]): number {
  return Math.min(...credits.map((credit) => countDaysLeft(credit.expires_on, today)));
}

function cancelUnfilled({ now }: MatchState, order: OrderRow): OrderRow {
  return endRest(order, { how: "cancelled", reason: "unfilled", now });
}

function buildStockKey({ firm_id, scheme }: DealtCredit): string {
  return `${firm_id} ${scheme}`;
}

function toOffers(
  matchState: MatchState,
  order: OrderRow,
  credits: readonly DealtCredit[],
): Offer[] {
  return credits.map((credit) => ({
    scrip_no: credit.scrip_no,
    face_paise: credit.face_paise,
    expires_on: dayNumber(credit.expires_on),
    limit_bps: order.limit_bps ?? 0,
    seller: findPan(matchState, order.firm_id) ?? "",
    order_id: order.order_id,
  }));
}

function restOrder({ now }: MatchState, order: OrderRow): OrderRow {
  return {
    ...order,
    state: "open",
    rested: true,
    history: [...order.history, newHistoryEntry("open", now)],
  };
}

/** Deals part of a resting buy; the remainder keeps its priority. */
function dealRestingBuy(
  matchState: MatchState,
  { buy, buyerBps }: SellMatch & { readonly with: "client" },
  { by, ...part }: Pick<DealtPart, "settlementId" | "credits"> & { readonly by: string },
) {
  const resting = matchState.restingBuys.find(({ order_id }) => order_id === buy.orderId);
  if (!resting) throw new Error("a matched buy is one of those that rest");
  const options = { ...restOptions(matchState, resting.scheme), rests: true };
  const dealt = dealPart(resting, { ...part, priceBps: buyerBps }, options);
  recordDealt(matchState, { before: resting, after: dealt.order, dealtBy: by });
  replaceResting(matchState, dealt.order);
  return dealt;
}

/** A partly dealt buy rests with the remainder, at the price it dealt at. */
function restIfOpen(matchState: MatchState, order: OrderRow): OrderRow {
  if (order.state !== "open" || order.price_bps === null) return order;
  return restBuy(matchState, order, order.price_bps);
}

function restBuy(matchState: MatchState, order: OrderRow, priceBps: Bps): OrderRow {
  const resting = restOrder(matchState, { ...order, price_bps: priceBps });
  matchState.restingBuys.push(resting);
  matchState.restingBuys.sort(comparePriority);
  return resting;
}

/**
 * The house is paid the buyer's share. A resting sell gets its limit; its own order rounds it
 * later.
 */
function toLeg(offer: Offer, buyerBps: Bps, buyerPaise: Paise): Leg {
  const fromHouse = offer.order_id === null;
  return {
    scripNo: offer.scrip_no,
    facePaise: offer.face_paise,
    sellerBps: fromHouse ? buyerBps : offer.limit_bps,
    sellerOrderId: offer.order_id,
    sellerPaise: fromHouse ? buyerPaise : undefined,
    buyerPaise,
  };
}

/** The untaken ones of these credits of one firm and scheme; undefined when the list is empty. */
function findStock(
  { deliverable, reserved, sellSearch }: MatchState,
  credits: readonly DealtCredit[],
): DeliverableCredits | undefined {
  const [first] = credits;
  if (!first) return undefined;
  const name = buildStockKey(first);
  const known = deliverable.get(name);
  if (known) return known;
  const made = new DeliverableCredits(
    credits.filter(({ credit_id }) => !reserved.has(credit_id)),
    sellSearch,
  );
  deliverable.set(name, made);
  return made;
}

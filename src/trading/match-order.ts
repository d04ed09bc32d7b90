// An order that nothing refuses meets the market: it is dealt, it rests, or it ends unfilled.

import { daysLeft, sellableDaysMin } from "../credits/rules.ts";
import type { Offer } from "../cover/rules.ts";
import { type CoverPlan, SearchFirst } from "../cover/search-cover.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import type { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { addedCeil, type Bps, type Paise } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { addDays, dayNumber } from "../kernel/time.ts";
import {
  bundlePrice,
  byPriority,
  matchSell,
  payable,
  poolOf,
  samePan,
  type RestingBuy,
  type SellMatch,
} from "./match-rules.ts";
import { type BuyFacts, isPricedAmount, isPricedOffer, type SellFacts } from "./quote-rules.ts";
import {
  chargeBuyer,
  chargeFor,
  Deliverable,
  type Leg,
  marketFor,
  newDealId,
  noteDealt,
  panOf,
  replaceResting,
  restingBuysOf,
  restMin,
  restOptions,
  takeFromHouse,
  type Workings,
} from "./match-state.ts";
import {
  amountChanged,
  bundleGone,
  factsChanged,
  noCover,
  noPrice,
  nothingToDeliver,
  restsTooLittle,
  unfundedLimit,
} from "./order-refusals.ts";
import { dealPart, endRest, happening, type Part } from "./order-rules.ts";
import type { OrderRow } from "./order-store.ts";

/** An order that was not matched yet, with everything its command and its quote say. */
export type Draft = { readonly order: OrderRow; readonly quotedBps: Bps | null };

/** Sells these credits, which are locked and sellable, at once or by resting. */
export function sellCredits(
  workings: Workings,
  { order: asked, quotedBps }: Draft,
  credits: readonly DealtCredit[],
): OrderRow | Failure {
  const order = { ...asked, ...describeChosen(credits) };
  const { scheme } = order;
  const market = marketFor(workings, scheme, listHolders(order, credits));
  const match = matchSell(market, findPayingBuys(workings, scheme, order.covered_paise), {
    facePaise: order.covered_paise,
    faces: credits.map((credit) => credit.face_paise),
    daysLeft: shortestLife(workings, credits),
    pan: panOf(workings, order.firm_id),
    limitBps: order.limit_bps,
    quotedBps,
  });
  if (!match && order.limit_bps === null) return noPrice();
  if (!match && order.time_in_force === "IOC") return unfilled(workings, order);
  const min = restMin(market);
  if (!match && order.covered_paise < min) {
    return restsTooLittle(order.scrip_no === null ? "face_paise" : "scrip_no", min);
  }
  for (const credit of credits) {
    workings.reserved.set(credit.credit_id, { credit, orderId: order.order_id });
    workings.deliverable.get(nameStock(credit))?.take(credit);
  }
  if (match) return sellTo(workings, order, credits, match);
  workings.book.put(scheme, offersOf(workings, order, credits));
  return rest(workings, order);
}

/** The resting buys whose firms could pay for this face, at once or in time. */
function findPayingBuys(workings: Workings, scheme: Scheme, facePaise: Paise): RestingBuy[] {
  const buys = new Map(workings.restingBuys.map((order) => [order.order_id, order]));
  return restingBuysOf(workings, scheme).filter(({ orderId, priceBps }) => {
    const order = buys.get(orderId);
    if (!order) return false;
    const cost = addedCeil(order.dealt_paise, facePaise, priceBps);
    return chargeFor(workings, order, cost) !== "over_limit";
  });
}

/** By what quotes may hold room of the house for a sell. */
function listHolders({ quote_ref }: OrderRow, credits: readonly DealtCredit[]): string[] {
  const creditIds = credits.map(({ credit_id }) => credit_id);
  return quote_ref === null ? creditIds : [...creditIds, quote_ref];
}

/** The sell after these credits of it were dealt at one price. */
export function sellTo(
  workings: Workings,
  order: OrderRow,
  credits: readonly DealtCredit[],
  match: SellMatch,
): OrderRow {
  const { environment } = workings;
  const part = {
    settlementId: newDealId(workings),
    credits: credits.map((credit) => ({ scripNo: credit.scrip_no, facePaise: credit.face_paise })),
  };
  const asSold = { ...restOptions(workings, order.scheme), rests: false };
  const seller = dealPart(order, { ...part, priceBps: match.sellerBps }, asSold);
  const buyer =
    match.with === "client"
      ? dealRestingBuy(workings, match, { ...part, by: order.order_id })
      : undefined;
  if (!buyer) {
    const taken = { facePaise: faceOf(credits), ids: listHolders(order, credits) };
    takeFromHouse(workings, order.scheme, taken);
  }
  const buyerShares = buyer?.shares ?? seller.shares;
  const charge = buyer ? chargeBuyer(workings, buyer.order, addShares(buyer.shares)) : "paid";
  workings.deals.push({
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

/** The resting buy after the deal; it keeps its place for what is left of it. */
function dealRestingBuy(
  workings: Workings,
  { buy, buyerBps }: SellMatch & { readonly with: "client" },
  { by, ...part }: Pick<Part, "settlementId" | "credits"> & { readonly by: string },
) {
  const resting = workings.restingBuys.find(({ order_id }) => order_id === buy.orderId);
  if (!resting) throw new Error("a matched buy is one of those that rest");
  const options = { ...restOptions(workings, resting.scheme), rests: true };
  const dealt = dealPart(resting, { ...part, priceBps: buyerBps }, options);
  noteDealt(workings, { before: resting, after: dealt.order, dealtBy: by });
  replaceResting(workings, dealt.order);
  return dealt;
}

/**
 * Takes the bundle that leaves the least uncovered, and rests with the remainder if it may. Where
 * nothing fits but what somebody else holds, an order that may not rest comes again.
 */
export function buyCover(
  workings: Workings,
  { order }: Draft,
  plan: CoverPlan | null | undefined,
): OrderRow | Failure | SearchFirst | "held" {
  const { scheme } = order;
  const requirementPaise = order.requirement_paise ?? 0;
  const market = workings.markets.get(scheme);
  const wanted = { requirementPaise, limitBps: order.limit_bps };
  const pool = poolOf(market, wanted);
  const usable = pool && {
    scheme,
    pool,
    pan: panOf(workings, order.firm_id),
    expiresFrom: addDays(workings.today, sellableDaysMin),
  };
  const chosen = usable ? workings.book.choose({ ...usable, requirementPaise, plan }) : [];
  if (chosen instanceof SearchFirst) return chosen;
  const priceBps =
    market && pool && chosen.length > 0 ? bundlePrice(market, requirementPaise, pool, chosen) : 0;
  const bundle = payable(chosen, priceBps);
  if (bundle.length > 0) {
    const bought = takeBundle(workings, order, bundle, priceBps);
    return bought ? restIfOpen(workings, bought) : overLimit(workings, order);
  }
  const mayRest = order.limit_bps !== null && order.time_in_force !== "IOC";
  if (!mayRest && usable && workings.book.hasHeld({ ...usable, requirementPaise })) return "held";
  if (order.limit_bps === null) {
    const smallest = (usable && workings.book.smallest(usable)) ?? 0;
    return smallest > requirementPaise ? noCover(smallest) : noPrice();
  }
  if (order.time_in_force === "IOC") return unfilled(workings, order);
  const min = restMin(market);
  if (requirementPaise < min) return restsTooLittle("requirement_paise", min);
  return restBuy(workings, order, order.limit_bps);
}

/** The bundle and the price of a quote, as long as every credit of it is to be had as it was priced. */
export function buyQuoted(
  workings: Workings,
  { order, quotedBps }: Draft,
  bundle: readonly (Offer | string)[],
  { offers: priced }: BuyFacts,
): OrderRow | Failure {
  const sold = new Set(workings.deals.flatMap((deal) => deal.legs.map((leg) => leg.scripNo)));
  const pan = panOf(workings, order.firm_id);
  const offers = bundle.filter(
    (offer) =>
      typeof offer !== "string" && !sold.has(offer.scrip_no) && !samePan(offer.seller, pan),
  ) as Offer[]; // The texts among them stand for credits that have gone.
  if (offers.length < bundle.length || quotedBps === null) return bundleGone();
  const changed = offers.filter((offer, at) => !isPricedOffer(priced?.[at], offer));
  if (changed.length > 0) return factsChanged(changed.map((offer) => offer.scrip_no));
  if (payable(offers, quotedBps).length < offers.length) return noPrice();
  return takeBundle(workings, order, offers, quotedBps) ?? overLimit(workings, order);
}

function overLimit({ unfundedMax }: Workings, { key_id }: OrderRow): Failure {
  return unfundedLimit(unfundedMax?.get(key_id) ?? 0);
}

function addShares(shares: readonly Paise[]): Paise {
  return shares.reduce((sum, share) => sum + share, 0);
}

/** The buy after it took a bundle at one price; undefined when too much of its firm's waits for money. */
export function takeBundle(
  workings: Workings,
  order: OrderRow,
  bundle: readonly Offer[],
  priceBps: Bps,
): OrderRow | undefined {
  const settlementId = newDealId(workings);
  const credits = bundle.map((offer) => ({
    scripNo: offer.scrip_no,
    facePaise: offer.face_paise,
  }));
  const rests = order.time_in_force !== "IOC";
  const options = { ...restOptions(workings, order.scheme), rests };
  const bought = dealPart(order, { settlementId, credits, priceBps }, options);
  const charge = chargeBuyer(workings, order, addShares(bought.shares));
  if (charge === "over_limit") return undefined;
  workings.book.take(order.scheme, bundle);
  workings.deals.push({
    settlementId,
    scheme: order.scheme,
    originOrderId: order.order_id,
    buyerFirmId: order.firm_id,
    buyerOrderId: order.order_id,
    buyerBps: priceBps,
    isFunded: charge === "paid",
    legs: bundle.map((offer, index) => legOf(offer, priceBps, bought.shares[index] ?? 0)),
  });
  return bought.order;
}

/** A buy that has just dealt rests with what is left of it, at the price it dealt at. */
function restIfOpen(workings: Workings, order: OrderRow): OrderRow {
  if (order.state !== "open" || order.price_bps === null) return order;
  return restBuy(workings, order, order.price_bps);
}

/** The house gets what the buyer pays; a resting sell gets its limit, which its own order rounds. */
function legOf(offer: Offer, buyerBps: Bps, buyerPaise: Paise): Leg {
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

function restBuy(workings: Workings, order: OrderRow, priceBps: Bps): OrderRow {
  const resting = rest(workings, { ...order, price_bps: priceBps });
  workings.restingBuys.push(resting);
  workings.restingBuys.sort(byPriority);
  return resting;
}

function rest({ now }: Workings, order: OrderRow): OrderRow {
  return {
    ...order,
    state: "open",
    rested: true,
    history: [...order.history, happening("open", now)],
  };
}

function unfilled({ now }: Workings, order: OrderRow): OrderRow {
  return endRest(order, { how: "cancelled", reason: "unfilled", now });
}

/** The firm's own whole credits whose sum is the largest within the amount; those taken are taken. */
export function chooseDeliverable(
  workings: Workings,
  deliverable: readonly DealtCredit[],
  {
    facePaise,
    daysMin,
    facts,
  }: {
    readonly facePaise: Paise;
    readonly daysMin: number;
    /** Those of the quote, where there is one. */
    readonly facts: SellFacts | undefined;
  },
): readonly DealtCredit[] | Failure {
  const chosen = findStock(workings, deliverable)?.choose(facePaise) ?? [];
  if (chosen.length === 0) return nothingToDeliver(daysMin);
  const delivery = { facePaise: faceOf(chosen), daysLeft: shortestLife(workings, chosen) };
  const isPriced = facts === undefined || isPricedAmount(facts, delivery);
  return isPriced ? chosen : amountChanged(delivery.facePaise);
}

/** What is left of these credits, which are of one firm and scheme; undefined where there are none. */
function findStock(
  { deliverable, reserved }: Workings,
  credits: readonly DealtCredit[],
): Deliverable | undefined {
  const [first] = credits;
  if (!first) return undefined;
  const name = nameStock(first);
  const known = deliverable.get(name);
  if (known) return known;
  const made = new Deliverable(credits.filter(({ credit_id }) => !reserved.has(credit_id)));
  deliverable.set(name, made);
  return made;
}

function nameStock({ firm_id, scheme }: DealtCredit): string {
  return `${firm_id} ${scheme}`;
}

function shortestLife({ today }: Workings, credits: readonly DealtCredit[]): number {
  return Math.min(...credits.map((credit) => daysLeft(credit.expires_on, today)));
}

function describeChosen(credits: readonly DealtCredit[]) {
  const scripNos = credits.map((credit) => credit.scrip_no);
  return { scrip_nos: scripNos, resting_scrip_nos: scripNos, covered_paise: faceOf(credits) };
}

export function faceOf(credits: readonly DealtCredit[]): Paise {
  return credits.reduce((sum, credit) => sum + credit.face_paise, 0);
}

function offersOf(workings: Workings, order: OrderRow, credits: readonly DealtCredit[]): Offer[] {
  return credits.map((credit) => ({
    scrip_no: credit.scrip_no,
    face_paise: credit.face_paise,
    expires_on: dayNumber(credit.expires_on),
    limit_bps: order.limit_bps ?? 0,
    seller: panOf(workings, order.firm_id) ?? "",
    order_id: order.order_id,
  }));
}

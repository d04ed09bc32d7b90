// How one order is matched: against resting orders first, then against the house.
//
//   a sell   meets the resting buys, the best price first and the earliest of equals, each only when
//            it can take every credit of the sell whole; then the house's bid
//   a buy    takes the bundle of whole credits that leaves the least duty uncovered, from the
//            house's inventory and from resting sells whose limit leaves the house its margin
//
// One order has one price. A resting order deals at its own. An arriving sell gets the resting
// buy's price less the margin, or the bid; an arriving buy pays the ask for the sum of its bundle,
// or, below that ask, the dearest limit of the bundle plus the margin. A quote is dealt at its own
// price whatever the market did since. Nobody deals with a firm of the same PAN.
//
// A buy is priced by what is dealt and not by what is asked for, and its limit is tested on that
// price. The tiers of a buy say so for every sum that it could be dealt (cover/search-cover.ts).
//
// Between two clients the buyer of a credit pays at least what its seller gets, to the paisa: the
// house pays nobody's difference.

import type { Offer, Tier } from "../cover/rules.ts";
import { isShelfNo } from "../credits/rules.ts";
import { type Bps, coversSellerShare, findLeastSaving, type Paise } from "../kernel/money.ts";
import {
  type AskRange,
  type CardToday,
  findRoom,
  listAsks,
  priceBid,
  type RateCard,
} from "../rates/rules.ts";

export type RestingBuy = {
  readonly orderId: string;
  readonly pan: string | null;
  readonly priceBps: Bps;
  readonly remainingPaise: Paise;
};

export type Sell = {
  readonly facePaise: Paise;
  /** The face of each credit. */
  readonly faces: readonly Paise[];
  /** Days left of the credit that expires first. */
  readonly daysLeft: number;
  readonly pan: string | null;
  readonly limitBps: Bps | null;
  readonly quotedBps: Bps | null;
};

export type SellMatch =
  | { readonly with: "house"; readonly sellerBps: Bps; readonly buyerBps: Bps }
  | {
      readonly with: "client";
      readonly buy: RestingBuy;
      readonly sellerBps: Bps;
      readonly buyerBps: Bps;
    };

/** The house's price for a sell now; undefined when it gives none. */
export function findHouseBid(
  market: CardToday | undefined,
  { facePaise, daysLeft }: Pick<Sell, "facePaise" | "daysLeft">,
): Bps | undefined {
  if (market?.state !== "open" || facePaise > market.face_max_paise) return undefined;
  if (facePaise > findRoom(market)) return undefined;
  return priceBid(market, facePaise, daysLeft);
}

/** The highest bid of the house for a face, over all validity bands. */
export function findHighestBid(market: CardToday, facePaise: Paise): Bps | undefined {
  const bids = market.validity_bands.flatMap(
    ({ from_days }) => findHouseBid(market, { facePaise, daysLeft: from_days }) ?? [],
  );
  return bids.length > 0 ? Math.max(...bids) : undefined;
}

/** The buyer of a sell now, and the price of each side; undefined when nobody buys. */
export function matchSell(
  market: CardToday | undefined,
  resting: readonly RestingBuy[],
  sell: Sell,
): SellMatch | undefined {
  const bid = findHouseBid(market, sell);
  const least = sell.quotedBps ?? Math.max(sell.limitBps ?? 0, bid ?? 0);
  // Without a limit the house's bid is the floor: no sell goes for less to a resting buy.
  if (least === 0) return undefined;
  const sellerBpsAt = (buy: RestingBuy) =>
    sell.quotedBps ?? buy.priceBps - (market?.margin_bps ?? 0);
  const buy =
    market?.state === "open"
      ? resting
          .filter((each) => coversSellerShares(sell.faces, each.priceBps, sellerBpsAt(each)))
          .find((each) => mayTake(each, sell, least + market.margin_bps))
      : undefined;
  if (buy) {
    const sellerBps = sellerBpsAt(buy);
    return { with: "client", buy, sellerBps, buyerBps: buy.priceBps };
  }
  const houseBps = sell.quotedBps ?? bid;
  if (houseBps === undefined || houseBps < least) return undefined;
  return { with: "house", sellerBps: houseBps, buyerBps: houseBps };
}

function mayTake(buy: RestingBuy, { facePaise, pan }: Sell, paysAtLeast: Bps): boolean {
  return buy.priceBps >= paysAtLeast && buy.remainingPaise >= facePaise && !isSamePan(buy.pan, pan);
}

/**
 * Whether the buyer's share of every credit covers the seller's share. A single credit is rounded
 * down for its seller, so any buyer's price that is not below the seller's will do.
 */
function coversSellerShares(faces: readonly Paise[], buyerBps: Bps, sellerBps: Bps): boolean {
  if (faces.length === 1) return buyerBps >= sellerBps;
  return faces.every((facePaise) => coversSellerShare(facePaise, buyerBps, sellerBps));
}

/** Whether a bundle has more credits of the synthetic shelf than its buyer may still have today. */
export function exceedsShelf(bundle: readonly Offer[], room: number): boolean {
  return bundle.filter(({ scrip_no }) => isShelfNo(scrip_no)).length > room;
}

/** The tiers of an arriving buy: at the ask where its limit allows that, otherwise below it. */
export function listTiers(
  market: CardToday | undefined,
  {
    requirementPaise,
    limitBps,
  }: { readonly requirementPaise: Paise; readonly limitBps: Bps | null },
): readonly Tier[] {
  if (market?.state !== "open") return [];
  const { margin_bps } = market;
  const spans = listSpans(listAsks(market, requirementPaise), (askBps) => {
    const fromHouse = limitBps === null || askBps <= limitBps;
    return { fromHouse, paysBps: fromHouse ? askBps : limitBps };
  });
  return spans
    .map((span) => ({
      ...toTier(span, market),
      // What we price saves at least a paisa against cash, also at the most that the buyer pays.
      least_paise: Math.max(span.leastPaise, findLeastSaving(span.paysBps)),
      dealt_at: span.fromHouse ? { price_bps: span.paysBps } : { margin_bps },
    }))
    .filter(({ least_paise, most_paise }) => least_paise <= most_paise);
}

/** The tiers of a resting buy: the house sells where its ask is not above the price of the buy. */
export function listRestingTiers(card: RateCard, buy: RestingBuy): readonly Tier[] {
  const { priceBps, remainingPaise } = buy;
  return listSpans(listAsks(card, remainingPaise), (askBps) => ({
    fromHouse: askBps <= priceBps,
    paysBps: priceBps,
  })).map((span) => ({ ...toTier(span, card), dealt_at: { price_bps: priceBps } }));
}

type Span = Omit<AskRange, "askBps"> & {
  /** Whether the house sells at this price. */
  readonly fromHouse: boolean;
  /** The most that the buyer pays. */
  readonly paysBps: Bps;
};

/** The ranges of a card, those beside each other that come to the same as one. */
function listSpans(
  asks: readonly AskRange[],
  decide: (askBps: Bps) => Pick<Span, "fromHouse" | "paysBps">,
): readonly Span[] {
  const spans: Span[] = [];
  for (const { askBps, ...range } of asks) {
    const span = { ...range, ...decide(askBps) };
    const above = spans.at(-1);
    const isSame = above?.fromHouse === span.fromHouse && above.paysBps === span.paysBps;
    if (isSame) spans[spans.length - 1] = { ...above, leastPaise: span.leastPaise };
    else spans.push(span);
  }
  return spans;
}

function toTier(
  { leastPaise, mostPaise, fromHouse, paysBps }: Span,
  { margin_bps }: RateCard,
): Omit<Tier, "dealt_at"> {
  return {
    least_paise: leastPaise,
    most_paise: mostPaise,
    price_max_bps: Math.max(0, paysBps - margin_bps),
    price_min_bps: fromHouse ? 0 : 1,
  };
}

export function isSamePan(a: string | null, b: string | null): boolean {
  return a !== null && a === b;
}

/** By price, the highest first, then by time and id: the order in which resting buys are served. */
export function comparePriority(
  a: { readonly price_bps: Bps | null; readonly created_at: Date; readonly order_id: string },
  b: { readonly price_bps: Bps | null; readonly created_at: Date; readonly order_id: string },
): number {
  return (
    (b.price_bps ?? 0) - (a.price_bps ?? 0) ||
    a.created_at.getTime() - b.created_at.getTime() ||
    (a.order_id < b.order_id ? -1 : 1)
  );
}

// One order meets what rests against it, then the house.
//
//   a sell   meets the resting buys, the best price first and the earliest of equals, each only when
//            it can take every credit of the sell whole; then the house's bid
//   a buy    takes the bundle of whole credits that leaves the least duty uncovered, from the
//            house's inventory and from resting sells whose limit leaves the house its margin
//
// One order has one price. A resting order deals at its own. An arriving sell gets the resting
// buy's price less the margin, or the bid; an arriving buy pays the ask for the whole bundle, or,
// below the ask, the dearest limit of the bundle plus the margin. A quote is dealt at its own price
// whatever the market did since. Nobody deals with a firm of the same PAN.
//
// Between two clients the buyer of a credit pays at least what its seller gets, to the paisa: the
// house pays nobody's difference.

import type { Offer } from "../cover/rules.ts";
import { type Bps, type Paise, priceCeil, priceFloor } from "../kernel/money.ts";
import { priceAsk, priceBid, type CardToday, type RateCard } from "../rates/rules.ts";

export type RestingBuy = {
  readonly orderId: string;
  readonly pan: string | null;
  readonly priceBps: Bps;
  readonly remainingPaise: Paise;
};

export type Sell = {
  readonly facePaise: Paise;
  /** Of each of its credits. */
  readonly faces: readonly Paise[];
  /** Of the credit that lapses first. */
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
  if (facePaise > market.house_limit_paise - market.taken_paise) return undefined;
  return priceBid(market, facePaise, daysLeft);
}

/** The most the house could bid for a face, however long its credits live. */
export function findHighestBid(market: CardToday, facePaise: Paise): Bps | undefined {
  const bids = market.validity_bands.flatMap(
    ({ from_days }) => findHouseBid(market, { facePaise, daysLeft: from_days }) ?? [],
  );
  return bids.length > 0 ? Math.max(...bids) : undefined;
}

/** Who buys what is sold now, and at what price for each side; undefined when nobody does. */
export function matchSell(
  market: CardToday | undefined,
  resting: readonly RestingBuy[],
  sell: Sell,
): SellMatch | undefined {
  const bid = findHouseBid(market, sell);
  const least = sell.quotedBps ?? Math.max(sell.limitBps ?? 0, bid ?? 0);
  // Without a limit the house's price is the floor: no order takes whatever happens to rest.
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
 * Whether a buyer pays for each of these credits at least what a seller of all of them gets. One alone
 * is rounded down for its seller, and then any price that is not below the seller's does.
 */
function coversSellerShares(faces: readonly Paise[], buyerBps: Bps, sellerBps: Bps): boolean {
  if (faces.length === 1) return buyerBps >= sellerBps;
  return faces.every((facePaise) => coversSellerShare(facePaise, buyerBps, sellerBps));
}

/**
 * Whether a buyer pays for a credit at least what its seller gets, whatever else is in their orders.
 * An order is rounded as a whole, so the share of one credit may be a paisa off its own value either
 * way; where the prices differ by less than that, as they do for a few paise of face or without a
 * margin, the seller's could be the greater.
 */
export function coversSellerShare(facePaise: Paise, buyerBps: Bps, sellerBps: Bps): boolean {
  return priceFloor(facePaise, buyerBps) >= priceCeil(facePaise, sellerBps);
}

/** Of a bundle at one price, the offers of the house and those whose sellers it pays. */
export function filterPayable(bundle: readonly Offer[], priceBps: Bps): readonly Offer[] {
  return bundle.filter(
    ({ order_id, face_paise, limit_bps }) =>
      order_id === null || coversSellerShare(face_paise, priceBps, limit_bps),
  );
}

/** Which offers a buy may take: those of the house or not, and sells up to a limit. */
export type Pool = { readonly fromHouse: boolean; readonly limitBpsMax: Bps };

/** What an arriving buy may take; undefined when nothing can be bought at its price. */
export function findPool(
  market: CardToday | undefined,
  {
    requirementPaise,
    limitBps,
  }: { readonly requirementPaise: Paise; readonly limitBps: Bps | null },
): Pool | undefined {
  if (market?.state !== "open") return undefined;
  const ask = priceAsk(market, requirementPaise);
  const fromHouse = limitBps === null || ask <= limitBps;
  const pays = fromHouse ? ask : limitBps;
  return { fromHouse, limitBpsMax: pays - market.margin_bps };
}

/** The one price of a bundle taken from a pool. */
export function priceBundle(
  card: RateCard,
  requirementPaise: Paise,
  { fromHouse }: Pool,
  bundle: readonly Offer[],
): Bps {
  if (fromHouse) return priceAsk(card, requirementPaise);
  return Math.max(...bundle.map(({ limit_bps }) => limit_bps)) + card.margin_bps;
}

/** A resting order deals at its own price: the house must ask no more than it pays. */
export function findRestingPool(card: RateCard, buy: RestingBuy): Pool {
  return {
    fromHouse: priceAsk(card, buy.remainingPaise) <= buy.priceBps,
    limitBpsMax: buy.priceBps - card.margin_bps,
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

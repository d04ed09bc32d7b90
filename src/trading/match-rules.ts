// How one order is matched: against resting orders first, then against the house.
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
import { type CardToday, priceAsk, priceBid, type RateCard } from "../rates/rules.ts";

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
  if (facePaise > market.house_limit_paise - market.taken_paise) return undefined;
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

/**
 * Whether the buyer's share of a credit covers the seller's, whatever else is in their orders. An
 * order is rounded as a whole, so the share of one credit can be a paisa above or below its own
 * value. Where the two prices differ by less than a paisa, the seller's share could be the larger.
 */
export function coversSellerShare(facePaise: Paise, buyerBps: Bps, sellerBps: Bps): boolean {
  return priceFloor(facePaise, buyerBps) >= priceCeil(facePaise, sellerBps);
}

/** The offers of a bundle that can be paid at one price: those of the house, and sells it covers. */
export function filterPayable(bundle: readonly Offer[], priceBps: Bps): readonly Offer[] {
  return bundle.filter(
    ({ order_id, face_paise, limit_bps }) =>
      order_id === null || coversSellerShare(face_paise, priceBps, limit_bps),
  );
}

/** The offers that a buy may take: those of the house or not, and sells up to a limit. */
export type Pool = { readonly fromHouse: boolean; readonly limitBpsMax: Bps };

/** The pool of an arriving buy; undefined while the market is closed. */
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

/**
 * The pool of a resting buy: it includes the house when its ask is not above the price of the buy.
 */
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

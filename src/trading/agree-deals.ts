// The confirm step: locks the credits that buyers took from the book, brings the resting sells behind
// them up to date, and turns the drafts of the set into deals for settlement.

import type { DealtCredit } from "../credits/reserve-credits.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { RowsHeld } from "../platform/postgres/split.ts";
import type { NewDeal, Party } from "../settlement/open-settlements.ts";
import { lockOffers, type OfferedCredit } from "./load-orders.ts";
import {
  currentOrder,
  type DealDraft,
  type Leg,
  type MatchState,
  recordDealt,
  restOptions,
} from "./match-state.ts";
import { dealPart, splitLegFees } from "./order-rules.ts";
import { listNotOffered } from "./resting-store.ts";

/** The book offered credits that the database does not: the set is rolled back. */
export class StaleBook extends Error {
  readonly scripNos: readonly string[];
  constructor(scripNos: readonly string[]) {
    super("the book is behind the database");
    this.scripNos = scripNos;
  }
}

/** Another transaction locks credits that buyers took from the book: the set is rolled back. */
export class CreditsHeld extends RowsHeld {
  readonly scripNos: readonly string[];
  constructor(scripNos: readonly string[]) {
    super();
    this.scripNos = scripNos;
  }
}

export type Agreed = {
  readonly deals: readonly NewDeal[];
  readonly reservations: readonly { readonly creditId: string; readonly reservedFor: string }[];
};

/**
 * The deals of the set. Credits that its own orders sell are locked already; the others are locked
 * here.
 */
export async function agreeDeals(tx: Tx, matchState: MatchState): Promise<Agreed> {
  const { environment, now } = matchState;
  const own = indexReservedCredits(matchState);
  const legs = matchState.deals.flatMap((deal) => deal.legs);
  const fromBook = legs.filter(({ scripNo }) => !own.has(scripNo));
  const { offered, held } = await lockOffers(
    tx,
    environment,
    fromBook.map((leg) => leg.scripNo),
    now,
  );
  if (held.length > 0) throw new CreditsHeld(held);
  const gone = fromBook.filter((leg) => !isAsOffered(leg, offered.get(leg.scripNo)));
  if (gone.length > 0) throw await findStaleOffers(tx, matchState, gone);
  return buildDeals(matchState, offered);
}

/** The credits that orders of the set sell, by scrip number. */
function indexReservedCredits({ reserved }: MatchState): ReadonlyMap<string, DealtCredit> {
  return new Map([...reserved.values()].map(({ credit }) => [credit.scrip_no, credit]));
}

/** The deals of the set and the credits to reserve, once every credit is locked. */
export function buildDeals(
  matchState: MatchState,
  offered: ReadonlyMap<string, OfferedCredit>,
): Agreed {
  const own = indexReservedCredits(matchState);
  const requireCredit = (scripNo: string): DealtCredit => {
    const credit = own.get(scripNo) ?? offered.get(scripNo)?.credit;
    if (!credit) throw new Error("every leg's credit is locked");
    return credit;
  };
  const deals = matchState.deals.map((deal) =>
    toNewDeal(matchState, deal, { offered, requireCredit }),
  );
  const soldByHouse = matchState.deals.flatMap((deal) =>
    deal.legs
      .filter((leg) => leg.sellerOrderId === null)
      .map((leg) => ({
        creditId: requireCredit(leg.scripNo).credit_id,
        reservedFor: deal.originOrderId,
      })),
  );
  const sold = [...matchState.reserved].map(([creditId, { orderId }]) => ({
    creditId,
    reservedFor: orderId,
  }));
  return { deals, reservations: [...sold, ...soldByHouse] };
}

/**
 * Adds every other offer that is not available now: those of the same firms, of firms that may not
 * trade and of expired sells. Then the set is decided once more, and not once for each of them.
 */
async function findStaleOffers(
  tx: Tx,
  { environment, now }: MatchState,
  gone: readonly Leg[],
): Promise<StaleBook> {
  const others = await listNotOffered(tx, environment, {
    beside: gone.flatMap((leg) => leg.sellerOrderId ?? []),
    now,
  });
  return new StaleBook([...gone.map(({ scripNo }) => scripNo), ...others]);
}

function isAsOffered(leg: Leg, offered: OfferedCredit | undefined): boolean {
  return (
    offered !== undefined &&
    offered.offer.order_id === leg.sellerOrderId &&
    offered.offer.face_paise === leg.facePaise
  );
}

function toNewDeal(
  matchState: MatchState,
  deal: DealDraft,
  {
    offered,
    requireCredit,
  }: {
    readonly offered: ReadonlyMap<string, OfferedCredit>;
    readonly requireCredit: (scripNo: string) => DealtCredit;
  },
): NewDeal {
  const shares = payRestingSells(matchState, deal, offered);
  const card = matchState.markets.get(deal.scheme);
  return {
    settlementId: deal.settlementId,
    environment: matchState.environment,
    scheme: deal.scheme,
    origin: deal.originOrderId,
    originKind: "order",
    buyer: toBuyer(matchState, deal),
    buyerBps: deal.buyerBps,
    isFunded: deal.isFunded,
    legs: deal.legs.map((leg) => {
      const credit = requireCredit(leg.scripNo);
      const sellerPaise = leg.sellerPaise ?? shares.get(leg.scripNo) ?? 0;
      if (leg.buyerPaise < sellerPaise || deal.buyerBps < leg.sellerBps) {
        throw new Error("the buyer of a credit pays at least what its seller gets");
      }
      return {
        scripNo: leg.scripNo,
        creditId: credit.credit_id,
        seller: { deskId: credit.desk_id, firmId: credit.firm_id, orderId: leg.sellerOrderId },
        facePaise: leg.facePaise,
        sellerBps: leg.sellerBps,
        sellerPaise,
        buyerPaise: leg.buyerPaise,
        ...(card &&
          card.fee_bps > 0 && {
            fees: splitLegFees(card, { ...leg, sellerPaise, buyerOrderId: deal.buyerOrderId }),
          }),
      };
    }),
  };
}

/** Deals the resting sells of a deal; returns the share of each credit, by scrip number. */
function payRestingSells(
  matchState: MatchState,
  deal: DealDraft,
  offered: ReadonlyMap<string, OfferedCredit>,
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const unpaid = deal.legs.filter((leg) => leg.sellerPaise === undefined);
  for (const [orderId, legs] of Map.groupBy(unpaid, (leg) => leg.sellerOrderId ?? "")) {
    const [first] = legs;
    const before = currentOrder(matchState, orderId) ?? offered.get(first?.scripNo ?? "")?.order;
    if (!first || !before) throw new Error("a credit that rests belongs to an order");
    const part = { settlementId: deal.settlementId, credits: legs, priceBps: first.sellerBps };
    const paid = dealPart(before, part, { ...restOptions(matchState, deal.scheme), rests: true });
    legs.forEach((leg, at) => shares.set(leg.scripNo, paid.shares[at] ?? 0));
    recordDealt(matchState, { before, after: paid.order, dealtBy: deal.originOrderId });
  }
  return shares;
}

function toBuyer(matchState: MatchState, { buyerOrderId, buyerFirmId }: DealDraft): Party {
  const order = buyerOrderId === null ? undefined : currentOrder(matchState, buyerOrderId);
  if (order) return { deskId: order.desk_id, firmId: order.firm_id, orderId: order.order_id };
  const house = houseFirmId[matchState.environment];
  if (buyerFirmId !== house) throw new Error("a buyer is a client with an order, or the house");
  return { deskId: house, firmId: house, orderId: null };
}

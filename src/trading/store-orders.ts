// The last two phases of a set of orders. Confirm: locks the credits that buyers took from the book,
// brings the resting sells behind them up to date, and turns the drafts of the set into deals for
// settlement; if the book was out of date, it throws and the set is decided again. Store: writes
// everything, one statement per table, and records the changes last.

import { addSpent } from "../access/money-limits.ts";
import { type DealtCredit, reserveCredits } from "../credits/reserve-credits.ts";
import { holdHeads, prepareRecords, recordHeld } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { all, known, meanwhile, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { RowsHeld } from "../platform/postgres/split.ts";
import { addHouseTaken, addDeskTaken } from "../rates/current-cards.ts";
import {
  type NewDeal,
  type OpeningFacts,
  openSettlements,
  type Party,
  storeSettlements,
} from "../settlement/open-settlements.ts";
import type { SettlementState } from "../settlement/rules.ts";
import { lockOffers, type OfferedCredit } from "./load-orders.ts";
import {
  currentOrder,
  type DealDraft,
  type Leg,
  type MatchState,
  recordDealt,
  restOptions,
} from "./match-state.ts";
import { dealPart, type OrderState, splitLegFees } from "./order-rules.ts";
import { insertOrders, type OrderRow, setOrders } from "./order-store.ts";
import { useQuotes } from "./quotes.ts";
import { describeOrder } from "./read-orders.ts";
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

/**
 * Stores what a set decided, one statement per table, and records the changes last. The actor of a
 * deal is the caller of the order that made it; `opening` is what is known of its parties. Returns the state of each new settlement.
 */
export async function storeOrders(
  tx: Tx,
  matchState: MatchState,
  findActor: (orderId: string) => Actor,
  opening?: OpeningFacts,
): Promise<ReadonlyMap<string, SettlementState>> {
  if (matchState.placed.size === 0 && matchState.deals.length === 0) return new Map();
  const { now } = matchState;
  const { deals, reservations } = await agreeDeals(tx, matchState);
  const placed = [...matchState.placed.values()];
  const dealt = [...matchState.dealt.values()];
  const opened = await openSettlements(tx, deals, now, opening);
  const prepare = () =>
    prepareRecords(
      [
        ...placed.map((after) => ({
          actor: findActor(after.order_id),
          change: toOrderChange({ action: "place", before: null, after }),
        })),
        ...dealt.map(({ before, after, dealtBy }) => ({
          actor: findActor(dealtBy),
          change: toOrderChange({ action: "match", before, after }),
        })),
        ...opened.changes.map(({ origin, change }) => ({ actor: findActor(origin), change })),
      ],
      now,
    );
  const reserved = reservations.filter(({ creditId }) => !opened.begun.has(creditId));
  const stored = all([
    placed.length > 0 ? insertOrders(matchState, placed) : known(undefined),
    dealt.length > 0
      ? setOrders(
          dealt.map(({ after }) => after),
          now,
        )
      : known(undefined),
    bindQuotes(matchState),
    noteTaken(matchState),
    reserveCredits(reserved, now),
    meanwhile(prepare),
  ]);
  tx.added("orders", placed.length);
  const held = await storeSettlements(tx, opened, now, {
    stored,
    last: ([, , , , , prepared]) => holdHeads(tx, prepared, now),
  });
  recordHeld(tx, held, now);
  return opened.states;
}

const eventNames = {
  open: "order.accepted",
  matched: "order.matched",
  cancelled: "order.cancelled",
  expired: "order.expired",
  failed: "order.failed",
} as const satisfies Record<OrderState, string>;

/** A change of an order, as events and the audit trail record it. */
export function toOrderChange({
  action,
  before,
  after,
}: {
  readonly action: "place" | "match" | "cancel" | "expire" | "fail";
  readonly before: OrderRow | null;
  readonly after: OrderRow;
}): Change {
  const told = toOrderEventData(after);
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `order.${action}`,
    entity: {
      type: "order",
      id: after.order_id,
      version: after.version,
      href: `/v1/orders/${after.order_id}`,
    },
    after: told,
    event: {
      // A partly dealt order stays open; the event is the deal.
      name: action === "match" ? "order.matched" : eventNames[after.state],
      from: before?.state ?? null,
      to: after.state,
      data: told,
    },
  };
}

type Agreed = {
  readonly deals: readonly NewDeal[];
  readonly reservations: readonly { readonly creditId: string; readonly reservedFor: string }[];
};

/**
 * The deals of the set. Credits that its own orders sell are locked already; the others are locked
 * here.
 */
async function agreeDeals(tx: Tx, matchState: MatchState): Promise<Agreed> {
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

function bindQuotes({ usedQuotes }: MatchState): Query<void> {
  if (usedQuotes.size === 0) return known(undefined);
  const uses = [...usedQuotes].map(([quoteRef, orderId]) => ({ quoteRef, orderId }));
  return useQuotes(uses).map((bound) => {
    if (bound.size !== uses.length) throw new Error("a locked quote that was open can be used");
  });
}

/** Adds to the daily totals of the house and of limited keys. */
function noteTaken(matchState: MatchState): Query<unknown> {
  const { environment, today, houseTaken, deskTaken, addedByKey } = matchState;
  return all([
    addDeskTaken(today, [...deskTaken.values()]),
    addHouseTaken(
      today,
      [...houseTaken].map(([scheme, paise]) => ({ environment, scheme, paise })),
    ),
    addSpent(
      today,
      [...addedByKey].map(([keyId, paise]) => ({ keyId, paise })),
    ),
  ]);
}

function toOrderEventData(row: OrderRow): object {
  return { ...describeOrder(row), reason: row.history.at(-1)?.reason ?? null };
}

/** The credits that orders of the set sell, by scrip number. */
function indexReservedCredits({ reserved }: MatchState): ReadonlyMap<string, DealtCredit> {
  return new Map([...reserved.values()].map(({ credit }) => [credit.scrip_no, credit]));
}

function isAsOffered(leg: Leg, offered: OfferedCredit | undefined): boolean {
  return (
    offered !== undefined &&
    offered.offer.order_id === leg.sellerOrderId &&
    offered.offer.face_paise === leg.facePaise
  );
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
        ...(card && {
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

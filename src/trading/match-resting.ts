// The matcher looks after what rests. Orders that arrive meet what rests against them at once; this
// is for everything else that can bring two sides together: a new card, credits that were added or
// freed, and two orders of one set that rest against each other.
//
//   look     has a card, an offer or a resting order changed since the last look? Usually not. Now
//            and then it looks all the same, for what nobody announces: a day of the house that
//            begins, a firm that may trade again, a credit that customs gave back
//   buys     each resting buy, the best first, takes its bundle from the book at its own price
//   sells    what is left of the resting sells goes to the house where its bid reaches their limit
//   note     what was seen, in the same transaction
//
// Every process runs it; the lock of the matching lets one at a time.
//
// What a look of the matcher does with one order that rests, on facts that were loaded before.
//
// Who is looked at: a set and the matcher see up to 500 resting buys of a scheme, of firms that may
// trade: each desk's best before any desk's second best, and at most 100 of one desk, found by leaping
// through the index from desk to desk. So no number of orders hides another desk's.
//
// A sell whose firm or credit is suspended, or whose time is over, rests and is not dealt: the book sets
// its credits aside. One whose credit has ended is cancelled (`credit_gone`) by `order-upkeep`.

import { SearchNeeded } from "../cover/search-cover.ts";
import { houseChanges } from "../credits/inventory.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import { daysLeft, sellableDaysMin } from "../credits/rules.ts";
import { tradingFirms } from "../firms/find-firms.ts";
import type { Actor } from "../kernel/actor.ts";
import { type Environment, environments } from "../kernel/caller.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { addDays, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  type Choice,
  noOffenders,
  type Offenders,
  workInParts,
} from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { type FindCard, loadCardsWithQuotes, loadCardsToday } from "../rates/current-cards.ts";
import { openQuotesOn } from "../rates/open-quotes.ts";
import { findBuyerFunds, lockOffers, restingBuysMax, type OrderSet } from "./load-orders.ts";
import { sumFaces, dealSell, takeBundle } from "./match-order.ts";
import { findHighestBid, findHouseBid, filterPayable, findRestingPool } from "./match-rules.ts";
import {
  type BookSessions,
  newMatchState,
  recordDealt,
  findPan,
  replaceResting,
  toRestingBuys,
  type MatchState,
} from "./match-state.ts";
import { findRemainingPaise } from "./order-rules.ts";
import { lockMatching, type OrderRow } from "./order-store.ts";
import { withBookSession } from "./place-orders.ts";
import {
  findSeen,
  listRestingBuys,
  listRestingSells,
  type Seen,
  setSeen,
} from "./resting-store.ts";
import { storeOrders } from "./store-orders.ts";

const matcher: Actor = { kind: "worker", id: "matching", requestId: null };
/** How many resting sells one look goes through, the cheapest first, and how many at a time. */
const sellPagesMax = 100;
const sellsInPage = 200;

/** How long something that nobody announces may wait. */
const lookEveryMs = 10_000;

export function createRestingMatcher(
  ctx: Context,
  books: BookSessions,
  offenders: Offenders = noOffenders(),
): () => Promise<"more" | "idle"> {
  const openQuotes = openQuotesOn(ctx.db);
  const lookedAtMs = { live: -Infinity, sandbox: -Infinity };
  return async () => {
    let dealt = 0;
    for (const environment of environments) {
      const now = ctx.now();
      const isDue = now.getTime() - lookedAtMs[environment] >= lookEveryMs;
      if (!isDue && !(await hasNews(ctx.db, environment, now))) continue;
      // An order whose deal cannot be stored is left out, and the others are dealt.
      dealt += await workInParts(offenders, (choice, claimed) =>
        withBookSession(books, environment, (book, disputed) => {
          const set = {
            environment,
            book,
            disputed,
            now,
            openQuotes,
            isPart: choice.only !== null,
          };
          return ctx.db.transaction((tx) => matchOnce(tx, { ...set, choice, claimed }));
        }),
      );
      lookedAtMs[environment] = now.getTime();
    }
    return dealt > 0 ? "more" : "idle";
  };
}

async function hasNews(db: Db, environment: Environment, now: Date): Promise<boolean> {
  const seen = await findSeen(db, environment);
  if (seen.rested_since) return true;
  const cards = listCardVersions(environment, await db.run(loadCardsToday([environment], now)));
  if (schemes.some((scheme) => cards[scheme] !== seen.seen_cards[scheme])) return true;
  const { changes } = await houseChanges(db, environment, seen.seen_before);
  return changes === undefined || changes.length > 0;
}

/** The version of each scheme's card in force. */
function listCardVersions(environment: Environment, findCard: FindCard): Seen["seen_cards"] {
  return Object.fromEntries(
    schemes.flatMap((scheme) => {
      const market = findCard(environment, scheme);
      return market ? [[scheme, market.version]] : [];
    }),
  );
}

type Look = OrderSet & {
  readonly choice: Choice;
  /** Told the orders that deal, before anything is stored. */
  readonly claimed: (orderIds: readonly string[]) => void;
};

/** One look at everything that rests; how many deals it made. */
async function matchOnce(
  tx: Tx,
  { environment, isPart, book, disputed, now, openQuotes, choice, claimed }: Look,
): Promise<number> {
  await tx.run(lockMatching(environment, { isPart }));
  const { seen_from } = await findSeen(tx, environment);
  await book.refresh(tx);
  const today = istDay(now);
  const findCard = await tx.run(loadCardsWithQuotes([environment], { now, quotes: openQuotes }));
  const restingBuys = await tx.run(listRestingBuys(environment, { now, ...restingBuysMax }));
  const firms = await tx.run(tradingFirms([...new Set(restingBuys.map((row) => row.firm_id))]));
  const buyers = restingBuys.map(({ firm_id, key_id }) => ({ firmId: firm_id, keyId: key_id }));
  const buying = await tx.run(findBuyerFunds(environment, buyers));
  const nobody = { originals: new Map(), orderedByKey: new Map() };
  const facts = {
    environment,
    now,
    today,
    book,
    disputed,
    openQuotes,
    ...buying,
    firms,
    restingBuys,
    ...nobody,
  };
  const matchState = newMatchState({ ...facts, findCard });
  const isChosen = ({ order_id }: OrderRow) =>
    !choice.except.includes(order_id) && (choice.only?.includes(order_id) ?? true);
  // Serving a buy takes it out of those that rest once nothing of it does.
  for (const buy of matchState.restingBuys.filter(isChosen)) serveBuy(matchState, buy);
  for (const scheme of schemes) await serveSells(tx, matchState, { scheme, isChosen });
  claimed([...new Set(matchState.deals.map((deal) => deal.originOrderId))]);
  await storeOrders(tx, matchState, () => matcher);
  await setSeen(tx, environment, {
    cards: listCardVersions(environment, findCard),
    before: seen_from,
  });
  return matchState.deals.length;
}

/** The house takes resting sells at their limit where its bid reaches it, the cheapest first. */
async function serveSells(
  tx: Tx,
  matchState: MatchState,
  {
    scheme,
    isChosen,
  }: { readonly scheme: Scheme; readonly isChosen: (order: OrderRow) => boolean },
): Promise<void> {
  const market = matchState.markets.get(scheme);
  if (market?.state !== "open") return;
  const { environment, now } = matchState;
  const limitBpsMax = market.ceiling_bps;
  let page: OrderRow[] = [];
  for (let pages = 0; pages < sellPagesMax; pages++) {
    const of = { environment, scheme, limitBpsMax, now, after: page.at(-1), limit: sellsInPage };
    page = await listRestingSells(tx, of);
    // Most of what rests waits for a better price; only what may be dealt is locked.
    const near = page.filter(
      (sell) =>
        isChosen(sell) &&
        (findHighestBid(market, findRemainingPaise(sell)) ?? 0) >= (sell.limit_bps ?? 0),
    );
    if (near.length > 0) await serveReachableSells(tx, matchState, near);
    if (page.length < sellsInPage) return;
  }
}

async function serveReachableSells(
  tx: Tx,
  matchState: MatchState,
  sells: readonly OrderRow[],
): Promise<void> {
  const numbers = sells.flatMap((sell) => sell.resting_scrip_nos);
  const { offered } = await lockOffers(tx, matchState.environment, numbers, matchState.now);
  const sold = new Set(matchState.deals.flatMap((deal) => deal.legs.map((leg) => leg.scripNo)));
  const cannotBeHad = (scripNo: string) => sold.has(scripNo) || matchState.disputed?.has(scripNo);
  for (const sell of sells) {
    const credits = sell.resting_scrip_nos.flatMap((scripNo) =>
      cannotBeHad(scripNo) ? [] : (offered.get(scripNo)?.credit ?? []),
    );
    if (credits.length > 0) serveSell(matchState, sell, credits);
  }
}

/** A resting buy takes what covers the most of its rest, at its own price. */
export function serveBuy(matchState: MatchState, buy: OrderRow): void {
  const market = matchState.markets.get(buy.scheme);
  const [resting] = toRestingBuys(matchState, buy.scheme).filter(
    ({ orderId }) => orderId === buy.order_id,
  );
  if (market?.state !== "open" || !resting) return;
  const chosen = matchState.book.choose({
    scheme: buy.scheme,
    requirementPaise: resting.remainingPaise,
    pool: findRestingPool(market, resting),
    pan: findPan(matchState, buy.firm_id),
    expiresFrom: addDays(matchState.today, sellableDaysMin),
    plan: null,
  });
  if (chosen instanceof SearchNeeded) throw new Error("who rests does without a plan");
  const bundle = filterPayable(chosen, resting.priceBps);
  if (bundle.length === 0) return;
  const after = takeBundle(matchState, buy, bundle, resting.priceBps);
  if (!after) return;
  recordDealt(matchState, { before: buy, after, dealtBy: buy.order_id });
  replaceResting(matchState, after);
}

/** The house takes what rests of a sell at its limit, where its bid reaches that. */
export function serveSell(
  matchState: MatchState,
  sell: OrderRow,
  credits: readonly DealtCredit[],
): void {
  const limitBps = sell.limit_bps ?? 0;
  const bid = findHouseBid(matchState.markets.get(sell.scheme), {
    facePaise: sumFaces(credits),
    daysLeft: Math.min(...credits.map((credit) => daysLeft(credit.expires_on, matchState.today))),
  });
  if (bid === undefined || bid < limitBps) return;
  const match = { with: "house", sellerBps: limitBps, buyerBps: limitBps } as const;
  const after = dealSell(matchState, sell, credits, match);
  recordDealt(matchState, { before: sell, after, dealtBy: sell.order_id });
}

// The matcher: deals resting orders that become dealable without a new order, after a new card, after
// credits were added or released, or when two orders of one set rest against each other.
//
//   look     checks whether a card, an offer or a resting order has changed since the last run. It runs
//            every 10 s where an order rests, for changes that leave no trace: a new day of the house
//            limit, a firm that may trade again, a credit that customs released
//   buys     each resting buy, best first, takes a bundle from the book at its own price
//   sells    the house buys resting sells whose limit its bid reaches, cheapest first
//   seen     stores what was seen, in the same transaction
//
// Every process runs the matcher, one transaction per scheme; the match lock admits one at a
// time.
//
// Orders and the matcher load up to 500 resting buys of a scheme, of firms that may trade: each
// desk's best before any desk's second best, and at most 100 per desk. So no desk can hide the
// orders of others.
//
// A sell whose firm or credit is suspended, or that has expired, rests and is not dealt: the book
// sets its credits aside. A sell whose credit has ended is cancelled (`credit_gone`) by
// `order-upkeep`.

import { findShelfRoom } from "../rates/rules.ts";
import { SearchNeeded } from "../cover/search-cover.ts";
import { readHouseChanges } from "../credits/inventory.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import { countDaysLeft, sellableDaysMin } from "../credits/rules.ts";
import { lockTradingFirms } from "../firms/find-firms.ts";
import type { Actor } from "../kernel/actor.ts";
import { type Environment, environments } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { addDays, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  type Choice,
  noOffenders,
  type Offenders,
  workInParts,
  workOnEach,
} from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { type FindCard, loadCardsToday, loadCardsWithQuotes } from "../rates/current-cards.ts";
import { openQuotesOn } from "../rates/open-quotes.ts";
import type { BookSessions } from "./book-session.ts";
import {
  findBuyerFunds,
  lockOffers,
  type OrderSet,
  restingBuysMax,
  toBuyer,
} from "./load-orders.ts";
import { dealSell, takeBundle } from "./match-order.ts";
import { exceedsShelf, findHighestBid, findHouseBid, listRestingTiers } from "./match-rules.ts";
import {
  findPan,
  type MatchState,
  newMatchState,
  recordDealt,
  replaceResting,
  toRestingBuys,
  marketFor,
} from "./match-state.ts";
import { findRemainingPaise } from "./order-rules.ts";
import { lockMatching, type OrderRow } from "./order-store.ts";
import { withBookSession } from "./place-orders.ts";
import {
  listRestingBuys,
  listRestingSchemes,
  listRestingSells,
  listSeen,
  type Seen,
  setSeen,
} from "./resting-store.ts";
import { sumFaces } from "./sell-amounts.ts";
import { storeOrders } from "./store-orders.ts";

const matcher: Actor = { kind: "worker", id: "matching", requestId: null };
/** One run reads at most this many pages of resting sells. */
const sellPagesMax = 100;
const sellsInPage = 200;

/** How often the matcher runs without a visible change. */
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
      const isNew = await hasNews(ctx.db, environment, now);
      if (!isNew && !isDue) continue;
      const looked = isNew ? schemes : await listRestingSchemes(ctx.db, environment);
      dealt += await workOnEach(looked, (scheme) =>
        // An order whose deal cannot be stored is set aside, and the others are dealt.
        workInParts(offenders, (choice, claimed) =>
          withBookSession(books, environment, (book, disputed) => {
            const isPart = choice.only !== null;
            const set = { environment, book, disputed, now, openQuotes, isPart };
            return ctx.db.transaction((tx) => matchOnce(tx, { ...set, scheme, choice, claimed }));
          }),
        ),
      );
      lookedAtMs[environment] = now.getTime();
    }
    return dealt > 0 ? "more" : "idle";
  };
}

/** A resting buy takes the bundle that covers most of its remainder, at its own price. */
export function serveBuy(matchState: MatchState, buy: OrderRow): void {
  const market = marketFor(matchState, buy);
  const [resting] = toRestingBuys(matchState, buy.scheme).filter(
    ({ orderId }) => orderId === buy.order_id,
  );
  if (market?.state !== "open" || !resting) return;
  const chosen = matchState.book.choose({
    scheme: buy.scheme,
    requirementPaise: resting.remainingPaise,
    tiers: listRestingTiers(market, resting),
    pan: findPan(matchState, buy.firm_id),
    expiresFrom: addDays(matchState.today, sellableDaysMin),
    plan: null,
  });
  if (chosen instanceof SearchNeeded) throw new Error("a resting buy is matched without a plan");
  if (chosen && exceedsShelf(chosen.offers, findShelfRoom(market))) return;
  const after = chosen && takeBundle(matchState, buy, chosen);
  if (!after || after instanceof Failure) return;
  recordDealt(matchState, { before: buy, after, dealtBy: buy.order_id });
  replaceResting(matchState, after);
}

/** The house buys the remaining credits of a sell at its limit, if its bid reaches it. */
export function serveSell(
  matchState: MatchState,
  sell: OrderRow,
  credits: readonly DealtCredit[],
): void {
  const limitBps = sell.limit_bps ?? 0;
  const bid = findHouseBid(marketFor(matchState, sell), {
    facePaise: sumFaces(credits),
    daysLeft: Math.min(
      ...credits.map((credit) => countDaysLeft(credit.expires_on, matchState.today)),
    ),
  });
  if (bid === undefined || bid < limitBps) return;
  const match = { with: "house", sellerBps: limitBps, buyerBps: limitBps } as const;
  const after = dealSell(matchState, sell, credits, match);
  recordDealt(matchState, { before: sell, after, dealtBy: sell.order_id });
}

async function hasNews(db: Db, environment: Environment, now: Date): Promise<boolean> {
  const seen = await listSeen(db, environment);
  if (seen.some(({ rested_since }) => rested_since)) return true;
  const cards = listCardVersions(environment, await db.run(loadCardsToday([environment], now)));
  if (seen.some(({ scheme, seen_cards }) => cards[scheme] !== seen_cards[scheme])) return true;
  const { changes } = await readHouseChanges(db, environment, findOldest(seen));
  return changes === undefined || changes.length > 0;
}

function findOldest(seen: readonly Seen[]): string {
  const ids = seen.map(({ seen_before }) => BigInt(seen_before));
  return String(ids.reduce((a, b) => (a < b ? a : b)));
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
  readonly scheme: Scheme;
  readonly choice: Choice;
  /** Receives the ids of the orders that deal, before anything is stored. */
  readonly claimed: (orderIds: readonly string[]) => void;
};

/** Matches all resting orders of a scheme once; returns the number of deals. */
async function matchOnce(
  tx: Tx,
  { environment, scheme, isPart, book, disputed, now, openQuotes, choice, claimed }: Look,
): Promise<number> {
  await tx.run(lockMatching(environment, { isPart }));
  const [first] = await listSeen(tx, environment);
  if (!first) throw new Error("every environment has schemes");
  await book.refresh();
  const today = istDay(now);
  const findCard = await tx.run(loadCardsWithQuotes([environment], { now, quotes: openQuotes }));
  const restingBuys = await tx.run(
    listRestingBuys(environment, { schemes: [scheme], now, ...restingBuysMax }),
  );
  const firms = await tx.run(lockTradingFirms([...new Set(restingBuys.map((row) => row.firm_id))]));
  const buying = await tx.run(findBuyerFunds(environment, restingBuys.map(toBuyer), now));
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
  // The filter copies the list: serving a buy may remove it.
  for (const buy of matchState.restingBuys.filter(isChosen)) serveBuy(matchState, buy);
  await serveSells(tx, matchState, { scheme, isChosen });
  claimed([...new Set(matchState.deals.map((deal) => deal.originOrderId))]);
  await storeOrders(tx, matchState, () => matcher);
  await setSeen(
    tx,
    { environment, scheme },
    { cards: listCardVersions(environment, findCard), before: first.seen_from },
  );
  return matchState.deals.length;
}

/** The house buys resting sells at their limit, where its bid reaches it, cheapest first. */
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
    // Most resting sells wait for a better price; only those within reach are locked.
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

// Everything a set of orders touches, one statement per table, locked in one order by everybody:
// the match lock, quotes, firms, credits. What needs nothing of each other travels together, the first
// of it behind the match lock.
//
// The offers behind credits: what the database, not the book, says can be bought now.

import { lockSpent, loadMoneyLimits, loadUnfundedLimits } from "../access/money-limits.ts";
import type { Offer } from "../cover/rules.ts";
import {
  claimForSale,
  claimOffered,
  type FoundCredit,
  type DealtCredit,
  findForSale,
} from "../credits/reserve-credits.ts";
import { lockTradingFirms } from "../firms/find-firms.ts";
import { nothingBought } from "../firms/requirement-rules.ts";
import { lockAmounts } from "../firms/requirements.ts";
import { findTradingRefusal } from "../firms/rules.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId, isHouse } from "../kernel/ids.ts";
import { schemes } from "../kernel/scheme.ts";
import { dayNumber, istDay } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { all, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import type { SetAttempt } from "../platform/postgres/split.ts";
import { loadCardsWithQuotes } from "../rates/current-cards.ts";
import type { OpenQuotes } from "../rates/open-quotes.ts";
import { findBuyerMeans } from "../settlement/fund-settlements.ts";
import { loadOpeningFacts, type OpeningFacts } from "../settlement/open-settlements.ts";
import type { BookSession } from "./book-session.ts";
import type { OrderCommand, Loaded, RequirementToCover } from "./decide-orders.ts";
import { type MatchState, newMatchState } from "./match-state.ts";
import { findByIdempotencyKey, findOrders, lockMatching, type OrderRow } from "./order-store.ts";
import { type LockedQuote, lockQuotes } from "./quotes.ts";
import { findCovers } from "./read-orders.ts";
import { listRestingBuys } from "./resting-store.ts";
import { actingFirm, findAmounts, findNamedQuotes, findVisibleFirm } from "./sell-amounts.ts";

/** How many resting buys of a scheme a set loads, those with priority first. */
export const restingBuysMax = { limit: 500, ofDesk: 100, throughDesk: 1_000 };

/** What a set is decided on besides the database. */
export type OrderSet = SetAttempt & {
  readonly environment: Environment;
  readonly book: BookSession;
  /** Scrip numbers whose holder is not the owner in the ledger. */
  readonly disputed: ReadonlySet<string>;
  readonly now: Date;
  readonly openQuotes: OpenQuotes;
};

export async function loadOrders(
  tx: Tx,
  { environment, isPart, isLast, book, disputed, now, openQuotes }: OrderSet,
  commands: readonly OrderCommand[],
): Promise<{
  readonly matchState: MatchState;
  readonly loaded: readonly Loaded[];
  readonly opening: OpeningFacts;
}> {
  const today = istDay(now);
  const keyIds = commands.map(({ call }) => call.caller.keyId);
  const [, originals, quotes, named, findCard, allResting, limits] = await tx.pipelineBehind(
    lockMatching(environment, { isPart, isLast }),
    [
      findOriginals(commands),
      findNamedQuotes(commands, lockQuotes),
      findNamed(commands),
      loadCardsWithQuotes([environment], { now, quotes: openQuotes }),
      listRestingBuys(environment, { schemes, now, ...restingBuysMax }),
      loadMoneyLimits(keyIds),
    ],
  );
  const quoted = await tx.run(findQuoted(commands, quotes));
  const covers = await loadCovers(tx, commands);
  const found = commands.map((_, at) => named.get(at) ?? quoted.get(at));
  const dealtSchemes = new Set(
    commands.map(({ intent: { ask } }, at) =>
      "scheme" in ask ? ask.scheme : (quotes[at] ?? found[at])?.scheme,
    ),
  );
  const restingBuys = allResting.filter(({ scheme }) => dealtSchemes.has(scheme));
  if (commands.some(({ intent }) => intent.ask.kind === "requirement")) await book.refresh();
  const firmIds = commands.map(({ call, intent }, at) =>
    actingFirm(call.caller, intent.firmId, { quote: quotes[at], credit: found[at] }),
  );
  const buys = commands.flatMap(({ call, intent }, at) => {
    const firmId = firmIds[at];
    const isBuy = intent.ask.kind === "requirement" || quotes[at]?.side === "buy";
    const { deskId, keyId } = call.caller;
    return isBuy && firmId ? [{ deskId, firmId, keyId }] : [];
  });
  const buyers = [...buys, ...restingBuys.map(toBuyer)];
  const parties = {
    firmIds: [
      ...new Set([...firmIds.flatMap((id) => id ?? []), ...restingBuys.map((row) => row.firm_id)]),
    ],
    deskIds: [
      houseFirmId[environment],
      ...commands.map(({ call }) => call.caller.deskId),
      ...restingBuys.map((row) => row.desk_id),
    ],
  };
  const [firms, opening, orderedByKey, buying, claimed] = await tx.pipeline([
    lockTradingFirms(parties.firmIds),
    loadOpeningFacts(environment, parties, now),
    lockSpent(limits, today),
    findBuyerFunds(environment, buyers, now),
    claimForSale(found.flatMap((credit) => credit?.credit_id ?? [])),
  ]);
  const actingFirms = commands.map(({ call }, at) =>
    findVisibleFirm(firms, call.caller, firmIds[at]),
  );
  const listed = await findAmounts(tx, commands, { quotes, firms: actingFirms, today });
  const stocks = [...new Set(listed)];
  const ofStocks = await tx.run(claimForSale(stocks.flat().map(({ credit_id }) => credit_id)));
  const credits = new Map([...claimed, ...ofStocks]);
  const deliverable = new Map(
    stocks.map((stock) => [
      stock,
      stock.flatMap(({ credit_id }) => {
        const credit = credits.get(credit_id);
        return credit?.state === "listed" && !disputed.has(credit.scrip_no) ? [credit] : [];
      }),
    ]),
  );
  const { offers, held } = await loadBundles(tx, environment, { quotes, disputed, now });
  const bundles = quotes.map((quote) =>
    (quote?.scrip_nos ?? []).map((scripNo) => offers.get(scripNo) ?? scripNo),
  );
  const gone = bundles.flat().filter((offer) => typeof offer === "string");
  book.setAside(gone.filter((scripNo) => !held.has(scripNo)));
  const isHeld = (creditId: string | undefined) => creditId !== undefined && !credits.has(creditId);
  // A sale by amount waits for all of its firm's credits, because it delivers the best of them.
  const heldStocks = new Set(
    [...deliverable.keys()].filter((stock) => stock.some(({ credit_id }) => isHeld(credit_id))),
  );
  const loaded = commands.map((command, at): Loaded => ({
    ...command,
    quote: quotes[at],
    firm: actingFirms[at],
    credit: credits.get(found[at]?.credit_id ?? ""),
    cover: covers.get(command.covers ?? ""),
    deliverable: deliverable.get(listed[at] ?? []) ?? [],
    bundle: bundles[at] ?? [],
    limits: limits.get(command.call.caller.keyId) ?? noLimits,
    isHeld:
      isHeld(found[at]?.credit_id) ||
      heldStocks.has(listed[at] ?? []) ||
      (quotes[at]?.scrip_nos?.some((scripNo) => held.has(scripNo)) ?? false),
  }));
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
    originals,
    orderedByKey,
  };
  return { loaded, opening, matchState: newMatchState({ ...facts, findCard }) };
}

/** What is uncovered of the requirements that orders are for, under their locks. */
async function loadCovers(
  tx: Tx,
  commands: readonly OrderCommand[],
): Promise<ReadonlyMap<string, RequirementToCover>> {
  const ids = commands.flatMap(({ covers }) => covers ?? []);
  if (ids.length === 0) return new Map();
  const amounts = await lockAmounts(tx, ids);
  const bought = await findCovers(tx, [...amounts.keys()]);
  return new Map(
    [...amounts].map(([id, amountPaise]) => [
      id,
      { amountPaise, bought: bought.get(id) ?? nothingBought },
    ]),
  );
}

const noLimits = { max_order_paise: null, daily_notional_paise: null };

/** Whose money a buy needs, and the key whose plan limits it. */
type BuyerOfOrder = { readonly deskId: string; readonly firmId: string; readonly keyId: string };

export function toBuyer({ desk_id, firm_id, key_id }: OrderRow): BuyerOfOrder {
  return { deskId: desk_id, firmId: firm_id, keyId: key_id };
}

/** The money that buyers have, and how much of their buys may wait for money. */
export function findBuyerFunds(
  environment: Environment,
  buyers: readonly BuyerOfOrder[],
  now: Date,
): Query<Pick<MatchState, "means" | "deskUnfunded" | "unfundedMax">> {
  return all([
    findBuyerMeans(environment, buyers, now),
    loadUnfundedLimits(buyers.map(({ keyId }) => keyId)),
  ]).map(([funds, unfundedMax]) => ({ ...funds, unfundedMax }));
}

export type OfferedCredit = {
  readonly offer: Offer;
  readonly credit: DealtCredit;
  /** The resting sell; undefined when the house sells. */
  readonly order: OrderRow | undefined;
};

type LockedOffers = {
  /** By scrip number. */
  readonly offered: ReadonlyMap<string, OfferedCredit>;
  /** Scrip numbers that other transactions lock; matching never waits for them. */
  readonly held: readonly string[];
};

/**
 * Locks those of the credits that can be bought, by the rows of the database and not by the book:
 * listed by the house, or reserved for a resting sell that has not expired and whose firm may
 * trade.
 */
export async function lockOffers(
  tx: Tx,
  environment: Environment,
  scripNos: readonly string[],
  now: Date,
): Promise<LockedOffers> {
  if (scripNos.length === 0) return { offered: new Map(), held: [] };
  const { free: credits, held } = await claimOffered(tx, environment, scripNos);
  const orderIds = credits.flatMap((credit) => credit.reserved_for ?? []);
  const resting = orderIds.length > 0 ? await tx.run(findOrders(orderIds)) : [];
  const orders = new Map(resting.map((order) => [order.order_id, order]));
  const firms = await tx.run(
    lockTradingFirms([...new Set(credits.map((credit) => credit.firm_id))]),
  );
  const offered = credits.flatMap((credit) => {
    const firm = firms.get(credit.firm_id);
    const order = orders.get(credit.reserved_for ?? "");
    if (!firm || findTradingRefusal(firm, now) || !isOffered(credit, order, now)) return [];
    const offer = {
      scrip_no: credit.scrip_no,
      face_paise: credit.face_paise,
      expires_on: dayNumber(credit.expires_on),
      limit_bps: order?.limit_bps ?? 0,
      seller: firm.pan ?? "",
      order_id: order?.order_id ?? null,
    };
    return [[credit.scrip_no, { offer, credit, order }] as const];
  });
  return { offered: new Map(offered), held };
}

function findOriginals(commands: readonly OrderCommand[]): Query<Map<string, OrderRow>> {
  const keys = commands.flatMap(({ call, idempotencyKey }) =>
    idempotencyKey === null ? [] : [{ ...visibleTo(call.caller), idempotencyKey }],
  );
  if (keys.length === 0) return known(new Map());
  return findByIdempotencyKey(keys).map(
    (rows) =>
      new Map(
        rows.map((row) => [`${row.bound_firm_id ?? row.desk_id} ${row.idempotency_key}`, row]),
      ),
  );
}

type HoldingsByPlace = ReadonlyMap<number, FoundCredit | undefined>;

/** The holdings that commands name, by the places of the commands; they are locked once their firms are. */
function findNamed(commands: readonly OrderCommand[]): Query<HoldingsByPlace> {
  return findHoldings(
    commands.flatMap(({ call, intent }, at) =>
      intent.ask.kind === "credit"
        ? [{ at, caller: call.caller, firmId: intent.firmId, scripNo: intent.ask.scripNo }]
        : [],
    ),
  );
}

function findHoldings(
  asked: readonly (Parameters<typeof findForSale>[0][number] & { readonly at: number })[],
): Query<HoldingsByPlace> {
  return findForSale(asked).map((rows) => new Map(asked.map(({ at }, place) => [at, rows[place]])));
}

/** The holdings that the quotes of commands are of. */
function findQuoted(
  commands: readonly OrderCommand[],
  quotes: readonly (LockedQuote | undefined)[],
): Query<HoldingsByPlace> {
  return findHoldings(
    commands.flatMap(({ call }, at) => {
      const { scrip_no: scripNo = null, firm_id: firmId } = quotes[at] ?? {};
      return scripNo === null ? [] : [{ at, caller: call.caller, firmId, scripNo }];
    }),
  );
}

/** The available offers of quoted bundles, by scrip number, and the numbers that others lock. */
async function loadBundles(
  tx: Tx,
  environment: Environment,
  {
    quotes,
    disputed,
    now,
  }: { readonly quotes: readonly (LockedQuote | undefined)[] } & Pick<OrderSet, "disputed" | "now">,
): Promise<{
  readonly offers: ReadonlyMap<string, Offer>;
  readonly held: ReadonlySet<string>;
}> {
  const quoted = quotes.flatMap((quote) => quote?.scrip_nos ?? []);
  const scripNos = quoted.filter((scripNo) => !disputed.has(scripNo));
  if (scripNos.length === 0) return { offers: new Map(), held: new Set() };
  const { offered, held } = await lockOffers(tx, environment, scripNos, now);
  const offers = new Map([...offered].map(([scripNo, { offer }]) => [scripNo, offer]));
  return { offers, held: new Set(held) };
}

function isOffered(credit: DealtCredit, order: OrderRow | undefined, now: Date): boolean {
  if (credit.state === "listed") return isHouse(credit.firm_id);
  return (
    credit.state === "reserved" &&
    order?.state === "open" &&
    (order.expires_at === null || order.expires_at > now) &&
    order.resting_scrip_nos.includes(credit.scrip_no)
  );
}

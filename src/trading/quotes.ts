// From a request to a binding price. Concurrent requests form a set per side and environment: one
// statement reads what they name, pure rules price each, and one statement inserts the quotes
// before any request is answered, so that every answered price is stored.
//
// Sells and buys have separate queues, so a search for cover never delays a sell. Nothing is
// cached: a halt, a new card or a suspended credit counts for the next set. A quote changes no data
// of a tenant, so it is neither an event nor an audit record. Quotes of a dry run and "no quote"
// are not stored. Orders lock stored quotes, and each is used once.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

import { type BundleProof, priceInTier, setStepsMax } from "../cover/rules.ts";
import { chooseCover, type CoverPlan, planSearches, SearchNeeded } from "../cover/search-cover.ts";
import { findForSale, type FoundCredit } from "../credits/reserve-credits.ts";
import {
  countDaysLeft,
  creditNotSellable,
  findNotSellableReason,
  sellableDaysMin,
} from "../credits/rules.ts";
import { buySideOff, type Call, type Caller, type Environment } from "../kernel/caller.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { firstId, isId, newId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { priceCeil } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayNumber, type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { toItemError } from "../platform/http/errors.ts";
import { itemCheck } from "../platform/http/validation.ts";
import type { Metrics } from "../platform/metrics.ts";
import { coalesce, type ItemResult } from "../platform/postgres/coalesce.ts";
import { type Database, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { withoutWriting } from "../platform/postgres/split.ts";
import { type FindCard, loadCardsToday, readDefaultBps } from "../rates/current-cards.ts";
import { type Holding, openQuotesOn } from "../rates/open-quotes.ts";
import { amountDaysMin, type CardToday, findShelfRoom } from "../rates/rules.ts";
import type { Book, Offers } from "./book.ts";
import { exceedsShelf, listTiers } from "./match-rules.ts";
import {
  type BuyWanted,
  describeOffer,
  findLeastFace,
  findQuoteState,
  findSellPrice,
  marketUnavailable,
  type NoQuote,
  parseWanted,
  type QuotedCredit,
  quoteLifecycle,
  quoteWindowMaxMs,
  type SellWanted,
  sizeUnavailable,
} from "./quote-rules.ts";
import {
  type BuyRow,
  findQuote,
  insertBuys,
  insertSells,
  listPans,
  listQuoteRows,
  lockQuoteRows,
  moveQuoteExpiriesEarlier,
  type OpenQuoteTotals,
  type QuoteBase,
  type QuoteRow,
  type QuoteUse,
  type SellRow,
  setQuoteOrders,
  sumOpenQuotes,
} from "./quote-store.ts";
import {
  type Quote,
  type QuoteBatchResults,
  type StoredQuote,
  type TakeQuoteBatchBody,
  TakeQuoteBody,
} from "./schema.ts";

const sellSetSizeMax = 256;
/** A set waits for the database twice; several in flight use that time. */
const sellSetsInFlight = 4;
const buySetSizeMax = 32;
const queueMax = 20_000;

/** The body of an answer and its headers. */
export type QuoteAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  readonly quote: Quote;
};

export type TakeQuote = (call: Call, request: TakeQuoteBody) => Promise<QuoteAnswer>;

const checkItem = itemCheck(TakeQuoteBody);

/** Takes quotes side by side; each is answered as if it were asked for alone. */
export async function takeQuoteBatch(
  { log }: Pick<Context, "log">,
  takeQuote: TakeQuote,
  call: Call,
  { quotes }: TakeQuoteBatchBody,
): Promise<QuoteBatchResults> {
  const takeOne = async (sent: unknown, index: number) => {
    const item = checkItem(sent);
    try {
      if (item instanceof Failure) throw item;
      const { quote, headers } = await takeQuote(call, item);
      const valid_until = headers["x-quote-valid-until"] ?? null;
      return { index, ok: true, status: 200, error: null, valid_until, quote };
    } catch (error) {
      const { refused, fault } = toItemError(error, call.requestId);
      if (fault !== undefined)
        log.error({ err: fault, request_id: call.requestId }, "a quote failed");
      return { index, ...refused, valid_until: null };
    }
  };
  const results = await Promise.all(quotes.map(takeOne));
  const quoted = results.filter(({ ok }) => ok).length;
  return { results, quoted, failed: results.length - quoted };
}

export function createQuoter(
  ctx: Context,
  book: Book,
  { setSize }: Pick<Metrics, "setSize">,
): TakeQuote {
  // Separate queues: a wait in the sandbox, for a connection or a row, does not delay live quotes.
  const openQueues = (environment: Environment) => {
    const scoped = contextFor(ctx, { environment });
    return {
      sell: coalesce(
        (asks: readonly QuoteCall<SellWanted>[]) =>
          keepAll(asks, priceSells(scoped, asks), (rows) => insertSells(scoped.db, rows)),
        {
          setSizeMax: sellSetSizeMax,
          setsInFlight: sellSetsInFlight,
          queueMax,
          onSet: (size) => setSize.observe({ set: "sell quotes" }, size),
        },
      ),
      buy: coalesce(
        (asks: readonly QuoteCall<BuyAsked>[]) =>
          keepAll(asks, priceBuys(scoped, book, asks), (rows) => insertBuys(scoped.db, rows)),
        {
          setSizeMax: buySetSizeMax,
          queueMax,
          onSet: (size) => setSize.observe({ set: "buy quotes" }, size),
        },
      ),
    };
  };
  const queues = { live: openQueues("live"), sandbox: openQueues("sandbox") };

  return async function takeQuote(call, request) {
    const wanted = parseWanted(request);
    const { sell, buy } = queues[call.caller.environment];
    if (wanted.side === "sell") return await sell({ call, wanted });
    if (!call.caller.buySide) throw buySideOff();
    return await buy({ call, wanted }).catch(async (error: unknown) => {
      if (!(error instanceof SearchNeeded)) throw error;
      const asked = { by: call.caller, signal: call.gone?.() };
      const [plan = null] = await planSearches(ctx, [error], asked);
      return await buy({ call, wanted: { ...wanted, plan } });
    });
  };
}

/** A quote that the caller may see, with its present state. */
export async function readQuote(
  ctx: Context,
  caller: Caller,
  quoteRef: string,
): Promise<StoredQuote> {
  const row = isId("qte", quoteRef)
    ? await findQuote(ctx.db, { ...visibleTo(caller), quoteRef })
    : undefined;
  if (!row) throw notFound("quote_ref");
  const { environment, scheme, card_version: version } = row;
  const default_bps = await readDefaultBps(ctx.db, { environment, scheme, version });
  return viewStoredQuote(row, { default_bps }, ctx.now());
}

/** A quote as an order sees it. */
export type LockedQuote = QuoteRow;

type QuotesAsked = readonly { readonly caller: Caller; readonly quoteRef: string }[];

/** One quote per element of `asked`; undefined where the caller has no such quote. */
export function findQuotes(
  asked: QuotesAsked,
  listRows = listQuoteRows,
): Query<readonly (QuoteRow | undefined)[]> {
  if (asked.length === 0) return known([]);
  const listed = listRows(
    asked.map(({ caller, quoteRef }) => ({
      ...visibleTo(caller),
      quoteRef: isId("qte", quoteRef) ? quoteRef : "",
    })),
  );
  return listed.map((rows) => {
    const found = asked.map((): QuoteRow | undefined => undefined);
    for (const { position, ...row } of rows) found[position] = row;
    return found;
  });
}

/** The same, locked until the transaction ends. */
export function lockQuotes(asked: QuotesAsked): Query<readonly (LockedQuote | undefined)[]> {
  return findQuotes(asked, lockQuoteRows);
}

/**
 * Binds quotes to their orders; returns the indexes of the uses that succeeded. A quote is used once:
 * the first use wins, within a set and between transactions.
 */
export function useQuotes(uses: readonly QuoteUse[]): Query<ReadonlySet<number>> {
  const first = new Map<string, number>();
  uses.forEach(({ quoteRef }, at) => {
    if (!first.has(quoteRef)) first.set(quoteRef, at);
  });
  return setQuoteOrders([...first.values()].flatMap((at) => uses[at] ?? [])).map(
    (bound) => new Set(bound.map((quoteRef) => first.get(quoteRef) ?? -1)),
  );
}

/** Open quotes of a market; they are honoured whatever card is published. */
export async function countOpenQuotes(
  { db, now }: Pick<Context, "db" | "now">,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<OpenQuoteTotals> {
  return await sumOpenQuotes(db, market, now());
}

/** Open quotes are recent, so all of them follow the first id of their longest window. */
export async function moveQuoteDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  { after, limit }: Cursor,
): Promise<MovedSet> {
  const oldest = firstId("qte", new Date(clockAdvance.now.getTime() - quoteWindowMaxMs));
  const cursor = { after: after > oldest ? after : oldest, limit };
  return toMovedSet(await moveQuoteExpiriesEarlier(tx, clockAdvance, cursor), cursor);
}

/** Inserts the quotes, except those of dry runs, before any is answered. */
async function keepAll<Row extends QuoteRow>(
  asks: readonly QuoteCall<unknown>[],
  pricing: Promise<readonly QuoteDecision<Row>[]>,
  insert: (rows: readonly Row[]) => Promise<void>,
): Promise<ItemResult<QuoteAnswer>[]> {
  const verdicts = await withoutWriting(() => pricing);
  const kept = verdicts.flatMap((verdict, at) =>
    "row" in verdict && !asks[at]?.call.dryRun ? [verdict.row] : [],
  );
  if (kept.length > 0) await insert(kept);
  return verdicts.map(toQuoteAnswer);
}

function toQuoteAnswer(verdict: QuoteDecision<QuoteRow>): ItemResult<QuoteAnswer> {
  if (verdict instanceof Error) return verdict;
  if (!("row" in verdict)) {
    return { headers: {}, quote: { no_quote: true, reason: verdict.reason } };
  }
  const { row, proof } = verdict;
  return {
    headers: {
      "x-quote-valid-until": istTimestamp(row.valid_until),
      ...(proof && {
        "x-cover-residual": proof.residual,
        "x-cover-residual-bound-paise": String(proof.residual_bound_paise),
      }),
    },
    quote: viewQuote(row),
  };
}

/** The answer of readQuote. The key is not shown: a key of one firm must not learn of other keys. */
function viewStoredQuote(row: QuoteRow, terms: StoredQuote["terms"], now: Date): StoredQuote {
  const status = findQuoteState(row, now);
  return {
    ...viewQuote(row),
    quote_ref: row.quote_ref,
    valid_until: istTimestamp(row.valid_until),
    status,
    order_id: row.order_id,
    firm_id: row.firm_id,
    card_version: row.card_version,
    terms,
    created_at: istTimestamp(row.created_at),
    version: row.order_id === null ? 1 : 2,
    allowed_actions: allowedActions(quoteLifecycle, status),
  };
}

/** The answer of takeQuote: the fields of its side only. */
function viewQuote(row: QuoteRow): Quote {
  const { quote_ref, scheme, price_bps, all_in_paise } = row;
  if (row.side === "sell") {
    return {
      side: row.side,
      scheme,
      ...(row.scrip_no !== null && { scrip_no: row.scrip_no }),
      face_paise: row.face_paise,
      price_bps,
      all_in_paise,
      valid_until: istTimestamp(row.valid_until),
      quote_ref,
    };
  }
  const residual = row.requirement_paise - row.covered_paise;
  return {
    side: row.side,
    scheme,
    requirement_paise: row.requirement_paise,
    price_bps,
    all_in_paise,
    savings_paise: row.covered_paise - all_in_paise,
    scrip_nos: [...row.scrip_nos],
    covered_paise: row.covered_paise,
    residual_paise: residual,
    fully_covered: residual === 0,
    quote_ref,
  };
}

// Prices sets of quotes.
//
// A sell gets the bid of the card. It may make the house buy, so before it is answered it holds
// part of the house limit in OpenQuotes (rates/open-quotes.ts), which all processes share. A buy
// gets the ask of the card for the bundle that covers the requirement best: it is priced by what it
// covers, as an order is.

/** How often a process announces its holds before a conflict with another process refuses a quote. */
const announcementsMax = 4;
const pauseMsMax = 10;

/** One request of a set: the call, and what to price. */
type QuoteCall<Wanted> = { readonly call: Call; readonly wanted: Wanted };

/** The requirement, and cover from a longer search: undefined before it, null when it found none. */
type BuyAsked = BuyWanted & { readonly plan?: CoverPlan | null };

/** What the search proved about a bundle; answered with the price and not stored. */
type CoverProof = Pick<BundleProof, "residual" | "residual_bound_paise">;

/** The result of one request: a quote to store, no quote, a refusal, or a longer search. */
type QuoteDecision<Row extends QuoteRow> =
  | { readonly row: Row; readonly proof?: CoverProof }
  | NoQuote
  | Failure
  | SearchNeeded;

/** Prices a set of credits and amounts. */
async function priceSells(
  ctx: Pick<Context, "db" | "now">,
  asks: readonly QuoteCall<SellWanted>[],
): Promise<QuoteDecision<SellRow>[]> {
  const now = ctx.now();
  const today = istDay(now);
  const [findCard, named] = await ctx.db.pipeline([
    loadCardsToday(listEnvironments(asks), now),
    findNamed(asks),
  ]);
  const verdicts = asks.map((ask): PricedQuote | Failure => {
    const { call, wanted } = ask;
    if (!("scripNo" in wanted)) {
      const { scheme, facePaise } = wanted;
      const amount = { scheme, facePaise, daysLeft: amountDaysMin, credit: undefined };
      return priceSell(ask, { ...amount, firmId: call.caller.firmId }, { findCard, now });
    }
    const credit = named.get(ask);
    if (!credit) return notFound("scrip_no");
    return notSellable(credit, today) ?? priceSell(ask, forSale(credit, today), { findCard, now });
  });
  return await holdRoom(ctx.db, verdicts, now);
}

/** Prices a set of requirements, each with its best bundle. */
async function priceBuys(
  { db, now }: Pick<Context, "db" | "now">,
  book: Book,
  asks: readonly QuoteCall<BuyAsked>[],
): Promise<QuoteDecision<BuyRow>[]> {
  const instant = now();
  const environments = listEnvironments(asks);
  const firmIds = [...new Set(asks.map(({ call }) => call.caller.firmId))];
  const [[findCard, pans], offers] = await Promise.all([
    db.pipeline([loadCardsToday(environments, instant), listPans(firmIds)]),
    loadOffers(book, environments),
  ]);
  const pool = {
    findCard,
    offers,
    pans: new Map(pans.map((firm) => [firm.firm_id, firm.pan])),
    steps: { left: setStepsMax },
  };
  const verdicts: QuoteDecision<BuyRow>[] = [];
  for (const ask of asks) {
    verdicts.push(priceBuy(ask, pool, instant));
    // A search can take milliseconds; other requests run between two of them.
    await nextTurn();
  }
  return verdicts;
}

/** A price, and its hold on the house limit; a dry run holds nothing. */
type Offered = {
  readonly row: SellRow;
  readonly card: CardToday;
  readonly holding: Holding;
  readonly dryRun: boolean;
};

type PricedQuote = NoQuote | Offered;

/** The named credit of each ask; undefined where the caller has no such credit. */
function findNamed(
  asks: readonly QuoteCall<SellWanted>[],
): Query<ReadonlyMap<QuoteCall<SellWanted>, FoundCredit | undefined>> {
  const named = asks.flatMap((ask) =>
    "scripNo" in ask.wanted ? [{ ask, caller: ask.call.caller, scripNo: ask.wanted.scripNo }] : [],
  );
  return findForSale(named).map((found) => new Map(named.map(({ ask }, at) => [ask, found[at]])));
}

function notSellable(credit: FoundCredit, today: IstDay): Failure | undefined {
  const reason = findNotSellableReason(credit, { firmState: credit.firm_state, today });
  return reason === null ? undefined : creditNotSellable(credit, reason);
}

type Sale = {
  readonly scheme: FoundCredit["scheme"];
  /** Undefined for a sale by amount. */
  readonly credit: (QuotedCredit & { readonly scrip_no: string }) | undefined;
  readonly firmId: string;
  readonly facePaise: number;
  readonly daysLeft: number;
};

function forSale(credit: FoundCredit, today: IstDay): Sale {
  return {
    scheme: credit.scheme,
    credit,
    firmId: credit.firm_id,
    facePaise: credit.face_paise,
    daysLeft: countDaysLeft(credit.expires_on, today),
  };
}

function priceSell(
  ask: QuoteCall<SellWanted>,
  sale: Sale,
  { findCard, now }: { readonly findCard: FindCard; readonly now: Date },
): PricedQuote {
  const { caller, dryRun } = ask.call;
  const { environment, deskId } = caller;
  const { credit } = sale;
  const price = findSellPrice(findCard(environment, sale.scheme, deskId), sale);
  if (price.kind === "no_quote") return price;
  const { card } = price;
  const row: SellRow = {
    ...startQuote(caller, { card, firmId: sale.firmId, now }),
    side: "sell",
    scheme: sale.scheme,
    scrip_no: credit?.scrip_no ?? null,
    face_paise: sale.facePaise,
    requirement_paise: null,
    covered_paise: null,
    scrip_nos: null,
    credit_id: credit?.credit_id ?? null,
    expires_on: credit?.expires_on ?? null,
    face_min_paise: credit ? null : findLeastFace(card, sale.facePaise, sale.daysLeft),
    days_left_min: credit ? null : sale.daysLeft,
    price_bps: price.price_bps,
    all_in_paise: price.all_in_paise,
  };
  const holding = {
    environment,
    scheme: sale.scheme,
    deskId,
    id: credit?.credit_id ?? row.quote_ref,
    paise: sale.facePaise,
    untilMs: row.valid_until.getTime(),
    heldAtMs: now.getTime(),
  };
  return { row, card, holding, dryRun };
}

/**
 * Keeps the prices that fit into the house limit and the desk's share of it; the others get no
 * quote. When a desk holds more than was announced, this process announces the new sum and reads
 * the sums of other processes. If two processes exceed the limit together, both release their holds
 * and retry after a random pause.
 */
async function holdRoom(
  db: Database,
  priced: readonly (PricedQuote | Failure)[],
  now: Date,
): Promise<QuoteDecision<SellRow>[]> {
  const quotes = openQuotesOn(db);
  const refused = new Set<Offered>();
  let left = priced.filter((one) => "row" in one);
  for (let tries = 1; left.length > 0 && tries <= announcementsMax; tries++) {
    if (tries > 1) await sleep(Math.random() * pauseMsMax);
    const held: { readonly one: Offered; readonly before: Holding | undefined }[] = [];
    for (const one of left) {
      const hasRoom = quotes.hasRoom(one.card, one.holding, now);
      if (!hasRoom) refused.add(one);
      else refused.delete(one);
      if (hasRoom && !one.dryRun) held.push({ one, before: quotes.hold(one.holding) });
    }
    const untold = held.filter(({ one }) => quotes.isUntold(one.holding));
    if (untold.length === 0) break;
    const { elsewhere, settle } = await quotes.announce(db, holdingsAmong(untold), now);
    const over = untold.filter(
      ({ one: { card, holding } }) => !quotes.hasRoom(card, holding, now, elsewhere(holding)),
    );
    settle(holdingsAmong(over));
    if (over.length === 0) break;
    for (const { one, before } of over.toReversed()) {
      refused.add(one);
      quotes.takeBack(one.holding, before);
    }
    await quotes.announce(db, holdingsAmong(over), now);
    left = over.map(({ one }) => one);
  }
  return priced.map((one) => ("row" in one && refused.has(one) ? sizeUnavailable : one));
}

function holdingsAmong(some: readonly { readonly one: Offered }[]): Holding[] {
  return some.map(({ one }) => one.holding);
}

type PricingFacts = {
  readonly findCard: FindCard;
  readonly offers: ReadonlyMap<Environment, Offers>;
  readonly pans: ReadonlyMap<string, string | null>;
  readonly steps: { left: number };
};

async function loadOffers(
  book: Book,
  environments: readonly Environment[],
): Promise<ReadonlyMap<Environment, Offers>> {
  const looked = environments.map(
    async (environment) => [environment, await book.look(environment)] as const,
  );
  return new Map(await Promise.all(looked));
}

function priceBuy(
  { call: { caller }, wanted }: QuoteCall<BuyAsked>,
  { findCard, offers, pans, steps }: PricingFacts,
  now: Date,
): QuoteDecision<BuyRow> {
  const { scheme, requirementPaise, plan } = wanted;
  const card = findCard(caller.environment, scheme, caller.deskId);
  const index = offers.get(caller.environment)?.[scheme];
  if (!index) throw new Error("every environment of the set was looked at");
  if (card?.state !== "open") return marketUnavailable;
  const buyer = pans.get(caller.firmId);
  const cover = {
    requirement_paise: requirementPaise,
    min_day: dayNumber(istDay(now)) + sellableDaysMin,
    tiers: listTiers(card, { requirementPaise, limitBps: null }),
    ...(buyer && { buyer }),
  };
  if (plan === undefined && steps.left <= 0) return new SearchNeeded(index, cover);
  const bundle = chooseCover(index, cover, { plan: plan ?? undefined });
  steps.left -= bundle.steps;
  if (plan === undefined && bundle.canImprove) return new SearchNeeded(index, cover);
  const { offers: offered, tier, covered_paise, proof } = bundle;
  if (!tier || exceedsShelf(offered, findShelfRoom(card))) return sizeUnavailable;
  const price_bps = priceInTier(tier, offered);
  const row: BuyRow = {
    ...startQuote(caller, { card, firmId: caller.firmId, now }),
    side: "buy",
    scheme,
    scrip_no: null,
    face_paise: null,
    requirement_paise: requirementPaise,
    covered_paise,
    scrip_nos: offered.map((offer) => offer.scrip_no),
    offers: offered.map(describeOffer),
    price_bps,
    all_in_paise: priceCeil(covered_paise, price_bps),
  };
  const { residual, residual_bound_paise } = proof;
  return { row, proof: { residual, residual_bound_paise } };
}

function listEnvironments(asks: readonly QuoteCall<unknown>[]): Environment[] {
  return [...new Set(asks.map(({ call }) => call.caller.environment))];
}

/** The fields of a new quote that do not depend on its side. */
function startQuote(
  { environment, deskId, keyId }: Caller,
  { card, firmId, now }: { readonly card: CardToday; readonly firmId: string; readonly now: Date },
): QuoteBase {
  return {
    quote_ref: newId("qte", now),
    environment,
    desk_id: deskId,
    firm_id: firmId,
    key_id: keyId,
    card_version: card.version,
    created_at: now,
    valid_until: new Date(now.getTime() + card.quote_window_s * 1_000),
    order_id: null,
  };
}

// From a request to a binding price. Concurrent requests form a set per side and environment: one
// statement reads what they name, pure rules price each, and one statement inserts the quotes
// before any request is answered, so that every answered price is stored.
//
// Sells and buys have separate queues, so a search for cover never delays a sell. Nothing is
// cached: a halt, a new card or a suspended credit counts for the next set. A quote changes no data
// of a tenant, so it is neither an event nor an audit record. Quotes of a dry run and "no quote"
// are not stored. Orders lock stored quotes, and each is used once.

import { planSearches, SearchNeeded } from "../cover/search-cover.ts";
import { buySideOff, type Call, type Caller, type Environment } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { firstId, isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { readDefaultBps } from "../rates/current-cards.ts";
import { type Context, contextFor } from "../platform/context.ts";
import { toItemError } from "../platform/http/errors.ts";
import { itemCheck } from "../platform/http/validation.ts";
import type { Metrics } from "../platform/metrics.ts";
import { coalesce, type ItemResult } from "../platform/postgres/coalesce.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { withoutWriting } from "../platform/postgres/split.ts";
import type { Book } from "./book.ts";
import {
  type QuoteCall,
  type BuyAsked,
  priceBuys,
  priceSells,
  type QuoteDecision,
} from "./price-quotes.ts";
import {
  findQuoteState,
  parseWanted,
  quoteLifecycle,
  quoteWindowMaxMs,
  type SellWanted,
} from "./quote-rules.ts";
import {
  findQuote,
  insertBuys,
  insertSells,
  listQuoteRows,
  lockQuoteRows,
  moveQuoteExpiriesEarlier,
  type OpenQuoteTotals,
  type QuoteRow,
  type QuoteUse,
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
      const { quote } = await takeQuote(call, item);
      return { index, ok: true, status: 200, error: null, quote };
    } catch (error) {
      const { refused, fault } = toItemError(error, call.requestId);
      if (fault !== undefined)
        log.error({ err: fault, request_id: call.requestId }, "a quote failed");
      return { index, ...refused };
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
  if (!row) throw notFound();
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

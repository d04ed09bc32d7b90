// From a request to a binding price. Concurrent requests form a set per side and environment: one
// statement reads what they name, pure rules price each, and one statement inserts the quotes
// before any request is answered, so that every answered price is stored.
//
// Sells and buys have separate queues, so a search for cover never delays a sell. Nothing is
// cached: a halt, a new card or a suspended credit counts for the next set. A quote changes no data
// of a tenant, so it is neither an event nor an audit record. Quotes of a dry run and "no quote"
// are not stored.

import { planSearches, SearchNeeded } from "../cover/search-cover.ts";
import { buySideOff, type Call, type Environment } from "../kernel/caller.ts";
import { istTimestamp } from "../kernel/time.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { Metrics } from "../platform/metrics.ts";
import { coalesce, type Outcome } from "../platform/postgres/coalesce.ts";
import { withoutKeeping } from "../platform/postgres/split.ts";
import type { Book } from "./book.ts";
import { type BuyAsked, priceBuys } from "./price-buys.ts";
import { priceSells } from "./price-sells.ts";
import { parseWanted, type SellWanted } from "./quote-rules.ts";
import { insertBuys, insertSells, type QuoteRow } from "./quote-store.ts";
import { type Ask, type Verdict, viewQuote } from "./read-quotes.ts";
import type { Quote, TakeQuoteBody } from "./schema.ts";

/** The body of an answer and its headers. */
export type QuoteAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  readonly quote: Quote;
};

export type TakeQuote = (call: Call, request: TakeQuoteBody) => Promise<QuoteAnswer>;

const sellSetSizeMax = 256;
/** A set waits for the database twice; several in flight use that time. */
const sellSetsInFlight = 4;
const buySetSizeMax = 32;
const queueMax = 20_000;

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
        (asks: readonly Ask<SellWanted>[]) =>
          keepAll(asks, priceSells(scoped, asks), (rows) => insertSells(scoped.db, rows)),
        {
          setSizeMax: sellSetSizeMax,
          setsInFlight: sellSetsInFlight,
          queueMax,
          onSet: (size) => setSize.observe({ set: "sell quotes" }, size),
        },
      ),
      buy: coalesce(
        (asks: readonly Ask<BuyAsked>[]) =>
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

/** Inserts the quotes, except those of dry runs, before any is answered. */
async function keepAll<Row extends QuoteRow>(
  asks: readonly Ask<unknown>[],
  pricing: Promise<readonly Verdict<Row>[]>,
  insert: (rows: readonly Row[]) => Promise<void>,
): Promise<Outcome<QuoteAnswer>[]> {
  const verdicts = await withoutKeeping(() => pricing);
  const kept = verdicts.flatMap((verdict, at) =>
    "row" in verdict && !asks[at]?.call.dryRun ? [verdict.row] : [],
  );
  if (kept.length > 0) await insert(kept);
  return verdicts.map(toQuoteAnswer);
}

function toQuoteAnswer(verdict: Verdict<QuoteRow>): Outcome<QuoteAnswer> {
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

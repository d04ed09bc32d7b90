// From a request to a binding price. All requests of the moment form a set per side and environment:
// what they name is read in one statement, each is priced by pure rules, and what came of them is
// kept in one statement before anybody is answered, so that a price which was told always binds.
//
// Sells and buys have queues of their own, so a search for cover never delays a sell. Nothing is cached:
// a halt, a new card or a suspended credit counts for the next set. A quote changes nothing of a
// tenant's, so it is neither an event nor an audit record. A dry run's quote and "no quote" are not
// kept.

import type { Book } from "./book.ts";
import { planSearches, SearchNeeded } from "../cover/search-cover.ts";
import { buySideOff, type Call, type Environment } from "../kernel/caller.ts";
import { istTimestamp } from "../kernel/time.ts";
import { coalesce, type Outcome } from "../platform/postgres/coalesce.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { Metrics } from "../platform/metrics.ts";
import { withoutKeeping } from "../platform/postgres/split.ts";
import { type Ask, type Verdict, viewQuote } from "./read-quotes.ts";
import { type BuyAsked, priceBuys } from "./price-buys.ts";
import { priceSells } from "./price-sells.ts";
import { type SellWanted, parseWanted } from "./quote-rules.ts";
import type { Quote, TakeQuoteBody } from "./quote-schema.ts";
import { insertBuys, insertSells, type QuoteRow } from "./quote-store.ts";

/** The body of an answer, and what the contract does not list there: headers. */
export type QuoteAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  readonly quote: Quote;
};

export type TakeQuote = (call: Call, request: TakeQuoteBody) => Promise<QuoteAnswer>;

const sellSetSizeMax = 256;
/** Prices wait for the database twice; with one set under way everything else would wait too. */
const sellSetsInFlight = 4;
const buySetSizeMax = 32;
const queueMax = 20_000;

export function createQuoter(
  allOf: Context,
  book: Book,
  { setSize }: Pick<Metrics, "setSize">,
): TakeQuote {
  // What waits in the sandbox, for a connection or a row, holds up nobody else's prices.
  const openQueues = (environment: Environment) => {
    const ctx = contextFor(allOf, { environment });
    return {
      sell: coalesce(
        (asks: readonly Ask<SellWanted>[]) =>
          keepAll(asks, priceSells(ctx, asks), (rows) => insertSells(ctx.db, rows)),
        {
          setSizeMax: sellSetSizeMax,
          setsInFlight: sellSetsInFlight,
          queueMax,
          onSet: (size) => setSize.observe({ set: "sell quotes" }, size),
        },
      ),
      buy: coalesce(
        (asks: readonly Ask<BuyAsked>[]) =>
          keepAll(asks, priceBuys(ctx, book, asks), (rows) => insertBuys(ctx.db, rows)),
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
      const [plan = null] = await planSearches(allOf, [error], asked);
      return await buy({ call, wanted: { ...wanted, plan } });
    });
  };
}

/** Keeps what was quoted, but for a dry run's, and only then answers. */
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

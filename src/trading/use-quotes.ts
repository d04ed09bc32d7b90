import type { Caller, Environment } from "../kernel/caller.ts";
import { firstId, isId } from "../kernel/ids.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { quoteWindowMaxMs } from "./quote-rules.ts";
import {
  lockQuoteRows,
  moveQuoteExpiriesEarlier,
  type OpenQuoteTotals,
  type QuoteRow,
  type QuoteUse,
  setQuoteOrders,
  sumOpenQuotes,
} from "./quote-store.ts";

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

/** A quote as an order sees it. */
export type LockedQuote = QuoteRow;

/**
 * Locks the quotes of a set of orders until the transaction ends, one per element of `asked`;
 * undefined where the caller has no such quote.
 */
export function lockQuotes(
  asked: readonly { readonly caller: Caller; readonly quoteRef: string }[],
): Query<readonly (LockedQuote | undefined)[]> {
  if (asked.length === 0) return known([]);
  const locked = lockQuoteRows(
    asked.map(({ caller, quoteRef }) => ({
      ...visibleTo(caller),
      quoteRef: isId("qte", quoteRef) ? quoteRef : "",
    })),
  );
  return locked.map((rows) => {
    const found = asked.map((): LockedQuote | undefined => undefined);
    for (const { position, ...row } of rows) found[position] = row;
    return found;
  });
}

/** Open quotes of a market; they are honoured whatever card is published. */
export async function countOpenQuotes(
  { db, now }: Pick<Context, "db" | "now">,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<OpenQuoteTotals> {
  return await sumOpenQuotes(db, market, now());
}

export async function passTimeOfQuotes(tx: Tx, passage: Passage): Promise<number> {
  const oldest = new Date(passage.now.getTime() - quoteWindowMaxMs);
  return await moveQuoteExpiriesEarlier(tx, passage, firstId("qte", oldest));
}

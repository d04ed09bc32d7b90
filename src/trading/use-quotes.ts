import type { Caller, Environment } from "../kernel/caller.ts";
import { firstId, isId } from "../kernel/ids.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import {
  moveQuoteExpiriesEarlier,
  lockQuoteRows,
  type OpenQuoteTotals,
  type QuoteRow,
  type QuoteUse,
  setQuoteOrders,
  sumOpenQuotes,
} from "./quote-store.ts";

/**
 * Binds quotes to the orders placed on them and says which of the uses, by their place, are bound.
 * A quote is used once: the first of two uses wins, in a set as between transactions.
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
 * The quotes that orders are to be placed on, one per ask; undefined where a ref is none of the
 * caller's. They stay locked until the transaction ends, so what is decided about them holds:
 * `quoteStateOf` says whether one is still open, and `useQuotes` binds it.
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

/** Binding prices that are still out in a market: whatever is published, they are honoured. */
export async function countOpenQuotes(
  { db, now }: Pick<Context, "db" | "now">,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<OpenQuoteTotals> {
  return await sumOpenQuotes(db, market, now());
}

/** No card gives a quote longer than this. */
const windowMaxMs = 86_400_000;

export async function passTimeOfQuotes(tx: Tx, passage: Passage): Promise<number> {
  const oldest = new Date(passage.now.getTime() - windowMaxMs);
  return await moveQuoteExpiriesEarlier(tx, passage, firstId("qte", oldest));
}

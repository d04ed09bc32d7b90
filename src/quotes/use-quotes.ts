import type { Tx } from "../platform/postgres.ts";
import { type QuoteUse, setOrders } from "./store.ts";

/**
 * Binds quotes to the orders placed on them and says which of the uses, by their place, are bound.
 * A quote is used once: the first of two uses wins, in a set as between transactions.
 */
export async function useQuotes(tx: Tx, uses: readonly QuoteUse[]): Promise<ReadonlySet<number>> {
  const first = new Map<string, number>();
  uses.forEach(({ quoteRef }, at) => {
    if (!first.has(quoteRef)) first.set(quoteRef, at);
  });
  const bound = await setOrders(
    tx,
    [...first.values()].flatMap((at) => uses[at] ?? []),
  );
  return new Set(bound.map((quoteRef) => first.get(quoteRef) ?? -1));
}

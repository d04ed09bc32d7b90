import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { isId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres.ts";
import { lockQuotes as lockRows, type QuoteRow } from "./store.ts";

/** A quote as an order sees it. */
export type LockedQuote = QuoteRow;

/**
 * The quotes that orders are to be placed on, one per ask; undefined where a ref is none of the
 * caller's. They stay locked until the transaction ends, so what is decided about them holds:
 * `quoteStateOf` says whether one is still open, and `useQuotes` binds it.
 */
export async function lockQuotes(
  tx: Tx,
  asked: readonly { readonly caller: Caller; readonly quoteRef: string }[],
): Promise<readonly (LockedQuote | undefined)[]> {
  const rows = await lockRows(
    tx,
    asked.map(({ caller, quoteRef }) => ({
      ...holderOf(caller),
      quoteRef: isId("qte", quoteRef) ? quoteRef : "",
    })),
  );
  const found = asked.map((): LockedQuote | undefined => undefined);
  for (const { position, ...row } of rows) found[position] = row;
  return found;
}

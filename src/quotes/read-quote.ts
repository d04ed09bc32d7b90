import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { StoredQuote } from "./schema.ts";
import { findQuote } from "./store.ts";
import { viewStoredQuote } from "./view-quote.ts";

/** A quote of the caller's desk, or of its one firm, as it was answered and as it stands now. */
export async function readQuote(
  ctx: Context,
  caller: Caller,
  quoteRef: string,
): Promise<StoredQuote> {
  const row = isId("qte", quoteRef)
    ? await findQuote(ctx.db, { ...holderOf(caller), quoteRef })
    : undefined;
  if (!row) throw notFound();
  return viewStoredQuote(row, ctx.now());
}

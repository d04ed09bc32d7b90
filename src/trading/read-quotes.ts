// Reads a stored quote, and what pricing a sell and a buy quote have in common.

import type { Proof } from "../cover/rules.ts";
import type { SearchNeeded } from "../cover/search-cover.ts";
import type { Call, Caller, Environment } from "../kernel/caller.ts";
import { type Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { CardToday } from "../rates/rules.ts";
import { findQuoteState, type NoQuote, quoteLifecycle } from "./quote-rules.ts";
import { findQuote, type QuoteBase, type QuoteRow } from "./quote-store.ts";
import type { Quote, StoredQuote } from "./schema.ts";

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
  return viewStoredQuote(row, ctx.now());
}

/** The answer of readQuote. The key is not shown: a key of one firm must not learn of other keys. */
function viewStoredQuote(row: QuoteRow, now: Date): StoredQuote {
  const status = findQuoteState(row, now);
  return {
    ...viewQuote(row),
    quote_ref: row.quote_ref,
    valid_until: istTimestamp(row.valid_until),
    status,
    order_id: row.order_id,
    firm_id: row.firm_id,
    card_version: row.card_version,
    created_at: istTimestamp(row.created_at),
    version: row.order_id === null ? 1 : 2,
    allowed_actions: allowedActions(quoteLifecycle, status),
  };
}

/** The answer of takeQuote: the fields of its side only. */
export function viewQuote(row: QuoteRow): Quote {
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

/** One request of a set: the call, and what to price. */
export type Ask<Wanted> = { readonly call: Call; readonly wanted: Wanted };

/** What the search proved about a bundle; answered with the price and not stored. */
export type CoverProof = Pick<Proof, "residual" | "residual_bound_paise">;

/** The result of one request: a quote to store, no quote, a refusal, or a longer search. */
export type Verdict<Row extends QuoteRow> =
  | { readonly row: Row; readonly proof?: CoverProof }
  | NoQuote
  | Failure
  | SearchNeeded;

/** The fields of a new quote that do not depend on its side. */
export function startQuote(
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

export function listEnvironments(asks: readonly Ask<unknown>[]): Environment[] {
  return [...new Set(asks.map(({ call }) => call.caller.environment))];
}

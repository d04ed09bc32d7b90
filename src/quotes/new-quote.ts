import type { Proof } from "../cover/rules.ts";
import type { SearchFirst } from "../cover/search-cover.ts";
import type { Call, Caller, Environment } from "../kernel/caller.ts";
import type { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { CardToday } from "../rates/rules.ts";
import type { NoQuote } from "./rules.ts";
import type { QuoteBase, QuoteRow } from "./store.ts";

/** One request in a set: who asks, and what is to be priced. */
export type Ask<Wanted> = { readonly call: Call; readonly wanted: Wanted };

/** What the search for a bundle has shown of it; told once, with the price, and not kept. */
export type CoverProof = Pick<Proof, "residual" | "residual_bound_paise">;

/** What comes of one request: a quote to keep, that there is none, a refusal, or a search to make. */
export type Verdict<Row extends QuoteRow> =
  | { readonly row: Row; readonly proof?: CoverProof }
  | NoQuote
  | Failure
  | SearchFirst;

/** A quote without its terms. */
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

export function environmentsOf(asks: readonly Ask<unknown>[]): Environment[] {
  return [...new Set(asks.map(({ call }) => call.caller.environment))];
}

import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { quoteLifecycle, quoteStateOf } from "./rules.ts";
import type { Quote, StoredQuote } from "./schema.ts";
import type { QuoteRow } from "./store.ts";

/** A quote as it is answered: the fields of its side and no other. */
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

/** The same, with what became of it. Which key asked is not shown: a firm's key knows of no other. */
export function viewStoredQuote(row: QuoteRow, now: Date): StoredQuote {
  const status = quoteStateOf(row, now);
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

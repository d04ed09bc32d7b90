import type { IndexFigure } from "./rules.ts";
import type { RateFigure } from "./schema.ts";

/**
 * A figure as the public is shown it. While the day runs its counts stay untold: from one look to
 * the next they would show single deals.
 */
export function viewFigure(figure: IndexFigure, { final }: { final: boolean }): RateFigure {
  return {
    scheme: figure.scheme,
    date: figure.day,
    index_bps: figure.index_bps,
    basis: figure.basis,
    stale: figure.basis !== "deals",
    deals_on: figure.deals_on,
    final,
    deal_count: final ? figure.deal_count : null,
    seller_count: final ? figure.seller_count : null,
    face_paise: final ? figure.face_paise : null,
  };
}

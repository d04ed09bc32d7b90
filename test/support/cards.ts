// Rate cards as the operator would publish them, for tests of what is made from them.

import type { Environment } from "../../src/kernel/caller.ts";
import type { Scheme } from "../../src/kernel/scheme.ts";
import type { Service } from "./service.ts";

export type TestCard = {
  readonly environment?: Environment;
  readonly scheme?: Scheme;
  readonly state?: "open" | "halted";
  readonly midBps?: number;
};

/** The next card of a scheme; what is not said is as in the sandbox's last card. */
export async function addCard(
  { ctx }: Pick<Service, "ctx">,
  { environment = "sandbox", scheme = "RODTEP", state = "open", midBps }: TestCard,
): Promise<void> {
  await ctx.db.pool.query(
    `insert into rate_cards (
      environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
      floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s,
      margin_bps, fee_bps, published_at, published_by
    )
    select $1, scheme,
      (select coalesce(max(version), 0) + 1 from rate_cards where environment = $1 and scheme = $2),
      $3, coalesce($4, mid_bps), half_spread_bps, size_bands, validity_bands, floor_bps,
      ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s, margin_bps,
      fee_bps, $5, 'test'
    from rate_cards
    where environment = 'sandbox' and scheme = $2
    order by version desc
    limit 1`,
    [environment, scheme, state, midBps ?? null, ctx.now()],
  );
}

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, sql } from "../platform/postgres.ts";
import type { RateCard } from "./rules.ts";

const cardColumns = fragment`
  environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
  floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s,
  margin_bps, fee_bps, published_at, published_by, note`;

/** The card in force of every scheme that has one. */
export async function listCurrentCards(db: Db, environment: Environment): Promise<RateCard[]> {
  return await db.rows(sql`
    select distinct on (scheme) ${cardColumns}
    from rate_cards
    where environment = ${environment}
    order by scheme, version desc`);
}

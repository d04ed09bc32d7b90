import type { Environment } from "../kernel/caller.ts";
import { schemes } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, fragment, sql } from "../platform/postgres.ts";
import type { CardToday, RateCard } from "./rules.ts";

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

/** The card in force of every scheme that has one, and what the house took on this day. */
export async function listCardsToday(
  db: Db,
  environments: readonly Environment[],
  day: IstDay,
): Promise<CardToday[]> {
  return await db.rows(sql`
    select card.*, coalesce(taken.taken_paise, 0) as taken_paise
    from unnest(${environments}::text[]) as e (environment)
    cross join unnest(${schemes}::text[]) as s (scheme)
    cross join lateral (
      select ${cardColumns}
      from rate_cards
      where rate_cards.environment = e.environment and rate_cards.scheme = s.scheme
      order by version desc
      limit 1
    ) as card
    left join house_days as taken
      on taken.environment = card.environment and taken.scheme = card.scheme
      and taken.day = ${day}`);
}

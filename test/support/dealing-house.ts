// The market as a test needs it: cards with other terms, and what the house took on.

import type { Environment } from "../../src/kernel/caller.ts";
import type { Scheme } from "../../src/kernel/scheme.ts";
import type { RateCard } from "../../src/rates/rules.ts";
import type { Service } from "./service.ts";

type Market = { readonly environment?: Environment; readonly scheme?: Scheme };

/** The next version of a card; what is not said stays as it is in the sandbox's first one. */
export async function putCard(
  { ctx }: Pick<Service, "ctx">,
  { environment = "sandbox", scheme = "RODTEP", ...terms }: Market & Partial<RateCard>,
): Promise<void> {
  await ctx.db.pool.query(
    `insert into rate_cards
    select (jsonb_populate_record(card, $3::jsonb || jsonb_build_object(
      'environment', $1::text,
      'version', (
        select 1 + coalesce(max(version), 0) from rate_cards where environment = $1 and scheme = $2
      )
    ))).*
    from rate_cards as card
    where card.environment = 'sandbox' and card.scheme = $2 and card.version = 1`,
    [environment, scheme, JSON.stringify(terms)],
  );
}

/** How much face the house has taken on today. */
export async function setTaken(
  { ctx, clock }: Pick<Service, "ctx" | "clock">,
  takenPaise: number,
): Promise<void> {
  await ctx.db.pool.query(
    `insert into house_days (environment, scheme, day, taken_paise)
    values ('sandbox', 'RODTEP', ($1::timestamptz at time zone 'Asia/Kolkata')::date, $2)
    on conflict (environment, scheme, day) do update set taken_paise = excluded.taken_paise`,
    [clock.now(), takenPaise],
  );
}

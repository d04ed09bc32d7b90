// The public surface as a visitor meets it: a live market with a card, and days with an index.

import type { Scheme } from "../../src/kernel/scheme.ts";
import { addDays, istDay, istDayStart } from "../../src/kernel/time.ts";
import { addDeals, type TestDeal } from "./deals.ts";
import { addLiveHouse } from "./live-house.ts";
import type { Service } from "./service.ts";

/** Live begins without a house and a card; this sets one and publishes the sandbox's starting cards there. */
export async function openLiveMarket(
  { ctx }: Pick<Service, "ctx">,
  state: "open" | "halted" = "open",
): Promise<void> {
  await addLiveHouse({ ctx });
  await ctx.db.pool.query(
    `insert into rate_cards (
      environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
      floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s,
      margin_bps, fee_bps, published_at, published_by
    )
    select 'live', scheme,
      (select count(*) + 1 from rate_cards as live where live.environment = 'live' and live.scheme = start.scheme),
      $1, mid_bps, half_spread_bps, size_bands, validity_bands, floor_bps, ceiling_bps,
      ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s, margin_bps, fee_bps, $2,
      'test'
    from rate_cards as start
    where environment = 'sandbox' and version = 1`,
    [state, ctx.now()],
  );
}

export const threeSellers = [1, 2, 3].map((n) => `frm_${String(n).padStart(26, "s")}`);

/** Three sellers at one price at noon of a day. */
export async function dealOn(
  service: Pick<Service, "ctx">,
  day: string,
  bps: number,
  { scheme = "RODTEP", sellers = threeSellers }: { scheme?: Scheme; sellers?: string[] } = {},
): Promise<void> {
  const dealtAt = new Date(istDayStart(day).getTime() + 12 * 3_600_000);
  const deals = sellers.map((sellerFirmId): TestDeal => ({
    environment: "live",
    scheme,
    facePaise: 100_000_000,
    sellerBps: bps,
    sellerFirmId,
    dealtAt,
  }));
  await addDeals(service, deals);
}

/** Today less so many days, by the service's clock. */
export function daysAgo({ clock }: Pick<Service, "clock">, days: number): string {
  return addDays(istDay(clock.now()), -days);
}

/**
 * Past days of both schemes with figures that wander as a market does, the same every time. Every
 * ninth day has too few sellers and carries.
 */
export async function dealForDays(service: Service, days: number): Promise<void> {
  const deals = (["RODTEP", "ROSCTL"] as const).flatMap((scheme, at) =>
    Array.from({ length: days + 1 }, (_, ago) => ({ scheme, at, ago })),
  );
  await addDeals(
    service,
    deals.flatMap(({ scheme, at, ago }) => {
      const wave = 60 * Math.sin(ago / 17 + at) + 25 * Math.sin(ago / 5 + 2 * at);
      const sellers = ago % 9 === 4 ? threeSellers.slice(1) : threeSellers;
      return sellers.map((sellerFirmId): TestDeal => ({
        environment: "live",
        scheme,
        facePaise: 100_000_000,
        sellerBps: Math.round(9_790 - 25 * at + wave),
        sellerFirmId,
        dealtAt: new Date(service.clock.now().getTime() - ago * 86_400_000),
      }));
    }),
  );
  await service.work();
}

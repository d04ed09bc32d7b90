import type { Environment } from "../kernel/caller.ts";
import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import { contextFor } from "../platform/context.ts";
import { listCards, loadCardsToday, loadCardsWithQuotes } from "../rates/current-cards.ts";
import { openQuotesOn } from "../rates/open-quotes.ts";
import type { AuthoredCard } from "../rates/rules.ts";
import { readMarketsWithAsks } from "./read-markets.ts";
import type { Market } from "./schema.ts";
import type { MarketContext } from "./update-markets.ts";

export type Board = {
  readonly environment: Environment;
  readonly markets: readonly BoardMarket[];
};

type BoardMarket = Pick<
  Market,
  "scheme" | "state" | "index_bps" | "last_deal" | "volume_24h_paise" | "deals_24h"
> & {
  readonly card: AuthoredCard | null;
  readonly bid_bps: number | null;
  readonly ask_bps: number | null;
  readonly inventory: { readonly count: number; readonly face_paise: PaiseSum };
  readonly day_limit: {
    readonly limit_paise: number;
    readonly taken_paise: number;
    readonly quoted_paise: number;
  };
};

/** Both markets with their cards, what the house could sell and how much of the day's limit is used. */
export async function readBoard(given: MarketContext, environment: Environment): Promise<Board> {
  const ctx = contextFor(given, { environment });
  const now = ctx.now();
  const markets = await readMarketsWithAsks(ctx, environment);
  const cards = await listCards(ctx, { environment, scheme: null, history: false });
  const findCard = await ctx.db.run(loadCardsToday([environment], now));
  const quotes = openQuotesOn(ctx.db);
  const findQuoted = await ctx.db.run(loadCardsWithQuotes([environment], { now, quotes }));
  return {
    environment,
    markets: markets.map((market) => {
      const { scheme, state, index_bps, last_deal, volume_24h_paise, deals_24h } = market;
      const today = findCard(environment, scheme);
      const withQuotes = findQuoted(environment, scheme);
      const taken_paise = today?.taken_paise ?? 0;
      return {
        scheme,
        state,
        card: cards.find((card) => card.scheme === scheme) ?? null,
        bid_bps: market.sell_price_bps,
        ask_bps: market.buy_price_bps ?? null,
        index_bps,
        last_deal,
        volume_24h_paise,
        deals_24h,
        inventory: {
          count: market.depth.reduce((sum, band) => sum + band.count, 0),
          face_paise: sumPaise(market.depth.map((band) => band.face_paise)),
        },
        day_limit: {
          limit_paise: today?.house_limit_paise ?? 0,
          taken_paise,
          quoted_paise: Math.max(0, (withQuotes?.taken_paise ?? 0) - taken_paise),
        },
      };
    }),
  };
}

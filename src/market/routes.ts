import type { App } from "../platform/http.ts";
import { listMarkets } from "./list-markets.ts";
import { readMarket } from "./read-market.ts";
import { Market, MarketList, MarketPath } from "./schema.ts";
import type { MarketContext } from "./update-markets.ts";

export function marketRoutes(app: App, ctx: MarketContext): void {
  app.get(
    "/v1/market",
    {
      config: { demand: "market:read" },
      schema: {
        operationId: "listMarkets",
        tags: ["Market"],
        summary: "Every market now",
        response: { 200: MarketList },
      },
    },
    async (request) => await listMarkets(ctx, request.caller),
  );

  app.get(
    "/v1/market/:scheme",
    {
      config: { demand: "market:read" },
      schema: {
        operationId: "readMarket",
        tags: ["Market"],
        summary: "One market now",
        params: MarketPath,
        response: { 200: Market },
      },
    },
    async (request) => await readMarket(ctx, request.caller, request.params.scheme),
  );
}

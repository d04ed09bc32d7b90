import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { readUsage } from "./read-usage.ts";
import { ReadUsageQuery, Usage } from "./schema.ts";

export function usageRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/usage",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "readUsage",
        tags: ["Usage"],
        summary: "Rate and quota numbers, and the month behind them",
        querystring: ReadUsageQuery,
        response: { 200: Usage },
      },
    },
    async (request) => await readUsage(contextFor(ctx, request.caller), request, request.query),
  );
}

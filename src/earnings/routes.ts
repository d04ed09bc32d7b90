import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { readEarnings } from "./read-earnings.ts";
import { Earnings, EarningsQuery } from "./schema.ts";

export function earningRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/earnings",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readEarnings",
        tags: ["Statements"],
        summary: "Read what your desk earned on its clients' deals",
        description:
          "Commission is a share of face, earned when a credit is delivered and taken back when that is reversed; none on crosses and on your own firm's deals. At most 366 days at once.",
        querystring: EarningsQuery,
        response: { 200: Earnings },
      },
    },
    async (request) =>
      await readEarnings(contextFor(ctx, request.caller), request.caller, request.query),
  );
}

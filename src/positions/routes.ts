import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { readPositions } from "./read-positions.ts";
import { Positions, PositionsQuery } from "./schema.ts";

export function positionRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/positions",
    {
      config: { demand: "orders:read", names: true },
      schema: {
        operationId: "readPositions",
        tags: ["Orders"],
        summary: "What your firms hold and have",
        description: "Credits by scheme and cash, all of one moment.",
        querystring: PositionsQuery,
        response: { 200: Positions },
      },
    },
    async (request) =>
      await readPositions(contextFor(ctx, request.caller), request.caller, request.query),
  );
}

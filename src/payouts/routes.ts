import { sendPage } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { listPayouts } from "./list-payouts.ts";
import { readPayout } from "./read-payout.ts";
import { ListPayoutsQuery, Payout, PayoutList, PayoutParams } from "./schema.ts";

export function payoutRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/payouts",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listPayouts",
        tags: ["Settlements"],
        summary: "List the payouts to your firms",
        querystring: ListPayoutsQuery,
        response: { 200: PayoutList },
      },
    },
    async (request, reply) =>
      sendPage(reply, "payouts", await listPayouts(ctx, request.caller, request.query)),
  );

  app.get(
    "/v1/payouts/:payout_id",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "readPayout",
        tags: ["Settlements"],
        summary: "Read a payout",
        description: "Its lines tie every paisa to the order it comes from.",
        params: PayoutParams,
        response: { 200: Payout },
      },
    },
    async (request) => await readPayout(ctx, request.caller, request.params.payout_id),
  );
}

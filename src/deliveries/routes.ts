import { callOf, sendPage, takeNoBodyAsEmpty } from "../platform/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { listFailures } from "./list-failures.ts";
import { replayDeliveries } from "./replay-deliveries.ts";
import {
  DeliveriesParams,
  DeliveryList,
  FailureList,
  ListDeliveriesQuery,
  ListFailuresQuery,
  Replay,
  ReplayBody,
} from "./schema.ts";

export function deliveryRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/webhooks/:webhook_id/deliveries",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "listDeliveries",
        tags: ["Webhooks"],
        summary: "What was sent to a webhook, attempt by attempt",
        params: DeliveriesParams,
        querystring: ListDeliveriesQuery,
        response: { 200: DeliveryList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "deliveries",
        await listDeliveries(contextFor(ctx, request.caller), request.caller, {
          webhookId: request.params.webhook_id,
          ...request.query,
        }),
      ),
  );

  app.get(
    "/v1/webhooks/failures",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "listFailures",
        tags: ["Webhooks"],
        summary: "List dead-lettered deliveries",
        querystring: ListFailuresQuery,
        response: { 200: FailureList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "failures",
        await listFailures(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.post(
    "/v1/webhooks/replay",
    {
      config: { demand: "webhooks:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "replayDeliveries",
        tags: ["Webhooks"],
        summary: "Send dead-lettered deliveries again",
        description:
          "With the same delivery id and the same bytes. Without a filter all of them; the filters narrow together.",
        body: ReplayBody,
        response: { 200: Replay },
      },
    },
    async (request, reply) =>
      await replayDeliveries(contextFor(ctx, request.caller), callOf(request, reply), request.body),
  );
}

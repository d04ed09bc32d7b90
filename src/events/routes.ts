import { sendPage } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { listEvents } from "./list-events.ts";
import { EventList, ListEventsQuery } from "./schema.ts";

export function eventRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/events",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listEvents",
        tags: ["Events"],
        summary: "What happened on your desk, in order",
        querystring: ListEventsQuery,
        response: { 200: EventList },
      },
    },
    async (request, reply) =>
      sendPage(reply, "events", await listEvents(ctx, request.caller, request.query)),
  );
}

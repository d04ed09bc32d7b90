import { sendPage } from "../platform/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import type { Streams } from "../platform/sse.ts";
import { listEvents } from "./list-events.ts";
import { EventList, EventStream, ListEventsQuery, StreamEventsQuery } from "./schema.ts";
import { streamEvents } from "./stream-events.ts";
import { watchDesks } from "./watch-desks.ts";

const streamsPerKeyMax = 5;

export function eventRoutes(app: App, ctx: Context, streams: Streams): void {
  const watch = watchDesks(ctx.db);

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
      sendPage(
        reply,
        "events",
        await listEvents(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.get(
    "/v1/events/stream",
    {
      config: { demand: "orders:read", streams: true },
      schema: {
        operationId: "streamEvents",
        tags: ["Events"],
        summary: "What happens on your desk, as it happens",
        description: `Server-sent events on the same sequence. Come back with Last-Event-ID and nothing is missed. At most ${streamsPerKeyMax} streams a key; one more ends the oldest.`,
        querystring: StreamEventsQuery,
        response: { 200: EventStream },
      },
    },
    async (request, reply) =>
      await streamEvents({ ...contextFor(ctx, request.caller), watch }, request.caller, {
        lastEventId: request.headers["last-event-id"],
        afterSequence: request.query.after_sequence,
        open: () => streams.open(request, reply, { perKeyMax: streamsPerKeyMax }),
      }),
  );
}

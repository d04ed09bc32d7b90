import { type Context, contextFor } from "../platform/context.ts";
import { sendPage } from "../platform/http/calls.ts";
import { type LinesOptions, openLines } from "../platform/http/ndjson.ts";
import type { App } from "../platform/http/server.ts";
import type { Streams } from "../platform/http/sse.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { exportAudit, type ExportContext } from "./export-audit.ts";
import { listAudit, listAuditKeys } from "./read-audit.ts";
import { listEvents, streamEvents } from "./read-events.ts";
import {
  AuditExport,
  AuditKeys,
  AuditList,
  EventList,
  EventStream,
  ExportAuditQuery,
  ListAuditQuery,
  ListEventsQuery,
  StreamEventsHeaders,
  StreamEventsQuery,
} from "./schema.ts";
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
        description:
          "The desk's log, from `after_sequence` on. Sequences have no gap: keep the last one you handled, and you miss nothing. A sub_account key sees the events of its firm.",
        querystring: ListEventsQuery,
        response: { 200: EventList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "events",
        await readAtReplica(contextFor(ctx, request.caller), (reading) =>
          listEvents(reading, request.caller, request.query),
        ),
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
        description: `Server-sent events on the same sequence, after an id alone that says where it begins. Come back with Last-Event-ID and nothing is missed. At most ${streamsPerKeyMax} streams a key; one more ends the oldest.`,
        headers: StreamEventsHeaders,
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

const exportsPerKeyMax = 2;

export function auditRoutes(
  app: App,
  ctx: Context,
  {
    deadAmong,
    onCheckpoint,
  }: Pick<LinesOptions, "deadAmong"> & Pick<ExportContext, "onCheckpoint">,
): void {
  const lines = openLines({ perKeyMax: exportsPerKeyMax, deadAmong });

  app.get(
    "/v1/audit",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listAudit",
        tags: ["Audit"],
        summary: "Who changed what on your desk",
        description: "Everything that was committed before the call. Not for sub_account keys.",
        querystring: ListAuditQuery,
        response: { 200: AuditList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "audit",
        await readAtReplica(contextFor(ctx, request.caller), (reading) =>
          listAudit(reading, request.caller, request.query),
        ),
      ),
  );

  app.get(
    "/v1/audit/export",
    {
      config: { demand: "orders:read", streams: true },
      schema: {
        operationId: "exportAudit",
        tags: ["Audit"],
        summary: "Your desk's audit trail, to be verified without us",
        description: `Lines of JSON, in which each record or block of records has the hash of what is before; the last is a signed checkpoint. An export without one is not whole. At most ${exportsPerKeyMax} at a time a key; the next waits for its turn. Not for sub_account keys.`,
        querystring: ExportAuditQuery,
        response: { 200: AuditExport },
      },
    },
    async (request, reply) =>
      await lines.send(request, reply, () =>
        exportAudit(
          { ...contextFor(ctx, request.caller), onCheckpoint },
          request.caller,
          request.query,
        ),
      ),
  );

  app.get(
    "/v1/audit/keys",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "listAuditKeys",
        tags: ["Audit"],
        summary: "What exports are signed with",
        description: "The public keys that verify checkpoints of exports.",
        response: { 200: AuditKeys },
      },
    },
    async () => await listAuditKeys(ctx),
  );
}

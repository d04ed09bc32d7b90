import { sendPage } from "../platform/http/calls.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { exportAudit, type ExportContext } from "./export-audit.ts";
import { auditOfDesk, listAuditKeys } from "./read-audit.ts";
import { listEvents, readEvent, streamEvents } from "./read-events.ts";
import {
  AuditExport,
  AuditKeys,
  Event,
  EventList,
  EventParams,
  EventStream,
  ExportAuditQuery,
  ListEventsQuery,
  StreamEventsHeaders,
  StreamEventsQuery,
} from "./schema.ts";
import type { DeskWatch } from "./watch-desks.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring extends Pick<ExportContext, "onCheckpoint"> {
    readonly watch: DeskWatch;
  }
}

const streamsPerKeyMax = 5;
export const exportsPerKeyMax = 2;

const reading = { method: "GET", demand: "orders:read" } as const;

export const journalOperations: readonly Operation[] = [
  operation({
    id: "listEvents",
    path: "/v1/events",
    ...reading,
    tag: "Events",
    summary: "What happened on your desk, in order",
    description:
      "The desk's log, from `after_sequence` on and the oldest first, unless `order=desc`. Sequences have no gap: keep the last one you handled, and you miss nothing; `latest_sequence` is where the log ends. A sub_account key sees the events of its firm.",
    query: ListEventsQuery,
    answer: EventList,
    run: async ({ ctx, caller }, asked) =>
      await readAtReplica(ctx, (reading) => listEvents(reading, caller, asked)),
    send: (reply, { latest: latest_sequence, ...page }) =>
      sendPage(reply, "events", page, { latest_sequence }),
  }),
  operation({
    id: "readEvent",
    path: "/v1/events/:event_id",
    ...reading,
    tag: "Events",
    summary: "Read an event",
    description: "As it was delivered: the same bytes, whoever asks and whenever.",
    params: EventParams,
    answer: Event,
    run: async ({ ctx, caller }, { event_id }) => await readEvent(ctx, caller, event_id),
  }),
  operation({
    id: "streamEvents",
    path: "/v1/events/stream",
    ...reading,
    tag: "Events",
    summary: "What happens on your desk, as it happens",
    description: `Server-sent events on the same sequence, after an id alone that says where it begins. Come back with Last-Event-ID and nothing is missed. At most ${streamsPerKeyMax} streams a key; one more ends the oldest.`,
    config: { streams: true },
    headers: StreamEventsHeaders,
    query: StreamEventsQuery,
    answer: EventStream,
    run: ({ ctx, caller, wiring, openStream, lastEventId }, { after_sequence }) =>
      streamEvents({ ...ctx, watch: wiring.watch }, caller, {
        lastEventId,
        afterSequence: after_sequence,
        open: () => openStream({ perKeyMax: streamsPerKeyMax }),
      }),
  }),
  operation({
    id: "listAudit",
    path: "/v1/audit",
    ...reading,
    tag: "Audit",
    summary: "Who changed what on your desk",
    description: "Everything that was committed before the call. Not for sub_account keys.",
    list: auditOfDesk,
  }),
  operation({
    id: "exportAudit",
    path: "/v1/audit/export",
    ...reading,
    tag: "Audit",
    summary: "Your desk's audit trail, to be verified without us",
    description: `Lines of JSON, in which each record or block of records has the hash of what is before; the last is a signed checkpoint. An export without one is not whole. At most ${exportsPerKeyMax} at a time a key; the next waits for its turn. Not for sub_account keys.`,
    config: { streams: true },
    query: ExportAuditQuery,
    answer: AuditExport,
    run: ({ ctx, caller, wiring: { onCheckpoint }, sendLines }, query) =>
      sendLines(() => exportAudit({ ...ctx, onCheckpoint }, caller, query)),
  }),
  operation({
    id: "listAuditKeys",
    method: "GET",
    path: "/v1/audit/keys",
    demand: "any key",
    tag: "Audit",
    summary: "What exports are signed with",
    description: "The public keys that verify checkpoints of exports.",
    answer: AuditKeys,
    run: ({ ctx }) => listAuditKeys(ctx),
  }),
];

// Reads a desk's events: as a list, and as a stream on the same sequence.
//
//   backfill   from the caller's Last-Event-ID, page by page, as fast as the reader takes them
//   live       from the same position in the same log, when there is more
//
// No event is lost or repeated between the two: the log is the buffer, and the cursor is the last
// sequence sent. A reader that falls too far behind is cut and resumes with the last id it saw.

import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { idTime, isId } from "../kernel/ids.ts";
import { type Page, readPage, takeFrom } from "../kernel/page.ts";
import { parseQueryInstant } from "../kernel/query-time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { eventText, positionText, type Stream } from "../platform/http/sse.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { readEventHead } from "./event-rules.ts";
import { findLastSequence } from "./event-store.ts";
import {
  countEventsOfFirm,
  type EventSearch,
  listEventsAfter,
  listPieceMs,
  walkEvents,
} from "./find-events.ts";
import type { Event, ListEventsQuery } from "./schema.ts";
import type { DeskWatch } from "./watch-desks.ts";

/**
 * The desk's events, oldest first unless asked otherwise: how a caller catches up without a webhook. A
 * sub_account key gets those of its firm, under the numbers they have on the desk.
 */
export async function listEvents(
  ctx: Pick<Context, "db" | "cursorKey">,
  caller: Caller,
  { limit, cursor, after_sequence: from = 0, order = "asc", ...asked }: ListEventsQuery,
): Promise<EventPage> {
  const { environment } = caller;
  const { deskId, firmId } = visibleTo(caller);
  const filter: EventSearch = {
    firmId,
    event: asked.event ?? null,
    entityType: asked.entity_type ?? null,
    entityId: asked.entity_id ?? null,
    from: parseQueryInstant("from", asked.from),
    to: parseQueryInstant("to", asked.to),
  };
  const newestFirst = order === "desc";
  const isWhole = Object.keys(asked).length === 0;
  const latest = await findLastSequence(ctx.db, deskId);
  const walk = (place: number | undefined) => {
    const ends = newestFirst
      ? { after: from, before: place ?? latest + 1 }
      : { after: place ?? from, before: latest + 1 };
    return walkEvents(ctx.db.planned, { environment, desk_id: deskId }, filter, {
      ...ends,
      newestFirst,
    });
  };
  const count = async () => {
    if (!isWhole) return (await takeFrom(walk(undefined), Infinity)).length;
    if (firmId === null) return Math.max(0, latest - from);
    return await countEventsOfFirm(ctx.db, { deskId, firmId, after: from });
  };
  const question = {
    list: "events",
    desk: deskId,
    firm: firmId ?? undefined,
    after: String(from),
    ...(newestFirst && { order }),
    ...asked,
  };
  const page = await readPage(
    { query: { limit, cursor }, question, signingKey: ctx.cursorKey },
    {
      list: async ({ after, fetch }) => {
        const place = after && Number(after.id);
        if (newestFirst || !isWhole) return await takeFrom(walk(place), fetch);
        const range = { firmId, after: place ?? from, fetch };
        return await listEventsAfter(ctx.db.planned, deskId, range);
      },
      count,
      toPosition: ({ sequence }) => ({ at: new Date(0), id: String(sequence) }),
    },
  );
  const pace = openPace({ pieceMs: listPieceMs });
  const events = await mapPaced(page.rows, ({ body }) => JSON.parse(body) as Event, pace);
  return { ...page, rows: events, latest };
}

/** A page, and the desk's last sequence: where to begin with `after_sequence`. */
type EventPage = Page<Event> & { readonly latest: number };

/** An id tells when it was made, and a block was written within the same transaction. */
const aroundMs = 2_000;

export async function readEvent(ctx: Context, caller: Caller, eventId: string): Promise<Event> {
  if (!isId("evt", eventId)) throw notFound("event_id");
  const { environment } = caller;
  const { deskId, firmId } = visibleTo(caller);
  const madeMs = idTime(eventId).getTime();
  const [from, to] = [new Date(madeMs - aroundMs), new Date(madeMs + aroundMs)];
  const filter = { firmId, event: null, entityType: null, entityId: null, from, to };
  const whole = { after: 0, before: Number.MAX_SAFE_INTEGER, newestFirst: false };
  const desk = { environment, desk_id: deskId };
  for await (const found of walkEvents(ctx.db.planned, desk, filter, whole)) {
    if (found.event_id === eventId) return JSON.parse(found.body) as Event;
  }
  throw notFound("event_id");
}

/** The sequence of a desk's last event; 0 before the first. */
export async function readLastSequence(db: Db, deskId: string): Promise<number> {
  return await findLastSequence(db, deskId);
}

type StreamCommand = {
  readonly lastEventId: string | undefined;
  readonly afterSequence: number | undefined;
  readonly open: () => Stream;
};

const pageSize = 50;

/** Starts at the reader's Last-Event-ID, at a given sequence, or at the end of the log. */
export async function streamEvents(
  ctx: Context & { readonly watch: DeskWatch },
  caller: Caller,
  { lastEventId, afterSequence, open }: StreamCommand,
): Promise<void> {
  const { deskId, firmId } = visibleTo(caller);
  const last = await findLastSequence(ctx.db, deskId);
  const from = parseLastEventId(lastEventId) ?? afterSequence ?? last;
  const stream = open();
  const after = Math.min(from, last);
  sendEvents(ctx, stream, { deskId, firmId, after }).catch((error: unknown) => {
    ctx.log.warn({ err: error }, "a stream of events broke off");
    stream.cut();
  });
}

async function sendEvents(
  { db, watch }: Context & { readonly watch: DeskWatch },
  stream: Stream,
  { deskId, firmId, after }: { deskId: string; firmId: string | null; after: number },
): Promise<void> {
  let sent = after;
  stream.send(positionText(String(after)));
  while (!stream.ended.aborted) {
    const known = await watch.past(deskId, sent, stream.ended);
    const page = await listEventsAfter(db, deskId, { firmId, after: sent, fetch: pageSize });
    for (const { sequence, body } of page) {
      const { event } = readEventHead(body);
      stream.send(eventText({ id: String(sequence), event, data: body }));
      sent = sequence;
    }
    // `known` was committed before the page was read, so a short page reaches at least that far.
    if (page.length < pageSize) sent = Math.max(sent, known);
    await stream.drained();
  }
}

function parseLastEventId(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined) return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Failure("bad_request", "Last-Event-ID must be the id of an event of this stream", {
    detail: { field: "Last-Event-ID", problem: "a sequence" },
  });
}

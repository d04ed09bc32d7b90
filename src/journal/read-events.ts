// Reads a desk's events: as a list, and as a stream on the same sequence.
//
//   backfill   from the caller's Last-Event-ID, page by page, as fast as the reader takes them
//   live       from the same position in the same log, when there is more
//
// No event is lost or repeated between the two: the log is the buffer, and the cursor is the last
// sequence sent. A reader that falls too far behind is cut and resumes with the last id it saw.

import { Type } from "typebox";

import type { Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { type Page, type PageQuery, readPage } from "../kernel/page.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { eventText, positionText, type Stream } from "../platform/http/sse.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { readEventHead } from "./event-rules.ts";
import { findLastSequence } from "./event-store.ts";
import { countEventsOfFirm, listEventsAfter, listPieceMs } from "./find-events.ts";
import { Event } from "./schema.ts";
import type { DeskWatch } from "./watch-desks.ts";

/**
 * The desk's events after a sequence, oldest first: how a caller catches up without a webhook. A
 * sub_account key gets those of its firm, under the numbers they have on the desk.
 */
export const eventsOfDesk = deskPages({
  name: "events",
  query: {
    after_sequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Show events after this one; 0, the default, shows from the first.",
      }),
    ),
  },
  of: Event,
  order: "In the order of their sequence.",
  read: (ctx, caller, query) => readAtReplica(ctx, (reading) => readEvents(reading, caller, query)),
});

async function readEvents(
  ctx: Pick<Context, "db" | "cursorKey">,
  caller: Caller,
  { after_sequence: from = 0, ...query }: PageQuery & { readonly after_sequence?: number },
): Promise<Page<Event>> {
  const { deskId, firmId } = visibleTo(caller);
  const question = {
    list: "events",
    desk: deskId,
    firm: firmId ?? undefined,
    after: String(from),
  };
  const count = async () =>
    firmId === null
      ? Math.max(0, (await findLastSequence(ctx.db, deskId)) - from)
      : await countEventsOfFirm(ctx.db, { deskId, firmId, after: from });
  const page = await readPage(
    { query, question, signingKey: ctx.cursorKey },
    {
      list: (request) => {
        const after = request.after ? Number(request.after.id) : from;
        return listEventsAfter(ctx.db.planned, deskId, { firmId, after, fetch: request.fetch });
      },
      count,
      toPosition: ({ sequence }) => ({ at: new Date(0), id: String(sequence) }),
    },
  );
  const pace = openPace({ pieceMs: listPieceMs });
  const events = await mapPaced(page.rows, ({ body }) => JSON.parse(body) as Event, pace);
  return { ...page, rows: events };
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

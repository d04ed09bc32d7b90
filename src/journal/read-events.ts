// The desk's events as they happen, on the same sequence as the list and the webhooks.
//
//   backfill   from the caller's Last-Event-ID, page by page, as fast as the reader takes them
//   live       from the same place in the same log, when there is more
//
// There is no seam between the two to lose or repeat an event at: the log is the buffer, and the
// cursor is the last sequence that was sent. A reader that falls too far behind is cut; it comes back
// with the last id it saw.

import type { Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { eventText, type Stream } from "../platform/http/sse.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { countEventsOfFirm, findLastSequence, listEvents as listRows } from "./event-store.ts";
import type { Event, ListEventsQuery } from "./schema.ts";
import type { DeskWatch } from "./watch-desks.ts";

/**
 * The desk's events after a sequence, oldest first: how a caller catches up without a webhook. A
 * sub_account key gets those of its firm, under the numbers they have on the desk.
 */
export async function listEvents(
  ctx: Context,
  caller: Caller,
  query: ListEventsQuery,
): Promise<Page<Event>> {
  const from = query.after_sequence ?? 0;
  const { deskId, firmId } = visibleTo(caller);
  const question = {
    list: "events",
    desk: deskId,
    firm: firmId ?? undefined,
    after: String(from),
  };
  const request = openPage(query, question, ctx.cursorKey);
  const after = request.after ? Number(request.after.id) : from;
  const rows = await listRows(ctx.db.planned, deskId, { firmId, after, fetch: request.fetch });
  const total = async () =>
    firmId === null
      ? Math.max(0, (await findLastSequence(ctx.db, deskId)) - from)
      : await countEventsOfFirm(ctx.db, { deskId, firmId, after: from });
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, total),
    positionOf: ({ sequence }) => ({ at: new Date(0), id: String(sequence) }),
  });
  const events = await mapPaced(page.rows, ({ body }) => JSON.parse(body) as Event, openPace());
  return { ...page, rows: events };
}

/** The number of a desk's last event; 0 before there is one. */
export async function lastSequence(db: Db, deskId: string): Promise<number> {
  return await findLastSequence(db, deskId);
}

type StreamCommand = {
  readonly lastEventId: string | string[] | undefined;
  readonly afterSequence: number | undefined;
  readonly open: () => Stream;
};

const pageSize = 50;

/** From the last id the reader saw, from a sequence it names, or from now on. */
export async function streamEvents(
  ctx: Context & { readonly watch: DeskWatch },
  caller: Caller,
  { lastEventId, afterSequence, open }: StreamCommand,
): Promise<void> {
  const { deskId, firmId } = visibleTo(caller);
  const last = await findLastSequence(ctx.db, deskId);
  const from = sequenceOf(lastEventId) ?? afterSequence ?? last;
  const stream = open();
  follow(ctx, stream, { deskId, firmId, after: Math.min(from, last) })
    .catch((error: unknown) => ctx.log.warn({ err: error }, "a stream of events broke off"))
    .finally(() => stream.end());
}

async function follow(
  { db, watch }: Context & { readonly watch: DeskWatch },
  stream: Stream,
  { deskId, firmId, after }: { deskId: string; firmId: string | null; after: number },
): Promise<void> {
  let sent = after;
  while (!stream.ended.aborted) {
    const known = await watch.past(deskId, sent, stream.ended);
    const page = await listRows(db, deskId, { firmId, after: sent, fetch: pageSize });
    for (const { sequence, event, body } of page) {
      stream.send(eventText({ id: String(sequence), event, data: body }));
      sent = sequence;
    }
    // What is known was committed before the page was read, so a short page leaves nothing of it out.
    if (page.length < pageSize) sent = Math.max(sent, known);
    await stream.drained();
  }
}

function sequenceOf(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined) return undefined;
  const text = String(lastEventId);
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure("bad_request", "Last-Event-ID must be the id of an event of this stream", {
    detail: { field: "Last-Event-ID", problem: "a sequence" },
  });
}

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
import type { Context } from "../platform/context.ts";
import { eventText, type Stream } from "../platform/sse.ts";
import { findLastSequence, listEvents as listRows } from "./store.ts";
import type { DeskWatch } from "./watch-desks.ts";

export type StreamCommand = {
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
  const { deskId } = caller;
  const last = await findLastSequence(ctx.db, deskId);
  const from = sequenceOf(lastEventId) ?? afterSequence ?? last;
  const stream = open();
  const firmId = caller.kind === "sub_account" ? caller.firmId : null;
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

import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/pace.ts";
import type { Event, ListEventsQuery } from "./schema.ts";
import { countEventsOfFirm, findLastSequence, listEvents as listRows } from "./store.ts";

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
  const { deskId } = caller;
  const firmId = caller.kind === "sub_account" ? caller.firmId : null;
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

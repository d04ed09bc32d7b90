import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import { queryInstant } from "../kernel/query-instant.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { refuseSubAccount } from "./rules.ts";
import type { AuditEntry, ListAuditQuery } from "./schema.ts";
import { countTrail, findHead, listTrail, type TrailFilter, type TrailRow } from "./trail-store.ts";

/** Who changed what on the caller's desk, newest first. */
export async function listAudit(
  ctx: Context,
  caller: Caller,
  query: ListAuditQuery,
): Promise<Page<AuditEntry>> {
  refuseSubAccount(caller);
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const { environment, deskId } = caller;
  const desk = { environment, desk_id: deskId };
  const question = { list: "audit", desk: deskId, ...filters };
  const request = openPage(query, question, ctx.cursorKey);
  const filter = filterOf(query);
  const before = request.after ? Number(request.after.id) : null;
  const { planned } = ctx.db;
  const rows = await listTrail(planned, desk, filter, { before, fetch: request.fetch });
  // A chain has no gap: unfiltered, its last number is how many there are.
  const total = async () =>
    Object.values(filters).every((value) => value === undefined)
      ? (await findHead(ctx.db, desk)).seq
      : await countTrail(planned, desk, filter);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, total),
    positionOf: ({ seq }) => ({ at: new Date(0), id: String(seq) }),
  });
  return { ...page, rows: page.rows.map(viewOf) };
}

function filterOf(query: ListAuditQuery): TrailFilter {
  return {
    entityType: query.entity_type ?? null,
    entityId: query.entity_id ?? null,
    actor: query.actor ?? null,
    action: query.action ?? null,
    from: queryInstant("from", query.from),
    to: queryInstant("to", query.to),
  };
}

function viewOf({ at, at_text: _text, desk_id: _desk, ...row }: TrailRow): AuditEntry {
  return { ...row, at: istTimestamp(at) };
}

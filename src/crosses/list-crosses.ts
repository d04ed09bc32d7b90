import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import { countCrosses, type CrossFilter, listCrosses as listRows } from "./read-store.ts";
import type { Cross, ListCrossesQuery } from "./schema.ts";
import { viewCrosses } from "./view-cross.ts";

export async function listCrosses(
  ctx: Context,
  caller: Caller,
  query: ListCrossesQuery,
): Promise<Page<Cross>> {
  const party = holderOf(caller);
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = filterOf(party.firmId, query);
  const question = { list: "crosses", desk: party.deskId, firm: party.firmId ?? "", ...filters };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db.planned, party, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countCrosses(ctx.db.planned, party, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.cross_id }),
  });
  return { ...page, rows: await viewCrosses(ctx.db, page.rows, party) };
}

/** A key that is bound to one firm sees that firm's sides, whatever it asks for. */
function filterOf(bound: string | null, query: ListCrossesQuery): CrossFilter {
  const isForeign = bound !== null && query.firm_id !== undefined && query.firm_id !== bound;
  return {
    status: query.status ?? null,
    kind: query.kind ?? null,
    // No firm has an empty id: a question about another firm finds nothing.
    firmId: isForeign ? "" : (bound ?? query.firm_id ?? null),
    nettingRef: query.netting_ref ?? null,
  };
}

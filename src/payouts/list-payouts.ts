import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import { queryInstant } from "../kernel/query-instant.ts";
import type { Context } from "../platform/context.ts";
import type { ListPayoutsQuery, Payout } from "./schema.ts";
import { countPayouts, listLines, listPayouts as listRows, type PayoutFilter } from "./store.ts";
import { viewPayout } from "./view-payout.ts";

export async function listPayouts(
  ctx: Context,
  caller: Caller,
  query: ListPayoutsQuery,
): Promise<Page<Payout>> {
  const { deskId, firmId } = holderOf(caller);
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = filterOf(firmId, query);
  const question = { list: "payouts", desk: deskId, firm: firmId ?? "", ...filters };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db.planned, deskId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countPayouts(ctx.db.planned, deskId, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.payout_id }),
  });
  const lines = await listLines(
    ctx.db,
    page.rows.map((row) => row.payout_id),
  );
  const linesById = Map.groupBy(lines, (line) => line.payout_id);
  return {
    ...page,
    rows: page.rows.map((row) => viewPayout(row, linesById.get(row.payout_id) ?? [])),
  };
}

/** A key that is bound to one firm sees that firm's payouts, whatever it asks for. */
function filterOf(bound: string | null, query: ListPayoutsQuery): PayoutFilter {
  const isForeign = bound !== null && query.firm_id !== undefined && query.firm_id !== bound;
  return {
    status: query.status ?? null,
    kind: query.kind ?? null,
    // No firm has an empty id: a question about another firm finds nothing.
    firmId: isForeign ? "" : (bound ?? query.firm_id ?? null),
    orderId: query.order_id ?? null,
    settlementId: query.settlement_id ?? null,
    from: queryInstant("from", query.from),
    to: queryInstant("to", query.to),
  };
}

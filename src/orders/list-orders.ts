import { boundFirm } from "../firms/doer.ts";
import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import { queryInstant } from "../kernel/query-instant.ts";
import type { Context } from "../platform/context.ts";
import { orderStandings } from "../settlement/order-standings.ts";
import type { ListOrdersQuery, Order } from "./schema.ts";
import { countOrders, listOrders as listRows, type OrderFilter } from "./store.ts";
import { viewOrder, viewSettled } from "./view-order.ts";

export async function listOrders(
  ctx: Context,
  caller: Caller,
  query: ListOrdersQuery,
): Promise<Page<Order>> {
  const { deskId } = caller;
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = filterOf(caller, query);
  const question = { list: "orders", desk: deskId, firm: boundFirm(caller) ?? "", ...filters };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db.planned, deskId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countOrders(ctx.db.planned, deskId, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.order_id }),
  });
  const standings = await orderStandings(ctx.db, page.rows);
  return {
    ...page,
    rows: page.rows.map((row) => viewOrder(row, viewSettled(row, standings.get(row.order_id)))),
  };
}

/** A key that is bound to one firm sees that firm's orders, whatever it asks for. */
function filterOf(caller: Caller, query: ListOrdersQuery): OrderFilter {
  const bound = boundFirm(caller);
  const foreign = bound !== null && query.firm_id !== undefined && query.firm_id !== bound;
  return {
    status: query.status ?? null,
    side: query.side ?? null,
    scheme: query.scheme ?? null,
    // No firm has an empty id: a question about another firm finds nothing.
    firmId: foreign ? "" : (bound ?? query.firm_id ?? null),
    clientRef: query.client_ref ?? null,
    idempotencyKey: query.idempotency_key ?? null,
    from: queryInstant("from", query.from),
    to: queryInstant("to", query.to),
  };
}

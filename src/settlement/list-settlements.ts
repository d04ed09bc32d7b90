import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { closePage, openPage, type Page, totalOf } from "../kernel/page.ts";
import { queryInstant } from "../kernel/query-instant.ts";
import type { Context } from "../platform/context.ts";
import {
  countSettlements,
  listSettlements as listRows,
  type SettlementFilter,
} from "./read-store.ts";
import type { ListSettlementsQuery, Settlement } from "./schema.ts";
import { listLegs } from "./store.ts";
import { viewSettlement } from "./view-settlement.ts";

export async function listSettlements(
  ctx: Context,
  caller: Caller,
  query: ListSettlementsQuery,
): Promise<Page<Settlement>> {
  const party = holderOf(caller);
  const { deskId } = party;
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const filter = filterOf(party.firmId, query);
  const question = { list: "settlements", desk: deskId, firm: party.firmId ?? "", ...filters };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listRows(ctx.db.planned, deskId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await totalOf(request, () => countSettlements(ctx.db.planned, deskId, filter)),
    positionOf: (row) => ({ at: row.created_at, id: row.settlement_id }),
  });
  const legs = await listLegs(
    ctx.db,
    page.rows.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return {
    ...page,
    rows: page.rows.map((row) => viewSettlement(row, legsById.get(row.settlement_id) ?? [], party)),
  };
}

/** A key that is bound to one firm sees that firm's sides, whatever it asks for. */
function filterOf(bound: string | null, query: ListSettlementsQuery): SettlementFilter {
  const isForeign = bound !== null && query.firm_id !== undefined && query.firm_id !== bound;
  return {
    status: query.status ?? null,
    // No firm has an empty id: a question about another firm finds nothing.
    firmId: isForeign ? "" : (bound ?? query.firm_id ?? null),
    boundFirmId: bound,
    orderId: query.order_id ?? null,
    from: queryInstant("from", query.from),
    to: queryInstant("to", query.to),
  };
}

import type { Caller } from "../kernel/caller.ts";
import type { Page } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import type { ListFile } from "../platform/http/documents.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { listAsFile } from "../platform/sheets/list-file.ts";
import type { TableColumn, TableRow } from "../platform/sheets/table.ts";
import { readOrderPage } from "./read-orders.ts";
import type { ListOrdersQuery, Order } from "./schema.ts";

/** The desk's orders, newest first, as JSON or as a file. */
export async function listOrders(
  ctx: Context,
  caller: Caller,
  { format = "json", gone, ...query }: ListOrdersQuery & { readonly gone: AbortSignal },
): Promise<Page<Order> | ListFile> {
  if (format === "json") return await readOrderPage(ctx, caller, query);
  const list = (page: object) =>
    readAtReplica(ctx, (reading) => readOrderPage(reading, caller, { ...query, ...page }));
  const table = { sheet: "Orders", title: "Orders", columns, toRows };
  const listing = { query, list, table, format, name: "orders", dated: ctx.now() };
  return await listAsFile(ctx.heavy, listing, { by: caller, signal: gone });
}

const columns: readonly TableColumn[] = [
  { name: "order_id", kind: "text", width: 34 },
  { name: "client_ref", kind: "text" },
  { name: "firm_id", kind: "text", width: 34 },
  { name: "side", kind: "text", width: 7 },
  { name: "scheme", kind: "text", width: 9 },
  { name: "scrip_nos", kind: "text", width: 24 },
  { name: "face_rupees", kind: "money" },
  { name: "requirement_rupees", kind: "money" },
  { name: "covered_rupees", kind: "money" },
  { name: "residual_rupees", kind: "money" },
  { name: "price_percent", kind: "percent" },
  { name: "limit_percent", kind: "percent" },
  { name: "all_in_rupees", kind: "money" },
  { name: "savings_rupees", kind: "money" },
  { name: "settled_rupees", kind: "money" },
  { name: "time_in_force", kind: "text", width: 13 },
  { name: "expires_at", kind: "time" },
  { name: "quote_ref", kind: "text", width: 34 },
  { name: "status", kind: "text", width: 12 },
  { name: "settlement_ids", kind: "text", width: 34 },
  { name: "settlement_status", kind: "text" },
  { name: "created_at", kind: "time" },
  { name: "updated_at", kind: "time" },
];

function toRows(order: Order): TableRow[] {
  const row = [
    order.order_id,
    order.client_ref,
    order.firm_id,
    order.side,
    order.scheme,
    order.scrip_nos.join(" "),
    order.face_paise ?? null,
    order.requirement_paise ?? null,
    order.covered_paise,
    order.residual_paise,
    order.price_bps,
    order.limit_bps,
    order.all_in_paise,
    order.savings_paise,
    order.settled_paise,
    order.time_in_force,
    order.expires_at,
    order.quote_ref,
    order.status,
    order.settlement_ids.join(" "),
    order.settlement_status,
    order.created_at,
    order.updated_at,
  ];
  return [row];
}

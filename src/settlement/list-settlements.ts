import type { Caller } from "../kernel/caller.ts";
import type { Page } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import type { ListFile } from "../platform/http/documents.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { listAsFile } from "../platform/sheets/list-file.ts";
import type { TableColumn, TableRow } from "../platform/sheets/table.ts";
import { readSettlementPage } from "./read-settlements.ts";
import type { ListSettlementsQuery, Settlement } from "./schema.ts";

/** The desk's settlements, newest first, as JSON or as a file with a row for each credit. */
export async function listSettlements(
  ctx: Context,
  caller: Caller,
  { format = "json", gone, ...query }: ListSettlementsQuery & { readonly gone: AbortSignal },
): Promise<Page<Settlement> | ListFile> {
  if (format === "json") return await readSettlementPage(ctx, caller, query);
  const list = (page: object) =>
    readAtReplica(ctx, (reading) => readSettlementPage(reading, caller, { ...query, ...page }));
  const table = { sheet: "Settlements", title: "Settlements", columns, toRows };
  const listing = { query, list, table, format, name: "settlements", dated: ctx.now() };
  return await listAsFile(ctx.heavy, listing, { by: caller, signal: gone });
}

const columns: readonly TableColumn[] = [
  { name: "settlement_id", kind: "text", width: 34 },
  { name: "cross_id", kind: "text" },
  { name: "scheme", kind: "text", width: 9 },
  { name: "side", kind: "text", width: 7 },
  { name: "firm_id", kind: "text", width: 34 },
  { name: "status", kind: "text" },
  { name: "order_id", kind: "text", width: 34 },
  { name: "scrip_no", kind: "text", width: 24 },
  { name: "face_rupees", kind: "money" },
  { name: "price_percent", kind: "percent" },
  { name: "all_in_rupees", kind: "money" },
  { name: "credit_status", kind: "text", width: 14 },
  { name: "reason", kind: "text" },
  { name: "waiting_on", kind: "text", width: 12 },
  { name: "due_at", kind: "time" },
  { name: "created_at", kind: "time" },
  { name: "updated_at", kind: "time" },
];

function toRows({ sides, ...settlement }: Settlement): TableRow[] {
  return sides.flatMap(({ legs, ...side }) =>
    legs.map((leg) => [
      settlement.settlement_id,
      settlement.cross_id,
      settlement.scheme,
      side.side,
      side.firm_id,
      side.status,
      leg.order_id,
      leg.scrip_no,
      leg.face_paise,
      leg.price_bps,
      leg.all_in_paise,
      leg.status,
      leg.reason ?? settlement.reason,
      settlement.waiting_on,
      settlement.due_at,
      settlement.created_at,
      settlement.updated_at,
    ]),
  );
}

import type { Caller } from "../kernel/caller.ts";
import type { Page } from "../kernel/page.ts";
import type { Context } from "../platform/context.ts";
import type { ListFile } from "../platform/http/documents.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { listAsFile } from "../platform/sheets/list-file.ts";
import type { TableColumn, TableRow } from "../platform/sheets/table.ts";
import { readPayoutPage } from "./read-payouts.ts";
import type { ListPayoutsQuery, Payout } from "./schema.ts";

/** The desk's payouts, newest first, as JSON or as a file. */
export async function listPayouts(
  ctx: Context,
  caller: Caller,
  { format = "json", gone, ...query }: ListPayoutsQuery & { readonly gone: AbortSignal },
): Promise<Page<Payout> | ListFile> {
  if (format === "json") return await readPayoutPage(ctx, caller, query);
  const list = (page: object) =>
    readAtReplica(ctx, (reading) => readPayoutPage(reading, caller, { ...query, ...page }));
  const table = { sheet: "Payouts", title: "Payouts", columns, toRows };
  const listing = { query, list, table, format, name: "payouts", dated: ctx.now() };
  return await listAsFile(ctx.heavy, listing, { by: caller, signal: gone });
}

const columns: readonly TableColumn[] = [
  { name: "payout_id", kind: "text", width: 34 },
  { name: "firm_id", kind: "text", width: 34 },
  { name: "kind", kind: "text", width: 12 },
  { name: "settlement_id", kind: "text", width: 34 },
  { name: "resend_of", kind: "text" },
  { name: "amount_rupees", kind: "money" },
  { name: "rail", kind: "text", width: 8 },
  { name: "utr", kind: "text", width: 26 },
  { name: "remittance_payout_id", kind: "text", width: 34 },
  { name: "remittance_rupees", kind: "money" },
  { name: "ifsc", kind: "text", width: 14 },
  { name: "account_no_masked", kind: "text" },
  { name: "status", kind: "text", width: 12 },
  { name: "reason", kind: "text" },
  { name: "held_until", kind: "time" },
  { name: "order_ids", kind: "text", width: 34 },
  { name: "scrip_nos", kind: "text", width: 24 },
  { name: "created_at", kind: "time" },
  { name: "updated_at", kind: "time" },
];

function toRows({ lines, bank, remittance, ...payout }: Payout): TableRow[] {
  const dealIds = lines.flatMap(({ order_id, cross_id }) => order_id ?? cross_id ?? []);
  const row = [
    payout.payout_id,
    payout.firm_id,
    payout.kind,
    payout.settlement_id,
    payout.resend_of,
    payout.amount_paise,
    payout.rail,
    payout.utr,
    remittance?.payout_id ?? null,
    remittance?.amount_paise ?? null,
    bank?.ifsc ?? null,
    bank?.account_no_masked ?? null,
    payout.status,
    payout.reason,
    payout.held_until,
    [...new Set(dealIds)].join(" "),
    lines.map(({ scrip_no }) => scrip_no).join(" "),
    payout.created_at,
    payout.updated_at,
  ];
  return [row];
}

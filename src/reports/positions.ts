import { readLastSequence } from "../journal/read-events.ts";
import { requireVisibleFirm } from "../firms/find-firms.ts";
import type { Caller } from "../kernel/caller.ts";
import { addDays, istDay, istDayStart, istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import { readBalances } from "../ledger/read-books.ts";
import type { Context } from "../platform/context.ts";
import type { Document } from "../platform/http/documents.ts";
import { formatTable } from "../platform/sheets/format-table.ts";
import type { TableColumn, TableRow } from "../platform/sheets/table.ts";
import { sumCash, sumHeld } from "./position-rules.ts";
import type {
  Earnings,
  EarningsQuery,
  Grouping,
  Positions,
  PositionsQuery,
} from "./position-schema.ts";
import { type EarningRow, listEarnings, listFirmIds, sumCredits } from "./store.ts";
import { findCommissionRates } from "../settlement/commissions.ts";
import { entriesPerLeg } from "../settlement/commission-rules.ts";
import { refuseDays } from "../kernel/query-time.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { sumPaise } from "../kernel/money.ts";

/** The positions as JSON or as a file. */
export async function readPositions(
  ctx: Context,
  caller: Caller,
  { format = "json", gone, ...query }: PositionsQuery & { readonly gone: AbortSignal },
): Promise<Document<Positions>> {
  const now = ctx.now();
  const positions = await sumPositions(ctx, caller, { ...query, now });
  if (format === "json") return positions;
  const table = { sheet: "Positions", title: "Positions", columns, rows: toRows(positions) };
  const file = { format, name: `positions-${istDay(now)}`, dated: now };
  return await formatTable(ctx.heavy, table, { ...file, by: caller, signal: gone });
}

/** Reads credits, cash and version in one snapshot, so that they agree. */
async function sumPositions(
  ctx: Context,
  caller: Caller,
  { now, ...query }: Pick<PositionsQuery, "firm_id"> & { readonly now: Date },
): Promise<Positions> {
  const { deskId, environment } = caller;
  return await ctx.db.transaction(
    async (tx) => {
      const firmId = query.firm_id ?? visibleTo(caller).firmId;
      if (firmId !== null) await requireVisibleFirm(tx, caller, firmId);
      const holder = { deskId, firmId };
      const held = await sumCredits(tx, holder, istDay(now));
      const balances = await readBalances(tx, environment, await listFirmIds(tx, holder));
      return {
        firm_id: firmId,
        schemes: held.map((sums) => ({ ...sums, held_paise: sumHeld(sums) })),
        cash: sumCash(balances),
        as_of: istTimestamp(now),
        version: await readLastSequence(tx, deskId),
      };
    },
    { snapshot: true },
  );
}

const columns: readonly TableColumn[] = [
  { name: "as_of", kind: "time" },
  { name: "firm_id", kind: "text", width: 34 },
  { name: "what", kind: "text", width: 9 },
  { name: "scheme", kind: "text", width: 9 },
  { name: "count", kind: "count" },
  { name: "held_rupees", kind: "money" },
  { name: "available_rupees", kind: "money" },
  { name: "reserved_rupees", kind: "money" },
  { name: "in_settlement_rupees", kind: "money", width: 21 },
  { name: "expiring_30_rupees", kind: "money" },
  { name: "expiring_60_rupees", kind: "money" },
  { name: "expiring_90_rupees", kind: "money" },
  { name: "escrow_rupees", kind: "money" },
  { name: "pending_in_rupees", kind: "money" },
  { name: "pending_out_rupees", kind: "money" },
  { name: "dues_rupees", kind: "money" },
  { name: "shown_by_customs_rupees", kind: "money", width: 24 },
  { name: "shown_from", kind: "text", width: 12 },
];

function toRows({ as_of, firm_id, schemes, cash }: Positions): TableRow[] {
  const credits = schemes.map((held) => [
    as_of,
    firm_id,
    "credits",
    held.scheme,
    held.count,
    held.held_paise,
    held.available_paise,
    held.reserved_paise,
    held.in_settlement_paise,
    held.expiring_30_paise,
    held.expiring_60_paise,
    held.expiring_90_paise,
    null,
    null,
    null,
    null,
    held.shown_by_customs_paise,
    held.shown_from,
  ]);
  const money = [
    as_of,
    firm_id,
    "cash",
    null,
    null,
    null,
    cash.available_paise,
    null,
    null,
    null,
    null,
    null,
    cash.escrow_paise,
    cash.pending_in_paise,
    cash.pending_out_paise,
    cash.dues_paise,
    null,
    null,
  ];
  return [...credits, money];
}

const daysMax = 366;

/** Summed from the commission entries in the books, so that it agrees with the desk's statement. */
export async function readEarnings(
  ctx: Context,
  caller: Caller,
  { by = "day", ...query }: EarningsQuery,
): Promise<Earnings> {
  refuseSubAccount(visibleTo(caller), "read the desk's earnings");
  const to = query.to ?? istDay(ctx.now());
  const from = query.from ?? `${to.slice(0, 7)}-01`;
  refuseDays({ from, to }, daysMax);
  const { deskId, environment } = caller;
  const span = { from: istDayStart(from), to: istDayStart(addDays(to, 1)) };
  return await ctx.db.transaction(
    async (tx) => {
      const desk = { deskId, environment };
      const rows = await listEarnings(tx, desk, { by, ...span, entriesPerLeg });
      const rates = await tx.run(findCommissionRates([deskId]));
      const [balance] = await readBalances(tx, environment, [deskId]);
      return {
        by,
        from,
        to,
        earnings: rows.map((row) => viewEarning(by, row)),
        commission_paise: sumPaise(rows.map((row) => row.commission_paise)),
        commission_bps: rates.get(deskId) ?? 0,
        balance_paise: balance?.commission_paise ?? 0,
        version: balance?.version ?? 0,
        allowed_actions: [],
      };
    },
    { snapshot: true },
  );
}

function viewEarning(by: Grouping, { earned_by, ...sums }: EarningRow) {
  switch (by) {
    case "day":
      return { day: earned_by, ...sums };
    case "firm":
      return { firm_id: earned_by, ...sums };
    case "scheme":
      return { scheme: earned_by as Scheme, ...sums }; // The scheme column of legs.
  }
}

import { maskAccountNo } from "../kernel/identifiers.ts";
import { type Caller, environments } from "../kernel/caller.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { notFound } from "../kernel/failure.ts";
import { firstId, isId } from "../kernel/ids.ts";
import { allowedActions, listActs, readSteps, type Step } from "../kernel/lifecycle.ts";
import { type Leaf, readLeaf } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { deskListing } from "../platform/sheets/list-file.ts";
import {
  noPayout,
  type PayoutAct,
  payoutActs,
  type PayoutKind,
  payoutLifecycle,
  type PayoutState,
} from "./rules.ts";
import { type DepositRow, depositList, listReversals, type ReversalRow } from "./deposit-store.ts";
import { Deposit, Payout } from "./schema.ts";
import {
  findPayout,
  listAllPayoutRows,
  listLines,
  listPayoutsById,
  payoutList,
  type PayoutLineRow,
  type PayoutRow,
} from "./store.ts";

export async function readPayout(
  ctx: Pick<Context, "db">,
  caller: Caller,
  payoutId: string,
): Promise<Payout> {
  const row = isId("pay", payoutId)
    ? await findPayout(ctx.db, visibleTo(caller), payoutId)
    : undefined;
  if (!row) throw notFound("payout_id");
  return viewPayout(row, await listLines(ctx.db, [payoutId]));
}

/** The desk's deposits, newest first, as JSON or as a file. */
export const depositsOfDesk = deskListing(depositList, {
  of: Deposit,
  order: "Newest first.",
  title: "Deposits",
  view: viewDeposits,
  columns: [
    { name: "reference", kind: "text", width: 26 },
    { name: "firm_id", kind: "text", width: 34 },
    { name: "amount_rupees", kind: "money" },
    { name: "settlement_id", kind: "text", width: 34 },
    { name: "status", kind: "text", width: 12 },
    { name: "reason", kind: "text" },
    { name: "received_at", kind: "time" },
    { name: "returned_at", kind: "time" },
  ],
});

/** Those of one firm for the operator, newest first. */
export async function listDepositsOfFirm(
  ctx: Pick<Context, "db">,
  firm: { readonly deskId: string; readonly firmId: string },
  fetch: number,
): Promise<Deposit[]> {
  const place = { after: undefined, fetch };
  return await viewDeposits(ctx, await depositList.rows(ctx.db.planned, firm, {}, place));
}

async function viewDeposits(
  { db }: Pick<Context, "db">,
  rows: readonly DepositRow[],
): Promise<Deposit[]> {
  const [first] = rows;
  if (!first) return [];
  const references = rows.map(({ reference }) => reference);
  const reversals = new Map(
    (await listReversals(db, first.environment, references)).map((row) => [row.reference, row]),
  );
  return rows.map((row) => {
    const reversal = reversals.get(row.reference);
    return {
      firm_id: row.firm_id,
      ...toDepositFacts(row, reversal),
      reason: reversal?.reason ?? null,
    };
  });
}

/** The fields that events and views of a deposit share: not the reason, which is an operator's words. */
export function toDepositFacts(
  { reference, paise, settlement_id, at }: DepositRow,
  reversal?: Pick<ReversalRow, "at">,
) {
  return {
    reference,
    amount_paise: paise,
    settlement_id,
    status: reversal ? ("returned" as const) : ("received" as const),
    received_at: istTimestamp(at),
    returned_at: reversal ? istTimestamp(reversal.at) : null,
  };
}

/** The desk's payouts, newest first, as JSON or as a file. */
export const payoutsOfDesk = deskListing(payoutList, {
  of: Payout,
  order: "Newest first.",
  title: "Payouts",
  view: viewPayouts,
  columns: [
    { name: "payout_id", kind: "text", width: 34 },
    { name: "firm_id", kind: "text", width: 34 },
    { name: "kind", kind: "text", width: 12 },
    { name: "settlement_id", kind: "text", width: 34 },
    { name: "resend_of", kind: "text" },
    { name: "amount_rupees", kind: "money" },
    { name: "set_off_rupees", kind: "money" },
    { name: "rail", kind: "text", width: 8 },
    { name: "utr", kind: "text", width: 26 },
    {
      name: "remittance_payout_id",
      kind: "text",
      width: 34,
      cell: ({ remittance }) => remittance?.payout_id,
    },
    {
      name: "remittance_rupees",
      kind: "money",
      cell: ({ remittance }) => remittance?.amount_paise,
    },
    { name: "ifsc", kind: "text", width: 14, cell: ({ bank }) => bank?.ifsc },
    { name: "account_no_masked", kind: "text", cell: ({ bank }) => bank?.account_no_masked },
    { name: "status", kind: "text", width: 12 },
    { name: "reason", kind: "text" },
    { name: "held_until", kind: "time" },
    { name: "order_ids", kind: "text", width: 34, cell: (payout) => listDealIds(payout).join(" ") },
    {
      name: "scrip_nos",
      kind: "text",
      width: 24,
      cell: ({ lines }) => lines.map(({ scrip_no }) => scrip_no).join(" "),
    },
    { name: "created_at", kind: "time" },
    { name: "updated_at", kind: "time" },
  ],
});

async function viewPayouts(ctx: Context, rows: readonly PayoutRow[]): Promise<Payout[]> {
  const lines = await listLines(
    ctx.db.planned,
    rows.map((row) => row.payout_id),
  );
  const linesById = Map.groupBy(lines, (line) => line.payout_id);
  const view = (row: PayoutRow) => viewPayout(row, linesById.get(row.payout_id) ?? []);
  return await mapPaced(rows, view, openPace());
}

/** The orders and crosses that a payout's money comes from. */
function listDealIds({ lines }: Payout): string[] {
  return [...new Set(lines.flatMap(({ order_id, cross_id }) => order_id ?? cross_id ?? []))];
}

type PayoutNarrower = {
  readonly status: PayoutState;
  readonly order_id: string;
  readonly settlement_id: string;
};

/** The operator sees the id of the order or cross only. */
type ShownPayoutLine = Omit<PayoutLineRow, "origin_kind">;

/** A payout with its lines, as the operator sees it. */
export type WholePayout = Omit<PayoutRow, "history"> & {
  readonly history: readonly Step<PayoutState>[];
  readonly lines: readonly ShownPayoutLine[];
  readonly allowed_actions: readonly PayoutAct[];
};

/** Payouts of every desk, or of one, newest first, for the operator. */
export async function listAllPayouts(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: ListSearch<PayoutNarrower>,
): Promise<Leaf<WholePayout>> {
  const { environment, deskId, firmId, from, to } = search;
  const { status = null, order_id: orderId = null, settlement_id: settlementId = null } = search;
  const page = await readLeaf<PayoutRow>(ctx, ["payouts", "payout_id"], search, async (request) => {
    if (deskId === null || (firmId !== null && orderId === null)) {
      const fromId = from && firstId("pay", from);
      const toId = to && firstId("pay", to);
      const ofAll = { environment, status, firmId, settlementId, fromId, toId };
      return await listOfDesks(ctx.db.planned, ofAll, request);
    }
    const ofDesk = { status, order_id: orderId, settlement_id: settlementId, from, to };
    return await payoutList.rows(ctx.db.planned, { deskId, firmId }, ofDesk, request);
  });
  return { ...page, rows: await addLines(ctx.db, page.rows) };
}

/** Those that wait are found by an index that begins with the environment. */
const waiting: readonly (PayoutState | null)[] = ["scheduled", "held", "returned"];

async function listOfDesks(
  db: Db,
  filter: Parameters<typeof listAllPayoutRows>[1],
  request: Parameters<typeof listAllPayoutRows>[2],
): Promise<PayoutRow[]> {
  if (filter.environment !== null || !waiting.includes(filter.status)) {
    return await listAllPayoutRows(db, filter, request);
  }
  const each = await Promise.all(
    environments.map((environment) => listAllPayoutRows(db, { ...filter, environment }, request)),
  );
  const newestFirst = each.flat().toSorted((a, b) => (a.payout_id < b.payout_id ? 1 : -1));
  return newestFirst.slice(0, request.fetch);
}

export async function readAnyPayout(db: Db, payoutId: string): Promise<WholePayout> {
  const [payout] = await addLines(db, await listPayoutsById(db, [payoutId]));
  if (!payout) throw noPayout(payoutId);
  return payout;
}

async function addLines(db: Db, rows: readonly PayoutRow[]): Promise<WholePayout[]> {
  const lines = await listLines(
    db,
    rows.map((row) => row.payout_id),
  );
  const shown = lines.map(({ origin_kind: _kind, ...line }) => line);
  const linesById = Map.groupBy(shown, (line) => line.payout_id);
  return rows.map((row) => ({
    ...row,
    history: readSteps(row.history),
    lines: linesById.get(row.payout_id) ?? [],
    allowed_actions: listActs<PayoutAct, PayoutState>(payoutActs, row.state),
  }));
}

/** The fields that events and views of a payout share. */
export function toPayoutFacts(row: PayoutRow) {
  return {
    kind: row.kind,
    settlement_id: row.settlement_id,
    resend_of: row.resend_of,
    amount_paise: row.paise,
    set_off_paise: row.set_off_paise,
    rail: row.rail,
    remittance:
      row.remitted_with === null
        ? null
        : { payout_id: row.remitted_with, amount_paise: row.remitted_paise ?? row.paise },
    utr: row.utr,
    status: row.state,
    reason: row.reason,
  };
}

export function viewPayout(row: PayoutRow, lines: readonly PayoutLineRow[]): Payout {
  const { ifsc, last4 } = row;
  const isKnown = ifsc !== null && last4 !== null;
  return {
    payout_id: row.payout_id,
    firm_id: row.firm_id,
    ...toPayoutFacts(row),
    bank: isKnown ? { ifsc, account_no_masked: maskAccountNo(last4) } : null,
    held_until: row.held_until && istTimestamp(row.held_until),
    lines: lines.map(viewLine),
    history: readSteps(row.history),
    version: row.version,
    allowed_actions: allowedActions(payoutLifecycle, row.state),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** A payout with the orders that its money comes from. */
export type ExplainedPayout = {
  readonly payout_id: string;
  readonly kind: PayoutKind;
  /** Null for a withdrawal. */
  readonly settlement_id: string | null;
  readonly paise: number;
  /** The order or cross that sold each credit; a withdrawal has none. */
  readonly lines: readonly {
    readonly order_id: string;
    readonly scrip_no: string;
    readonly paise: number;
  }[];
};

/** By payout. */
export async function explainPayouts(
  db: Db,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, ExplainedPayout>> {
  if (payoutIds.length === 0) return new Map();
  const rows = await listPayoutsById(db, payoutIds);
  const lines = Map.groupBy(await listLines(db, payoutIds), ({ payout_id }) => payout_id);
  return new Map(
    rows.map(({ payout_id, kind, settlement_id, paise }) => [
      payout_id,
      {
        payout_id,
        kind,
        settlement_id,
        paise,
        lines: (lines.get(payout_id) ?? []).map(({ order_id, scrip_no, paise: part }) => ({
          order_id,
          scrip_no,
          paise: part,
        })),
      },
    ]),
  );
}

/** The seller's order or cross, each in a field of its own. */
function viewLine(line: PayoutLineRow): Payout["lines"][number] {
  const { order_id, origin_kind, scrip_no, paise } = line;
  const isCross = origin_kind === "cross";
  return {
    order_id: isCross ? null : order_id,
    cross_id: isCross ? order_id : null,
    scrip_no,
    amount_paise: paise,
  };
}

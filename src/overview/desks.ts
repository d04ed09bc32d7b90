// Desks for the operator, and what the lists of every desk share: what they are narrowed to, and the
// names of the firms that are in them.

import { listKeysOfDesk } from "../access/read-keys.ts";
import { requireAnyFirm, viewFirm } from "../firms/find-firms.ts";
import type { Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import { Failure } from "../kernel/failure.ts";
import { type Leaf, type PageQuery, readLeaf } from "../kernel/page.ts";
import { parseQuerySpan, type TimeSpan } from "../kernel/query-time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { findCommissionRates } from "../settlement/commissions.ts";
import { noOrder } from "../trading/read-orders.ts";
import { type DeskRow, findDeskOfOrder, listDeskRows, listFirmNames } from "./store.ts";
import { readBalances } from "../ledger/read-books.ts";
import { listDepositsOfFirm } from "../payouts/read-payouts.ts";

type DeskOverview = DeskRow;

/** Client firms are counted up to here, of each desk of a list and of one. */
const clientsMost = { listed: 20, shown: 1_000 } as const;

export async function listDesks(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: TimeSpan & PageQuery & { readonly environment: Environment | null },
): Promise<Leaf<DeskOverview>> {
  const { environment, from, to } = search;
  return await readLeaf<DeskOverview>(ctx, ["desks", "desk_id"], search, async (request) => {
    const filter = { environment, from, to, deskId: null, most: clientsMost.listed };
    return await listDeskRows(ctx.db.planned, filter, request);
  });
}

/** A desk with its own firm, its keys and what it earns. */
export async function showDesk(ctx: Pick<Context, "db" | "now">, deskId: string) {
  const filter = { environment: null, from: null, to: null, deskId, most: clientsMost.shown };
  const [row] = await listDeskRows(ctx.db.planned, filter, { after: undefined, fetch: 1 });
  if (!row) throw new Failure("not_found", `no desk ${deskId}`);
  const firm = await requireAnyFirm(ctx.db, deskId);
  const rates = await ctx.db.run(findCommissionRates([deskId]));
  return {
    ...row,
    commission_bps: rates.get(deskId) ?? 0,
    firm: viewFirm(firm, ctx.now()),
    keys: await listKeysOfDesk(ctx, deskId),
  };
}

/** What an operator says to narrow a list. */
export type Narrowing = {
  readonly environment?: Environment | undefined;
  readonly desk_id?: string | undefined;
  readonly firm_id?: string | undefined;
  readonly order_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

/** A firm or an order stands for its desk; what nobody has is refused rather than not found. */
export async function resolveSearch(
  { db }: Pick<Context, "db">,
  { environment, desk_id, firm_id, order_id, from, to }: Narrowing,
): Promise<DeskSearch> {
  const ofFirm = firm_id === undefined ? undefined : (await requireAnyFirm(db, firm_id)).desk_id;
  const ofOrder = order_id === undefined ? undefined : await requireDeskOfOrder(db, order_id);
  if (desk_id !== undefined) await requireAnyFirm(db, desk_id);
  return {
    environment: environment ?? null,
    deskId: desk_id ?? ofFirm ?? ofOrder ?? null,
    firmId: firm_id ?? null,
    ...parseQuerySpan({ from, to }),
  };
}

async function requireDeskOfOrder(db: Db, orderId: string): Promise<string> {
  const deskId = await findDeskOfOrder(db, orderId);
  if (deskId === undefined) throw noOrder(orderId);
  return deskId;
}

/** The names of firms, by their ids. */
export async function findNames(
  db: Db,
  firmIds: readonly (string | null)[],
): Promise<Readonly<Record<string, string>>> {
  const ids = new Set(firmIds.filter((id) => id !== null));
  if (ids.size === 0) return {};
  const rows = await listFirmNames(db, [...ids]);
  return Object.fromEntries(rows.map(({ firm_id, legal_name }) => [firm_id, legal_name]));
}

/** The newest are shown; the firm's statements have every one. */
const depositsMax = 50;

/** A firm's money: what it has, what is held of it, what it owes, and what it has paid in. */
export async function readAccount(ctx: Pick<Context, "db">, firmId: string) {
  const { environment, desk_id: deskId } = await requireAnyFirm(ctx.db, firmId);
  const [balance] = await readBalances(ctx.db, environment, [firmId]);
  if (!balance) throw new Error("each firm that is asked for has a balance");
  const { version: _version, ...sums } = balance;
  const deposits = await listDepositsOfFirm(ctx, { deskId, firmId }, depositsMax);
  return { environment, desk_id: deskId, ...sums, deposits };
}

import { requireAnyFirm } from "../firms/find-firms.ts";
import { readBalances } from "../ledger/read-books.ts";
import { listDepositsOfFirm } from "../payouts/read-payouts.ts";
import type { Context } from "../platform/context.ts";

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

import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { PayoutState } from "./rules.ts";
import {
  listAllPayouts as listRows,
  listLines,
  type PayoutLineRow,
  type PayoutRow,
} from "./store.ts";

export type PayoutSearch = {
  readonly environment?: Environment | undefined;
  readonly status?: PayoutState | undefined;
  readonly payoutId?: string | undefined;
  readonly limit: number;
};

/** Payouts of every desk with their lines, newest first, for the operator. */
export async function listAllPayouts(
  ctx: Pick<Context, "db">,
  { environment, status, payoutId, limit }: PayoutSearch,
): Promise<(PayoutRow & { readonly lines: readonly PayoutLineRow[] })[]> {
  const filter = {
    environment: environment ?? null,
    status: status ?? null,
    payoutId: payoutId ?? null,
  };
  const rows = await listRows(ctx.db.planned, filter, limit);
  const lines = await listLines(
    ctx.db,
    rows.map((row) => row.payout_id),
  );
  const linesById = Map.groupBy(lines, (line) => line.payout_id);
  return rows.map((row) => ({ ...row, lines: linesById.get(row.payout_id) ?? [] }));
}

import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { listAllSettlements as listRows } from "./read-store.ts";
import type { SettlementState } from "./rules.ts";
import { type LegRow, listLegs, type SettlementRow } from "./store.ts";

export type SettlementSearch = {
  readonly environment?: Environment | undefined;
  readonly status?: SettlementState | undefined;
  readonly settlementId?: string | undefined;
  readonly limit: number;
};

/** Settlements of every desk with both sides of their legs, newest first, for the operator. */
export async function listAllSettlements(
  ctx: Pick<Context, "db">,
  { environment, status, settlementId, limit }: SettlementSearch,
): Promise<(SettlementRow & { readonly legs: readonly LegRow[] })[]> {
  const filter = {
    environment: environment ?? null,
    status: status ?? null,
    settlementId: settlementId ?? null,
  };
  const rows = await listRows(ctx.db.planned, filter, limit);
  const legs = await listLegs(
    ctx.db,
    rows.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return rows.map((row) => ({ ...row, legs: legsById.get(row.settlement_id) ?? [] }));
}

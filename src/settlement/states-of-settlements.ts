import type { Db } from "../platform/postgres.ts";
import type { SettlementState } from "./rules.ts";
import { listStates } from "./store.ts";

/** Where these settlements stand, by their ids. */
export async function statesOfSettlements(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, SettlementState>> {
  if (settlementIds.length === 0) return new Map();
  const rows = await listStates(db, settlementIds);
  return new Map(rows.map((row) => [row.settlement_id, row.state]));
}

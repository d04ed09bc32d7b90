import type { Db } from "../platform/postgres.ts";
import { type DepositRow, listDepositsFor } from "./store.ts";

/** Money that came in for a settlement. */
export async function depositsFor(db: Db, settlementId: string): Promise<readonly DepositRow[]> {
  return await listDepositsFor(db, settlementId);
}

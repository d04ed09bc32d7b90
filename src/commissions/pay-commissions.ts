import type { Entry } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { commissionRates } from "./commission-rates.ts";
import { type CommissionedSide, paymentOf } from "./rules.ts";

/** What the house owes desks for what their clients have dealt; for the caller to write. */
export async function payCommissions(
  tx: Tx,
  earned: readonly CommissionedSide[],
): Promise<Entry[]> {
  if (earned.length === 0) return [];
  const rates = await commissionRates(tx, [...new Set(earned.map(({ deskId }) => deskId))]);
  return earned.flatMap((side) => paymentOf(side, rates.get(side.deskId) ?? 0));
}

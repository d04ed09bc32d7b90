import type { Db } from "../platform/postgres.ts";
import { listPayoutsById, listPayoutsOf, type PayoutRow } from "./store.ts";

/** What names a payment at the bank, and what it was for. */
export type PaymentFacts = Pick<
  PayoutRow,
  "payout_id" | "firm_id" | "kind" | "paise" | "rail" | "utr" | "state" | "updated_at"
>;

/** By payout. */
export async function paymentsById(
  db: Db,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentFacts>> {
  if (payoutIds.length === 0) return new Map();
  const rows = await listPayoutsById(db, payoutIds);
  return new Map(rows.map((row) => [row.payout_id, row]));
}

/** What a settlement paid out, in the order it was scheduled. */
export async function paymentsOfSettlement(
  db: Db,
  settlementId: string,
): Promise<readonly PaymentFacts[]> {
  return await listPayoutsOf(db, settlementId);
}

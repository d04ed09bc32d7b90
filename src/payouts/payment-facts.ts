import type { Db } from "../platform/postgres.ts";
import { listPayoutsById, listPayoutsOf, type PayoutRow } from "./store.ts";

/** What names a payment at the bank, and what it was for. */
export type PaymentFacts = Pick<
  PayoutRow,
  "payout_id" | "firm_id" | "kind" | "paise" | "rail" | "utr" | "state" | "updated_at"
>;

/** So many are read by one statement: reading more holds up everybody else. */
const payoutsAtOnce = 500;

/** By payout. */
export async function paymentsById(
  db: Db,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentFacts>> {
  const byId = new Map<string, PaymentFacts>();
  for (let from = 0; from < payoutIds.length; from += payoutsAtOnce) {
    const rows = await listPayoutsById(db, payoutIds.slice(from, from + payoutsAtOnce));
    for (const row of rows) byId.set(row.payout_id, row);
  }
  return byId;
}

/** What a settlement paid out, in the order it was scheduled. */
export async function paymentsOfSettlement(
  db: Db,
  settlementId: string,
): Promise<readonly PaymentFacts[]> {
  return await listPayoutsOf(db, settlementId);
}

import type { Environment } from "../kernel/caller.ts";
import type { Db } from "../platform/postgres.ts";
import { hasHouseChanged } from "./deal-store.ts";

/** Whether a credit of the house was changed by this transaction or a later one. */
export async function houseChangedSince(
  db: Db,
  environment: Environment,
  transaction: string,
): Promise<boolean> {
  return await hasHouseChanged(db, environment, transaction);
}

import type { Db } from "../platform/postgres.ts";
import type { MoneyLimits } from "./rules.ts";
import { listMoneyLimits } from "./store.ts";

/** What keys may commit at most, their parents' limits included; keys without a limit are left out. */
export async function moneyLimits(
  db: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, MoneyLimits>> {
  const rows = await listMoneyLimits(db, [...new Set(keyIds)]);
  return new Map(rows.map(({ key_id, ...limits }) => [key_id, limits]));
}

import type { Db } from "../platform/postgres.ts";
import { listMoneyLimits } from "./store.ts";

export type MoneyLimits = {
  readonly max_order_paise: number | null;
  readonly daily_notional_paise: number | null;
};

/** What keys may order at most, their parents' limits included; keys without a limit are left out. */
export async function moneyLimits(
  db: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, MoneyLimits>> {
  const rows = await listMoneyLimits(db, [...new Set(keyIds)]);
  return new Map(rows.map(({ key_id, ...limits }) => [key_id, limits]));
}

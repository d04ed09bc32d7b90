import type { Paise } from "../kernel/money.ts";
import type { Db } from "../platform/postgres.ts";
import { listUnfundedLimits } from "./store.ts";

/** By key, how much a firm that it acts for may have bought that waits for money. */
export async function unfundedLimits(
  db: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, Paise>> {
  const rows = await listUnfundedLimits(db, [...new Set(keyIds)]);
  return new Map(rows.map((row) => [row.key_id, row.unfunded_max_paise]));
}

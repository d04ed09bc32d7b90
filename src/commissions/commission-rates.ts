import type { Bps } from "../kernel/money.ts";
import type { Db } from "../platform/postgres.ts";
import { commissionBpsAtFirst } from "./rules.ts";
import { listRates } from "./store.ts";

/** What each of these desks gets of its clients' deals now. */
export async function commissionRates(
  db: Db,
  deskIds: readonly string[],
): Promise<ReadonlyMap<string, Bps>> {
  const known = await listRates(db, deskIds);
  const set = new Map(known.map(({ desk_id, bps }) => [desk_id, bps]));
  return new Map(deskIds.map((deskId) => [deskId, set.get(deskId) ?? commissionBpsAtFirst]));
}

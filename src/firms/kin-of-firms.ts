import type { Db } from "../platform/postgres.ts";
import type { Kin } from "./rules.ts";
import { listKin } from "./store.ts";

/** Across desks, so for figures about the whole market only; no caller is ever shown it. */
export async function kinOfFirms(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, Kin>> {
  const rows = await listKin(db, [...new Set(firmIds)]);
  return new Map(rows.map(({ firm_id, pan, group_id }) => [firm_id, { pan, groupId: group_id }]));
}

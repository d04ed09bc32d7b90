import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringSettlementsNearer, lockWithin } from "./store.ts";

/** Of those between the desk's own firms and the house: others keep the time that they were given. */
export async function passTimeOfSettlements(tx: Tx, passage: Passage): Promise<number> {
  const open = await lockWithin(tx, passage.environment, passage.deskId);
  const ids = open.map((row) => row.settlement_id);
  await bringSettlementsNearer(tx, ids, passage);
  return ids.length;
}

import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringCrossesNearer, lockOpenWithin } from "./store.ts";

/** Of the desk's proposals and of crosses among its own firms: others keep their time. */
export async function passTimeOfCrosses(tx: Tx, passage: Passage): Promise<number> {
  const open = await lockOpenWithin(tx, passage.deskId);
  const ids = open.map((row) => row.cross_id);
  await bringCrossesNearer(tx, ids, passage);
  return ids.length;
}

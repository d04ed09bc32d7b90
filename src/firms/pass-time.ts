import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringHoldsNearer } from "./passage-store.ts";

export async function passTimeOfHolds(tx: Tx, passage: Passage): Promise<number> {
  return await bringHoldsNearer(tx, passage);
}

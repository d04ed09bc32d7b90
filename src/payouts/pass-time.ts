import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringPayoutsNearer } from "./store.ts";

export async function passTimeOfPayouts(tx: Tx, passage: Passage): Promise<number> {
  return await bringPayoutsNearer(tx, passage);
}

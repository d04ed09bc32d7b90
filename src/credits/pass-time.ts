import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringExpiriesNearer } from "./store.ts";

/** A credit lives by the day: nothing changes for it before the desk's next midnight. */
export async function passTimeOfCredits(tx: Tx, passage: Passage): Promise<number> {
  return passage.days === 0 ? 0 : await bringExpiriesNearer(tx, passage);
}

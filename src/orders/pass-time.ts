import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringOrdersNearer, lockMatching } from "./store.ts";

export async function passTimeOfOrders(tx: Tx, passage: Passage): Promise<number> {
  await lockMatching(tx, passage.environment);
  return await bringOrdersNearer(tx, passage);
}

import type { Environment } from "../kernel/caller.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringOrdersNearer, lockMatching } from "./store.ts";

/** Nobody deals until the transaction ends. */
export async function lockTrading(tx: Tx, environment: Environment): Promise<void> {
  await lockMatching(tx, environment);
}

/** Whoever calls this keeps others from trading. */
export async function passTimeOfOrders(tx: Tx, passage: Passage): Promise<number> {
  return await bringOrdersNearer(tx, passage);
}

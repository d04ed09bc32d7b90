import type { Actor } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { endOrders } from "./end-orders.ts";
import { listOverdue } from "./store.ts";

const setSizeMax = 500;
const clock: Actor = { kind: "worker", id: "order-expiry", requestId: null };

/** Ends a set of orders whose time has come; whether there may be more. */
export async function expireOrders({
  db,
  now: clockNow,
}: Pick<Context, "db" | "now">): Promise<"more" | "idle"> {
  const now = clockNow();
  const overdue = await listOverdue(db, now, setSizeMax);
  for (const environment of environments) {
    const orderIds = overdue
      .filter((order) => order.environment === environment)
      .map((order) => order.order_id);
    if (orderIds.length === 0) continue;
    const ending = { environment, orderIds, how: "expired", reason: null, now } as const;
    await db.transaction((tx) => endOrders(tx, { ...ending, actorOf: () => clock }));
  }
  return overdue.length === setSizeMax ? "more" : "idle";
}

import type { Actor } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders } from "../platform/offenders.ts";
import { endedAtOnce, endInParts } from "./end-orders.ts";
import { listOverdue } from "./store.ts";

const clock: Actor = { kind: "worker", id: "order-expiry", requestId: null };

/** Ends a set of orders whose time has come; whether there may be more. */
export async function expireOrders(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  const overdue = await listOverdue(db, now, { limit: endedAtOnce, except: offenders.ids() });
  for (const environment of environments) {
    const orderIds = overdue
      .filter((order) => order.environment === environment)
      .map((order) => order.order_id);
    const ending = {
      environment,
      how: "expired",
      reason: null,
      actorOf: () => clock,
      now,
    } as const;
    await endInParts(db, offenders, { ...ending, orderIds });
  }
  return overdue.length === endedAtOnce ? "more" : "idle";
}

import { holderOf } from "../credits/holder-of.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { statesOfSettlements } from "../settlement/states-of-settlements.ts";
import { endOrders } from "./end-orders.ts";
import { orderLifecycle } from "./rules.ts";
import type { Order } from "./schema.ts";
import { findOrder } from "./store.ts";
import { viewOrder } from "./view-order.ts";

/** Cancelling twice is no conflict: a caller that lost the first answer gets it again. */
export async function cancelOrder(ctx: Context, call: Call, orderId: string): Promise<Order> {
  const now = ctx.now();
  const { environment } = call.caller;
  return await ctx.db.transaction(
    async (tx) => {
      const found = isId("ord", orderId)
        ? await findOrder(tx, holderOf(call.caller), orderId)
        : undefined;
      if (!found) throw notFound();
      const [row] = await endOrders(tx, {
        environment,
        orderIds: [orderId],
        how: "cancelled",
        reason: "requested",
        actor: actorOf(call),
        now,
      });
      if (!row) throw new Error("orders are never deleted");
      const gaveUp = row.history.at(-1)?.reason;
      const isCancelled = row.state === "cancelled" || gaveUp === "rest_cancelled";
      if (!isCancelled) advance(orderLifecycle, row.state, "cancel");
      const states = await statesOfSettlements(tx, row.settlement_ids.slice(-1));
      return viewOrder(row, states.get(row.settlement_ids.at(-1) ?? "") ?? null);
    },
    { rollBack: call.dryRun },
  );
}

// Cancels travel in sets, as orders do: each would wait for the matching with a connection of its own.

import { holderOf } from "../credits/holder-of.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Outcome } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import { type OrderStanding, orderStandings } from "../settlement/order-standings.ts";
import { endOrders } from "./end-orders.ts";
import type { Placing } from "./place-orders.ts";
import { orderLifecycle } from "./rules.ts";
import type { Order } from "./schema.ts";
import { findOrders, type OrderRow } from "./store.ts";
import { viewOrder, viewSettled } from "./view-order.ts";

export type Cancel = { readonly call: Call; readonly orderId: string };

/** Cancelling twice is no conflict: a caller that lost the first answer gets it again. */
export async function cancelOrders(
  ctx: Context,
  { environment, rollBack, isPart }: Placing,
  cancels: readonly Cancel[],
): Promise<readonly Outcome<Order>[]> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const asked = cancels.map(({ orderId }) => orderId).filter((id) => isId("ord", id));
      const found = new Map((await findOrders(tx, asked)).map((row) => [row.order_id, row]));
      const visible = cancels.filter((cancel) => isVisible(cancel, found.get(cancel.orderId)));
      const cancelledBy = new Map(visible.map(({ call, orderId }) => [orderId, call]));
      const ended = await endOrders(tx, {
        environment,
        isPart,
        orderIds: [...cancelledBy.keys()],
        how: "cancelled",
        reason: "requested",
        actorOf: (orderId) => {
          const call = cancelledBy.get(orderId);
          if (!call) throw new Error("only what was asked for is cancelled");
          return actorOf(call);
        },
        now,
      });
      const rows = new Map(ended.map((row) => [row.order_id, row]));
      const standings = await orderStandings(tx, ended);
      return cancels.map((cancel) => {
        const isThere = isVisible(cancel, found.get(cancel.orderId));
        return outcomeOf(isThere ? rows.get(cancel.orderId) : undefined, standings);
      });
    },
    { rollBack },
  );
}

function isVisible({ call }: Cancel, order: OrderRow | undefined): boolean {
  const { deskId, firmId } = holderOf(call.caller);
  return order?.desk_id === deskId && (firmId === null || order.firm_id === firmId);
}

function outcomeOf(
  row: OrderRow | undefined,
  standings: ReadonlyMap<string, OrderStanding>,
): Outcome<Order> {
  if (!row) return notFound();
  const gaveUp = row.history.some(({ reason }) => reason === "rest_cancelled");
  const isCancelled = row.state === "cancelled" || gaveUp;
  const refusal = isCancelled ? undefined : refusalToCancel(row);
  return refusal ?? viewOrder(row, viewSettled(row, standings.get(row.order_id)));
}

function refusalToCancel({ state }: OrderRow): Failure | undefined {
  try {
    advance(orderLifecycle, state, "cancel");
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

import { holderOf } from "../credits/holder-of.ts";
import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import { orderStandings } from "../settlement/order-standings.ts";
import type { Order } from "./schema.ts";
import { findOrder } from "./store.ts";
import { viewOrder, viewSettled } from "./view-order.ts";

export async function readOrder(ctx: Context, caller: Caller, orderId: string): Promise<Order> {
  const row = isId("ord", orderId) ? await findOrder(ctx.db, holderOf(caller), orderId) : undefined;
  if (!row) throw notFound();
  const standings = await orderStandings(ctx.db, [row]);
  return viewOrder(row, viewSettled(row, standings.get(orderId)));
}

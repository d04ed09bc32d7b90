import type { Call } from "../kernel/caller.ts";
import type { OrderDesk } from "./order-desk.ts";
import type { Order } from "./schema.ts";

export async function cancelOrder(desk: OrderDesk, call: Call, orderId: string): Promise<Order> {
  return await desk.cancel({ call, orderId });
}

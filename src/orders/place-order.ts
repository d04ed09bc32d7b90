import type { Call } from "../kernel/caller.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import type { OrderDesk } from "./order-desk.ts";
import { intentOf } from "./rules.ts";
import type { Order, PlaceOrderBody } from "./schema.ts";
import { viewOrder } from "./view-order.ts";

export async function placeOrder(
  ctx: Context,
  desk: OrderDesk,
  call: Call,
  body: PlaceOrderBody,
): Promise<Creation<Order>> {
  const receivedAt = ctx.now();
  const placed = await desk.place({
    call,
    intent: intentOf(body, receivedAt),
    idempotencyKey: call.idempotencyKey ?? null,
    request: body,
    receivedAt,
  });
  if (placed.kind === "refused") throw placed.failure;
  const resource = viewOrder(placed.order, placed.settled);
  if (call.dryRun) return { outcome: "tried", resource };
  return { outcome: placed.kind === "placed" ? "created" : "replayed", resource };
}

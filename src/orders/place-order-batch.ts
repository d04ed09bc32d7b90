import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { toErrorReply } from "../platform/http-errors.ts";
import { itemCheck } from "../platform/http-validation.ts";
import type { Command } from "./decide-orders.ts";
import type { OrderDesk } from "./order-desk.ts";
import type { Placed } from "./place-orders.ts";
import { intentOf } from "./rules.ts";
import { BatchItem, type BatchResults, type PlaceOrderBatchBody } from "./schema.ts";
import { viewOrder } from "./view-order.ts";

const checkItem = itemCheck(BatchItem);

/** Orders that arrived together: each is answered as if it had come alone, in its turn. */
export async function placeOrderBatch(
  ctx: Context,
  desk: OrderDesk,
  call: Call,
  body: PlaceOrderBatchBody,
): Promise<BatchResults> {
  const now = ctx.now();
  const judged = body.orders.map((item, index) => commandOf(call, item, { index, now }));
  const commands = judged.flatMap((item) => (item instanceof Failure ? [] : [item]));
  const placed = commands.length > 0 ? await desk.placeAll(call, commands) : [];
  let next = 0;
  const results = judged.map((item, index) => {
    const outcome: Placed =
      item instanceof Failure ? { kind: "refused", failure: item } : answered(placed[next++]);
    return { index, ...resultOf(outcome, call) };
  });
  const submitted = results.filter(({ ok }) => ok).length;
  return { results, submitted, failed: results.length - submitted };
}

function commandOf(
  call: Call,
  sent: unknown,
  { index, now }: { readonly index: number; readonly now: Date },
): Command | Failure {
  const item = checkItem(sent);
  if (item instanceof Failure) return item;
  const { idempotency_key, ...request } = item;
  const shared = call.idempotencyKey === undefined ? null : `${call.idempotencyKey}#${index}`;
  try {
    const intent = intentOf(request, now);
    return { call, intent, idempotencyKey: idempotency_key ?? shared, request, receivedAt: now };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function answered(placed: Placed | undefined): Placed {
  if (!placed) throw new Error("a set answers every order once");
  return placed;
}

function resultOf(placed: Placed, { requestId, dryRun }: Call) {
  if (placed.kind === "refused") {
    const { status, body } = toErrorReply(placed.failure, requestId, "trading");
    return { ok: false, status, error: body };
  }
  const status = placed.kind === "placed" && !dryRun ? 201 : 200;
  return { ok: true, status, error: null, order: viewOrder(placed.order, placed.settled) };
}

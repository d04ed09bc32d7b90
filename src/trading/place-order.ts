import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Creation } from "../platform/http/calls.ts";
import { toErrorReply } from "../platform/http/errors.ts";
import { itemCheck } from "../platform/http/validation.ts";
import type { Outcome } from "../platform/postgres/coalesce.ts";
import type { Command } from "./decide-orders.ts";
import type { OrderDesk } from "./order-desk.ts";
import { parseIntent } from "./order-rules.ts";
import type { Placed } from "./place-orders.ts";
import { viewOrder } from "./read-orders.ts";
import {
  BatchItem,
  type BatchResults,
  type Order,
  type PlaceOrderBatchBody,
  type PlaceOrderBody,
} from "./schema.ts";

export async function placeOrder(
  ctx: Context,
  desk: OrderDesk,
  call: Call,
  body: PlaceOrderBody,
): Promise<Creation<Order>> {
  const receivedAt = ctx.now();
  const placed = await desk.place({
    call,
    intent: parseIntent(body, receivedAt),
    idempotencyKey: call.idempotencyKey ?? null,
    request: body,
    receivedAt,
  });
  if (placed.kind === "refused") throw placed.failure;
  const resource = viewOrder(placed.order, placed.settled);
  if (call.dryRun) return { outcome: "tried", resource };
  return { outcome: placed.kind === "placed" ? "created" : "replayed", resource };
}

const checkItem = itemCheck(BatchItem);

/** Up to 500 orders of one call. Each has its own result, as if it had been sent alone. */
export async function placeOrderBatch(
  ctx: Context,
  desk: OrderDesk,
  call: Call,
  body: PlaceOrderBatchBody,
): Promise<BatchResults> {
  const now = ctx.now();
  const pace = openPace();
  const parsed = await mapPaced(
    body.orders,
    (item, index) => toCommand(call, item, { index, now }),
    pace,
  );
  const commands = parsed.flatMap((item) => (item instanceof Failure ? [] : [item]));
  const placed = commands.length > 0 ? await desk.placeAll(call, commands) : [];
  let next = 0;
  const results = await mapPaced(
    parsed,
    (item, index) => {
      const outcome = item instanceof Failure ? item : requireOutcome(placed[next++]);
      return { index, ...toBatchResult(outcome, call, ctx) };
    },
    pace,
  );
  const submitted = results.filter(({ ok }) => ok).length;
  return { results, submitted, failed: results.length - submitted };
}

function toCommand(
  call: Call,
  sent: unknown,
  { index, now }: { readonly index: number; readonly now: Date },
): Command | Failure {
  const item = checkItem(sent);
  if (item instanceof Failure) return item;
  const { idempotency_key, ...request } = item;
  const shared = call.idempotencyKey === undefined ? null : `${call.idempotencyKey}#${index}`;
  try {
    const intent = parseIntent(request, now);
    return { call, intent, idempotencyKey: idempotency_key ?? shared, request, receivedAt: now };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function requireOutcome(placed: Outcome<Placed> | undefined): Outcome<Placed> {
  if (!placed) throw new Error("a set answers every order once");
  return placed;
}

/** An unexpected error is logged and becomes the result of its own order only. */
function toBatchResult(placed: Outcome<Placed>, { requestId, dryRun }: Call, { log }: Context) {
  const error = placed instanceof Error ? placed : findFailure(placed);
  if (error) {
    const { status, body, fault } = toErrorReply(error, requestId, "trading");
    if (fault !== undefined) log.error({ err: fault, request_id: requestId }, "an order failed");
    const { error: slug, code = slug, message } = body;
    const ofItem = body.code === undefined ? { error: "request_error", code, message } : body;
    return { ok: false, status, error: ofItem };
  }
  const { kind, order, settled } = placed as Exclude<Placed, { kind: "refused" }>;
  const status = kind === "placed" && !dryRun ? 201 : 200;
  return { ok: true, status, error: null, order: viewOrder(order, settled) };
}

function findFailure(placed: Placed): Failure | undefined {
  return placed.kind === "refused" ? placed.failure : undefined;
}

export async function cancelOrder(desk: OrderDesk, call: Call, orderId: string): Promise<Order> {
  return await desk.cancel({ call, orderId });
}

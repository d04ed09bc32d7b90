// The entrance for orders and cancels: one queue of each per environment collects those of all callers
// into sets.
//
// One set per environment matches at a time. Orders, cancels, expiries and the matcher take the match
// lock first. Sets of this process wait for their turn in memory, so that they do not each hold a
// connection while they wait. Desks take turns: a batch and a dry run are sets of their own, so one desk
// could ask for many, and what others order comes after one of them. A set that cannot take the match
// lock is answered 500, and nothing was stored.
//
// Idempotency of an order is a unique index over desk, key and, for a `sub_account` key, its firm. It
// is looked up under the match lock. Each order of a batch has its own idempotency key.

import { planSearches } from "../cover/search-cover.ts";
import { chooseScheme } from "../firms/requirement-rules.ts";
import { type RequirementOfFirm, requireRequirement } from "../firms/requirements.ts";
import type { Call, Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { OnBehalf } from "../platform/heavy/kinds.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { takeTurns } from "../platform/heavy/fair-queue.ts";
import type { Creation } from "../platform/http/calls.ts";
import { toItemError } from "../platform/http/errors.ts";
import { itemCheck } from "../platform/http/validation.ts";
import type { Metrics } from "../platform/metrics.ts";
import { coalesce, type ItemResult } from "../platform/postgres/coalesce.ts";
import { workPastHeld } from "../platform/postgres/hold-back.ts";
import { isLockTimeout } from "../platform/postgres/postgres.ts";
import { type SetAttempt, wasRolledBack, workInHalves } from "../platform/postgres/split.ts";
import type { BookSessions } from "./book-session.ts";
import type { OrderCommand } from "./decide-orders.ts";
import { type Cancel, cancelOrders } from "./end-orders.ts";
import { asksForFreshQuote } from "./order-refusals.ts";
import { parseIntent } from "./order-rules.ts";
import { isMatchingHeld } from "./order-store.ts";
import {
  type Placed,
  type PlacedOrDeferred,
  type PlaceOptions,
  placeOrders,
} from "./place-orders.ts";
import { type QuoteAnswer, readQuote, type TakeQuote } from "./quotes.ts";
import { viewOrder } from "./read-orders.ts";
import { planAmounts } from "./sell-amounts.ts";
import {
  BatchItem,
  type BatchResults,
  type CoverRequirementBody,
  type Order,
  type PlaceOrderBatchBody,
  type PlaceOrderBody,
} from "./schema.ts";

const queueLimits = {
  setSizeMax: 256,
  queueMax: 10_000,
  // Splitting a set does not help when the match lock itself was not available.
  mayRetry: (error: unknown) => wasRolledBack(error) && !isMatchingHeld(error),
};
/** Locked rows block one desk only, so the orders of the other desks go on without them. */
const held = {
  isHeld: (error: unknown) => isLockTimeout(error) && !isMatchingHeld(error),
  toGroup: ({ call }: { readonly call: Call }) => call.caller.deskId,
};
/** Sets that wait for their turn to match. */
const waitingSets = { perDeskMax: 64, perEnvironmentMax: 1_024 };
/** Who has the turns of sets that the orders of several desks make. */
const everybody = "everybody";

export type OrderDesk = {
  /** Places one order in the next set of its environment. */
  readonly place: (command: OrderCommand) => Promise<Placed>;
  /** Places the orders of one call as a set of their own. */
  readonly placeAll: (
    call: Call,
    commands: readonly OrderCommand[],
  ) => Promise<readonly ItemResult<Placed>[]>;
  readonly cancel: (cancel: Cancel) => Promise<Order>;
};

const checkItem = itemCheck(BatchItem);

export async function placeOrder(
  ctx: Context,
  desk: OrderDesk,
  call: Call,
  body: PlaceOrderBody,
): Promise<Creation<Order>> {
  const receivedAt = ctx.now();
  const intent = parseIntent(body, receivedAt);
  return await placeIntent(desk, call, { intent, request: body, receivedAt });
}

/** Buys what is uncovered of a requirement: how much that is, is decided as the order is placed. */
export async function coverRequirement(
  ctx: Context,
  desk: OrderDesk,
  call: Call,
  request: RequirementOfFirm & CoverRequirementBody,
): Promise<Creation<Order>> {
  const { firm_id, requirement_id, limit_bps, expires_at } = request;
  const declared = await requireRequirement(ctx.db, call.caller, request);
  const scheme = chooseScheme(declared.scheme, request.scheme);
  if (scheme instanceof Failure) throw scheme;
  const terms = {
    ...(limit_bps !== undefined && { limit_bps }),
    ...(expires_at !== undefined && { expires_at, time_in_force: "GTD" as const }),
  };
  const asked = { side: "buy", scheme, requirement_paise: declared.amount_paise } as const;
  const receivedAt = ctx.now();
  const intent = parseIntent({ ...terms, ...asked, firm_id }, receivedAt);
  return await placeIntent(desk, call, { intent, request, receivedAt, covers: requirement_id });
}

async function placeIntent(
  desk: OrderDesk,
  call: Call,
  wanted: Pick<OrderCommand, "intent" | "request" | "receivedAt" | "covers">,
): Promise<Creation<Order>> {
  const idempotencyKey = call.idempotencyKey ?? null;
  const placed = await desk.place({ call, idempotencyKey, ...wanted });
  if (placed.kind === "refused") throw placed.failure;
  const resource = viewOrder(placed.order, placed.settled);
  if (call.dryRun) return { outcome: "dry_run", resource };
  return { outcome: placed.kind === "placed" ? "created" : "replayed", resource };
}

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

export async function cancelOrder(desk: OrderDesk, call: Call, orderId: string): Promise<Order> {
  return await desk.cancel({ call, orderId });
}

export function openOrderDesk(
  ctx: Context,
  {
    books,
    takeQuote,
    metrics: { setSize },
  }: {
    readonly books: BookSessions;
    readonly takeQuote: TakeQuote;
    readonly metrics: Pick<Metrics, "setSize">;
  },
): OrderDesk {
  // Sets match one after the other. They wait here, without a connection.
  const turns = { live: takeTurns(waitingSets), sandbox: takeTurns(waitingSets) };

  const placeSet = (by: OnBehalf, placing: PlaceOptions, commands: readonly OrderCommand[]) =>
    turns[placing.environment](by, () =>
      placeOrders(contextFor(ctx, placing), books, placing, commands),
    );

  const cancelSet = (by: OnBehalf, placing: PlaceOptions, cancels: readonly Cancel[]) =>
    turns[placing.environment](by, () => cancelOrders(contextFor(ctx, placing), placing, cancels));

  const openQueues = (environment: Environment) => {
    const shared = {
      by: { environment, deskId: everybody },
      kept: { environment, rollBack: false },
    };
    return {
      orders: coalesce<OrderCommand, PlacedOrDeferred>(
        (commands, attempt) => placeSet(shared.by, { ...shared.kept, ...attempt }, commands),
        { ...queueLimits, held, onSet: (size) => setSize.observe({ set: "orders" }, size) },
      ),
      cancels: coalesce<Cancel, Order>(
        (cancels, attempt) => cancelSet(shared.by, { ...shared.kept, ...attempt }, cancels),
        { ...queueLimits, held, onSet: (size) => setSize.observe({ set: "cancels" }, size) },
      ),
    };
  };
  const queues = { live: openQueues("live"), sandbox: openQueues("sandbox") };

  /**
   * Adds the plans that threads found to the deferred commands. Throws when the caller has gone: the
   * orders are not placed then, and a retry with the same idempotency key places them.
   */
  async function addPlans(
    { caller, gone }: Call,
    commands: readonly OrderCommand[],
    attempted: readonly ItemResult<PlacedOrDeferred>[],
  ): Promise<readonly OrderCommand[]> {
    const searches = attempted.map((one) => (isDeferred(one) ? one.search : undefined));
    const asked = searches.flatMap((search) => search ?? []);
    const plans = await planSearches(ctx, asked, { by: caller, signal: gone?.() });
    let next = 0;
    return commands.map((command, at) => {
      const plan = searches[at] ? plans[next++] : undefined;
      return { ...command, plan: plan ?? null };
    });
  }

  async function attemptAll(
    call: Call,
    commands: readonly OrderCommand[],
  ): Promise<readonly ItemResult<PlacedOrDeferred>[]> {
    const placing = { environment: call.caller.environment, rollBack: call.dryRun };
    return await workPastHeld(
      (items, attempt) => {
        const place = async (part: readonly OrderCommand[], ofPart: SetAttempt) =>
          placeSet(call.caller, { ...placing, ...ofPart }, await planAmounts(ctx, call, part));
        const maySplit = (error: unknown) => attempt.isLast || !held.isHeld(error);
        const mayRetry = (error: unknown) => queueLimits.mayRetry(error) && maySplit(error);
        return workInHalves(place, items, mayRetry, attempt);
      },
      commands,
      { isHeld: held.isHeld, isDryRun: call.dryRun },
    );
  }

  /** Deferred orders are placed after the others of their set; a dry run runs its whole set again. */
  async function attemptWithPlans(
    call: Call,
    commands: readonly OrderCommand[],
  ): Promise<readonly ItemResult<Placed>[]> {
    const first = await attemptAll(call, commands);
    if (!first.some(isDeferred)) return first.map(requirePlaced);
    const planned = await addPlans(call, commands, first);
    const isAgain = (at: number) => call.dryRun || isDeferred(first[at]);
    const again = await attemptAll(
      call,
      planned.filter((_, at) => isAgain(at)),
    );
    let next = 0;
    return first.map((one, at) => requirePlaced(isAgain(at) ? again[next++] : one));
  }

  async function placeAll(call: Call, commands: readonly OrderCommand[]) {
    const placed = await attemptWithPlans(call, commands);
    // An error that no single order causes, such as a lock timeout, is the answer of the whole call.
    const isOfAll = (one: ItemResult<Placed>) => one instanceof Error && !queueLimits.mayRetry(one);
    if (placed.every(isOfAll)) throw placed[0];
    return await Promise.all(
      placed.map(async (one, at) =>
        one instanceof Error ? one : await addFreshQuote(one, commands[at]),
      ),
    );
  }

  /** Adds a fresh quote to a refusal whose quote no longer holds. */
  async function addFreshQuote(placed: Placed, command: OrderCommand | undefined): Promise<Placed> {
    if (placed.kind !== "refused" || !asksForFreshQuote(placed.failure)) return placed;
    const { code, message, detail } = placed.failure;
    // The refusal stands also when there is no fresh quote.
    const quote = command && (await takeFreshQuote(command, detail).catch(() => undefined));
    return {
      kind: "refused",
      failure: new Failure(code, message, { detail: { ...detail, ...(quote && { quote }) } }),
    };
  }

  async function takeFreshQuote(
    { call, intent }: OrderCommand,
    detail: Failure["detail"],
  ): Promise<QuoteAnswer["quote"] | undefined> {
    if (intent.ask.kind !== "quote") return undefined;
    const quoted = await readQuote(contextFor(ctx, call.caller), call.caller, intent.ask.quoteRef);
    return (await takeQuote(call, toQuoteRequest(quoted, detail))).quote;
  }

  return {
    placeAll,
    async place(command) {
      const { call } = command;
      if (!call.dryRun) {
        const { orders } = queues[call.caller.environment];
        const first = await orders(command);
        if (!isDeferred(first)) return await addFreshQuote(first, command);
        const covered = await addPlans(call, [command], [first]);
        const [planned = command] = await planAmounts(ctx, call, covered);
        const placed = requirePlaced(await orders(planned));
        if (placed instanceof Error) throw placed;
        return await addFreshQuote(placed, command);
      }
      const [placed] = await placeAll(call, [command]);
      if (!placed) throw new Error("a set answers every order once");
      if (placed instanceof Error) throw placed;
      return placed;
    },
    async cancel(cancel) {
      const { environment } = cancel.call.caller;
      if (!cancel.call.dryRun) return await queues[environment].cancels(cancel);
      const placing = { environment, rollBack: true, isPart: false };
      const [cancelled] = await cancelSet(cancel.call.caller, placing, [cancel]);
      if (!cancelled) throw new Error("a set answers every cancel once");
      if (cancelled instanceof Error) throw cancelled;
      return cancelled;
    },
  };
}

function toCommand(
  call: Call,
  sent: unknown,
  { index, now }: { readonly index: number; readonly now: Date },
): OrderCommand | Failure {
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

function requireOutcome(placed: ItemResult<Placed> | undefined): ItemResult<Placed> {
  if (!placed) throw new Error("a set answers every order once");
  return placed;
}

/** An unexpected error is logged and becomes the result of its own order only. */
function toBatchResult(placed: ItemResult<Placed>, { requestId, dryRun }: Call, { log }: Context) {
  const error = placed instanceof Error ? placed : findFailure(placed);
  if (error) {
    const { refused, fault } = toItemError(error, requestId);
    if (fault !== undefined) log.error({ err: fault, request_id: requestId }, "an order failed");
    return refused;
  }
  const { kind, order, settled } = placed as Exclude<Placed, { kind: "refused" }>;
  const status = kind === "placed" && !dryRun ? 201 : 200;
  return { ok: true, status, error: null, order: viewOrder(order, settled) };
}

function findFailure(placed: Placed): Failure | undefined {
  return placed.kind === "refused" ? placed.failure : undefined;
}

function isDeferred(
  one: ItemResult<PlacedOrDeferred> | undefined,
): one is PlacedOrDeferred & { readonly kind: "deferred" } {
  return one !== undefined && !(one instanceof Error) && one.kind === "deferred";
}

function requirePlaced(one: ItemResult<PlacedOrDeferred> | undefined): ItemResult<Placed> {
  if (one === undefined || isDeferred(one)) {
    throw new Error("an order with a plan is placed or refused");
  }
  return one;
}

/** The request that the quote answered; for an amount, the part that can be delivered now. */
function toQuoteRequest(
  quoted: Awaited<ReturnType<typeof readQuote>>,
  detail: Failure["detail"],
): Parameters<TakeQuote>[1] {
  const { side, scheme, scrip_no, face_paise = 0, requirement_paise = 0 } = quoted;
  if (scrip_no !== undefined) return { side: "sell", scrip_no };
  if (side === "buy") return { side, scheme, requirement_paise };
  const deliverable = detail?.["deliverable_paise"];
  return { side: "sell", scheme, face_paise: Number(deliverable ?? face_paise) };
}

// Ends resting orders: by a cancel of their desk, by expiry, or because a credit they sell has ended.
// Deals that were made stand.
//
// Cancels form sets, as orders do, so that each does not hold a connection while it waits for the
// match lock.

import { releaseCredits } from "../credits/reserve-credits.ts";
import { type AttributedChange, recordAttributedChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import { type Call, type Environment, environments } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { schemes } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import { isVisible, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { ItemResult } from "../platform/postgres/coalesce.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  workOnEach,
} from "../platform/postgres/offenders.ts";
import type { Database, Tx } from "../platform/postgres/postgres.ts";
import type { SetAttempt } from "../platform/postgres/split.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import type { EndedSide } from "../settlement/transfer-legs.ts";
import {
  type OrderStanding,
  findOrderStandings,
  hasStanding,
} from "../settlement/read-settlements.ts";
import { endRest, newHistoryEntry, orderLifecycle, restBelowMinimum } from "./order-rules.ts";
import {
  listOverdue,
  lockMatching,
  lockOrders,
  moveOrderExpiriesEarlier,
  type OrderRow,
  setOrders,
} from "./order-store.ts";
import type { PlaceOptions } from "./place-orders.ts";
import {
  noOrder,
  type OrderOfDesk,
  readAnyOrder,
  viewOrder,
  viewOrdersOfDesks,
  viewSettled,
} from "./read-orders.ts";
import { listBelowMinimum, listOrdersWithoutCredits } from "./resting-store.ts";
import type { Order } from "./schema.ts";
import { toOrderChange } from "./store-orders.ts";

type Ending = {
  readonly environment: Environment;
  readonly orderIds: readonly string[];
  readonly how: "cancelled" | "expired";
  readonly reason: string | null;
  /** The reason for a partly dealt order; by default rest_cancelled or rest_expired. */
  readonly restReason?: string;
  readonly findActor: (order: OrderRow) => Actor;
  /** By default, all of them end. */
  readonly mayEnd?: (order: OrderRow) => boolean;
  readonly now: Date;
  /** Undefined outside sets. */
  readonly attempt?: SetAttempt;
};

/** Ends orders without recording: a caller that locks more rows records all changes last. */
export async function endOpenOrders(
  tx: Tx,
  ending: Ending,
): Promise<{
  readonly orders: readonly OrderRow[];
  readonly changes: readonly AttributedChange[];
}> {
  const { environment, orderIds, how, findActor, mayEnd = () => true, now, attempt } = ending;
  await tx.run(lockMatching(environment, attempt));
  // Locked before its settlements are read: a transaction that fails one of them either has committed
  // by now, or waits and then sees how the order ended.
  const rows = (await lockOrders(tx, orderIds)).filter(mayEnd);
  const open = rows.filter((row) => row.state === "open");
  const standings = await findOrderStandings(tx, open);
  const ended = open.map((before) => {
    const standing = standings.get(before.order_id);
    const isStanding = standing !== undefined && hasStanding(standing);
    const after = endRest(before, { ...ending, stands: isStanding });
    return { before, after: { ...after, version: before.version + 1, updated_at: now } };
  });
  if (ended.length === 0) return { orders: rows, changes: [] };
  await tx.run(
    setOrders(
      ended.map(({ after }) => after),
      now,
    ),
  );
  await releaseCredits(
    tx,
    ended.flatMap(({ before }) =>
      before.resting_scrip_nos.map((scripNo) => ({
        environment,
        scripNo,
        reservedFor: before.order_id,
      })),
    ),
    now,
  );
  const action = how === "cancelled" ? "cancel" : "expire";
  const changes = ended.map(({ before, after }) => ({
    actor: findActor(after),
    change: toOrderChange({ action, before, after }),
  }));
  const after = new Map(ended.map((end) => [end.after.order_id, end.after]));
  return { orders: rows.map((row) => after.get(row.order_id) ?? row), changes };
}

/** How many orders a worker ends in one set. */
const endedAtOnce = 500;

const everyScheme = environments.flatMap((environment) =>
  schemes.map((scheme) => ({ environment, scheme })),
);

export type Cancel = { readonly call: Call; readonly orderId: string };

/** Cancels orders, each as its caller may. Cancelling twice is no conflict: a retry gets the first answer again. */
export async function cancelOrders(
  ctx: Context,
  { environment, rollBack, isPart, isLast }: PlaceOptions,
  cancels: readonly Cancel[],
): Promise<readonly ItemResult<Order>[]> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const asked = Map.groupBy(cancels, ({ orderId }) => orderId);
      const findCancel = (order: OrderRow) =>
        asked.get(order.order_id)?.find((cancel) => mayCancel(cancel, order));
      const ended = await endAndRecordOrders(tx, {
        environment,
        attempt: { isPart, isLast },
        orderIds: [...asked.keys()].filter((orderId) => isId("ord", orderId)),
        how: "cancelled",
        reason: "requested",
        mayEnd: (order) => findCancel(order) !== undefined,
        findActor: (order) => {
          const cancel = findCancel(order);
          if (!cancel) throw new Error("only what was asked for is cancelled");
          return toActor(cancel.call);
        },
        now,
      });
      const rows = new Map(ended.map((row) => [row.order_id, row]));
      const standings = await findOrderStandings(tx, ended);
      return cancels.map((cancel) => {
        const row = rows.get(cancel.orderId);
        return toCancelOutcome(row && mayCancel(cancel, row) ? row : undefined, standings);
      });
    },
    { rollBack, repeatsLost: true },
  );
}

/** What the desk reads in the order's history. */
const cancelledByOperator = "cancelled_by_operator";

/** Cancels an order of any desk, for the operator. Twice is no conflict. */
export async function cancelAnyOrder(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  orderId: string,
): Promise<OrderOfDesk> {
  const now = ctx.now();
  const { environment } = await readAnyOrder(ctx.db, orderId);
  return await ctx.db.transaction(
    async (tx) => {
      const [row] = await endAndRecordOrders(tx, {
        environment,
        orderIds: [orderId],
        how: "cancelled",
        reason: cancelledByOperator,
        findActor: () => actor,
        now,
      });
      if (!row) throw noOrder(orderId);
      const standings = await findOrderStandings(tx, [row]);
      const outcome = toCancelOutcome(row, standings);
      if (outcome instanceof Error) throw outcome;
      const [order] = await viewOrdersOfDesks(tx, [row]);
      if (!order) throw new Error("an order that was ended can be shown");
      return order;
    },
    { repeatsLost: true },
  );
}

const clock: Actor = { kind: "worker", id: "order-expiry", requestId: null };

/** Expires one set of orders; "more" when another may follow. */
export async function expireOrders(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  const overdue = await listOverdue(db, now, { limit: endedAtOnce, except: offenders.ids() });
  await workOnEach(everyScheme, async ({ environment, scheme }) => {
    const orderIds = overdue
      .filter((order) => order.environment === environment && order.scheme === scheme)
      .map((order) => order.order_id);
    const ending = { environment, how: "expired", reason: null, now } as const;
    return await endInParts(db, offenders, { ...ending, orderIds, findActor: () => clock });
  });
  return overdue.length === endedAtOnce ? "more" : "idle";
}

/**
 * Fails matched orders of which no credit was delivered and none is awaited. While one credit of an
 * order stands, the order stands. An order that still rests goes on resting. Runs in the
 * transaction of the settlement.
 */
export async function failOrders(
  tx: Tx,
  _actor: Actor,
  ended: readonly EndedSide[],
  now: Date,
): Promise<readonly Change[]> {
  const orderIds = [...new Set(ended.flatMap((side) => side.undeliveredOrderIds))];
  const orders = orderIds.length > 0 ? await lockOrders(tx, orderIds) : [];
  const matched = orders.filter((order) => order.state === "matched");
  const standings = await findOrderStandings(tx, matched);
  const changed = matched
    .filter((order) => {
      const standing = standings.get(order.order_id);
      return standing !== undefined && !hasStanding(standing);
    })
    .map((before) => {
      const state = advance(orderLifecycle, before.state, "fail");
      const history = [...before.history, newHistoryEntry(state, now, "settlement_failed")];
      return { before, after: { ...before, state, history, version: before.version + 1 } };
    });
  if (changed.length === 0) return [];
  await tx.run(
    setOrders(
      changed.map(({ after }) => after),
      now,
    ),
  );
  return changed.map(({ before, after }) => toOrderChange({ action: "fail", before, after }));
}

/**
 * Moves GTD expiries of a desk earlier. Resting orders change under the match lock only, which is
 * held for this set.
 */
export async function moveOrderDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  await tx.run(lockMatching(clockAdvance.environment));
  return toMovedSet(await moveOrderExpiriesEarlier(tx, clockAdvance, cursor), cursor);
}

const upkeepWorker: Actor = { kind: "worker", id: "order-upkeep", requestId: null };

/**
 * Cancels one set of resting sells with a credit that has ended: cancelled or used at customs, or
 * expired. A suspended credit may return, so its sell waits. "more" when another set may follow.
 */
export async function cancelOrdersWithoutCredits(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  let found = 0;
  await workOnEach(everyScheme, async ({ environment, scheme }) => {
    // Found without a lock, which is safe: an ended credit never returns.
    const search = { scheme, today: istDay(now), limit: endedAtOnce, except: offenders.ids() };
    const orderIds = await listOrdersWithoutCredits(db, environment, search);
    found = Math.max(found, orderIds.length);
    const ending = { environment, how: "cancelled", reason: "credit_gone", now } as const;
    return await endInParts(db, offenders, { ...ending, orderIds, findActor: () => upkeepWorker });
  });
  return found === endedAtOnce ? "more" : "idle";
}

const smallRestsWorker: Actor = { kind: "worker", id: "small-rests", requestId: null };

/**
 * Cancels one set of sells whose remainder after a deal is below the minimum that may rest, which
 * releases their credits. The remainder of a buy ends with the deal itself. "more" when another set
 * may follow.
 */
export async function cancelSmallRemainders(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  let found = 0;
  await workOnEach(everyScheme, async ({ environment, scheme }) => {
    const card = (await findCurrentCards(db, environment)).get(scheme);
    if (!card) return 0;
    // Found without a lock, which is safe: a remainder never grows.
    const { rest_min_paise: minPaise } = card;
    const small = { scheme, minPaise, limit: endedAtOnce, except: offenders.ids() };
    const orderIds = await listBelowMinimum(db, environment, small);
    found = Math.max(found, orderIds.length);
    return await endInParts(db, offenders, {
      environment,
      orderIds,
      how: "cancelled",
      reason: restBelowMinimum,
      restReason: restBelowMinimum,
      findActor: () => smallRestsWorker,
      now,
    });
  });
  return found === endedAtOnce ? "more" : "idle";
}

function mayCancel({ call }: Cancel, order: OrderRow): boolean {
  return isVisible(visibleTo(call.caller), { deskId: order.desk_id, firmId: order.firm_id });
}

/** Ends the open ones of these orders; returns all of them as they are afterwards. */
async function endAndRecordOrders(tx: Tx, ending: Ending): Promise<readonly OrderRow[]> {
  const { orders, changes } = await endOpenOrders(tx, ending);
  await recordAttributedChanges(tx, changes, ending.now);
  return orders;
}

function toCancelOutcome(
  row: OrderRow | undefined,
  standings: ReadonlyMap<string, OrderStanding>,
): ItemResult<Order> {
  if (!row) return notFound("order_id");
  const gaveUp = row.history.some(({ reason }) => reason === "rest_cancelled");
  const isCancelled = row.state === "cancelled" || gaveUp;
  const refusal = isCancelled ? undefined : refuseCancel(row);
  return refusal ?? viewOrder(row, viewSettled(row, standings.get(row.order_id)));
}

function refuseCancel({ state }: OrderRow): Failure | undefined {
  try {
    advance(orderLifecycle, state, "cancel");
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** Ends the orders that a worker found; one that cannot be ended is set aside. */
async function endInParts(
  db: Pick<Database, "transaction">,
  offenders: Offenders,
  ending: Ending,
): Promise<number> {
  if (ending.orderIds.length === 0) return 0;
  return await workInParts(offenders, ({ only }, claimed) => {
    const orderIds = only ?? ending.orderIds;
    claimed(orderIds);
    const isPart = only !== null;
    return db.transaction(async (tx) => {
      const part = { ...ending, orderIds, attempt: { isPart } };
      return (await endAndRecordOrders(tx, part)).length;
    });
  });
}

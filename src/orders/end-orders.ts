// How what rests of orders ends before it is dealt: by their desk, by their time, or because a credit
// they sell has gone. What was dealt of them stands.

import { releaseCredits } from "../credits/reserve-credits.ts";
import { type Attributed, recordAttributed } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { type Offenders, workInParts } from "../platform/offenders.ts";
import type { Database, Tx } from "../platform/postgres.ts";
import { orderStandings, stands } from "../settlement/order-standings.ts";
import { changeOfOrder } from "./change-of-order.ts";
import { endRest } from "./rules.ts";
import { lockMatching, lockOrders, type OrderRow, setOrders } from "./store.ts";

export type Ending = {
  readonly environment: Environment;
  readonly orderIds: readonly string[];
  readonly how: "cancelled" | "expired";
  readonly reason: string | null;
  /** Why, where a part was dealt; that the rest was cancelled or expired unless it is said. */
  readonly restReason?: string;
  readonly actorOf: (orderId: string) => Actor;
  readonly now: Date;
  /** Whether these orders have failed to end before, among others. */
  readonly isPart?: boolean;
};

/** Ends those of the orders that are open; answers with all of them as they are then. */
export async function endOrders(tx: Tx, ending: Ending): Promise<readonly OrderRow[]> {
  const { orders, changes } = await letOrdersGo(tx, ending);
  await recordAttributed(tx, changes, ending.now);
  return orders;
}

/** The same for who locks more after it: its changes are recorded last, with all others. */
export async function letOrdersGo(
  tx: Tx,
  ending: Ending,
): Promise<{ readonly orders: readonly OrderRow[]; readonly changes: readonly Attributed[] }> {
  const { environment, orderIds, how, actorOf, now, isPart = false } = ending;
  await lockMatching(tx, environment, { isPart });
  // Locked before its settlements are looked at: whoever fails one of them waits, and then sees how
  // the order ended, or has failed it before this look.
  const rows = await lockOrders(tx, orderIds);
  const open = rows.filter((row) => row.state === "open");
  const standings = await orderStandings(tx, open);
  const ended = open.map((before) => {
    const standing = standings.get(before.order_id);
    const isStanding = standing !== undefined && stands(standing);
    const after = endRest(before, { ...ending, stands: isStanding });
    return { before, after: { ...after, version: before.version + 1, updated_at: now } };
  });
  if (ended.length === 0) return { orders: rows, changes: [] };
  await setOrders(
    tx,
    ended.map(({ after }) => after),
    now,
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
    actor: actorOf(after.order_id),
    change: changeOfOrder({ action, before, after }),
  }));
  const after = new Map(ended.map((end) => [end.after.order_id, end.after]));
  return { orders: rows.map((row) => after.get(row.order_id) ?? row), changes };
}

/** How many orders a worker ends at a time. */
export const endedAtOnce = 500;

/** Ends what a worker found: an order that cannot be ended is set aside, and the others are ended. */
export async function endInParts(
  db: Pick<Database, "transaction">,
  offenders: Offenders,
  ending: Ending,
): Promise<void> {
  if (ending.orderIds.length === 0) return;
  await workInParts(offenders, ({ only }, claimed) => {
    const orderIds = only ?? ending.orderIds;
    claimed(orderIds);
    const isPart = only !== null;
    return db.transaction(async (tx) => {
      return (await endOrders(tx, { ...ending, orderIds, isPart })).length;
    });
  });
}

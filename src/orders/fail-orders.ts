import type { Actor, Change } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Tx } from "../platform/postgres.ts";
import type { EndedSide } from "../settlement/conclude-legs.ts";
import { orderStandings, stands } from "../settlement/order-standings.ts";
import { changeOfOrder } from "./change-of-order.ts";
import { happening, orderLifecycle } from "./rules.ts";
import { lockOrders, setOrders } from "./store.ts";

/**
 * A matched order fails when nothing of it was delivered and nothing is awaited: while one of its
 * credits stands, it does too, whatever becomes of the credits of others in the same settlement. One
 * that still rests goes on resting. Joins the transaction that ended the sides.
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
  const standings = await orderStandings(tx, matched);
  const changed = matched
    .filter((order) => {
      const standing = standings.get(order.order_id);
      return standing !== undefined && !stands(standing);
    })
    .map((before) => {
      const state = advance(orderLifecycle, before.state, "fail");
      const history = [...before.history, happening(state, now, "settlement_failed")];
      return { before, after: { ...before, state, history, version: before.version + 1 } };
    });
  if (changed.length === 0) return [];
  await setOrders(
    tx,
    changed.map(({ after }) => after),
    now,
  );
  return changed.map(({ before, after }) => changeOfOrder({ action: "fail", before, after }));
}

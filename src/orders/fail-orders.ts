import type { Actor, Change } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Tx } from "../platform/postgres.ts";
import type { EndedSettlement } from "../settlement/conclude-legs.ts";
import { statesOfSettlements } from "../settlement/states-of-settlements.ts";
import { changeOfOrder } from "./change-of-order.ts";
import { happening, orderLifecycle } from "./rules.ts";
import { lockOrders, setOrders } from "./store.ts";

/**
 * A matched order fails with the last of its settlements: while one of them stands, it does too. One
 * that still rests goes on resting. Joins the transaction that failed the settlements.
 */
export async function failOrders(
  tx: Tx,
  _actor: Actor,
  ended: readonly EndedSettlement[],
  now: Date,
): Promise<readonly Change[]> {
  const failed = ended.filter((settlement) => settlement.state === "failed");
  const orderIds = [...new Set(failed.flatMap((settlement) => settlement.orderIds))];
  const orders = orderIds.length > 0 ? await lockOrders(tx, orderIds) : [];
  const states = await statesOfSettlements(
    tx,
    orders.flatMap((order) => order.settlement_ids),
  );
  const changed = orders
    .filter(
      (order) =>
        order.state === "matched" &&
        order.settlement_ids.every((settlementId) => states.get(settlementId) === "failed"),
    )
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

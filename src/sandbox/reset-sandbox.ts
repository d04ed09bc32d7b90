// The books and the events of a desk are only ever added to, in the sandbox as well. A reset lets go
// of everything that is open, so that the desk can begin anew; it makes nothing unhappened.

import { giveUpCrosses } from "../crosses/give-up-crosses.ts";
import { withdrawAllOfDesk } from "../credits/withdraw-all-credits.ts";
import { recordAttributed } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { letOrdersGo } from "../orders/end-orders.ts";
import { listOrders } from "../orders/list-orders.ts";
import type { Context } from "../platform/context.ts";
import { forgetScenarios } from "../scenarios/set-scenario.ts";
import type { Settling } from "../settlement/conclude-legs.ts";
import { giveUpSettlements } from "../settlement/give-up-settlements.ts";
import { onlyWholeDesk } from "./only-sandbox.ts";
import type { ResetDone } from "./schema.ts";
import { deleteClock } from "./store.ts";

/** Whoever has something to say about settlements that fail. */
export type Resetting = Settling;

export async function resetSandbox(
  ctx: Context,
  call: Call,
  settling: Resetting,
): Promise<ResetDone> {
  onlyWholeDesk(call.caller);
  const { environment, deskId } = call.caller;
  const actor = actorOf(call);
  const now = ctx.now();
  const { rows: open } = await listOrders(ctx, call.caller, { status: "open" });
  return await ctx.db.transaction(
    async (tx) => {
      await deleteClock(tx, deskId); // First, as when it is put forward: two never wait for each other.
      const orderIds = open.map((order) => order.order_id);
      const how = { how: "cancelled", reason: "sandbox_reset" } as const;
      const ended = await letOrdersGo(tx, {
        environment,
        orderIds,
        ...how,
        actorOf: () => actor,
        now,
      });
      const crosses = await giveUpCrosses(tx, { deskId, reason: how.reason }, now);
      const given = await giveUpSettlements(tx, actor, { environment, deskId, settling }, now);
      const withdrawn = await withdrawAllOfDesk(tx, deskId, now);
      await forgetScenarios(tx, deskId);
      const others = [...crosses.changes, ...given.changes, ...withdrawn];
      const made = [...ended.changes, ...others.map((change) => ({ actor, change }))];
      await recordAttributed(tx, made, now);
      return {
        orders_cancelled: ended.orders.length,
        crosses_ended: crosses.ended,
        settlements_failed: given.failed,
        credits_withdrawn: withdrawn.length,
      };
    },
    { rollBack: call.dryRun },
  );
}

// The books and the events of a desk are only ever added to, in the sandbox as well. A reset lets go
// of everything that is open, so that the desk can begin anew; it makes nothing unhappened.

import { giveUpCrosses, lockCrossesWithin } from "../crosses/give-up-crosses.ts";
import { lockFreeCredits, withdrawAllOfDesk } from "../credits/withdraw-all-credits.ts";
import { recordAttributed } from "../events/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { letOrdersGo } from "../orders/end-orders.ts";
import { listOrders } from "../orders/list-orders.ts";
import { lockTrading } from "../orders/pass-time.ts";
import type { Context } from "../platform/context.ts";
import { forgetScenarios } from "../scenarios/set-scenario.ts";
import type { Settling } from "../settlement/conclude-legs.ts";
import { giveUpSettlements, lockToGiveUp } from "../settlement/give-up-settlements.ts";
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
  const { rows: resting } = await listOrders(ctx, call.caller, { status: "open" });
  return await ctx.db.transaction(
    async (tx) => {
      await deleteClock(tx, deskId); // First, as when it is put forward: two never wait for each other.
      await forgetScenarios(tx, deskId);
      // All is locked before anything is let go of. What comes up later is the new beginning's.
      await lockTrading(tx, environment);
      const settlements = await lockToGiveUp(tx, { environment, deskId, settling });
      const open = await lockCrossesWithin(tx, deskId);
      await lockFreeCredits(tx, deskId);
      const orderIds = resting.map((order) => order.order_id);
      const how = { how: "cancelled", reason: "sandbox_reset" } as const;
      const ended = await letOrdersGo(tx, {
        environment,
        orderIds,
        ...how,
        actorOf: () => actor,
        now,
      });
      const given = { environment, settlements, settling };
      const failed = await giveUpSettlements(tx, actor, given, now);
      const crosses = await giveUpCrosses(tx, { crosses: open, reason: how.reason }, now);
      const withdrawn = await withdrawAllOfDesk(tx, deskId, now);
      const others = [...crosses, ...failed, ...withdrawn];
      const made = [...ended.changes, ...others.map((change) => ({ actor, change }))];
      await recordAttributed(tx, made, now);
      return {
        orders_cancelled: ended.orders.length,
        crosses_ended: open.length,
        settlements_failed: settlements.length,
        credits_withdrawn: withdrawn.length,
      };
    },
    { rollBack: call.dryRun },
  );
}

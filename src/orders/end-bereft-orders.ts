import type { Actor } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders } from "../platform/offenders.ts";
import { endedAtOnce, endInParts } from "./end-orders.ts";
import { listBereft } from "./resting-store.ts";

const upkeep: Actor = { kind: "worker", id: "order-upkeep", requestId: null };

/**
 * Ends a set of sells that rest with a credit which cannot come back: cancelled or used at customs,
 * or past its last day. One that is suspended can, and waits. Whether there may be more.
 */
export async function endBereftOrders(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  let found = 0;
  for (const environment of environments) {
    // What is found without a lock stays so: nothing brings such a credit back.
    const bereft = { today: istDay(now), limit: endedAtOnce, except: offenders.ids() };
    const orderIds = await listBereft(db, environment, bereft);
    const ending = { environment, how: "cancelled", reason: "credit_gone", now } as const;
    await endInParts(db, offenders, { ...ending, orderIds, actorOf: () => upkeep });
    found = Math.max(found, orderIds.length);
  }
  return found === endedAtOnce ? "more" : "idle";
}

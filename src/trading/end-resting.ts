import type { Actor } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders } from "../platform/postgres/offenders.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import { endedAtOnce, endInParts } from "./end-orders.ts";
import { restBelowMinimum } from "./order-rules.ts";
import { listBelowMinimum, listOrdersWithoutCredits } from "./resting-store.ts";

const upkeepWorker: Actor = { kind: "worker", id: "order-upkeep", requestId: null };

/**
 * Ends a set of sells that rest with a credit which cannot come back: cancelled or used at customs,
 * or past its last day. One that is suspended can, and waits. Whether there may be more.
 */
export async function cancelOrdersWithoutCredits(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  let found = 0;
  for (const environment of environments) {
    // What is found without a lock stays so: nothing brings such a credit back.
    const bereft = { today: istDay(now), limit: endedAtOnce, except: offenders.ids() };
    const orderIds = await listOrdersWithoutCredits(db, environment, bereft);
    const ending = { environment, how: "cancelled", reason: "credit_gone", now } as const;
    await endInParts(db, offenders, { ...ending, orderIds, findActor: () => upkeepWorker });
    found = Math.max(found, orderIds.length);
  }
  return found === endedAtOnce ? "more" : "idle";
}

const smallRestsWorker: Actor = { kind: "worker", id: "small-rests", requestId: null };

/**
 * Ends a set of sells of which a deal has left less than may rest, so that their credits are free
 * again. What is left of a buy ends with the deal itself. Whether there may be more.
 */
export async function cancelSmallRemainders(
  { db, now: clockNow }: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = clockNow();
  let found = 0;
  for (const environment of environments) {
    const cards = await findCurrentCards(db, environment);
    for (const [scheme, { rest_min_paise: minPaise }] of cards) {
      // What is found without a lock stays so: what is left of an order only becomes less.
      const small = { scheme, minPaise, limit: endedAtOnce, except: offenders.ids() };
      const orderIds = await listBelowMinimum(db, environment, small);
      const ending = {
        environment,
        orderIds,
        how: "cancelled",
        reason: restBelowMinimum,
        restReason: restBelowMinimum,
        findActor: () => smallRestsWorker,
        now,
      } as const;
      await endInParts(db, offenders, ending);
      found = Math.max(found, orderIds.length);
    }
  }
  return found === endedAtOnce ? "more" : "idle";
}

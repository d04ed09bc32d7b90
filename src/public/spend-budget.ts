// The budgets of the public surface: calls per address, in any minute and on one IST day. An address
// is an IPv4 address or a /64 of IPv6, which is what one subscriber is given.

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import type { BudgetName, Budgets } from "../kernel/budget.ts";
import { Failure } from "../kernel/failure.ts";
import { subscriberNetwork } from "../kernel/networks.ts";
import { dayMs, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  type Ask,
  localRateWindow,
  type RateWindow,
  sharedRateWindow,
} from "../usage/rate-window.ts";
import type { WindowState } from "../usage/rules.ts";
import { secondsToMidnight } from "./rules.ts";

/** Where calls are counted: those of the last minute, and those of a day under the day's name. */
export type AddressWindows = { readonly minute: RateWindow; readonly day: RateWindow };

export type Spend = (name: BudgetName, address: string) => Promise<void>;

/** Windows kept at once; whoever has been quiet longest makes room, so memory has an end. */
const addressesMax = 20_000;
const retryAfterMinuteS = 60;

export function localAddressWindows(elapsedMs: () => number): AddressWindows {
  return {
    minute: localRateWindow(elapsedMs, { trackedMax: addressesMax }),
    day: localRateWindow(elapsedMs, { trackedMax: addressesMax, windowMs: dayMs }),
  };
}

export function sharedAddressWindows(
  redis: RedisClientType,
  { fallback, log }: { readonly fallback: AddressWindows; readonly log: FastifyBaseLogger },
): AddressWindows {
  return {
    minute: sharedRateWindow(redis, { fallback: fallback.minute, log }),
    day: sharedRateWindow(redis, { fallback: fallback.day, log, windowMs: dayMs }),
  };
}

/** Lets a call in, or refuses it with the time to wait. What is refused enters no count. */
export function spender(
  { now }: Pick<Context, "now">,
  budgets: Budgets,
  windows: AddressWindows,
): Spend {
  return async (name, address) => {
    const { perMinute, perDay } = budgets[name];
    const instant = now();
    // Text that is no address can only come from a proxy that we trust; all of it is one address.
    const network = subscriberNetwork(address) ?? "unknown";
    const minute = { keyId: `${name}:${network}`, limit: perMinute };
    if (perDay === undefined) {
      if (!(await takeOne(windows.minute, minute)).admitted)
        throw usedUp("minute", retryAfterMinuteS);
      return;
    }
    const day = { keyId: `${name}:${istDay(instant)}:${network}`, limit: perDay };
    const taken = await takeOne(windows.day, day);
    if (!taken.admitted) throw usedUp("day", secondsToMidnight(instant));
    if ((await takeOne(windows.minute, minute)).admitted) return;
    await windows.day.giveBack(day, taken);
    throw usedUp("minute", retryAfterMinuteS);
  };
}

async function takeOne(window: RateWindow, ask: Ask): Promise<WindowState> {
  const [state] = await window.take([ask]);
  if (!state) throw new Error("a window answers every ask");
  return state;
}

function usedUp(span: "minute" | "day", retryAfterS: number): Failure {
  return new Failure("rate_limited", `the calls of this ${span} from your address are used up`, {
    form: "edge",
    detail: { retry_after_s: retryAfterS },
  });
}

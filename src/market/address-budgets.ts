// The budgets of the public API: calls per address, in any minute and on one IST day. An address is an
// IPv4 address or a /64 of IPv6, which is what one subscriber gets.

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import {
  type Ask,
  openLocalRateWindow,
  type RateWindow,
  openSharedRateWindow,
} from "../access/rate-window.ts";
import type { WindowState } from "../access/usage-rules.ts";
import type { BudgetName, Budgets } from "../kernel/budget.ts";
import { Failure } from "../kernel/failure.ts";
import { subscriberNetwork } from "../kernel/networks.ts";
import { dayMs, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { secondsToMidnight } from "./public-rules.ts";

/** Counts of the last minute, and of a day under the day's name. */
export type AddressWindows = { readonly minute: RateWindow; readonly day: RateWindow };

export type SpendBudget = (name: BudgetName, address: string) => Promise<void>;

/** Bounds memory: beyond this, the address that has been quiet longest is forgotten. */
const addressesMax = 20_000;
const retryAfterMinuteS = 60;

export function localAddressWindows(elapsedMs: () => number): AddressWindows {
  return {
    minute: openLocalRateWindow(elapsedMs, { trackedMax: addressesMax }),
    day: openLocalRateWindow(elapsedMs, { trackedMax: addressesMax, windowMs: dayMs }),
  };
}

export function sharedAddressWindows(
  redis: RedisClientType,
  { fallback, log }: { readonly fallback: AddressWindows; readonly log: FastifyBaseLogger },
): AddressWindows {
  return {
    minute: openSharedRateWindow(redis, { fallback: fallback.minute, log }),
    day: openSharedRateWindow(redis, { fallback: fallback.day, log, windowMs: dayMs }),
  };
}

/** Admits a call, or refuses it with the time to wait. A refused call is not counted. */
export function createBudgets(
  { now }: Pick<Context, "now">,
  budgets: Budgets,
  windows: AddressWindows,
): SpendBudget {
  return async (name, address) => {
    const { perMinute, perDay } = budgets[name];
    const instant = now();
    // Text that is not an address can only come from a trusted proxy; all of it shares one count.
    const network = subscriberNetwork(address) ?? "unknown";
    const minute = { keyId: `${name}:${network}`, limit: perMinute };
    if (perDay === undefined) {
      if (!(await takeFromWindow(windows.minute, minute)).admitted)
        throw budgetExceeded("minute", retryAfterMinuteS);
      return;
    }
    const day = { keyId: `${name}:${istDay(instant)}:${network}`, limit: perDay };
    const taken = await takeFromWindow(windows.day, day);
    if (!taken.admitted) throw budgetExceeded("day", secondsToMidnight(instant));
    if ((await takeFromWindow(windows.minute, minute)).admitted) return;
    await windows.day.giveBack(day, taken);
    throw budgetExceeded("minute", retryAfterMinuteS);
  };
}

async function takeFromWindow(window: RateWindow, ask: Ask): Promise<WindowState> {
  const [state] = await window.take([ask]);
  if (!state) throw new Error("the window gave no answer");
  return state;
}

function budgetExceeded(span: "minute" | "day", retryAfterS: number): Failure {
  return new Failure("rate_limited", `the calls of this ${span} from your address are used up`, {
    form: "edge",
    detail: { retry_after_s: retryAfterS },
  });
}

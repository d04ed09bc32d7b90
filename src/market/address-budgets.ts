// The budgets of calls without a key: per address, in any minute and on one IST day. An address is an
// IPv4 address or a /64 of IPv6, which is what one subscriber gets. All addresses of a neighbourhood
// (a /24, a /48) have a wider budget together, because one customer may own it whole.

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import {
  type RateRequest,
  openLocalRateWindow,
  type RateWindow,
  openSharedRateWindow,
} from "../access/rate-window.ts";
import type { WindowState } from "../access/usage-rules.ts";
import type { Budget } from "../kernel/budget.ts";
import { Failure } from "../kernel/failure.ts";
import {
  findNeighbourhood,
  networksOfNeighbourhood,
  subscriberNetwork,
} from "../kernel/networks.ts";
import { dayMs, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { secondsToMidnight } from "./public-rules.ts";

/** Counts of the last minute, and of a day under the day's name. */
export type AddressWindows = { readonly minute: RateWindow; readonly day: RateWindow };

export type AddressBudgets = {
  readonly names: readonly string[];
  readonly spend: (name: string, address: string) => Promise<void>;
};

/** Bounds memory: beyond this, the network that has been quiet longest is forgotten. */
const networksMax = 20_000;
const retryAfterMinuteS = 60;

export function localAddressWindows(elapsedMs: () => number): AddressWindows {
  return {
    minute: openLocalRateWindow(elapsedMs, { trackedMax: networksMax }),
    day: openLocalRateWindow(elapsedMs, { trackedMax: networksMax, windowMs: dayMs }),
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
  budgets: Readonly<Record<string, Budget>>,
  windows: AddressWindows,
): AddressBudgets {
  const spend = async (name: string, address: string) => {
    const budget = budgets[name];
    if (!budget) throw new Error(`there is no budget ${name}`);
    const { perMinute, perDay } = budget;
    const instant = now();
    const minute = listAsks(address, (network) => `${name}:${network}`, perMinute);
    if (perDay === undefined) {
      if (!(await takeAll(windows.minute, minute)))
        throw budgetExceeded("minute", retryAfterMinuteS);
      return;
    }
    const day = listAsks(address, (network) => `${name}:${istDay(instant)}:${network}`, perDay);
    const taken = await takeAll(windows.day, day);
    if (!taken) throw budgetExceeded("day", secondsToMidnight(instant));
    if (await takeAll(windows.minute, minute)) return;
    await giveBack(windows.day, day, taken);
    throw budgetExceeded("minute", retryAfterMinuteS);
  };
  return { names: Object.keys(budgets), spend };
}

/** What a call takes from: the address's own window, and the wider one of the neighbourhood it is in. */
function listAsks(
  address: string,
  nameWindow: (network: string) => string,
  limit: number,
): readonly RateRequest[] {
  // Text that is not an address can only come from a trusted proxy; all of it shares one count.
  const own = { keyId: nameWindow(subscriberNetwork(address) ?? "unknown"), limit };
  const neighbourhood = findNeighbourhood(address);
  return neighbourhood === undefined
    ? [own]
    : [own, { keyId: nameWindow(neighbourhood), limit: limit * networksOfNeighbourhood }];
}

/** Takes from every window, or from none; undefined when one of them is used up. */
async function takeAll(
  window: RateWindow,
  asks: readonly RateRequest[],
): Promise<readonly WindowState[] | undefined> {
  const taken = await window.take(asks);
  if (taken.every(({ admitted }) => admitted)) return taken;
  await giveBack(window, asks, taken);
  return undefined;
}

async function giveBack(
  window: RateWindow,
  asks: readonly RateRequest[],
  taken: readonly WindowState[],
): Promise<void> {
  for (const [at, ask] of asks.entries()) {
    const state = taken[at];
    if (state?.admitted) await window.giveBack(ask, state);
  }
}

function budgetExceeded(span: "minute" | "day", retryAfterS: number): Failure {
  return new Failure("rate_limited", `the calls of this ${span} from your address are used up`, {
    form: "edge",
    detail: { retry_after_s: retryAfterS },
  });
}

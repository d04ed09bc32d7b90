// Where the sliding windows of all keys are kept: in this process by default, in Redis when several
// processes serve one set of keys. Both answer the same question with the same exactness. Addresses
// that call without a key are counted the same way; for them `keyId` is the address.

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import { SlidingWindow, windowMs as minuteWindowMs, type WindowState } from "./usage-rules.ts";

export type Ask = {
  readonly keyId: string;
  /** Infinity where the window is shown and not enforced. */
  readonly limit: number;
};

export type RateWindow = {
  /** One answer per ask, in their order. */
  take(asks: readonly Ask[]): Promise<WindowState[]>;
  /** Takes back a call that was taken and then refused; the window as it is without it. */
  giveBack(ask: Ask, taken: WindowState): Promise<WindowState>;
};

export type LocalOptions = {
  readonly windowMs?: number;
  /** Windows kept at once; the one that was asked longest ago goes when there are more. */
  readonly trackedMax?: number;
};

/** `elapsedMs` is a monotonic clock: turning the wall clock opens no window. */
export function openLocalRateWindow(
  elapsedMs: () => number,
  { windowMs = minuteWindowMs, trackedMax = Infinity }: LocalOptions = {},
): RateWindow {
  const windows = new Map<string, SlidingWindow>();
  let sweptAtMs = elapsedMs();

  function findWindow(keyId: string): SlidingWindow {
    let window = windows.get(keyId);
    if (!window) {
      window = new SlidingWindow(windowMs);
      windows.set(keyId, window);
      if (windows.size > trackedMax) forgetQuietest();
    } else if (trackedMax !== Infinity) {
      // A map keeps the order in which its keys were set.
      windows.delete(keyId);
      windows.set(keyId, window);
    }
    return window;
  }

  function forgetQuietest(): void {
    for (const keyId of windows.keys()) {
      windows.delete(keyId);
      return;
    }
  }

  /** Once a minute, so that keys that stopped calling hold no memory. */
  function sweep(nowMs: number): void {
    if (nowMs - sweptAtMs < minuteWindowMs) return;
    sweptAtMs = nowMs;
    for (const [keyId, window] of windows) if (window.isEmpty(nowMs)) windows.delete(keyId);
  }

  return {
    async take(asks) {
      const nowMs = Math.floor(elapsedMs());
      sweep(nowMs);
      return asks.map(({ keyId, limit }) => findWindow(keyId).take(nowMs, limit));
    },
    async giveBack({ keyId }, { atMs }) {
      return findWindow(keyId).giveBack(Math.floor(elapsedMs()), atMs);
    },
  };
}

/** How long a set of calls waits for Redis before this process decides alone. */
const redisTimeoutMs = 1_000;
/** A list that nobody asks for is dropped this long after its last call has left the window. */
const expiryMarginMs = 1_000;

// One list per key holds the time of each call in the window, oldest first. The clock is Redis's
// own, the same for every process. The whole set is decided in one atomic run.
const buildWindowFunctions = (windowMs: number) => `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local answers = {}
local function forget(key)
  while true do
    local times = redis.call('LRANGE', key, 0, 127)
    local old = 0
    for _, time in ipairs(times) do
      if now - tonumber(time) < ${windowMs} then break end
      old = old + 1
    end
    if old > 0 then redis.call('LTRIM', key, old, -1) end
    if old < 128 then break end
  end
end
local function answer(key, admitted)
  local latest = redis.call('LINDEX', key, -1)
  local clears = 0
  if latest then clears = tonumber(latest) + ${windowMs} - now end
  answers[#answers + 1] = admitted
  answers[#answers + 1] = now
  answers[#answers + 1] = redis.call('LLEN', key)
  answers[#answers + 1] = clears
end`;

const buildTakeScript = (windowMs: number) => `${buildWindowFunctions(windowMs)}
for i, key in ipairs(KEYS) do
  forget(key)
  local limit = tonumber(ARGV[i])
  local admitted = 0
  if limit < 0 or redis.call('LLEN', key) < limit then
    admitted = 1
    redis.call('RPUSH', key, now)
    redis.call('PEXPIRE', key, ${windowMs + expiryMarginMs})
  end
  answer(key, admitted)
end
return answers`;

const buildGiveBackScript = (windowMs: number) => `${buildWindowFunctions(windowMs)}
forget(KEYS[1])
redis.call('LREM', KEYS[1], -1, ARGV[1])
answer(KEYS[1], 0)
return answers`;

const answerLength = 4;

export type SharedOptions = {
  /** Where calls are counted while Redis is away. */
  readonly fallback: RateWindow;
  readonly log: FastifyBaseLogger;
  readonly windowMs?: number;
};

/**
 * While Redis does not answer, each process keeps its own windows: callers are served and a limit
 * holds per process. Refusing all of them would turn a lost cache into a lost market. One set of
 * calls waits for the answer that does not come; those after it are decided here at once, and
 * Redis is asked again beside them until it answers.
 */
export function openSharedRateWindow(
  redis: RedisClientType,
  { fallback, log, windowMs = minuteWindowMs }: SharedOptions,
): RateWindow {
  const scripts = { take: buildTakeScript(windowMs), giveBack: buildGiveBackScript(windowMs) };
  const toRedisKey = (keyId: string) => `{scripdesk}:window:${keyId}`;
  const takenHere = new WeakSet<WindowState>();
  let degraded = false;
  let probing = false;

  function note(isDegraded: boolean, error?: unknown): void {
    if (isDegraded === degraded) return;
    degraded = isDegraded;
    if (isDegraded) log.error({ err: error }, "rate windows are kept per process: Redis is away");
    else log.info("rate windows are shared again: Redis is back");
  }

  function probe(): void {
    if (probing) return;
    probing = true;
    withTimeout(redisTimeoutMs, redis.ping())
      .then(
        () => note(false),
        () => {}, // Still away; the next set of calls asks again.
      )
      .finally(() => (probing = false));
  }

  async function run(script: string, keyIds: readonly string[], args: readonly string[]) {
    const options = { keys: keyIds.map(toRedisKey), arguments: [...args] };
    const answers = (await withTimeout(redisTimeoutMs, redis.eval(script, options))) as number[];
    return keyIds.map((_, index): WindowState => {
      const [admitted, atMs, used, clearsInMs] = answers.slice(index * answerLength);
      return {
        admitted: admitted === 1,
        atMs: atMs ?? 0,
        used: used ?? 0,
        clearsInMs: clearsInMs ?? 0,
      };
    });
  }

  async function takeHere(asks: readonly Ask[]): Promise<WindowState[]> {
    const states = await fallback.take(asks);
    for (const state of states) takenHere.add(state);
    return states;
  }

  return {
    async take(asks) {
      if (degraded) {
        probe();
        return await takeHere(asks);
      }
      try {
        const limits = asks.map(({ limit }) => (limit === Infinity ? "-1" : String(limit)));
        const keyIds = asks.map(({ keyId }) => keyId);
        return await run(scripts.take, keyIds, limits);
      } catch (error) {
        note(true, error);
        return await takeHere(asks);
      }
    },
    async giveBack(ask, taken) {
      if (takenHere.has(taken)) return await fallback.giveBack(ask, taken);
      const without = { ...taken, admitted: false, used: taken.used - 1 };
      if (degraded) return without;
      try {
        const [state] = await run(scripts.giveBack, [ask.keyId], [String(taken.atMs)]);
        return state ?? without;
      } catch (error) {
        note(true, error);
        return without;
      }
    },
  };
}

/** The client's own timeout ends once a command is sent; a server that hangs is sent commands too. */
async function withTimeout<Result>(ms: number, answer: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

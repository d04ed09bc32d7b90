// The sliding windows of all keys: in this process by default, in Redis when several processes
// serve the same keys. Both count exactly. Callers without a key are counted by address: `keyId` is
// the address then.

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import { SlidingWindow, windowMs as minuteWindowMs, type WindowState } from "./usage-rules.ts";

export type RateRequest = {
  readonly keyId: string;
  /** Infinity when the limit is shown but not enforced. */
  readonly limit: number;
};

export type RateWindow = {
  /** One answer per ask, in their order. */
  take(asks: readonly RateRequest[]): Promise<WindowState[]>;
  /** Removes a call that was refused after it was counted; returns the window without it. */
  giveBack(ask: RateRequest, taken: WindowState): Promise<WindowState>;
};

type LocalOptions = {
  readonly windowMs?: number;
  /** The maximum number of windows; the least recently used one is evicted. */
  readonly trackedMax?: number;
};

/** `elapsedMs` is a monotonic clock, so that a change of the wall clock frees no window. */
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
      // Map keeps insertion order: re-inserting makes it the most recently used.
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

  /** Frees the windows of idle keys once a minute. */
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

/** How long a set of calls waits for Redis before this process counts by itself. */
const redisTimeout = { ticks: 10, tickMs: 100 };
/** Redis deletes an idle list this long after its last call has left the window. */
const expiryMarginMs = 1_000;

// One list per key holds the time of each call in the window, oldest first. The clock is that of
// Redis, the same for every process. One script decides the whole set atomically.
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

type SharedOptions = {
  /** Counts calls while Redis does not answer. */
  readonly fallback: RateWindow;
  readonly log: FastifyBaseLogger;
  readonly windowMs?: number;
};

/**
 * While Redis does not answer, each process counts in its own windows, so that callers are served
 * and limits hold per process. Only the first set of calls waits for the timeout; later ones use
 * the fallback at once, while Redis is pinged until it answers.
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
    withTimeout(redis.ping())
      .then(
        () => note(false),
        () => {}, // Still no answer; the next set of calls pings again.
      )
      .finally(() => (probing = false));
  }

  async function run(script: string, keyIds: readonly string[], args: readonly string[]) {
    const options = { keys: keyIds.map(toRedisKey), arguments: [...args] };
    const answers = (await withTimeout(redis.eval(script, options))) as number[];
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

  async function takeHere(asks: readonly RateRequest[]): Promise<WindowState[]> {
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

/**
 * The client's own timeout covers sending only; this one also covers a server that hangs. It counts
 * ticks, because a process that was blocked finds its timers due before it has read an answer that
 * is already there. However long the block, it is one tick.
 */
async function withTimeout<Result>(answer: Promise<Result>): Promise<Result> {
  const { ticks, tickMs } = redisTimeout;
  const late = Promise.withResolvers<never>();
  let ticksLeft = ticks;
  const timer = setInterval(() => {
    if (--ticksLeft === 0) late.reject(new Error(`no answer within ${ticks * tickMs} ms`));
  }, tickMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearInterval(timer);
  }
}

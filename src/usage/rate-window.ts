// Where the sliding windows of all keys are kept: in this process by default, in Redis when several
// processes serve one set of keys. Both answer the same question with the same exactness.

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import { coalesce } from "../platform/coalesce.ts";
import { SlidingWindow, windowMs, type WindowState } from "./rules.ts";

export type Ask = {
  readonly keyId: string;
  /** Infinity where the window is shown and not enforced. */
  readonly limit: number;
};

export type RateWindow = {
  take(ask: Ask): Promise<WindowState>;
  giveBack(ask: Ask): Promise<void>;
};

/** `elapsedMs` is a monotonic clock: turning the wall clock opens no window. */
export function localRateWindow(elapsedMs: () => number): RateWindow {
  const windows = new Map<string, SlidingWindow>();
  let sweptAtMs = elapsedMs();

  function windowOf(keyId: string): SlidingWindow {
    let window = windows.get(keyId);
    if (!window) {
      window = new SlidingWindow();
      windows.set(keyId, window);
    }
    return window;
  }

  /** Once a minute, so that keys that stopped calling hold no memory. */
  function sweep(nowMs: number): void {
    if (nowMs - sweptAtMs < windowMs) return;
    sweptAtMs = nowMs;
    for (const [keyId, window] of windows) if (window.isEmpty(nowMs)) windows.delete(keyId);
  }

  return {
    async take({ keyId, limit }) {
      const nowMs = Math.floor(elapsedMs());
      sweep(nowMs);
      return windowOf(keyId).take(nowMs, limit);
    },
    async giveBack({ keyId }) {
      windows.get(keyId)?.giveBack();
    },
  };
}

const setSizeMax = 256;
const queueMax = 20_000;

// One list per key holds the time of each call in the window, oldest first. The clock is Redis's
// own, the same for every process. The whole set is decided in one atomic run.
const takeScript = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local answers = {}
for i, key in ipairs(KEYS) do
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
  local used = redis.call('LLEN', key)
  local limit = tonumber(ARGV[i])
  local admitted = 0
  if limit < 0 or used < limit then
    admitted = 1
    used = used + 1
    redis.call('RPUSH', key, now)
    redis.call('PEXPIRE', key, ${windowMs})
  end
  local latest = redis.call('LINDEX', key, -1)
  local clears = 0
  if latest then clears = tonumber(latest) + ${windowMs} - now end
  answers[#answers + 1] = admitted
  answers[#answers + 1] = used
  answers[#answers + 1] = clears
end
return answers`;

/**
 * While Redis does not answer, each process keeps its own windows: callers are served and a limit
 * holds per process. Refusing all of them would turn a lost cache into a lost market.
 */
export function sharedRateWindow(
  redis: RedisClientType,
  fallback: RateWindow,
  log: FastifyBaseLogger,
): RateWindow {
  const nameOf = (keyId: string) => `{scripdesk}:window:${keyId}`;
  let degraded = false;

  function note(isDegraded: boolean, error?: unknown): void {
    if (isDegraded === degraded) return;
    degraded = isDegraded;
    if (isDegraded) log.error({ err: error }, "rate windows are kept per process: Redis is away");
    else log.info("rate windows are shared again: Redis is back");
  }

  const take = coalesce(
    async (asks: readonly Ask[]) => {
      try {
        const answers = (await redis.eval(takeScript, {
          keys: asks.map(({ keyId }) => nameOf(keyId)),
          arguments: asks.map(({ limit }) => (limit === Infinity ? "-1" : String(limit))),
        })) as number[];
        note(false);
        return asks.map((_, index) => ({
          admitted: answers[index * 3] === 1,
          used: answers[index * 3 + 1] ?? 0,
          clearsInMs: answers[index * 3 + 2] ?? 0,
        }));
      } catch (error) {
        note(true, error);
        return await Promise.all(asks.map((ask) => fallback.take(ask)));
      }
    },
    { setSizeMax, queueMax, mayRetry: () => false },
  );

  return {
    take,
    async giveBack(ask) {
      if (degraded) await fallback.giveBack(ask);
      else await redis.rPop(nameOf(ask.keyId)).catch((error: unknown) => note(true, error));
    },
  };
}

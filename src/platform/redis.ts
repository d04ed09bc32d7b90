import type { RedisClientType } from "@redis/client";

import { Unusable } from "./http/errors.ts";

const connectTimeoutMs = 2_000;
const reconnectStepMs = 50;
const reconnectWithinMs = 2_000;

/** Reconnects whenever the connection is lost; until then commands fail at once. */
export async function connectRedis(url: string): Promise<RedisClientType> {
  const { createClient } = await import("@redis/client"); // Loaded here, because most services run without it.
  let wasConnected = false;
  const redis: RedisClientType = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectTimeoutMs,
      // A failed first attempt is reported to the operator and not retried.
      reconnectStrategy: (retries) =>
        wasConnected && Math.min(retries * reconnectStepMs, reconnectWithinMs),
    },
  });
  redis.on("error", () => {}); // The caller of a failing command reports it.
  try {
    await redis.connect();
    wasConnected = true;
  } catch (error) {
    throw new Unusable(`Redis cannot be reached: ${(error as Error).message}`, { cause: error });
  }
  return redis;
}

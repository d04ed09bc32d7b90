import type { RedisClientType } from "@redis/client";

import { Unusable } from "./http/errors.ts";

const connectTimeoutMs = 2_000;
const sendWithinMs = 1_000;
const reconnectStepMs = 50;
const reconnectWithinMs = 2_000;

/** A connection that is made again whenever it is lost; commands fail at once while it is. */
export async function connectRedis(url: string): Promise<RedisClientType> {
  const { createClient } = await import("@redis/client"); // Most services run without it.
  let wasConnected = false;
  const redis: RedisClientType = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectTimeoutMs,
      // The first attempt fails where the operator sees it; left alone, it would go on for ever.
      reconnectStrategy: (retries) =>
        wasConnected && Math.min(retries * reconnectStepMs, reconnectWithinMs),
    },
    commandOptions: { timeout: sendWithinMs },
  });
  redis.on("error", () => {}); // Each failing command is reported by whoever sent it.
  try {
    await redis.connect();
    wasConnected = true;
  } catch (error) {
    throw new Unusable(`Redis cannot be reached: ${(error as Error).message}`, { cause: error });
  }
  return redis;
}

import type { FastifyReply, FastifyRequest } from "fastify";

import type { Streams } from "../platform/sse.ts";
import { type Follower, heartbeatText } from "./market-channel.ts";
import type { MarketFeed } from "./market-feed.ts";

export type MarketStreaming = { readonly feed: MarketFeed; readonly streams: Streams };

const streamsPerKeyMax = 5;

/** Opens a stream and lets it follow the log of the caller's environment. */
export async function streamMarket(
  { feed, streams }: MarketStreaming,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { buySide, environment } = request.caller;
  const channel = await feed.channel(environment);
  const stream = streams.open(request, reply, {
    perKeyMax: streamsPerKeyMax,
    heartbeat: () => heartbeatText(follower.place),
  });
  const follower: Follower = { stream, buySide, place: channel.end };
  try {
    await channel.follow(follower, request.headers["last-event-id"]?.toString());
  } catch (error) {
    // The answer has begun, so nothing but its end can tell the reader to come back.
    request.log.error({ request_id: request.id, err: error }, "a market stream could not resume");
    stream.end();
  }
}

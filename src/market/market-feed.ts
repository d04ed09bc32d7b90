// What every stream of this node follows: one channel per environment, made when its first stream
// comes, and one connection that is told when any log has grown.

import type { Environment } from "../kernel/caller.ts";
import { listen, type Listener } from "../platform/listen.ts";
import { startWorker, type Worker } from "../platform/worker.ts";
import { MarketChannel } from "./market-channel.ts";
import { marketNotices } from "./store.ts";
import type { MarketContext } from "./update-markets.ts";

export type MarketFeed = {
  /** The channel, once its log has been read. */
  channel(environment: Environment): Promise<MarketChannel>;
  close(): Promise<void>;
};

/** A notice wakes the reader at once; this is how late it is when the notice was missed. */
const lookPauseMs = 1_000;

export function openFeed(ctx: MarketContext): MarketFeed {
  const channels = new Map<Environment, Promise<MarketChannel>>();
  const readers: Worker[] = [];
  let listener: Listener | undefined;

  function wakeReaders(): void {
    for (const reader of readers) reader.wake();
  }

  async function open(environment: Environment): Promise<MarketChannel> {
    const channel = await MarketChannel.open(ctx, environment);
    const name = `market feed ${environment}`;
    const work = () => channel.look();
    readers.push(startWorker({ name, pauseMs: lookPauseMs, work, log: ctx.log }));
    listener ??= listen(ctx, { channel: marketNotices, onNotice: wakeReaders });
    return channel;
  }

  return {
    async channel(environment) {
      const opening = channels.get(environment) ?? open(environment);
      channels.set(environment, opening);
      try {
        return await opening;
      } catch (error) {
        channels.delete(environment); // The next stream tries again.
        throw error;
      }
    },
    async close() {
      await listener?.stop();
      await Promise.all(readers.map((reader) => reader.stop()));
    },
  };
}

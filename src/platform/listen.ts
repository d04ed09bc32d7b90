// Wake-ups between processes: a connection of its own that listens on one channel of the database.
//
// A notice is a hint and no more. What was said while the connection was away is lost, so there is a
// notice whenever listening begins, and whoever is woken also looks by itself from time to time.

import pg from "pg";

import type { Context } from "./context.ts";
import { startWorker } from "./worker.ts";

export type Listener = { readonly stop: () => Promise<void> };

const reconnectPauseMs = 1_000;

export function listen(
  { db, log }: Pick<Context, "db" | "log">,
  { channel, onNotice }: { readonly channel: string; readonly onNotice: () => void },
): Listener {
  const stopping = new AbortController();

  async function listenUntilLost(): Promise<"idle"> {
    const client = new pg.Client(db.pool.options);
    const lost = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
      stopping.signal.addEventListener("abort", () => resolve());
    });
    client.on("notification", onNotice);
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      onNotice();
      await lost;
    } finally {
      await client.end().catch(() => {}); // It was lost already.
    }
    return "idle";
  }

  const worker = startWorker({
    name: `listening on ${channel}`,
    pauseMs: reconnectPauseMs,
    work: async () => (stopping.signal.aborted ? "idle" : await listenUntilLost()),
    log,
  });
  return {
    async stop() {
      stopping.abort();
      await worker.stop();
    },
  };
}

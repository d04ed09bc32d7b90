// Wake-ups between processes: a connection of its own that listens on one channel of the database.
//
// A notice is a hint and no more. What was said while the connection was away is lost, so there is a
// notice whenever listening begins, and whoever is woken also looks by itself from time to time.
//
// Connections without a request when the service closes. Node ends those that have been answered; one
// that has sent nothing yet, or has not shaken hands, it keeps, and no longer looks at how long it
// takes. Whoever is silent would hold up the end, so it is cut after a moment in which a request that
// was on its way can arrive.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import pg from "pg";

import type { Context } from "../context.ts";
import { startWorker } from "../worker.ts";

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

const graceMs = 1_000;

/** Answers with what to call when the server has begun to close. */
export function watchConnections(
  server: Server,
  forEachAnswer: (does: (answer: ServerResponse) => void) => void,
): () => void {
  /** By the caller's end; an encrypted connection takes the place of the plain one that carries it. */
  const open = new Map<string, Socket>();
  const watch = (socket: Socket) => {
    const end = farEnd(socket);
    open.set(end, socket);
    socket.once("close", () => open.delete(end));
  };
  server.on("connection", watch);
  server.on("secureConnection", watch);
  return () => {
    const cutQuiet = () => {
      const quiet = new Map(open);
      forEachAnswer(({ socket }) => socket && quiet.delete(farEnd(socket)));
      for (const socket of quiet.values()) socket.destroy();
    };
    setTimeout(cutQuiet, graceMs).unref();
  };
}

function farEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

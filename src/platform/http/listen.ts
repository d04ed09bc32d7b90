// Two listeners of the process.
//
// `listen` runs LISTEN on a database connection of its own, so that processes can wake each other. A
// notice is only a hint: notices are lost while the connection is down. So the callback also runs
// whenever listening begins, and its owner must poll, too.
//
// `watchConnections` closes quiet client connections at shutdown. Node closes idle connections that
// have had a response, but keeps those that have sent no request or have not finished the TLS
// handshake, and no longer checks their timeouts. They would delay the end, so they are closed after
// a grace period in which a request on its way can arrive.

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
      await client.end().catch(() => {}); // The connection is lost already.
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

/** Returns the function to call when the server has begun to close. */
export function watchConnections(
  server: Server,
  forEachAnswer: (does: (answer: ServerResponse) => void) => void,
): () => void {
  /** By remote address and port; a TLS socket replaces the plain socket that carries it. */
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

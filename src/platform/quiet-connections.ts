// Connections without a request when the service closes. Node ends those that have been answered; one
// that has sent nothing yet, or has not shaken hands, it keeps, and no longer looks at how long it
// takes. Whoever is silent would hold up the end, so it is cut after a moment in which a request that
// was on its way can arrive.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

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

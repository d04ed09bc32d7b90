// A line between a client and the service that a test cuts.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import type { Service } from "./service.ts";

type Scope = { after(work: () => void): void };

/** A line to the service that can be cut, and that may be down. */
export async function openLine(t: Scope, service: Pick<Service, "url">) {
  const sockets = new Set<Socket>();
  const port = Number(new URL(service.url).port);
  const line = { opened: 0, isDown: false };
  const server = createServer((socket) => {
    line.opened += 1;
    if (line.isDown) return void socket.resetAndDestroy();
    const other = connect(port, "127.0.0.1");
    for (const end of [socket, other]) {
      sockets.add(end.on("error", () => {}));
      end.on("close", () => {
        for (const each of [socket, other]) each.destroy();
        sockets.delete(end);
      });
    }
    socket.pipe(other).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  /** As a proxy that goes away: what was sent arrives, and then the connection is closed in order. */
  const hangUp = () => {
    for (const socket of sockets) socket.destroySoon();
  };
  t.after(() => {
    cut();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(line, { url, cut, hangUp });
}

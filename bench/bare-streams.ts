// The yardstick of streams: sockets, and one loop that writes the same bytes to each.

import { createServer, type Socket } from "node:net";

const sockets = new Set<Socket>();

const server = createServer((socket) => {
  socket.once("data", () => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 2000\n\n");
    sockets.add(socket);
  });
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
});

process.on("message", (text: string) => {
  const bytes = Buffer.from(text);
  for (const socket of sockets) socket.write(bytes);
});
process.once("SIGTERM", () => process.exit());
server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens on a port");
  process.stdout.write(`bare streams listen: listens on http://127.0.0.1:${address.port}\n`);
});

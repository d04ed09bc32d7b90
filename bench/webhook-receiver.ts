// Receivers of webhooks in a process of their own: they read what comes, answer 200 and count. One
// more takes requests and never answers them.

import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";

export type ReceiverOrder = { readonly count: number; readonly expect: number };
export type ReceiverReport =
  | { readonly kind: "ready"; readonly urls: readonly string[]; readonly deadUrl: string }
  | { readonly kind: "reached"; readonly seconds: number };

let expected = 0;
let seen = 0;
let startedAt = 0;

function report(message: ReceiverReport): void {
  process.send?.(message);
}

function note(): void {
  if (seen === 0) startedAt = performance.now();
  seen += 1;
  if (seen === expected) {
    report({ kind: "reached", seconds: (performance.now() - startedAt) / 1_000 });
  }
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function open(count: number): Promise<void> {
  const servers = Array.from({ length: count }, () =>
    createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        response.end("ok");
        note();
      });
    }),
  );
  const urls = await Promise.all(servers.map(listen));
  const deadUrl = await listen(createTcpServer((socket) => socket.on("error", () => {}).resume()));
  report({ kind: "ready", urls, deadUrl });
}

process.on("message", ({ count, expect }: ReceiverOrder) => {
  if (count > 0) void open(count);
  expected = expect;
  seen = 0;
});

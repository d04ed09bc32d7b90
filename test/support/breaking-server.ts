// A server on loopback that breaks in the ways that the contract and networks know, and keeps count.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

type Scope = { after(work: () => void): void };
export type Reaction = (response: ServerResponse, request: IncomingMessage) => void;
type Seen = {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: string;
};

export function answer(
  status: number,
  headers: Record<string, string> = {},
  body = "{}",
): Reaction {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body);
  };
}

export const good = answer(200, {}, JSON.stringify({ order_id: "ord_1", has_more: false }));
const soon = { "retry-after": "0" };

/** Each is worth another attempt. */
export const passing: Readonly<Record<string, Reaction>> = {
  "429": answer(429, soon, JSON.stringify({ error: "rate_limited", code: "rate_limited" })),
  "500": answer(500, {}, JSON.stringify({ error: "internal_error" })),
  "502 of a gateway": answer(502, { "content-type": "text/html" }, "<h1>Bad Gateway</h1>"),
  "503 of a gateway": answer(503, {}, ""),
  "504 of a gateway": answer(504, { "content-type": "text/html" }, ""),
  "a reset before the answer": (response) => void response.socket?.resetAndDestroy(),
  "an end before the answer": (response) => void response.socket?.destroy(),
  "a reset after the answer's head": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"order_id":', () => response.socket?.resetAndDestroy());
  },
  "a reset after a part of a chunked answer": (response) => {
    response.writeHead(201, { "content-type": "application/json" });
    response.write('{"order_id":"ord_1"}', () => response.socket?.destroy());
  },
  "a reset in the body of an error": (response) => {
    response.writeHead(422, { "content-type": "application/json", "content-length": "100" });
    response.write('{"error":', () => response.socket?.resetAndDestroy());
  },
};

/** Reacts as the list says, one reaction a request, and is good after that. */
export async function startBreaking(t: Scope, reactions: readonly Reaction[]) {
  const seen: Seen[] = [];
  const left = [...reactions];
  const server = createServer((request, response) => {
    const reaction = left.shift() ?? good;
    void buffer(request).then((body) => {
      const { method = "", url: path = "", headers } = request;
      const key = String(headers["idempotency-key"] ?? "");
      seen.push({ method, path, key, body: body.toString() });
      reaction(response, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen };
}

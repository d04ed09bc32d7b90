// Receivers of webhooks on loopback: whatever they are told to do, they keep what they were sent.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import { type Answer, type Service } from "./service.ts";

export type Received = {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
};

export type Reaction = (response: ServerResponse, received: Received) => void;

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** How it answers from now on; 200 until it is told otherwise. */
  react(reaction: Reaction): void;
};

type Scope = { after(work: () => Promise<unknown>): void };

export async function startReceiver(t: Scope): Promise<Receiver> {
  const received: Received[] = [];
  let reaction: Reaction = (response) => response.end("ok");
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { url: path = "", headers } = request;
      received.push({ path, headers, body });
      reaction(response, { path, headers, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    react: (next) => void (reaction = next),
  };
}

export async function registerWebhook(
  { send }: Service,
  key: string,
  url: string,
  event = "*",
): Promise<Answer["body"]> {
  return (await send("POST", "/v1/webhooks", { key, body: { url, event }, expect: 201 })).body;
}

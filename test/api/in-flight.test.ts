// Requests under way: nobody takes the seats of the others by being slow, whether they send slowly or do
// not read what they are answered.

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openSocket } from "../support/raw.ts";
import { type Service, startService } from "../support/service.ts";

const looksMax = 1_000;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (await holds()) return;
    await sleep(5);
  }
  assert.fail(`${what} did not come`);
}

/** Connections that send something and then neither send nor read. */
function openStalled(t: TestContext) {
  const sockets: Socket[] = [];
  // Before the service is started: it waits for its connections when it closes.
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  return {
    sockets,
    async send({ url }: Pick<Service, "url">, text: string, connections: number): Promise<void> {
      const opened = await Promise.all(Array.from({ length: connections }, () => openSocket(url)));
      sockets.push(...opened);
      for (const socket of opened) socket.pause();
      await Promise.all(
        opened.map((socket) => new Promise((written) => socket.write(text, written))),
      );
    },
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const scalar = get("/docs/js/scalar.js");
const unfinishedChunks = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx`;
const unfinishedBody = (key: string) =>
  `POST /v1/quote HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;

test("strangers who do not read their answers keep nobody with a key out, and are cut off", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const stalled = openStalled(t);
  const service = await startService(t, { inFlightMax: 40 });
  const { api_key: key } = await service.issue();
  const readPage = async () => (await service.send("GET", "/docs/")).status;
  // Each answer waits behind a large one that nobody reads: files, refusals and health.
  const behind = [scalar, get("/v1/whoami"), get("/nowhere"), get("/healthz")];
  await stalled.send(service, scalar + behind.map((text) => text.repeat(15)).join(""), 4);
  await until("the end of the strangers' seats", async () => (await readPage()) === 500);
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
  await service.send("GET", "/healthz", { expect: 200 });
  await service.send("GET", "/readyz", { expect: 200 });
  t.mock.timers.tick(30_000);
  assert.equal(await readPage(), 500, "whoever reads slowly has a while");
  t.mock.timers.tick(60_000);
  await until("a free seat", async () => (await readPage()) === 200);
});

test("unfinished bodies that no route reads keep nobody out", async (t) => {
  const stalled = openStalled(t);
  const service = await startService(t, { inFlightMax: 100 });
  const { api_key: key } = await service.issue();
  for (const path of ["/healthz", "/docs/", "/nowhere"]) {
    await stalled.send(service, unfinishedChunks(path), 120);
    await service.send("GET", "/v1/whoami", { key, expect: 200 });
    await service.send("GET", "/healthz", { expect: 200 });
  }
  // Nor do they take the room of bodies that a route reads.
  const megabyte = `${(1_000_000).toString(16)}\r\n${" ".repeat(1_000_000)}`;
  await stalled.send(service, unfinishedChunks("/healthz") + "\r\n" + megabyte, 20);
  const enquiry = { name: "A", email: "a@b.example", message: "hello", consent: true };
  const body = new Blob([JSON.stringify(enquiry)]).stream();
  await service.send("POST", "/public/enquiry/contact", { body, expect: 201 });
});

test("a sandbox desk that sends slowly has its own seats, and live has some that the sandbox cannot take", async (t) => {
  const stalled = openStalled(t);
  const service = await startService(t, { inFlightMax: 16 });
  const greedy = await service.issue();
  const others = await Promise.all(Array.from({ length: 8 }, () => service.issue()));
  const live = await service.issue({ environment: "live" });
  const whoAmI = async ({ api_key: key }: { api_key: string }) =>
    (await service.send("GET", "/v1/whoami", { key })).status;
  const hold = async ({ api_key }: { api_key: string }) => {
    await stalled.send(service, unfinishedBody(api_key), 3);
  };
  await hold(greedy);
  await until("the end of the desk's seats", async () => (await whoAmI(greedy)) === 500);
  for (const other of others) assert.equal(await whoAmI(other), 200);
  for (const other of others) await hold(other);
  await until("the end of the sandbox's seats", async () => {
    const newcomer = await service.issue();
    return (await whoAmI(newcomer)) === 500;
  });
  assert.equal(await whoAmI(live), 200);
});

// verifyWebhook of the client, on what the service delivers and on what others would have us believe.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test, type TestContext } from "node:test";

import { fastify } from "fastify";

import {
  type ReceiverOptions,
  Scripdesk,
  ScripdeskError,
  signWebhook,
  verifyWebhook,
  webhookListener,
  webhookPlugin,
} from "../../client/src/index.ts";
import { buildHeaders } from "../../src/webhooks/rules.ts";
import { startReceiver } from "../support/receivers.ts";
import { startService } from "../support/service.ts";

const forged = { name: "ScripdeskError", slug: "forged_webhook" };

async function receiveOne(t: TestContext) {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const receiver = await startReceiver(t);
  const client = new Scripdesk({ base_url: service.url, api_key });
  const webhook = await client.registerWebhook({ url: receiver.url, event: "*" });
  const secret = webhook.signing_secret;
  await client.createGroup({ name: "told" });
  await client.mintKey({ name: "told", kind: "app", scopes: ["quote"] });
  await service.work();
  const [received] = receiver.received;
  assert.ok(received);
  return { service, client, webhook, secret, receiver, received, now: service.clock.now() };
}

test("a delivery is verified and read, with headers as Node or as fetch has them", async (t) => {
  const { secret, received, now } = await receiveOne(t);
  const { body, headers } = received;
  const { delivery_id, event } = verifyWebhook(body, headers, secret, { now });
  assert.equal(delivery_id, headers["x-service-delivery"]);
  assert.equal(event.event, headers["x-service-event"]);
  assert.equal(event.event, "key.created");
  const asFetched = new Headers(headers as Record<string, string>);
  assert.equal(verifyWebhook(body, asFetched, [secret], { now }).event.id, event.id);
  assert.equal(verifyWebhook(body.toString(), headers, secret, { now }).event.id, event.id);
  const capitals = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  assert.equal(verifyWebhook(body, capitals, secret, { now }).event.id, event.id);
});

test("a delivery that was changed, sent again later, or signed by another is refused", async (t) => {
  const { secret, received, now, service } = await receiveOne(t);
  const { body, headers } = received;
  const changed = Buffer.from(body.toString().replace("key.created", "key.revoked"));
  assert.throws(() => verifyWebhook(changed, headers, secret, { now }), forged);
  const reserialised = JSON.stringify(JSON.parse(body.toString()), null, 1);
  assert.throws(() => verifyWebhook(reserialised, headers, secret, { now }), forged);
  const other = `whsec_${Buffer.alloc(32).toString("base64")}`;
  assert.throws(() => verifyWebhook(body, headers, other, { now }), forged);

  service.clock.advance({ seconds: 301 });
  const later = service.clock.now();
  assert.throws(() => verifyWebhook(body, headers, secret, { now: later }), forged);
  verifyWebhook(body, headers, secret, { now: later, tolerance_s: 400 });
  const early = new Date(now.getTime() - 301_000);
  assert.throws(() => verifyWebhook(body, headers, secret, { now: early }), forged);

  const made = (change: Record<string, string | undefined>) => ({ ...headers, ...change });
  const seconds = (date: Date) => String(Math.floor(date.getTime() / 1_000));
  for (const change of [
    { "webhook-timestamp": seconds(later) },
    { "webhook-timestamp": undefined },
    { "webhook-timestamp": "soon" },
    { "webhook-id": "dlv_00000000000000000000000000" },
    { "x-service-delivery": "dlv_00000000000000000000000000" },
    { "x-service-signature": undefined },
    { "x-service-signature": "sha256=" },
    { "x-service-signature": String(headers["x-service-signature"]).slice(0, -1) },
    { "webhook-signature": undefined },
    { "webhook-signature": "v1," },
  ]) {
    assert.throws(() => verifyWebhook(body, made(change), secret, { now: later }), forged);
    assert.throws(() => verifyWebhook(body, made(change), secret, { now }), forged);
  }
  for (const no of ["", "not a secret"]) {
    assert.throws(() => verifyWebhook(body, headers, no, { now }), TypeError);
  }
  assert.throws(() => verifyWebhook(body, headers, [], { now }), TypeError);
});

test("while a secret changes, either of the two is enough", async (t) => {
  const { client, webhook, secret, service, receiver } = await receiveOne(t);
  const { signing_secret: next } = await client.rotateSecret(webhook.webhook_id);
  await client.testWebhook(webhook.webhook_id);
  await service.work();
  const { body, headers } = receiver.received.at(-1) ?? assert.fail();
  const now = service.clock.now();
  for (const known of [secret, next, [next, secret]]) {
    assert.equal(verifyWebhook(body, headers, known, { now }).event.event, "webhook.ping");
  }
});

test("the vectors of the guide verify", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/WEBHOOKS.md"), "utf8");
  const vectors = JSON.parse(/## Test vectors\n\n```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
  const now = new Date(vectors.at);
  const headers = {
    ...vectors,
    "webhook-id": vectors.delivery,
    "x-service-delivery": vectors.delivery,
  };
  for (const secret of [vectors.secret, vectors.previous_secret]) {
    assert.equal(
      verifyWebhook(vectors.body, headers, secret, { now }).delivery_id,
      vectors.delivery,
    );
  }
});

test("a delivery that is signed now is accepted by the machine's own clock", () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const body = Buffer.from(`{"event":"webhook.ping"}`);
  const sign = (now: Date) =>
    buildHeaders({ deliveryId: "dlv_1", event: "webhook.ping", body, secrets: [secret], now });
  verifyWebhook(body, sign(new Date()), secret);
  assert.throws(() => verifyWebhook(body, sign(new Date(0)), secret), forged);
});

type Listener = ReturnType<typeof webhookListener>;

/** A server of each kind that a listener or the plugin is for, and its address. */
const servers: Readonly<
  Record<string, (t: TestContext, options: ReceiverOptions) => Promise<string>>
> = {
  "plain Node": async (t, options) => await serve(t, webhookListener(options)),
  // As Express does it: `express.raw()` leaves the bytes in `body`.
  "a server that has read the bytes": async (t, options) => {
    const listener = webhookListener(options);
    return await serve(t, async (request, response) => {
      const body = await buffer(request as IncomingMessage);
      await listener(Object.assign(request, { body }), response);
    });
  },
  Fastify: async (t, options) => {
    const app = fastify();
    t.after(async () => await app.close());
    app.post("/other", ({ body }) => body);
    await app.register(webhookPlugin, { ...options, path: "/hooks" });
    const url = await app.listen();
    const headers = { "content-type": "application/json" };
    const other = await fetch(`${url}/other`, { method: "POST", body: `{"a":1}`, headers });
    assert.deepEqual(await other.json(), { a: 1 }, "other routes parse as before");
    return url;
  },
};

async function serve(t: TestContext, listener: Listener): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const [kind, open] of Object.entries(servers)) {
  test(`${kind} handles what is genuine, and tells the service how it went`, async (t) => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const handled: string[] = [];
    const told: unknown[] = [];
    const url = await open(t, {
      secret,
      handle: ({ delivery_id, event }) => {
        if (event.event === "webhook.failing") throw new Error("the disk is full");
        handled.push(delivery_id, event.event);
      },
      on_error: (error) => told.push(error),
    });
    const send = async ({ body, headers }: ReturnType<typeof signWebhook>) =>
      (await fetch(`${url}/hooks`, { method: "POST", body, headers })).status;
    const ping = { event: "webhook.ping" };
    assert.equal(await send(signWebhook(ping, secret, { delivery_id: "dlv_1" })), 200);
    assert.equal(await send(signWebhook(ping, secret, { now: new Date(0) })), 401);
    const signed = signWebhook(ping, secret);
    assert.equal(await send({ ...signed, body: signed.body.replace("ping", "pong") }), 401);
    assert.equal(await send(signWebhook({ event: "webhook.failing" }, secret)), 500);
    assert.deepEqual(handled, ["dlv_1", "webhook.ping"]);
    assert.deepEqual(
      told.map((error) => (error instanceof ScripdeskError ? error.slug : String(error))),
      ["forged_webhook", "forged_webhook", "Error: the disk is full"],
    );
    if (kind !== "plain Node") return; // Whoever reads has a limit of their own.
    const long = signWebhook({ ...ping, note: "x".repeat(1_048_577) } as typeof ping, secret);
    assert.equal(await send(long), 413);
  });
}

test("a body that was parsed already is no silent refusal", async (t) => {
  const told: unknown[] = [];
  const options = {
    secret: "whsec_",
    handle: () => {},
    on_error: (error: unknown) => told.push(error),
  };
  const listener = webhookListener(options);
  const url = await serve(
    t,
    async (request, response) =>
      await listener(Object.assign(request, { body: { event: "webhook.ping" } }), response),
  );
  assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 500);
  assert.match(String(told[0]), /before express\.json\(\)/);
});

test("a delivery that is signed for a test is signed as the service signs", () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const now = new Date("2026-11-15T09:15:00Z");
  const { body, headers } = signWebhook({ event: "webhook.ping" }, secret, {
    delivery_id: "dlv_1",
    now,
  });
  const made = buildHeaders({
    deliveryId: "dlv_1",
    event: "webhook.ping",
    body: Buffer.from(body),
    secrets: [secret],
    now,
  });
  assert.deepEqual({ "user-agent": made["user-agent"], ...headers }, made);
});

// verifyWebhook of the client, on what the service delivers and on what others would have us believe.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { Scripdesk, verifyWebhook } from "../../client/src/index.ts";
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

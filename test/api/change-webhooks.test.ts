import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { mintChild } from "../support/keys.ts";
import { type Receiver, startReceiver } from "../support/receivers.ts";
import { startService } from "../support/service.ts";

const sending = ["fan-out", "deliveries"];

const names = ({ received }: Receiver) =>
  received.map(({ headers }) => String(headers["x-service-event"]));

async function startDesk(t: TestContext) {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const ask = async (method: string, path: string, expect: number, body?: unknown) =>
    (await service.send(method, path, { key, body, expect })).body;
  return { service, key, receiver, ask };
}

test("a webhook of several events is sent these, and its event is the first", async (t) => {
  const { service, key, receiver, ask } = await startDesk(t);
  const events = ["key.created", "key.revoked"];
  const made = await ask("POST", "/v1/webhooks", 201, {
    url: receiver.url,
    events: [...events, "key.created"],
    description: "keys",
  });
  assert.deepEqual([made.events, made.event, made.description], [events, "key.created", "keys"]);
  const { key_id } = await mintChild(service, key);
  await ask("DELETE", `/v1/keys/${key_id}`, 200);
  await ask("POST", "/v1/groups", 201, { name: "Another thing" });
  await service.workOn(sending);
  assert.deepEqual(names(receiver).toSorted(), events);
  const url = `${receiver.url}/other`;
  const all = await ask("POST", "/v1/webhooks", 201, { url, events: ["*", "key.created"] });
  assert.deepEqual([all.event, all.events], ["*", ["*"]]);
  await ask("POST", "/v1/webhooks", 422, { url: receiver.url });
  await ask("POST", "/v1/webhooks", 422, { url, event: "key.revoked", events: ["key.created"] });
  await ask("POST", "/v1/webhooks", 422, { url: receiver.url, events: [] });
});

test("the same events at the same address are registered once by a key", async (t) => {
  const { service, key, receiver, ask } = await startDesk(t);
  const { url } = receiver;
  const first = await ask("POST", "/v1/webhooks", 201, { url, events: ["*"] });
  const { detail } = await ask("POST", "/v1/webhooks", 409, { url, event: "*" });
  assert.deepEqual([detail.reason, detail.webhook_id], ["webhook_exists", first.webhook_id]);
  const other = await ask("POST", "/v1/webhooks", 201, { url, event: "key.created" });
  await ask("PATCH", `/v1/webhooks/${other.webhook_id}`, 409, { events: ["*"] });
  const child = (await mintChild(service, key)).api_key;
  await service.send("POST", "/v1/webhooks", {
    key: child,
    body: { url, event: "*" },
    expect: 201,
  });
  await ask("DELETE", `/v1/webhooks/${first.webhook_id}`, 200);
  await ask("POST", "/v1/webhooks", 201, { url, event: "*" });
});

test("a changed webhook keeps its id and secret, pings its new address and tells the others", async (t) => {
  const { service, receiver, ask } = await startDesk(t);
  const watcher = await startReceiver(t);
  await ask("POST", "/v1/webhooks", 201, { url: watcher.url, event: "webhook.updated" });
  const made = await ask("POST", "/v1/webhooks", 201, {
    url: "http://127.0.0.1:18080/gone",
    event: "*",
  });
  const path = `/v1/webhooks/${made.webhook_id}`;
  const moved = await ask("PATCH", path, 200, { url: receiver.url, description: "moved" });
  assert.equal(moved.webhook_id, made.webhook_id);
  assert.equal(moved.signing_secret.slice(-4), made.signing_secret.slice(-4));
  assert.deepEqual([moved.url, moved.description, moved.version], [receiver.url, "moved", 2]);
  const same = await ask("PATCH", path, 200, { url: receiver.url });
  assert.equal(same.version, 2, "nothing changed");
  assert.equal((await ask("PATCH", path, 200, { description: null })).description, null);
  await ask("PATCH", path, 422, { url: "http://10.0.0.1/private" });
  await ask("PATCH", "/v1/webhooks/whk_none", 404, { description: "x" });
  await service.workOn(sending);
  assert.ok(names(receiver).includes("webhook.ping"));
  assert.ok(!names(receiver).includes("webhook.updated"), "it is not told about itself");
  assert.deepEqual(names(watcher), ["webhook.updated", "webhook.updated"]);
});

test("a paused webhook is sent nothing, and on going on what is at most seven days old", async (t) => {
  const { service, key, receiver, ask } = await startDesk(t);
  const made = await ask("POST", "/v1/webhooks", 201, { url: receiver.url, event: "key.created" });
  const path = `/v1/webhooks/${made.webhook_id}`;
  await mintChild(service, key);
  const paused = await ask("PATCH", path, 200, { status: "paused" });
  assert.equal(paused.status, "paused");
  assert.ok(paused.allowed_actions.includes("resume"));
  await service.workOn(sending);
  service.clock.advance({ days: 2 });
  await mintChild(service, key);
  await service.workOn(sending);
  assert.deepEqual(names(receiver), []);
  service.clock.advance({ days: 6 });
  await ask("PATCH", path, 200, { status: "active" });
  await service.workOn(sending);
  assert.deepEqual(names(receiver), ["key.created"]);
  const { failures } = await ask("GET", "/v1/webhooks/failures", 200);
  assert.deepEqual(
    failures.map(({ reason }: { reason: string }) => reason),
    ["paused"],
  );
  await ask("POST", "/v1/webhooks/replay", 200, { webhook_id: made.webhook_id });
  await service.workOn(sending);
  assert.equal(receiver.received.length, 2);
});

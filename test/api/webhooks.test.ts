import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { eventCatalog } from "../../src/journal/event-rules.ts";
import { webhooksPerDeskMax } from "../../src/webhooks/rules.ts";
import { assertAbsent, checkDoors } from "../support/doors.ts";
import { addClientFirm, mintChild } from "../support/keys.ts";
import { registerWebhook, startReceiver } from "../support/receivers.ts";
import { readSlug, startService } from "../support/service.ts";

const url = "https://erp.example/hooks";

test("a subscription is registered with a secret that is shown once and masked ever after", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: key } = await service.issue();
  const body = { url, event: "credit.listed" };
  const { body: made } = await send("POST", "/v1/webhooks", { key, body, expect: 201 });
  assert.match(made.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(made.url, url);
  assert.equal(made.event, "credit.listed");
  assert.equal(made.status, "active");
  assert.equal(made.version, 1);
  assert.deepEqual(made.allowed_actions, ["test", "update", "rotate_secret", "delete", "pause"]);

  const masked = `whsec_…${made.signing_secret.slice(-4)}`;
  const path = `/v1/webhooks/${made.webhook_id}`;
  const list = await send("GET", "/v1/webhooks", { key, expect: 200 });
  const one = await send("GET", path, { key, expect: 200 });
  assert.deepEqual(list.body.webhooks, [one.body]);
  assert.equal(one.body.signing_secret, masked);
  assert.deepEqual(list.body.events, [...eventCatalog]);
  const ended = await send("DELETE", path, { key, expect: 200 });
  assert.equal(ended.body.signing_secret, masked);
  const { rows } = await service.ctx.db.pool.query("select * from webhooks");
  assert.equal(rows[0].secret_sealed.includes(Buffer.from(made.signing_secret)), false);
});

test("the same idempotency key finds the same subscription and never shows its secret again", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const options = { key, body: { url, event: "*" }, headers: { "idempotency-key": "w-1" } };
  const first = await service.send("POST", "/v1/webhooks", { ...options, expect: 201 });
  const again = await service.send("POST", "/v1/webhooks", { ...options, expect: 200 });
  assert.equal(again.body.webhook_id, first.body.webhook_id);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.equal(again.text.includes(first.body.signing_secret), false);
  const other = { ...options, body: { url: `${url}/2`, event: "*" } };
  const reused = await service.send("POST", "/v1/webhooks", { ...other, expect: 409 });
  assert.equal(reused.body.detail.reason, "idempotency_key_reused");
  await service.send("DELETE", `/v1/webhooks/${first.body.webhook_id}`, { key, expect: 200 });
  const gone = await service.send("POST", "/v1/webhooks", { ...options, expect: 409 });
  assert.equal(gone.body.detail.reason, "deleted");
});

test("a dry run registers nothing and shows no secret", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const headers = { "x-dry-run": "1" };
  const body = { url, event: "*" };
  const tried = await service.send("POST", "/v1/webhooks", { key, body, headers, expect: 200 });
  assert.match(tried.body.signing_secret, /^whsec_….{4}$/);
  const { body: list } = await service.send("GET", "/v1/webhooks", { key, expect: 200 });
  assert.deepEqual(list.webhooks, []);
});

test("an invalid address is 422, an unknown event 400", async (t) => {
  const service = await startService(t, { outbound: { allowCidrs: [] } });
  const { api_key: key } = await service.issue();
  const live = await service.issue({ environment: "live" });
  const post = (sent: unknown, apiKey = key) =>
    service.send("POST", "/v1/webhooks", { key: apiKey, body: sent });
  const bad = [
    "",
    "erp.example",
    "ftp://erp.example/x",
    "https://",
    "https://user:pass@erp.example/",
    "https://user@erp.example/",
    "https://erp.example/#part",
    "https://erp.example:0/",
    "https://erp.example:25/",
    "http://erp.example:6667/",
    "https://erp.example:010080/",
    "https://erp.example:99999/",
    `https://erp.example/${"x".repeat(2_048)}`,
    "http://127.0.0.1:3000/hook",
    "http://localhost:3000/hook",
    "https://db.internal/hook",
    17,
    null,
  ];
  for (const wrong of bad) {
    const answer = await post({ url: wrong, event: "*" });
    assert.equal(answer.status, 422, String(wrong));
    assert.equal(readSlug(answer), "unprocessable");
    assert.equal(answer.body.detail.fields[0].path, "url");
  }
  const said = async (apiKey: string) =>
    (await post({ url: "ftp://erp.example/x", event: "*" }, apiKey)).body.detail.fields[0].problem;
  assert.equal(await said(key), "must be an https:// or http:// address", "as it is taken there");
  assert.equal(await said(live.api_key), "must be an https:// address");
  assert.equal((await post({ event: "*" })).status, 422);
  assert.equal((await post({ url })).status, 422);
  const unknown = await post({ url, event: "order.exploded" });
  assert.equal(unknown.status, 400);
  assert.equal(readSlug(unknown), "bad_request");
  const plain = await post({ url: "http://erp.example/hook", event: "*" }, live.api_key);
  assert.equal(plain.status, 422);
  assert.equal((await post({ url: "http://erp.example/hook", event: "*" })).status, 201);
  assert.equal((await post({ url, event: "*" }, live.api_key)).status, 201);
});

test("a desk's subscriptions are bounded, also under concurrent registrations", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const answers = await Promise.all(
    Array.from({ length: webhooksPerDeskMax + 5 }, (_, at) => {
      const body = { url: `${url}/${at}`, event: "*" };
      return service.send("POST", "/v1/webhooks", { key, body, isPatient: true });
    }),
  );
  const refused = answers.filter(({ status }) => status === 409);
  assert.equal(refused.length, 5);
  assert.equal(refused[0]?.body.detail.reason, "too_many_webhooks");
  const { body } = await service.send("GET", "/v1/webhooks?limit=20", { key, expect: 200 });
  assert.deepEqual([body.count, body.total, body.has_more], [20, webhooksPerDeskMax, true]);
});

test("a test ping reaches its own subscription alone, signed over the bytes that arrive", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: key } = await service.issue();
  const [mine, other] = [await startReceiver(t), await startReceiver(t)];
  const webhook = await registerWebhook(service, key, mine.url, "credit.listed");
  await registerWebhook(service, key, other.url);
  const path = `/v1/webhooks/${webhook.webhook_id}`;
  const { body: tested } = await send("POST", `${path}/test`, { key, expect: 200 });
  await service.work();

  assert.equal(other.received.length, 0);
  assert.equal(mine.received.length, 1);
  const [{ headers, body }] = mine.received as [(typeof mine.received)[0]];
  assert.equal(headers["x-service-event"], "webhook.ping");
  assert.equal(headers["x-service-delivery"], tested.delivery_id);
  assert.equal(headers["user-agent"], "Service-Webhooks/1");
  assert.equal(headers["content-type"], "application/json");
  const mac = createHmac("sha256", webhook.signing_secret).update(body).digest("hex");
  assert.equal(headers["x-service-signature"], `sha256=${mac}`);
  assert.equal(headers["x-service-signature-previous"], undefined);
  assert.equal(headers["webhook-id"], tested.delivery_id);
  const standardKey = Buffer.from(webhook.signing_secret.slice("whsec_".length), "base64");
  const standard = createHmac("sha256", standardKey)
    .update(`${tested.delivery_id}.${String(headers["webhook-timestamp"])}.`)
    .update(body)
    .digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${standard}`);

  const event = JSON.parse(body.toString());
  assert.deepEqual(Object.keys(event), [
    "id",
    "event",
    "created_at",
    "environment",
    "firm_id",
    "sequence",
    "entity",
    "from",
    "to",
    "data",
    "request_id",
  ]);
  assert.equal(event.sequence, tested.sequence);
  const { body: log } = await send("GET", `${path}/deliveries`, { key, expect: 200 });
  assert.equal(log.deliveries.length, 1);
  const [delivery] = log.deliveries;
  assert.equal(delivery.delivery_id, tested.delivery_id);
  assert.equal(delivery.status, "delivered");
  assert.equal(delivery.attempts, 1);
  assert.equal(delivery.attempt_log[0].status, 200);
  assert.equal(delivery.attempt_log[0].answer, "ok");
  // Every test is one of its own.
  const again = await send("POST", `${path}/test`, { key, expect: 200 });
  assert.notEqual(again.body.delivery_id, tested.delivery_id);
});

test("a new secret signs at once, together with the old one until its grace period ends", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const webhook = await registerWebhook(service, key, receiver.url);
  const path = `/v1/webhooks/${webhook.webhook_id}`;
  const rotate = async (body?: object) =>
    (await service.send("POST", `${path}/rotate-secret`, { key, body, expect: 200 })).body;
  const ping = async () => {
    await service.send("POST", `${path}/test`, { key, expect: 200 });
    await service.work();
    return receiver.received.at(-1)!;
  };
  const signatures = (secrets: string[], body: Buffer) =>
    secrets.map((secret) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);

  const tried = await service.send("POST", `${path}/rotate-secret`, {
    key,
    headers: { "x-dry-run": "1" },
    expect: 200,
  });
  assert.match(tried.body.signing_secret, /^whsec_….{4}$/);
  const rotated = await rotate();
  assert.match(rotated.signing_secret, /^whsec_.{44}$/);
  assert.notEqual(rotated.signing_secret, webhook.signing_secret);
  assert.ok(rotated.previous_secret_until);
  const during = await ping();
  const shown = ["x-service-signature", "x-service-signature-previous"].map((name) =>
    String(during.headers[name]),
  );
  assert.deepEqual(
    shown,
    signatures([rotated.signing_secret, webhook.signing_secret], during.body),
  );
  assert.equal(String(during.headers["webhook-signature"]).split(" ").length, 2);
  service.clock.advance({ days: 1, seconds: 1 });
  const after = await ping();
  assert.equal(after.headers["x-service-signature-previous"], undefined);
  const atOnce = await rotate({ grace_s: 0 });
  const last = await ping();
  assert.equal(last.headers["x-service-signature-previous"], undefined);
  assert.deepEqual(
    [last.headers["x-service-signature"]],
    signatures([atOnce.signing_secret], last.body),
  );
  for (const grace_s of [-1, 604_801, 1.5, "1"]) {
    await service.send("POST", `${path}/rotate-secret`, { key, body: { grace_s }, expect: 422 });
  }
});

test("a desk's subscription gets events of every firm, one of a sub_account key those of its own firm", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const firms = await Promise.all([1, 2].map(() => addClientFirm(service, root.firm_id)));
  const [one, two] = firms as [string, string];
  const sub = await mintChild(service, root.api_key, { kind: "sub_account", firm_id: one });
  const [wide, narrow] = [await startReceiver(t), await startReceiver(t)];
  const wideHook = await registerWebhook(service, root.api_key, wide.url, "firm.suspended");
  const narrowHook = await registerWebhook(service, sub.api_key, narrow.url, "firm.suspended");
  assert.equal(wideHook.firm_id, null);
  assert.equal(narrowHook.firm_id, one);
  for (const firm of [one, two]) {
    const body = { reason: "a pause" };
    const path = `/v1/firms/${firm}/suspend`;
    await service.send("POST", path, { key: root.api_key, body, expect: 200 });
  }
  await service.work();
  const pickFirms = ({ received }: typeof wide) =>
    received.map(({ body }) => String(JSON.parse(body.toString()).firm_id)).toSorted();
  assert.deepEqual(pickFirms(wide), [one, two].toSorted());
  assert.deepEqual(pickFirms(narrow), [one]);

  // The sub_account key knows of its own subscription, the desk of both.
  const idsFor = async (key: string) =>
    (await service.send("GET", "/v1/webhooks", { key, expect: 200 })).body.webhooks.map(
      ({ webhook_id }: { webhook_id: string }) => webhook_id,
    );
  assert.deepEqual(await idsFor(sub.api_key), [narrowHook.webhook_id]);
  assert.equal((await idsFor(root.api_key)).length, 2);
  const path = `/v1/webhooks/${wideHook.webhook_id}`;
  await service.send("GET", path, { key: sub.api_key, expect: 404 });
});

test("a subscription gets later events only, and none once it is deleted", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  await mintChild(service, key);
  const webhook = await registerWebhook(service, key, receiver.url, "key.created");
  await service.work();
  assert.equal(receiver.received.length, 0, "what was before it is not sent");
  await mintChild(service, key);
  await service.work();
  assert.equal(receiver.received.length, 1);
  await mintChild(service, key);
  await service.send("DELETE", `/v1/webhooks/${webhook.webhook_id}`, { key, expect: 200 });
  await service.work();
  assert.equal(receiver.received.length, 1, "what was on its way is not sent any more");
  const failures = await service.send("GET", "/v1/webhooks/failures", { key, expect: 200 });
  assert.deepEqual(failures.body.failures, []);
});

test("another desk's, a deleted and an unknown webhook get the same 404", async (t) => {
  const service = await startService(t);
  const [mine, other] = [await service.issue(), await service.issue()];
  const foreign = await registerWebhook(service, other.api_key, url);
  const deleted = await registerWebhook(service, mine.api_key, url);
  const path = (id: string) => `/v1/webhooks/${id}`;
  await service.send("DELETE", path(deleted.webhook_id), { key: mine.api_key, expect: 200 });
  const ids = [foreign.webhook_id, deleted.webhook_id, "whk_00000000000000000000000000", "x"];
  for (const [method, tail] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/test"],
    ["POST", "/rotate-secret"],
    ["POST", "/enable"],
    ["GET", "/deliveries"],
  ] as const) {
    await assertAbsent(
      ids.map((id) => service.send(method, `${path(id)}${tail}`, { key: mine.api_key })),
    );
  }
});

test("every webhook route checks key, scope, rate and body", async (t) => {
  const service = await startService(t);
  const scope = "webhooks:write";
  const id = "/v1/webhooks/whk_00000000000000000000000000";
  await checkDoors(t, service, [
    { method: "POST", path: "/v1/webhooks", scope, body: { url, event: "*" } },
    { method: "GET", path: "/v1/webhooks", scope },
    { method: "GET", path: id, scope },
    { method: "DELETE", path: id, scope },
    { method: "POST", path: `${id}/test`, scope },
    { method: "POST", path: `${id}/rotate-secret`, scope, body: { grace_s: 1 } },
    { method: "POST", path: `${id}/enable`, scope },
    { method: "GET", path: `${id}/deliveries`, scope },
    { method: "GET", path: "/v1/webhooks/failures", scope },
    { method: "POST", path: "/v1/webhooks/replay", scope, body: {} },
  ]);
});

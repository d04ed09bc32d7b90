import assert from "node:assert/strict";
import { test } from "node:test";

import { mintChild } from "../support/keys.ts";
import { startService } from "../support/service.ts";

test("an unknown route and a body that is too large tell a key its limits, and count", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const { headers: before } = await service.send("GET", "/v1/whoami", { key });
  const used = (headers: Headers) => Number(headers.get("x-ratelimit-quota-used"));
  const nowhere = await service.send("GET", "/v1/nothing", { key, expect: 404 });
  assert.equal(nowhere.body.error, "not_found");
  assert.equal(used(nowhere.headers), used(before) + 1);
  const large = { legal_name: "x".repeat(1_100_000) };
  const refused = await service.send("POST", "/v1/firms", { key, body: large });
  assert.equal(refused.status, 413);
  assert.equal(used(refused.headers), used(before) + 2);
  const stranger = await service.send("GET", "/v1/nothing", { expect: 404 });
  assert.equal(stranger.headers.has("x-ratelimit-plan"), false);
});

test("calls of unknown routes use up a limit as others do", async (t) => {
  const service = await startService(t);
  const plan = await service.plan(3);
  const { api_key: key } = await service.issue({ environment: "live", plan });
  for (let call = 0; call < 3; call++) await service.send("GET", "/v1/nothing", { key });
  await service.send("GET", "/v1/nothing", { key, expect: 429 });
});

test("a quota that is used up says in how many seconds it begins anew", async (t) => {
  const service = await startService(t);
  const plan = await service.plan(100, 1);
  const { api_key: key } = await service.issue({ environment: "live", plan });
  const first = await service.send("GET", "/v1/whoami", { key, expect: 200 });
  assert.equal(first.headers.has("x-ratelimit-quota-reset"), false);
  const { headers } = await service.send("GET", "/v1/whoami", { key, expect: 429 });
  const nextMonth = Date.parse("2026-12-01T00:00:00+05:30");
  const seconds = Math.ceil((nextMonth - service.clock.now().getTime()) / 1_000);
  assert.equal(Number(headers.get("x-ratelimit-quota-reset")), seconds);
});

test("a sandbox key's own limit refuses what is above it, and the sandbox's shown one does not", async (t) => {
  const service = await startService(t);
  const { api_key: root } = await service.issue();
  const child = await mintChild(service, root, { limits: { per_minute: 2 } });
  const call = async () => await service.send("GET", "/v1/whoami", { key: child.api_key });
  assert.deepEqual([(await call()).status, (await call()).status], [200, 200]);
  const limited = await call();
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("x-ratelimit-limit"), "2");
  assert.equal(limited.headers.has("x-ratelimit-quota"), false);
  service.clock.advance({ seconds: 61 });
  assert.equal((await call()).status, 200);
});

test("a robot is told which addresses are pages", async (t) => {
  const service = await startService(t);
  const { text, headers } = await service.send("GET", "/robots.txt", { expect: 200 });
  assert.match(text, /^Disallow: \/v1\/$/m);
  assert.match(headers.get("content-type") ?? "", /^text\/plain/);
});

// What is remembered of keys at the door: nothing that the database does not confirm for each call.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fastify } from "fastify";

import { admitCallers } from "../../src/admit.ts";
import { openAuthenticator } from "../../src/access/authenticate.ts";
import { keyMemory } from "../../src/access/remember-keys.ts";
import { makeApiKey } from "../../src/access/key-rules.ts";
import { openConfirmer, openMeter } from "../../src/access/meter-calls.ts";
import { openLocalRateWindow } from "../../src/access/rate-window.ts";
import { asOwner } from "../support/database.ts";
import { mintChild } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";

async function fetchStatus({ send }: Service, key: string, path = "/v1/whoami"): Promise<number> {
  return (await send("GET", path, { key })).status;
}

async function countCalls({ ctx }: Service, keyId: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ calls: string }>(
    "select calls from usage_months where key_id = $1",
    [keyId],
  );
  return Number(rows[0]?.calls ?? 0);
}

test("a change of a key or its plan applies to the next call, whoever makes it", async (t) => {
  const service = await startService(t);
  const change = (text: string, value: string) =>
    asOwner(service.ctx.db, (owner) => owner.query(text, [value]));

  const { api_key: key, key_id: keyId } = await service.issue();
  assert.deepEqual([await fetchStatus(service, key), await fetchStatus(service, key)], [200, 200]);
  // By hand and without a new version, which none of our own statements would do.
  await change("update api_keys set scopes = array['quote'] where key_id = $1", keyId);
  assert.equal(await fetchStatus(service, key, "/v1/orders"), 403);
  await change(
    "update api_keys set ip_allowlist = array['203.0.113.0/24'] where key_id = $1",
    keyId,
  );
  assert.equal(await fetchStatus(service, key), 403);
  await change("update api_keys set ip_allowlist = '{}' where key_id = $1", keyId);
  assert.equal(await fetchStatus(service, key), 200);
  await change("update plans set per_minute = per_minute + 1 where name = $1", "sandbox");
  const before = (await service.send("GET", "/v1/whoami", { key })).headers;
  await change("update plans set per_minute = 7 where name = $1", "sandbox");
  const after = (await service.send("GET", "/v1/whoami", { key })).headers;
  assert.notEqual(before.get("x-ratelimit-limit"), "7");
  assert.equal(after.get("x-ratelimit-limit"), "7");
  await change(
    "update api_keys set state = 'revoked', revoked_at = now() where key_id = $1",
    keyId,
  );
  assert.equal(await fetchStatus(service, key), 401);
});

test("a wrong secret for a remembered key is refused and counted for no key", async (t) => {
  const service = await startService(t);
  const { api_key: key, key_id: keyId } = await service.issue();
  await fetchStatus(service, key);
  await fetchStatus(service, key);
  const guesses = Array.from({ length: 5 }, () => makeApiKey("sandbox", keyId).apiKey);
  const statuses = await Promise.all([key, ...guesses].map((one) => fetchStatus(service, one)));
  assert.deepEqual(statuses, [200, 401, 401, 401, 401, 401]);
  assert.equal(await countCalls(service, keyId), 3);
  assert.equal(await fetchStatus(service, key), 200, "and the key is known as before");
});

test("concurrent calls of remembered, new and child keys each get their own answer", async (t) => {
  const service = await startService(t);
  const old = await service.issue();
  await fetchStatus(service, old.api_key);
  const fresh = await service.issue();
  const child = await mintChild(service, old.api_key, {});
  const keys = [old.api_key, fresh.api_key, child.api_key, "nonsense", old.api_key, fresh.api_key];
  const answers = await Promise.all(keys.map((key) => service.send("GET", "/v1/whoami", { key })));
  assert.deepEqual(
    answers.map(({ status, body }) => (status === 200 ? body.key_id : status)),
    [old.key_id, fresh.key_id, child.key_id, 401, old.key_id, fresh.key_id],
  );
});

test("a key is read once and then confirmed by its version until it changes", async (t) => {
  const service = await startService(t);
  const { ctx, clock, metrics } = service;
  const authenticate = openAuthenticator(ctx);
  const lookUps: number[] = [];
  const rateWindow = openLocalRateWindow(clock.elapsedMs);
  const app = fastify();
  app.decorate("takeSeat", () => true);
  t.after(() => app.close());
  admitCallers(app, {
    async authenticate(headers) {
      lookUps.push(headers.length);
      return await authenticate(headers);
    },
    memory: keyMemory(),
    meter: openMeter(ctx, rateWindow),
    confirm: openConfirmer(ctx, rateWindow),
    metrics,
  });
  app.get("/", { config: { demand: "any key" } as object }, async () => "in");
  const { api_key: key, key_id: keyId } = await service.issue();
  const call = async () =>
    (await app.inject({ url: "/", headers: { "x-service-key": key } })).statusCode;
  assert.deepEqual([await call(), await call(), await call()], [200, 200, 200]);
  assert.deepEqual(lookUps, [1]);
  await ctx.db.pool.query("update api_keys set updated_at = now() where key_id = $1", [keyId]);
  assert.deepEqual([await call(), await call()], [200, 200]);
  assert.deepEqual(lookUps, [1, 1]);
  assert.equal(await countCalls(service, keyId), 5);
});

test("a call that is not confirmed is neither in the window nor in the count", async (t) => {
  const service = await startService(t);
  const { ctx, clock } = service;
  const { api_key: header, key_id: keyId } = await service.issue();
  const [known] = await openAuthenticator(ctx)([header]);
  assert.ok(known);
  const memory = keyMemory();
  memory.keep(header, known);
  const remembered = memory.find(header);
  assert.ok(remembered);
  const window = openLocalRateWindow(clock.elapsedMs);
  const confirm = openConfirmer(ctx, window);
  const call = { ...remembered, route: "GET /v1/whoami" };

  const [, confirmed] = await confirm([call, call]);
  assert.ok(confirmed && !(confirmed instanceof Error));
  assert.deepEqual([confirmed.admitted, confirmed.quotaUsed], [true, 2]);
  // Control: another stamp, a quota that does not reach, and a window that is full.
  const { allowance } = call;
  const others = [
    { ...call, stamp: "1 1" },
    { ...call, allowance: { ...allowance, quota: 2 } },
    { ...call, allowance: { ...allowance, enforced: true, perMinute: 2 } },
  ];
  for (const other of others) assert.deepEqual(await confirm([other]), [undefined]);
  assert.equal(await countCalls(service, keyId), 2);
  const [next] = await window.take([{ keyId, limit: Infinity }]);
  assert.equal(next?.used, 3);
});

test("a key with an expiry and a child key are read on every call", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const child = await mintChild(service, root.api_key, {});
  const authenticate = openAuthenticator(service.ctx);
  const findStamp = async (header: string) => (await authenticate([header]))[0]?.stamp;
  assert.equal(typeof (await findStamp(root.api_key)), "string");
  assert.equal(await findStamp(child.api_key), null);
  const ends = "update api_keys set expires_at = now() + interval '1 day' where key_id = $1";
  await service.ctx.db.pool.query(ends, [root.key_id]);
  assert.equal(await findStamp(root.api_key), null);
});

// Keys that are changed after they were issued: what a thief of one could not do before, it cannot do
// after either.

import assert from "node:assert/strict";
import { test } from "node:test";

import { moveChildKeys } from "../../src/access/narrow-keys.ts";
import { revokeKeyAsOperator } from "../../src/access/revoke-keys.ts";
import { operator } from "../../src/kernel/actor.ts";
import { mintChild } from "../support/keys.ts";
import { readSlug, type Service, startService } from "../support/service.ts";
import { readStream } from "../support/streams.ts";

const patch = (service: Service, key: string, key_id: string, body: object, expect = 200) =>
  service.send("PATCH", `/v1/keys/${key_id}`, { key, body, expect });

test("a key shows the last call that was counted, and none before", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const root = await service.issue();
  const child = await mintChild(service, root.api_key);
  const read = async () =>
    (await send("GET", `/v1/keys/${child.key_id}`, { key: root.api_key, expect: 200 })).body;
  assert.equal((await read()).last_used_at, null);
  await send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });
  assert.equal((await read()).last_used_at, "2026-11-15T14:45:00.000+05:30");
  clock.advance({ days: 20 });
  await send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });
  assert.equal((await read()).last_used_at, "2026-12-05T14:45:00.000+05:30");
  clock.advance({ days: 60 });
  const { keys } = (await send("GET", "/v1/keys", { key: root.api_key, expect: 200 })).body;
  assert.deepEqual(
    keys.map((key: { last_used_at: string }) => key.last_used_at.slice(0, 10)),
    ["2026-12-05", "2027-02-03"],
  );
});

test("a key that is narrowed can do less from its next request on, on every node, and so can its children", async (t) => {
  const service = await startService(t);
  const other = await startService(t, { beside: service });
  const root = await service.issue();
  const child = await mintChild(service, root.api_key, { scopes: ["quote", "orders:read"] });
  const lost = await mintChild(service, root.api_key, { scopes: ["webhooks:write"] });
  await other.send("GET", "/v1/orders", { key: child.api_key, expect: 200 });
  await other.send("GET", "/v1/orders", { key: root.api_key, expect: 200 });

  const asked = { name: "Reads", scopes: ["market:read", "quote"], limits: { per_minute: 40 } };
  const { body } = await patch(service, root.api_key, root.key_id, asked);
  assert.deepEqual(
    [body.name, body.scopes, body.limits, body.version],
    ["Reads", asked.scopes, asked.limits, 2],
  );
  for (const key of [root.api_key, child.api_key]) {
    await other.send("GET", "/v1/orders", { key, expect: 403 });
  }
  await other.send("GET", "/v1/whoami", { key: lost.api_key, expect: 401 });
  const { keys } = (await other.send("GET", "/v1/keys", { key: root.api_key, expect: 200 })).body;
  const told = keys.map((key: Record<string, unknown>) => [
    key["key_id"],
    key["status"],
    key["scopes"],
    key["limits"],
    key["version"],
  ]);
  assert.deepEqual(told, [
    [lost.key_id, "revoked", ["webhooks:write"], {}, 2],
    [child.key_id, "active", ["quote"], { per_minute: 40 }, 2],
    [root.key_id, "active", asked.scopes, { per_minute: 40 }, 2],
  ]);
  const again = await patch(other, root.api_key, root.key_id, asked);
  assert.equal(again.body.version, 2, "the same again changes nothing");
});

test("a change by which a key would grow is refused and names the field", async (t) => {
  const service = await startService(t);
  const root = await service.issue({ scopes: ["quote", "orders:read"], buySide: false });
  const child = await mintChild(service, root.api_key, {
    scopes: ["quote"],
    ip_allowlist: ["127.0.0.1"],
    limits: { per_minute: 5, withdrawals: false },
  });
  const cases: [string, object][] = [
    ["scopes", { scopes: ["quote", "orders:read"] }],
    ["scopes", { scopes: ["*"] }],
    ["buy_side", { buy_side: true }],
    ["ip_allowlist", { ip_allowlist: [] }],
    ["ip_allowlist.0", { ip_allowlist: ["0.0.0.0/0"] }],
    ["limits.per_minute", { limits: { per_minute: 6 } }],
    ["limits.withdrawals", { limits: { withdrawals: true } }],
    ["expires_at", { expires_at: "2026-11-15T00:00:00+05:30" }],
  ];
  for (const [path, body] of cases) {
    const refused = await patch(service, root.api_key, child.key_id, body, 422);
    assert.deepEqual(
      refused.body.detail.fields.map((field: { path: string }) => field.path),
      [path],
    );
  }
  await patch(service, root.api_key, root.key_id, { scopes: [] }, 422);
  const { body } = await patch(service, root.api_key, child.key_id, { limits: {} });
  assert.equal(body.version, 1);
  const dry = await service.send("PATCH", `/v1/keys/${child.key_id}`, {
    key: root.api_key,
    body: { name: "tried" },
    headers: { "x-dry-run": "1" },
    expect: 200,
  });
  assert.equal(dry.body.name, "tried");
  const read = await service.send("GET", `/v1/keys/${child.key_id}`, {
    key: root.api_key,
    expect: 200,
  });
  assert.notEqual(read.body.name, "tried");
  await service.send("DELETE", `/v1/keys/${child.key_id}`, { key: root.api_key, expect: 200 });
  const ended = await patch(service, root.api_key, child.key_id, { name: "late" }, 409);
  assert.equal(ended.body.detail.reason, "wrong_state");
});

test("a root key with limits manages only itself and its children, which have them too", async (t) => {
  const service = await startService(t);
  const free = await service.issue({ firmName: "One Desk" });
  const root = await service.issue({ firmName: "One Desk" });
  const elder = await mintChild(service, root.api_key);
  await service.send("GET", `/v1/keys/${free.key_id}`, { key: root.api_key, expect: 200 });
  await patch(service, root.api_key, root.key_id, { limits: { withdrawals: false } });

  for (const [method, path] of [
    ["GET", `/v1/keys/${free.key_id}`],
    ["POST", `/v1/keys/${free.key_id}/reissue`],
    ["DELETE", `/v1/keys/${free.key_id}`],
  ] as const) {
    await service.send(method, path, { key: root.api_key, expect: 404 });
  }
  const { keys } = (await service.send("GET", "/v1/keys", { key: root.api_key, expect: 200 })).body;
  const ids = keys.map(({ key_id }: { key_id: string }) => key_id);
  assert.deepEqual(ids.toSorted(), [root.key_id, elder.key_id].toSorted());
  const younger = await mintChild(service, root.api_key, { limits: { withdrawals: true } });
  for (const { key_id } of [elder, younger]) {
    const { body } = await service.send("GET", `/v1/keys/${key_id}`, {
      key: free.api_key,
      expect: 200,
    });
    assert.deepEqual(body.limits, { withdrawals: false });
  }
});

test("a key without withdrawals neither takes money out nor says where it goes", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const root = await service.issue();
  const asked = { scopes: ["*"], limits: { withdrawals: false } };
  const { api_key: key } = await mintChild(service, root.api_key, asked);
  const firm = `/v1/firms/${root.firm_id}`;
  const bank = { account_no: "50200012345678", ifsc: "HDFC0000001", name: "Acme Exports" };
  const withdrawal = { amount_paise: 1 };
  for (const [method, path, body] of [
    ["POST", `${firm}/withdrawals`, withdrawal],
    ["PATCH", firm, { bank }],
  ] as const) {
    const refused = await send(method, path, { key, body, expect: 403 });
    assert.deepEqual(refused.body.detail, { reason: "key_limit", limit: "withdrawals" });
  }
  await send("PATCH", firm, { key, body: { phone: "+919820054321" }, expect: 200 });
  await send("PATCH", firm, { key: root.api_key, body: { bank }, expect: 200 });
  const missing = await send("POST", `${firm}/withdrawals`, {
    key: root.api_key,
    body: withdrawal,
  });
  assert.notEqual(missing.body.detail?.limit, "withdrawals");
});

test("a stream ends when its key loses a scope, and goes on when it is only renamed", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const child = await mintChild(service, root.api_key, { scopes: ["orders:read", "quote"] });
  const stream = await readStream(`${service.url}/v1/events/stream`, { key: child.api_key });
  await patch(service, root.api_key, child.key_id, { name: "Renamed" });
  const [renamed] = await stream.until(1);
  assert.equal(renamed?.event, "key.updated");
  await patch(service, root.api_key, child.key_id, { scopes: ["quote"] });
  await stream.ended;
});

test("the operator gives children to another root key, which may then replace the first", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const old = await service.issue({ firmName: "One Desk" });
  const child = await mintChild(service, old.api_key, {
    scopes: ["quote", "orders:read", "firms"],
  });
  const ended = await mintChild(service, old.api_key);
  await service.send("DELETE", `/v1/keys/${ended.key_id}`, { key: old.api_key, expect: 200 });
  const narrow = await service.issue({ firmName: "One Desk", scopes: ["orders:read", "firms"] });
  const stranger = await service.issue({ firmName: "Other Desk" });
  const live = await service.issue({ firmName: "Live Desk", environment: "live" });

  const move = (to_key_id: string, key_id = old.key_id) =>
    moveChildKeys(ctx, operator, { key_id, to_key_id });
  for (const to of [stranger.key_id, live.key_id, child.key_id, old.key_id, "key_unknown"]) {
    await assert.rejects(move(to), { code: "unprocessable" }, to);
  }
  const { keys } = await move(narrow.key_id);
  assert.deepEqual(
    keys.map(({ key_id, parent_key_id, scopes }) => [key_id, parent_key_id, scopes]),
    [[child.key_id, narrow.key_id, ["orders:read", "firms"]]],
  );
  await revokeKeyAsOperator(ctx, old.key_id);
  await service.send("GET", "/v1/orders", { key: child.api_key, expect: 200 });
  const refused = await service.send("GET", "/v1/usage", { key: old.api_key, expect: 401 });
  assert.equal(readSlug(refused), "unauthorized");

  // Children of a dead root key stay dead.
  const other = await service.issue({ firmName: "One Desk" });
  await assert.rejects(move(other.key_id), { code: "conflict" });
  await revokeKeyAsOperator(ctx, other.key_id);
  await assert.rejects(move(other.key_id, narrow.key_id), { code: "unprocessable" });
});

test("a child that is minted while its root key is narrowed is as narrow", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const limits = { limits: { withdrawals: false } };
  const [, ...minted] = await Promise.all([
    patch(service, root.api_key, root.key_id, limits),
    ...Array.from({ length: 5 }, () => mintChild(service, root.api_key)),
  ]);
  for (const { key_id } of minted) {
    const { body } = await service.send("GET", `/v1/keys/${key_id}`, {
      key: root.api_key,
      expect: 200,
    });
    assert.deepEqual(body.limits, { withdrawals: false });
  }
});

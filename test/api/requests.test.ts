import assert from "node:assert/strict";
import { test } from "node:test";

import { commandLine } from "../support/cli.ts";
import { firmBody } from "../support/client-firms.ts";
import { mintChild } from "../support/keys.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { startService } from "../support/service.ts";

test("a caller finds each of its calls with what was answered and made, and nothing that was in it", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: key, key_id } = await service.issue();
  const firm = firmBody();
  const named = { "idempotency-key": "erp-1" };
  const first = await send("POST", "/v1/firms", { key, body: firm, headers: named, expect: 201 });
  await send("POST", "/v1/firms", { key, body: firm, headers: named, expect: 200 });
  const dry = { "x-dry-run": "1" };
  await send("POST", "/v1/firms", { key, body: firmBody(), headers: dry, expect: 200 });
  await send("GET", `/v1/firms/${first.body.firm_id}?`, { key, expect: 200 });
  await send("GET", "/v1/whoami", { key: key.slice(0, -1) + "0", expect: 401 });

  const { body } = await send("GET", "/v1/requests", { key, expect: 200 });
  const shown = body.requests.map((one: Record<string, unknown>) => [
    one["method"],
    one["route"],
    one["status"],
    one["code"],
    one["idempotency_key"],
    one["made"],
  ]);
  const made = first.body.firm_id;
  assert.deepEqual(shown, [
    ["GET", "/v1/firms/{firm_id}", 200, null, null, null],
    ["POST", "/v1/firms", 200, null, null, null],
    ["POST", "/v1/firms", 200, null, "erp-1", made],
    ["POST", "/v1/firms", 201, null, "erp-1", made],
  ]);
  assert.ok(body.requests.every((one: { key_id: string }) => one.key_id === key_id));
  assert.doesNotMatch(JSON.stringify(body), new RegExp(`${firm.legal_name}|${firm.iec}`));

  const id = first.headers.get("x-request-id");
  const { body: found } = await send("GET", `/v1/requests/${id}`, { key, expect: 200 });
  assert.deepEqual(found, body.requests[3]);
});

test("calls are narrowed by status, code, reason, route, key, id and time, and counted alike", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const { api_key: key, key_id } = await service.issue();
  for (let call = 0; call < 3; call++) await send("GET", "/v1/whoami", { key, expect: 200 });
  clock.advance({ seconds: 10 });
  const from = clock.now().toISOString();
  clock.advance({ seconds: 10 });
  await send("GET", "/v1/orders/ord_none", { key, expect: 404 });
  await send("DELETE", "/v1/webhooks/whk_none", { key, expect: 404 });
  clock.advance({ seconds: 10 });
  const to = clock.now().toISOString();
  clock.advance({ seconds: 10 });
  await send("GET", "/v1/whoami", { key, expect: 200 });

  const total = async (query: string) => {
    const { body } = await send("GET", `/v1/requests?limit=500&${query}`, { key, expect: 200 });
    assert.equal(body.total, body.requests.length, query);
    return body.total as number;
  };
  assert.equal(await total("route=/v1/whoami"), 4);
  assert.equal(await total("route=GET%20/v1/whoami&status=200"), 4);
  assert.equal(await total("route=POST%20/v1/whoami"), 0);
  assert.equal(await total("status=404"), 2);
  assert.equal(await total("code=not_found"), 2);
  assert.equal(await total("reason=no_price"), 0);
  assert.equal(await total(`from=${from}&to=${to}`), 2);
  assert.equal(await total(`to=${from}`), 3);
  assert.equal(await total(`key_id=${key_id}&to=${to}`), 5);
  assert.equal(await total("key_id=key_other"), 0);
});

test("pages tell each call once, while calls go on", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const { api_key: key } = await service.issue();
  for (let call = 0; call < 25; call++) {
    await send("GET", "/v1/whoami", { key, headers: { "x-request-id": `mine-${call}` } });
    if (call % 10 === 9) clock.advance({ seconds: 1 });
  }
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? "" : `&cursor=${cursor}`;
    const path = `/v1/requests?route=/v1/whoami&limit=4${next}`;
    const { body } = await send("GET", path, { key, expect: 200 });
    ids.push(...body.requests.map((one: { request_id: string }) => one.request_id));
    assert.equal(body.total, 25);
    cursor = body.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(
    ids,
    Array.from({ length: 25 }, (_, at) => `mine-${24 - at}`),
  );
});

test("an id that a gateway repeats lists several calls, and reads the newest", async (t) => {
  const service = await startService(t);
  const { send, clock } = service;
  const { api_key: key } = await service.issue();
  const other = await service.issue({ firmName: "Another desk" });
  const headers = { "x-request-id": "gateway-7" };
  await send("GET", "/v1/whoami", { key, headers });
  clock.advance({ seconds: 100 });
  await send("GET", "/v1/usage", { key, headers });
  await send("GET", "/v1/meta/states", { key: other.api_key, headers });

  const { body: list } = await send("GET", "/v1/requests?request_id=gateway-7", { key });
  const routes = list.requests.map(({ route }: { route: string }) => route);
  assert.deepEqual(routes, ["/v1/usage", "/v1/whoami"]);
  const { body: newest } = await send("GET", "/v1/requests/gateway-7", { key, expect: 200 });
  assert.equal(newest.route, "/v1/usage");
  await send("GET", "/v1/requests/gateway-8", { key, expect: 404 });
});

test("a child key sees its own calls only, a root key those of its desk and of no other", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { api_key: root } = await service.issue();
  const other = await service.issue({ firmName: "Another desk" });
  const child = await mintChild(service, root, { scopes: ["orders:read"] });
  const mine = await send("GET", "/v1/whoami", { key: root });
  const theirs = await send("GET", "/v1/whoami", { key: other.api_key });
  const childs = await send("GET", "/v1/orders", { key: child.api_key, expect: 200 });
  const read = async (key: string, answer: { headers: Headers }) => {
    const id = answer.headers.get("x-request-id");
    return (await send("GET", `/v1/requests/${id}`, { key })).status;
  };
  assert.equal(await read(root, mine), 200);
  assert.equal(await read(root, childs), 200);
  assert.equal(await read(root, theirs), 404);
  assert.equal(await read(child.api_key, childs), 200);
  assert.equal(await read(child.api_key, mine), 404);
  const others = `/v1/requests?key_id=${mine.body.key_id}`;
  const { body } = await send("GET", others, { key: child.api_key, expect: 200 });
  assert.deepEqual(body.requests, []);
});

test("calls are shown for thirty days, and their months go by themselves", async (t) => {
  const service = await startService(t);
  const { send, clock, ctx } = service;
  const { api_key: key } = await service.issue();
  await send("GET", "/v1/whoami", { key });
  clock.advance({ days: 29 });
  const { body: still } = await send("GET", "/v1/requests", { key, expect: 200 });
  assert.equal(still.requests.length, 1);
  clock.advance({ days: 2 });
  const { body: gone } = await send("GET", "/v1/requests?route=/v1/whoami", { key, expect: 200 });
  assert.deepEqual(gone.requests, []);
  clock.advance({ days: 90 });
  await service.workOn(["partitions"]);
  const parts = await ctx.db.rows<{ name: string }>({
    name: "",
    text: "select relname as name from pg_class where relname like 'request_blocks_2026_11'",
    values: [],
  });
  assert.deepEqual(parts, []);
});

test("operators see the calls of every desk, and whose they are", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { run } = await commandLine(t, service);
  const one = await service.issue();
  const two = await service.issue({ firmName: "Another desk" });
  await send("GET", "/v1/whoami", { key: one.api_key });
  const last = await send("GET", "/v1/orders/ord_none", { key: two.api_key, expect: 404 });
  await send("GET", "/v1/requests", { key: one.api_key, expect: 200 });

  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "Asha", role: "admin" });
  const headers = asBearer((await person.signIn()).token);
  const { body } = await ops.send("GET", "/ops/requests?status=404", { headers, expect: 200 });
  assert.equal(body.requests.length, 1);
  assert.equal(body.requests[0].request_id, last.headers.get("x-request-id"));
  assert.ok(Object.values(body.names).includes("Another desk"));

  const { stdout } = await run("requests", "list", "--key", two.key_id, "--json");
  const [call, ...others] = JSON.parse(stdout);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [call.route, call.status, call.code, call.request_id],
    ["/v1/orders/{order_id}", 404, "not_found", last.headers.get("x-request-id")],
  );
});

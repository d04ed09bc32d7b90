// What one address may ask of the public surface, and what other sites may.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pino } from "pino";

import { localAddressWindows, sharedAddressWindows } from "../../src/market/address-budgets.ts";
import { redisMissing, startRedis } from "../support/redis.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const skipRedis = (await redisMissing()) ?? false;

const rates = "/public/rates/methodology";
const estimate = "/public/enquiry/estimate?side=sell&scheme=RODTEP&amount_paise=100";
const proxy = { trustProxy: ["127.0.0.1"] };

/** How many of so many calls were let in. */
async function admitted(
  { send }: Pick<Service, "send">,
  count: number,
  { path = rates, from }: { path?: string; from?: string } = {},
): Promise<number> {
  let passed = 0;
  for (let call = 0; call < count; call++) {
    const { status } = await send("GET", path, {
      ...(from !== undefined && { headers: { "x-forwarded-for": from } }),
    });
    if (status !== 429) passed += 1;
  }
  return passed;
}

function assertRefusal(answer: Answer, retryAfterS: number): void {
  assert.equal(answer.status, 429);
  const { message, ...body } = answer.body;
  assert.deepEqual(body, {
    error: "rate_limited",
    code: "rate_limited",
    detail: { retry_after_s: retryAfterS },
  });
  assert.equal(typeof message, "string");
  assert.equal(answer.headers.get("retry-after"), String(retryAfterS));
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("access-control-allow-origin"), "*", "a page can read why");
  assert.ok(answer.headers.get("x-request-id"));
  const meter = [...answer.headers.keys()].filter((name) => name.startsWith("x-ratelimit"));
  assert.deepEqual(meter, []);
}

test("rates accept 60 calls in any minute from one address, and not one more", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  assert.equal(await admitted(service, 30), 30);
  clock.advance({ seconds: 30 });
  assert.equal(await admitted(service, 40), 30);
  assertRefusal(await send("GET", rates), 60);
  clock.advance({ seconds: 30 });
  assert.equal(await admitted(service, 40), 30, "the window slides: the first thirty have left");
  clock.advance({ seconds: 60 });
  assert.equal(await admitted(service, 61), 60, "what was refused has left no trace");
});

test("enquiries accept 6 calls a minute and 30 a day, to midnight IST", async (t) => {
  const service = await startService(t);
  const { clock, send } = service;
  clock.set(new Date("2026-11-15T23:50:00+05:30"));
  for (let minute = 0; minute < 5; minute++) {
    assert.equal(await admitted(service, 8, { path: estimate }), 6);
    // After the last of them both are used up, and the longer wait is told.
    assertRefusal(await send("GET", estimate), minute < 4 ? 60 : 360);
    clock.advance({ seconds: 60 });
  }
  clock.advance({ ms: 500 });
  assertRefusal(await send("GET", estimate), 300);
  const post = await send("POST", "/public/enquiry/contact", { body: {} });
  assert.equal(post.status, 429, "all enquiry operations draw on one budget");
  assert.equal(post.headers.has("access-control-allow-origin"), false);
  assert.equal(await admitted(service, 1), 1, "rates have a budget of their own");
  clock.set(new Date("2026-11-15T23:59:59.999+05:30"));
  assertRefusal(await send("GET", estimate), 1);
  clock.set(new Date("2026-11-16T00:00:00+05:30"));
  assert.equal(await admitted(service, 8, { path: estimate }), 6);
});

test("the operator sets the budgets", async (t) => {
  const service = await startService(t, {
    publicBudgets: { rates: { perMinute: 2 }, enquiry: { perMinute: 1, perDay: 2 } },
  });
  assert.equal(await admitted(service, 5), 2);
  assert.equal(await admitted(service, 5, { path: estimate }), 1);
});

test("a key neither raises nor uses up the public budget", async (t) => {
  const service = await startService(t, {
    publicBudgets: { rates: { perMinute: 2 }, enquiry: { perMinute: 1 } },
  });
  const { api_key } = await service.issue({ environment: "live" });
  const statuses = [];
  for (const key of [api_key, "garbage", api_key]) {
    statuses.push((await service.send("GET", rates, { key })).status);
  }
  assert.deepEqual(statuses, [200, 200, 429]);
  const usage = await service.send("GET", "/v1/usage", { key: api_key, expect: 200 });
  assert.equal(usage.body.quota_used, 1);
});

test("behind a named proxy every caller has a budget; an IPv6 caller's is its whole /64", async (t) => {
  const service = await startService(t, {
    ...proxy,
    publicBudgets: { rates: { perMinute: 3 }, enquiry: { perMinute: 1 } },
  });
  assert.equal(await admitted(service, 5, { from: "203.0.113.7" }), 3);
  assert.equal(await admitted(service, 5, { from: "203.0.113.8" }), 3);
  assert.equal(await admitted(service, 1, { from: "::ffff:203.0.113.7" }), 0, "the same, mapped");
  assert.equal(await admitted(service, 2, { from: "2001:db8:1:2::1" }), 2);
  assert.equal(await admitted(service, 2, { from: "2001:DB8:1:2:ffff:ffff:ffff:ffff" }), 1);
  assert.equal(await admitted(service, 2, { from: "2001:db8:1:2:0:0:0:9" }), 0);
  assert.equal(await admitted(service, 5, { from: "2001:db8:1:3::1" }), 3, "the next /64");
  assert.equal(await admitted(service, 5, { from: "198.51.100.1, 203.0.113.8" }), 0, "the nearest");
  assert.equal(await admitted(service, 2, { from: "nonsense" }), 2);
  assert.equal(await admitted(service, 2, { from: "other nonsense" }), 1, "all nonsense is one");
});

test("whoever has a whole neighbourhood has the budget of sixteen addresses, and nobody else loses by it", async (t) => {
  const limits = { rates: { perMinute: 3 }, enquiry: { perMinute: 2, perDay: 3 } };
  const service = await startService(t, { ...proxy, publicBudgets: limits });
  const sweep = async (count: number, address: (at: number) => string, path = rates) => {
    let passed = 0;
    for (let at = 0; at < count; at++) {
      passed += await admitted(service, 3, { from: address(at), path });
    }
    return passed;
  };
  assert.equal(await sweep(16, (at) => `203.0.113.${at}`), 48, "sixteen have all they may");
  assert.equal(await sweep(10, (at) => `203.0.113.${at + 100}`), 0, "the seventeenth has nothing");
  assert.equal(await sweep(1, () => "203.0.114.1"), 3, "the next /24");
  assert.equal(await sweep(30, (at) => `2001:db8:1:${at.toString(16)}::1`), 48, "a /48");
  assert.equal(await sweep(1, () => "2001:db8:2::1"), 3, "the next /48");

  assert.equal(
    await sweep(30, (at) => `198.51.100.${at}`, estimate),
    32,
    "a minute of the neighbourhood",
  );
  service.clock.advance({ seconds: 60 });
  assert.equal(await sweep(30, (at) => `198.51.100.${at}`, estimate), 16, "the rest of its day");
  service.clock.advance({ seconds: 60 });
  assert.equal(await sweep(3, (at) => `198.51.100.${at + 100}`, estimate), 0);
  assert.equal(await sweep(3, (at) => `198.51.101.${at}`, estimate), 6, "the next neighbourhood");
});

test("what a neighbourhood's budget refuses uses none of the address's own, and the other way round", async (t) => {
  const limits = { rates: { perMinute: 1 }, enquiry: { perMinute: 1 } };
  const service = await startService(t, { ...proxy, publicBudgets: limits });
  const take = (at: number) => admitted(service, 1, { from: `203.0.113.${at}` });
  assert.equal(await take(0), 1);
  for (let call = 0; call < 40; call++) assert.equal(await take(0), 0, "refused by its own");
  service.clock.advance({ seconds: 30 });
  for (let at = 1; at < 16; at++) assert.equal(await take(at), 1, "the neighbourhood has lost one");
  assert.equal(await take(16), 0, "refused by the neighbourhood");
  service.clock.advance({ seconds: 30 });
  assert.equal(await take(16), 1, "one has left the neighbourhood's window");
});

test("a forwarded address from an untrusted proxy is ignored", async (t) => {
  const service = await startService(t, {
    publicBudgets: { rates: { perMinute: 3 }, enquiry: { perMinute: 1 } },
  });
  assert.equal(await admitted(service, 2, { from: "203.0.113.7" }), 2);
  assert.equal(await admitted(service, 2, { from: "203.0.113.8" }), 1);
  const control = await startService(t, {
    ...proxy,
    publicBudgets: { rates: { perMinute: 3 }, enquiry: { perMinute: 1 } },
  });
  assert.equal(await admitted(control, 2, { from: "203.0.113.7" }), 2);
  assert.equal(await admitted(control, 2, { from: "203.0.113.8" }), 2);
});

test("size and route are checked before the budget, and use none of it", async (t) => {
  const service = await startService(t, {
    publicBudgets: { rates: { perMinute: 1 }, enquiry: { perMinute: 1 } },
  });
  const { send } = service;
  const large = "x".repeat(1_048_577);
  await send("POST", "/public/enquiry/sell", { body: large, expect: 413 });
  await send("GET", "/public/enquiry", { expect: 404 });
  await send("DELETE", "/public/rates", { expect: 404 });
  await send("POST", "/public/enquiry/sell", { body: "{", expect: 400 });
  await send("POST", "/public/enquiry/sell", { body: "{", expect: 429 });
  await send("POST", "/public/enquiry/sell", { body: large, expect: 413 });
});

test("the windows are bounded: of very many addresses the least active are evicted", async () => {
  let nowMs = 0;
  const { minute } = localAddressWindows(() => nowMs);
  const take = async (keyId: string) => (await minute.take([{ keyId, limit: 1 }]))[0]?.admitted;
  assert.equal(await take("early"), true);
  assert.equal(await take("kept"), true);
  for (let address = 0; address < 19_999; address++) {
    nowMs += 1;
    await take(String(address));
    if (address % 5_000 === 0) assert.equal(await take("kept"), false);
  }
  assert.equal(await take("kept"), false, "whoever keeps calling is remembered");
  assert.equal(await take("early"), true, "whoever called once long ago is not");
});

test("two nodes with one Redis share the budgets", { skip: skipRedis }, async (t) => {
  const redis = await startRedis(t);
  const log = pino({ level: "silent" });
  const windows = async () =>
    sharedAddressWindows(await redis.connect(), {
      fallback: localAddressWindows(() => performance.now()),
      log,
    });
  const publicBudgets = { rates: { perMinute: 10 }, enquiry: { perMinute: 6, perDay: 4 } };
  const one = await startService(t, { publicBudgets, addressWindows: await windows() });
  const other = await startService(t, {
    publicBudgets,
    addressWindows: await windows(),
    beside: one,
  });
  assert.equal((await admitted(one, 7)) + (await admitted(other, 7)), 10);
  const enquiries = { path: estimate };
  assert.equal((await admitted(one, 3, enquiries)) + (await admitted(other, 3, enquiries)), 4);
  const refused = await one.send("GET", estimate);
  assertRefusal(refused, Number(refused.headers.get("retry-after")));
  assert.ok(refused.body.detail.retry_after_s > 60, "the day's budget is what is used up");
  one.clock.advance({ days: 1 });
  assert.equal(await admitted(other, 6, enquiries), 2, "a new day, within the same minute");

  const control = await startService(t, { publicBudgets, beside: one });
  assert.equal(await admitted(control, 12), 10, "a node without Redis knows nothing of the others");
});

test("pages of any site may read the public surface and write nothing", async (t) => {
  const { send } = await startService(t);
  const origin = { origin: "https://broker.example" };
  for (const path of [rates, "/public/rates", estimate]) {
    const answer = await send("GET", path, { headers: origin, expect: 200 });
    assert.equal(answer.headers.get("access-control-allow-origin"), "*", path);
    assert.match(answer.headers.get("access-control-expose-headers") ?? "", /ETag/, path);
  }
  for (const path of ["/public/rates", "/public/enquiry/sell"]) {
    const preflight = await send("OPTIONS", path, {
      headers: { ...origin, "access-control-request-method": "POST" },
      expect: 204,
    });
    assert.deepEqual(listCorsHeaders(preflight), {
      "access-control-allow-headers": "If-None-Match, X-Request-ID",
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-origin": "*",
      "access-control-max-age": "86400",
    });
    assert.ok(preflight.headers.get("x-request-id"));
    assert.equal(preflight.headers.has("content-length"), false, "a 204 has none");
    assert.equal(preflight.text, "");
  }
  await send("OPTIONS", "/public/rates", { expect: 204 });
  await send("OPTIONS", "/publicity", { headers: origin, expect: 404 });
  const body = { name: "A", email: "a@b.example", message: "?", consent: true };
  const posted = await send("POST", "/public/enquiry/contact", {
    headers: origin,
    body,
    expect: 201,
  });
  assert.equal(posted.headers.has("access-control-allow-origin"), false);
  await send("OPTIONS", "/v1/keys", { headers: origin, expect: 404 });
});

test("an answer behind a key has no tag and no header for other sites", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue({ plan: "desk" });
  const paths = service.app.routes
    .filter(({ method, config }) => method === "GET" && config.demand !== undefined)
    .map(({ path }) => path.replaceAll(/\{\w+\}/g, "x"));
  assert.ok(paths.length > 30);
  const headers = { origin: "https://broker.example", "if-none-match": "*" };
  for (const path of paths) {
    const answer = await service.send("GET", path, { key, headers });
    assert.notEqual(answer.status, 304, path);
    assert.deepEqual(listCorsHeaders(answer), {}, path);
    assert.equal(answer.headers.has("etag"), false, path);
  }
});

function listCorsHeaders({ headers }: Answer): Record<string, string> {
  const found = [...headers].filter(([name]) => name.startsWith("access-control-"));
  return Object.fromEntries(found);
}

test("an address forwarded with its port has the budget of the address", async (t) => {
  const service = await startService(t, proxy);
  assert.equal(await admitted(service, 40, { from: "203.0.113.7:1111" }), 40);
  assert.equal(await admitted(service, 40, { from: "203.0.113.7:2222" }), 20);
  assert.equal(await admitted(service, 40, { from: "203.0.113.8:1111" }), 40);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { istDay, istMonth } from "../../src/kernel/time.ts";
import type { IssuedKey } from "../../src/access/issue-keys.ts";
import { openMeter } from "../../src/access/meter-calls.ts";
import { openLocalRateWindow } from "../../src/access/rate-window.ts";
import { setPlan } from "../../src/access/plans.ts";
import { findCredentials } from "../../src/access/key-store.ts";
import {
  type CallGroup,
  countAlone,
  countCalls,
  countFitting,
  insertCounters,
  type KeyTotal,
} from "../../src/access/usage-store.ts";
import { sql, type Tx } from "../../src/platform/postgres/postgres.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";
import { callAtOnce, countStatuses, meterHeaders, mintChild } from "../support/usage.ts";

const headerNames = [
  "x-ratelimit-plan",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-quota",
  "x-ratelimit-quota-used",
] as const;

async function liveKey(service: Service, perMinute: number, monthlyQuota?: number) {
  const plan = await service.plan(perMinute, monthlyQuota);
  const issued = await service.issue({ environment: "live", plan });
  const call = async (path = "/v1/whoami") =>
    await service.send("GET", path, { key: issued.api_key });
  return { ...issued, plan, call };
}

function sumCalls(rows: readonly { calls: number }[]): number {
  return rows.reduce((sum, { calls }) => sum + calls, 0);
}

/** The history of a usage answer is told three ways; all of them must be the same calls. */
function assertAgreement({ body }: Answer, calls: number): void {
  assert.equal(sumCalls(body.by_day), calls);
  assert.equal(sumCalls(body.by_route), calls);
  assert.equal(sumCalls(body.by_key), calls);
}

test("every authenticated response carries the rate-limit headers of its key, errors included", async (t) => {
  const service = await startService(t);
  const root = await liveKey(service, 100, 1_000);
  const child = await mintChild(service, root.api_key);
  const key = root.api_key;
  const answers = [
    { status: 200, answer: await service.send("GET", "/v1/whoami", { key }) },
    { status: 400, answer: await service.send("POST", "/v1/keys", { key, body: "{" }) },
    { status: 403, answer: await service.send("GET", "/v1/keys", { key: child.api_key }) },
    { status: 404, answer: await service.send("GET", "/v1/keys/key_nobody", { key }) },
    {
      status: 415,
      answer: await service.send("POST", "/v1/keys", {
        key,
        body: "{}",
        headers: { "content-type": "text/plain" },
      }),
    },
    { status: 422, answer: await service.send("POST", "/v1/keys", { key, body: {} }) },
    { status: 422, answer: await service.send("GET", "/v1/usage?month=soon", { key }) },
    { status: 200, answer: await service.send("HEAD", "/v1/whoami", { key }) },
  ];
  for (const { status, answer } of answers) {
    assert.equal(answer.status, status, answer.text);
    for (const name of headerNames) assert.ok(answer.headers.has(name), `${name} on ${status}`);
    assert.equal(answer.headers.get("x-ratelimit-plan"), root.plan);
    assert.equal(answer.headers.get("retry-after"), null);
  }
  const { answer } = answers.at(-1)!;
  assert.deepEqual(meterHeaders(answer), {
    plan: root.plan,
    limit: 100,
    remaining: 92,
    reset: 60,
    quota: 1_000,
    quota_used: 8,
  });
});

test("a count is not waited for until it is on disk", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const { key_id: keyId } = await service.issue();
  const counted = { totals: [{ key_id: keyId, calls: 1, quota: 9, stamp: null }], groups: [] };
  const now = service.ctx.now();
  const period = { month: istMonth(now), day: istDay(now), now };
  const durably = sql`set local synchronous_commit = on`;
  const waits = (tx: Tx) =>
    tx.rows(sql`
      select current_setting('synchronous_commit') as waits`);
  await db.transaction(async (tx) => {
    await tx.rows(durably);
    assert.equal((await countFitting(tx, counted, period)).length, 1);
    assert.deepEqual(await waits(tx), [{ waits: "off" }]);
  });
  await db.transaction(async (tx) => {
    await tx.rows(durably);
    const group = { key_id: keyId, route: "GET /v1/whoami", calls: 1, quota: 9 };
    assert.equal((await countCalls(tx, [group], period)).length, 1);
    assert.deepEqual(await waits(tx), [{ waits: "off" }]);
  });
});

test("calls of one key count alone as they do in a set: whole, with its stamp and below its quota", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const now = ctx.now();
  const period = { month: istMonth(now), day: istDay(now), now };
  const ways = {
    alone: (total: KeyTotal, group: CallGroup) => countAlone(ctx.db, total, group, period),
    set: (total: KeyTotal, group: CallGroup) =>
      countFitting(ctx.db, { totals: [total], groups: [group] }, period),
  };
  for (const [way, count] of Object.entries(ways)) {
    const { key_id } = await service.issue();
    const [{ stamp } = assert.fail()] = await findCredentials(ctx.db, [key_id]);
    const ask = async (calls: number, has: string) => {
      const group = { key_id, route: "GET /v1/whoami", calls, quota: 5 };
      return await count({ key_id, calls, quota: 5, stamp: has }, group);
    };
    await insertCounters(ctx.db, [key_id], period.month);
    assert.deepEqual(await ask(2, "1 1"), [], way);
    assert.deepEqual(await ask(2, stamp), [{ key_id, calls: 2 }], way);
    assert.deepEqual(await ask(4, stamp), [], way);
    assert.deepEqual(await ask(3, stamp), [{ key_id, calls: 5 }], way);
    assert.deepEqual(await ask(1, stamp), [], way);
    const rows = await ctx.db.rows(sql`
      select route, calls
      from usage_days
      where key_id = ${key_id}`);
    assert.deepEqual(rows, [{ route: "GET /v1/whoami", calls: 5 }], way);
  }
});

test("an internal fault still carries the rate-limit headers", async (t) => {
  const service = await startService(t);
  const { api_key } = await liveKey(service, 10);
  await service.ctx.db.pool.query(
    "set role none; alter table idempotency_keys rename to lost; set role scripdesk_app",
  );
  const answer = await service.send("POST", "/v1/keys", {
    key: api_key,
    body: { name: "child", kind: "app", scopes: ["*"] },
    headers: { "idempotency-key": "once" },
    expect: 500,
  });
  assert.equal(readSlug(answer), "internal");
  assert.equal(meterHeaders(answer).remaining, 9);
  assert.equal(meterHeaders(answer).quota_used, 1);
});

test("sandbox keys are counted and shown, and never refused", async (t) => {
  const service = await startService(t);
  const root = await service.issue({ plan: "starter" });
  const first = await service.send("GET", "/v1/whoami", { key: root.api_key, expect: 200 });
  assert.deepEqual(meterHeaders(first), {
    plan: "sandbox",
    limit: 6_000,
    remaining: 5_999,
    reset: 60,
    quota_used: 1,
  });
  // A quota that is shown and not enforced.
  const child = await mintChild(service, root.api_key, { monthly_quota: 3 });
  const answers = await callAtOnce(40, { nodes: [service], keys: [child.api_key] });
  assert.deepEqual(countStatuses(answers), { 200: 40 });
  const last = await service.send("GET", "/v1/usage", { key: child.api_key, expect: 200 });
  const { quota_used, remaining, quota } = last.body;
  assert.deepEqual(
    { quota_used, remaining, quota },
    { quota_used: 41, remaining: 5_959, quota: undefined },
  );
  assert.equal(last.headers.has("x-ratelimit-quota"), false);
});

test("a call over the limit is refused with the contract's body, Retry-After and headers", async (t) => {
  const service = await startService(t);
  const { call, plan } = await liveKey(service, 2, 1_000);
  await call();
  service.clock.advance({ seconds: 20 });
  await call();
  service.clock.advance({ seconds: 10 });
  const refused = await call();
  assert.equal(refused.status, 429);
  assert.deepEqual(Object.keys(refused.body).toSorted(), ["code", "error", "message"]);
  assert.equal(refused.body.error, "rate_limited");
  assert.equal(refused.body.code, "rate_limited");
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.deepEqual(meterHeaders(refused), {
    plan,
    limit: 2,
    remaining: 0,
    reset: 50,
    quota: 1_000,
    quota_used: 2,
  });
});

test("a call over the monthly quota is refused the same way and does not enter the window", async (t) => {
  const service = await startService(t);
  const { call, plan } = await liveKey(service, 10, 2);
  await call();
  service.clock.advance({ seconds: 20 });
  await call();
  service.clock.advance({ seconds: 10 });
  for (let again = 0; again < 3; again++) {
    const refused = await call();
    assert.equal(refused.status, 429);
    assert.equal(readSlug(refused), "rate_limited");
    assert.deepEqual(Object.keys(refused.body).toSorted(), ["code", "error", "message"]);
    assert.equal(refused.headers.get("retry-after"), "60");
    const expected = { plan, limit: 10, remaining: 8, reset: 50, quota: 2, quota_used: 2 };
    assert.deepEqual(meterHeaders(refused), expected);
  }
  service.clock.advance({ seconds: 60 });
  const refused = await call();
  assert.equal(refused.status, 429);
  assert.equal(meterHeaders(refused).remaining, 10);
  assert.equal(meterHeaders(refused).reset, 0, "an empty window is clear already");
});

test("the window slides to the millisecond and refused calls never enter it", async (t) => {
  const service = await startService(t);
  const { call } = await liveKey(service, 3);
  const statusAfter = async (advance: { ms?: number; seconds?: number }) => {
    service.clock.advance(advance);
    return (await call()).status;
  };
  assert.equal(await statusAfter({}), 200); // 0 s
  assert.equal(await statusAfter({ seconds: 10 }), 200); // 10 s
  assert.equal(await statusAfter({ seconds: 10 }), 200); // 20 s
  for (let asked = 0; asked < 30; asked++) assert.equal(await statusAfter({ seconds: 1 }), 429);
  assert.equal(await statusAfter({ seconds: 9, ms: 999 }), 429); // 59.999 s
  assert.equal(await statusAfter({ ms: 1 }), 200); // the call of 0 s is out
  assert.equal(await statusAfter({}), 429);
  assert.equal(await statusAfter({ seconds: 9, ms: 999 }), 429);
  assert.equal(await statusAfter({ ms: 1 }), 200); // 70 s: the call of 10 s is out
  assert.equal(await statusAfter({}), 429);
});

test("two keys have separate windows", async (t) => {
  const service = await startService(t);
  const one = await liveKey(service, 1);
  const other = await liveKey(service, 1);
  assert.deepEqual([(await one.call()).status, (await one.call()).status], [200, 429]);
  assert.equal((await other.call()).status, 200);
});

test("the lower of a child's own rate and its plan's applies", async (t) => {
  const service = await startService(t);
  const root = await liveKey(service, 4);
  const narrow = await mintChild(service, root.api_key, { per_minute: 2 });
  const wide = await mintChild(service, root.api_key, { per_minute: 1_000 });
  const narrowAnswers = await callAtOnce(10, { nodes: [service], keys: [narrow.api_key] });
  const wideAnswers = await callAtOnce(10, { nodes: [service], keys: [wide.api_key] });
  assert.deepEqual(countStatuses(narrowAnswers), { 200: 2, 429: 8 });
  assert.deepEqual(countStatuses(wideAnswers), { 200: 4, 429: 6 });
  assert.equal(meterHeaders(narrowAnswers[0]!).limit, 2);
  assert.equal(meterHeaders(wideAnswers[0]!).limit, 4);
});

test("a 401 is not metered, and an unknown route of the API is", async (t) => {
  const service = await startService(t);
  const { api_key, call } = await liveKey(service, 100);
  await call();
  const wrong = `${api_key.slice(0, -1)}${api_key.endsWith("0") ? "1" : "0"}`;
  const turned = api_key.replace("service_live_", "service_test_");
  for (const key of [undefined, "", wrong, turned, "service_live_"]) {
    const answer = await service.send("GET", "/v1/whoami", { key });
    assert.equal(answer.status, 401);
    for (const name of headerNames) assert.equal(answer.headers.has(name), false);
  }
  for (const path of ["/v1/nothing", "/v2/whoami", "/v1/whoami/"]) {
    const answer = await service.send("GET", path, { key: api_key });
    assert.equal(answer.status, 404);
    for (const name of headerNames) assert.ok(answer.headers.has(name), name);
  }
  const usage = await call("/v1/usage");
  assert.equal(usage.body.quota_used, 5);
  assert.equal(usage.body.remaining, 95);
});

test("usage equals the headers of its own answer, with a history that sums to it", async (t) => {
  const service = await startService(t);
  const root = await liveKey(service, 100, 1_000);
  const child = await mintChild(service, root.api_key);
  for (let call = 0; call < 3; call++) await root.call();
  service.clock.advance({ days: 1 });
  for (let call = 0; call < 2; call++) {
    await service.send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });
  }
  const usage = await root.call("/v1/usage");
  const { plan, limit, remaining, reset, quota, quota_used } = usage.body;
  assert.deepEqual({ plan, limit, remaining, reset, quota, quota_used }, meterHeaders(usage));
  assert.equal(usage.body.window_s, 60);
  assert.equal(usage.body.quota_resets_at, "2026-12-01T00:00:00.000+05:30");
  assert.deepEqual(usage.body.by_day, [
    { day: "2026-11-15", calls: 4 },
    { day: "2026-11-16", calls: 3 },
  ]);
  assert.deepEqual(usage.body.by_route, [
    { route: "GET /v1/usage", calls: 1 },
    { route: "GET /v1/whoami", calls: 5 },
    { route: "POST /v1/keys", calls: 1 },
  ]);
  assert.deepEqual(
    new Map(
      usage.body.by_key.map((row: { key_id: string; calls: number }) => [row.key_id, row.calls]),
    ),
    new Map([
      [root.key_id, 5],
      [child.key_id, 2],
    ]),
  );
  assert.equal(usage.body.quota_used, 5, "its own calls");
  assertAgreement(usage, 7);
});

test("a child sees its own history only", async (t) => {
  const service = await startService(t);
  const root = await liveKey(service, 100, 1_000);
  const child = await mintChild(service, root.api_key);
  const sibling = await mintChild(service, root.api_key);
  await service.send("GET", "/v1/whoami", { key: sibling.api_key, expect: 200 });
  await service.send("GET", "/v1/whoami", { key: child.api_key, expect: 200 });
  const usage = await service.send("GET", "/v1/usage", { key: child.api_key, expect: 200 });
  assert.deepEqual(usage.body.by_key, [{ key_id: child.key_id, calls: 2 }]);
  assert.equal(usage.body.quota_used, 2);
  assertAgreement(usage, 2);

  const stranger = await liveKey(service, 100);
  assert.deepEqual((await stranger.call("/v1/usage")).body.by_key, [
    { key_id: stranger.key_id, calls: 1 },
  ]);
});

test("a second root key of a desk has a history and a quota of its own", async (t) => {
  const service = await startService(t);
  const plan = await service.plan(100, 3);
  const issue = () => service.issue({ environment: "live", plan, firmName: "One Desk" });
  const first = await issue();
  const second = await issue();
  assert.equal(first.firm_id, second.firm_id);
  const answers = await callAtOnce(5, { nodes: [service], keys: [first.api_key] });
  assert.deepEqual(countStatuses(answers), { 200: 3, 429: 2 });
  const usage = await service.send("GET", "/v1/usage", { key: second.api_key, expect: 200 });
  assert.deepEqual(usage.body.by_key, [{ key_id: second.key_id, calls: 1 }]);
  assert.equal(usage.body.quota_used, 1);
});

test("months are IST months: they turn at 18:30 UTC, and the past stays readable", async (t) => {
  const service = await startService(t);
  const { call } = await liveKey(service, 100, 3);
  service.clock.set(new Date("2026-11-30T18:29:59.999Z"));
  const statuses = [];
  for (let asked = 0; asked < 4; asked++) statuses.push((await call()).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);

  service.clock.advance({ ms: 1 });
  const usage = await call("/v1/usage");
  assert.equal(usage.status, 200);
  assert.equal(usage.body.quota_used, 1);
  assert.equal(usage.body.remaining, 96, "the window of 60 seconds does not turn with the month");
  assert.equal(usage.body.quota_resets_at, "2027-01-01T00:00:00.000+05:30");
  assert.deepEqual(usage.body.by_day, [{ day: "2026-12-01", calls: 1 }]);

  const past = await call("/v1/usage?month=2026-11");
  assert.deepEqual(past.body.by_day, [{ day: "2026-11-30", calls: 3 }]);
  assert.equal(past.body.quota_used, 2, "the numbers of the headers are always today's");
  const empty = await call("/v1/usage?month=2024-02");
  assert.deepEqual([empty.body.by_day, empty.body.by_route, empty.body.by_key], [[], [], []]);
  assert.equal((await call()).status, 429, "the month's quota is exact again");
});

test("an invalid month is 422 in the transport form", async (t) => {
  const service = await startService(t);
  const { call } = await liveKey(service, 100);
  for (const month of ["2026-13", "2026-00", "2026-1", "202611", "x", ""]) {
    const answer = await call(`/v1/usage?month=${month}`);
    assert.equal(answer.status, 422, month);
    assert.equal(readSlug(answer), "validation_error");
  }
});

test("the monthly count survives a restart, and the minute window starts empty", async (t) => {
  const service = await startService(t);
  const { call, api_key } = await liveKey(service, 3, 5);
  for (let asked = 0; asked < 3; asked++) assert.equal((await call()).status, 200);
  assert.equal((await call()).status, 429);
  const restarted = await startService(t, { beside: service });
  const statuses = [];
  for (let asked = 0; asked < 3; asked++) {
    statuses.push((await restarted.send("GET", "/v1/whoami", { key: api_key })).status);
  }
  assert.deepEqual(statuses, [200, 200, 429]);
});

test("each key has its own quota, apart from its parent's and siblings'", async (t) => {
  const service = await startService(t);
  const root = await liveKey(service, 1_000, 12);
  const open = await mintChild(service, root.api_key);
  const tight = await mintChild(service, root.api_key, { monthly_quota: 3 });
  const tightAnswers = await callAtOnce(10, { nodes: [service], keys: [tight.api_key] });
  assert.deepEqual(countStatuses(tightAnswers), { 200: 3, 429: 7 });
  assert.equal(meterHeaders(tightAnswers[0]!).quota, 3);
  const rootAnswers = await callAtOnce(20, { nodes: [service], keys: [root.api_key] });
  assert.deepEqual(countStatuses(rootAnswers), { 200: 10, 429: 10 }, "12 less two that minted");
  const openAnswers = await callAtOnce(20, { nodes: [service], keys: [open.api_key] });
  assert.deepEqual(countStatuses(openAnswers), { 200: 12, 429: 8 });
  for (const answer of [...tightAnswers, ...rootAnswers, ...openAnswers]) {
    const { quota, quota_used } = meterHeaders(answer);
    if (answer.status === 429) assert.equal(quota_used, quota, "a refusal is what its headers say");
  }
});

test("a desk gets one event a month when a key has used 80 % and 100 % of its quota", async (t) => {
  const service = await startService(t);
  const desk = { environment: "live", firmName: "Told Desk" } as const;
  const root = await service.issue({ ...desk, plan: await service.plan(1_000, 10) });
  const reader = await service.issue(desk);
  const call = async (times: number) => {
    for (let asked = 0; asked < times; asked++) {
      await service.send("GET", "/v1/whoami", { key: root.api_key });
    }
  };
  const told = async () => {
    await service.work();
    const path = "/v1/events?after_sequence=0";
    const { events } = (await service.send("GET", path, { key: reader.api_key, expect: 200 })).body;
    return events
      .filter(({ event }: { event: string }) => event === "usage.threshold")
      .map(({ data }: Answer["body"]) => [
        data.key_id,
        data.month,
        data.threshold_percent,
        data.quota,
        data.quota_used,
      ]);
  };
  await call(7);
  assert.deepEqual(await told(), []);
  await call(1);
  const eighty = [root.key_id, "2026-11", 80, 10, 8];
  assert.deepEqual(await told(), [eighty]);
  await call(4);
  const hundred = [root.key_id, "2026-11", 100, 10, 10];
  assert.deepEqual(await told(), [eighty, hundred]);
  service.clock.advance({ days: 31 });
  await call(10);
  const december = [80, 100].map((percent) => [root.key_id, "2026-12", percent, 10, 10]);
  assert.deepEqual(await told(), [eighty, hundred, ...december]);
});

test("a changed plan applies to the next call", async (t) => {
  const service = await startService(t);
  const { call, plan } = await liveKey(service, 2, 100);
  assert.deepEqual(
    [(await call()).status, (await call()).status, (await call()).status],
    [200, 200, 429],
  );
  await setPlan(service.ctx, { name: plan, perMinute: 3, monthlyQuota: 100 });
  const admitted = await call();
  assert.equal(admitted.status, 200);
  assert.deepEqual([meterHeaders(admitted).limit, meterHeaders(admitted).remaining], [3, 0]);
  await setPlan(service.ctx, { name: plan, perMinute: 100, monthlyQuota: 3 });
  const refused = await call();
  assert.equal(refused.status, 429);
  assert.deepEqual([meterHeaders(refused).quota, meterHeaders(refused).quota_used], [3, 3]);
});

const limit = 40;

test("of ten times the limit, sent concurrently, exactly the limit passes", async (t) => {
  const service = await startService(t);
  const { api_key, call } = await liveKey(service, limit);
  for (let minute = 0; minute < 2; minute++) {
    const answers = await callAtOnce(10 * limit, { nodes: [service], keys: [api_key] });
    assert.deepEqual(countStatuses(answers), { 200: limit, 429: 9 * limit });
    const remaining = answers.map((answer) => meterHeaders(answer).remaining!);
    const seen = answers.flatMap(({ status }, index) => (status === 200 ? [remaining[index]] : []));
    const counted = Array.from({ length: limit }, (_, call) => call);
    assert.deepEqual(
      seen.toSorted((a, b) => a! - b!),
      counted,
      "each call saw its own place",
    );
    service.clock.advance({ seconds: 60 });
  }
  const usage = await call("/v1/usage");
  assertAgreement(usage, 2 * limit + 1);
});

for (const nodeCount of [1, 2]) {
  test(`of ten times the monthly quota, sent concurrently to ${nodeCount} nodes, exactly the quota passes`, async (t) => {
    const service = await startService(t);
    const nodes = [service];
    if (nodeCount === 2) nodes.push(await startService(t, { beside: service }));
    const { api_key } = await liveKey(service, 1_000_000, limit);
    for (let month = 0; month < 2; month++) {
      const answers = await callAtOnce(10 * limit, { nodes, keys: [api_key] });
      assert.deepEqual(countStatuses(answers), { 200: limit, 429: 9 * limit });
      const used = answers.flatMap((answer) =>
        answer.status === 200 ? [meterHeaders(answer).quota_used!] : [],
      );
      const counted = Array.from({ length: limit }, (_, call) => call + 1);
      assert.deepEqual(
        used.toSorted((a, b) => a - b),
        counted,
        "each call saw its own place",
      );
      service.clock.advance({ days: 31 });
    }
  });
}

test("a parent and its children call concurrently on two nodes, and each quota is exact", async (t) => {
  const service = await startService(t);
  const nodes = [service, await startService(t, { beside: service })];
  const root = await liveKey(service, 1_000_000, 60);
  const open = await mintChild(service, root.api_key);
  const tight = await mintChild(service, root.api_key, { monthly_quota: 7 });
  const keys = [root.api_key, open.api_key, tight.api_key];
  const answers = await callAtOnce(600, { nodes, keys });
  assert.equal(countStatuses(answers)[200], 58 + 60 + 7, "the root minted with two of its calls");
  await setPlan(service.ctx, { name: root.plan, perMinute: 1_000_000, monthlyQuota: 61 });
  const usage = await root.call("/v1/usage");
  assert.equal(usage.body.quota_used, 61);
  assertAgreement(usage, 61 + 60 + 7);
});

test("a call is counted once when another of its set cannot be counted", async (t) => {
  const service = await startService(t);
  const { ctx, clock } = service;
  const allowance = {
    plan: "growth",
    enforced: true,
    perMinute: 10,
    quota: 10,
  };
  const meterCalls = openMeter(ctx, openLocalRateWindow(clock.elapsedMs));
  const callBy = ({ key_id, firm_id }: IssuedKey) => {
    const caller = {
      keyId: key_id,
      rootKeyId: key_id,
      kind: "root",
      environment: "sandbox",
      firmId: firm_id,
      deskId: firm_id,
      scopes: ["*"],
      buySide: false,
      withdrawals: true,
      confined: false,
    } as const;
    return { caller, allowance, route: "GET /v1/whoami" };
  };
  const quotaUsed = async (...keys: IssuedKey[]) => {
    const outcomes = await meterCalls(keys.map(callBy));
    return outcomes.map((outcome) => (outcome instanceof Error ? "failed" : outcome.quotaUsed));
  };
  const known = await service.issue();
  const newcomer = await service.issue();
  assert.deepEqual(await quotaUsed(known), [1]);

  // Somebody else makes the newcomer's counter and is not done before our patience ends.
  const rival = await ctx.db.pool.connect();
  await rival.query("begin");
  const month = istMonth(ctx.now());
  await rival.query("insert into usage_months values ($1, $2, 0)", [newcomer.key_id, month]);
  const meanwhile = await quotaUsed(known, newcomer);
  await rival.query("rollback");
  rival.release();

  assert.deepEqual(meanwhile, [2, "failed"]);
  assert.deepEqual(await quotaUsed(known, newcomer), [3, 1]);
});

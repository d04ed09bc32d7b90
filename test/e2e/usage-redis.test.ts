// Rate windows in Redis, over two nodes: exact while Redis answers, per process while it does not.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

import type { RedisClientType } from "@redis/client";
import fc from "fast-check";
import { pino } from "pino";

import { issueKey } from "../../src/access/issue-keys.ts";
import { connectRedis } from "../../src/platform/redis.ts";
import { Unusable } from "../../src/platform/http/errors.ts";
import {
  type RateRequest,
  openLocalRateWindow,
  type RateWindow,
  openSharedRateWindow,
} from "../../src/access/rate-window.ts";
import { SlidingWindow, windowMs } from "../../src/access/usage-rules.ts";
import { setPlan } from "../../src/access/plans.ts";
import { databaseUrl, testDatabase } from "../support/database.ts";
import { serve } from "../support/process.ts";
import { redisMissing, type RedisServer, startRedis } from "../support/redis.ts";
import { type Service, startService } from "../support/service.ts";
import { callAtOnce, countStatuses, meterHeaders } from "../support/usage.ts";

const skip = (await redisMissing()) ?? false;
const limit = 40;
const silent = pino({ level: "silent" });

function shared(client: RedisClientType): RateWindow {
  const fallback = openLocalRateWindow(() => performance.now());
  return openSharedRateWindow(client, { fallback, log: silent });
}

/** Two nodes on one database, each with a connection of its own to one Redis. */
async function startNodes(
  t: Parameters<typeof startService>[0],
  redis: RedisServer,
  openWindow: (client: RedisClientType) => RateWindow = shared,
): Promise<[Service, Service]> {
  const first = await startService(t, { rateWindow: openWindow(await redis.connect()) });
  const rateWindow = openWindow(await redis.connect());
  return [first, await startService(t, { beside: first, rateWindow })];
}

async function liveKey(service: Service, perMinute = limit, monthlyQuota?: number) {
  const plan = await service.plan(perMinute, monthlyQuota);
  return (await service.issue({ environment: "live", plan })).api_key;
}

/** What everybody writes first: asks how many there are and then adds one, in two commands. */
function countThenInsert(client: RedisClientType): RateWindow {
  async function takeOne({ keyId, limit }: RateRequest) {
    const atMs = Date.now();
    await client.zRemRangeByScore(keyId, 0, atMs - windowMs);
    const used = await client.zCard(keyId);
    const admitted = used < limit;
    if (admitted) await client.zAdd(keyId, { score: atMs, value: `${atMs} ${Math.random()}` });
    return { admitted, atMs, used: admitted ? used + 1 : used, clearsInMs: windowMs };
  }
  return {
    take: (asks) => Promise.all(asks.map(takeOne)),
    giveBack: async (_ask, taken) => taken,
  };
}

const rounds = 3;

/** Ten times the limit at once, a few times over: the answers that let a caller in. */
async function rush(nodes: readonly [Service, Service]) {
  const admitted = [];
  for (let round = 0; round < rounds; round++) {
    const keys = [await liveKey(nodes[0])];
    const answers = await callAtOnce(10 * limit, { nodes, keys });
    admitted.push(answers.filter(({ status }) => status === 200));
  }
  return admitted;
}

test(
  "of ten times the limit, sent concurrently to two nodes, exactly the limit passes",
  { skip },
  async (t) => {
    const redis = await startRedis(t);
    for (const admitted of await rush(await startNodes(t, redis))) {
      assert.equal(admitted.length, limit);
      const remaining = admitted.map((answer) => meterHeaders(answer).remaining!);
      const places = Array.from({ length: limit }, (_, place) => place);
      assert.deepEqual(
        remaining.toSorted((a, b) => a - b),
        places,
        "each call saw its own place",
      );
    }
  },
);

test(
  "control: the same load gets more than the limit through a window that counts and then inserts",
  { skip },
  async (t) => {
    const redis = await startRedis(t);
    const admitted = await rush(await startNodes(t, redis, countThenInsert));
    const counts = admitted.map(({ length }) => length);
    t.diagnostic(`count-then-insert let in ${counts.join(", ")} at a limit of ${limit}`);
    assert.ok(Math.max(...counts) > limit);
  },
);

test("a call over the monthly quota leaves no trace in the shared window", { skip }, async (t) => {
  const redis = await startRedis(t);
  const nodes = await startNodes(t, redis);
  const key = await liveKey(nodes[0], 1_000, limit);
  const answers = await callAtOnce(10 * limit, { nodes, keys: [key] });
  assert.deepEqual(countStatuses(answers), { 200: limit, 429: 9 * limit });
  const refused = await nodes[1].send("GET", "/v1/whoami", { key, expect: 429 });
  assert.equal(meterHeaders(refused).remaining, 1_000 - limit);
});

// Redis's clock cannot be turned, so the past is made: the list of a key is what its calls left
// behind. From there the shared window and the one of a process must go on alike.
test(
  "the shared window answers as the local one, for random histories and bursts",
  { skip },
  async (t) => {
    const redis = await startRedis(t);
    const client = await redis.connect();
    const window = shared(client);
    const ages = fc.oneof(
      fc.integer({ min: 0, max: windowMs - 5_000 }),
      fc.integer({ min: windowMs + 1, max: 3 * windowMs }),
    );
    const patterns = fc.record({
      ages: fc.array(ages, { maxLength: 300 }),
      limits: fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(Infinity)), {
        minLength: 1,
        maxLength: 20,
      }),
      givesBack: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
    });
    let key = 0;
    await fc.assert(
      fc.asyncProperty(patterns, async ({ ages, limits, givesBack }) => {
        const keyId = `key_${++key}`;
        const name = `{scripdesk}:window:${keyId}`;
        const [seconds, micros] = await client.time();
        const startMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
        const past = ages.toSorted((a, b) => b - a).map((age) => startMs - age);
        const model = new SlidingWindow();
        for (const time of past) model.take(time, Infinity);
        if (past.length > 0) await client.rPush(name, past.map(String));

        const states = await window.take(limits.map((limit) => ({ keyId, limit })));
        for (const [index, state] of states.entries()) {
          assert.ok(state.atMs >= startMs);
          assert.deepEqual(state, model.take(state.atMs, limits[index]!));
        }
        for (const [index, state] of states.entries()) {
          if (!state.admitted || !givesBack[index]) continue;
          const after = await window.giveBack({ keyId, limit: limits[index]! }, state);
          assert.deepEqual(after, model.giveBack(after.atMs, state.atMs));
        }
        const kept = await client.pTTL(name);
        if (states.some(({ admitted }) => admitted))
          assert.ok(kept !== -1, "nothing is kept for ever");
      }),
      { numRuns: 300 },
    );
  },
);

/** Blocks this process: no timer runs and no answer is read. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

for (const when of ["before it sends", "before it reads the answer"]) {
  test(
    `a process that is blocked ${when} still counts in the shared window`,
    { skip },
    async (t) => {
      const redis = await startRedis(t);
      const neverAsked = () => assert.fail("counted by itself");
      const fallback: RateWindow = { take: neverAsked, giveBack: neverAsked };
      const window = openSharedRateWindow(await redis.connect(), { fallback, log: silent });
      const ask = { keyId: "key_blocked", limit };

      const takes = window.take([ask]);
      if (when === "before it reads the answer") await setImmediate();
      block(1_200);
      assert.equal((await takes)[0]!.used, 1);
      assert.equal((await window.take([ask]))[0]!.used, 2);
    },
  );
}

const patience = 100;

/** Asks until the answer is right; how long the connection takes to come back is not the point. */
async function eventually(isSo: () => Promise<boolean>, what: string): Promise<void> {
  for (let attempt = 0; attempt < patience; attempt++) {
    if (await isSo()) return;
    await sleep(100);
  }
  assert.fail(`never happened: ${what}`);
}

async function isShared(nodes: readonly [Service, Service]): Promise<boolean> {
  const key = await liveKey(nodes[0], 2);
  const call = async (node: Service) => (await node.send("GET", "/v1/whoami", { key })).status;
  const statuses = [
    await call(nodes[0]),
    await call(nodes[1]),
    await call(nodes[0]),
    await call(nodes[1]),
  ];
  assert.deepEqual(statuses.slice(0, 2), [200, 200], "callers are always served");
  return statuses[2] === 429 && statuses[3] === 429;
}

const outages = [
  {
    name: "is killed",
    begin: async (redis: RedisServer) => await redis.kill(),
    end: async (redis: RedisServer) => await redis.start(),
  },
  {
    name: "hangs",
    begin: async (redis: RedisServer) => redis.pause(),
    end: async (redis: RedisServer) => redis.resume(),
  },
];

for (const { name, begin, end } of outages) {
  test(
    `when Redis ${name}, callers are served under limits per process, and it is shared again when Redis is back`,
    { skip },
    async (t) => {
      const redis = await startRedis(t);
      const nodes = await startNodes(t, redis);
      assert.equal(await isShared(nodes), true);

      const key = await liveKey(nodes[0]);
      const underWay = callAtOnce(2 * limit, { nodes, keys: [key] });
      await begin(redis);
      const statuses = countStatuses(await underWay);
      assert.equal((statuses[200] ?? 0) + (statuses[429] ?? 0), 2 * limit, "nobody gets a fault");

      assert.equal(await isShared(nodes), false);
      const alone = await callAtOnce(10 * limit, { nodes, keys: [await liveKey(nodes[0])] });
      assert.deepEqual(countStatuses(alone), { 200: 2 * limit, 429: 8 * limit });

      await end(redis);
      await eventually(() => isShared(nodes), "the windows are shared again");
      const together = await callAtOnce(10 * limit, { nodes, keys: [await liveKey(nodes[0])] });
      assert.deepEqual(countStatuses(together), { 200: limit, 429: 9 * limit });
    },
  );
}

test("an unreachable Redis is reported at the start", { skip }, async (t) => {
  const redis = await startRedis(t);
  await redis.kill();
  await assert.rejects(connectRedis(redis.url), Unusable);
});

const processes = [
  { name: "with one REDIS_URL let exactly the limit through together", share: true },
  { name: "without one let it through each, which is what Redis is for", share: false },
];

for (const { name, share } of processes) {
  test(`two processes ${name}`, { skip }, async (t) => {
    const redis = await startRedis(t);
    const { db, connection } = await testDatabase(t);
    const settings = {
      DATABASE_URL: databaseUrl(connection),
      MASTER_KEY: randomBytes(32).toString("hex"),
      ...(share && { REDIS_URL: redis.url }),
    };
    const nodes = await Promise.all([serve(t, settings), serve(t, settings)]);
    const ctx = { db, now: () => new Date() };
    await setPlan(ctx, { name: "tight", perMinute: limit, monthlyQuota: 1_000_000 });
    for (const firmName of ["First Firm", "Second Firm", "Third Firm"]) {
      const { api_key } = await issueKey(ctx, {
        firmName,
        environment: "live",
        scopes: ["*"],
        plan: "tight",
        buySide: false,
        name: "test",
      });
      const answers = await callAtOnce(10 * limit, { nodes, keys: [api_key] });
      const admitted = share ? limit : 2 * limit;
      assert.deepEqual(countStatuses(answers), { 200: admitted, 429: 10 * limit - admitted });
    }
  });
}

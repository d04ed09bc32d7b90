// What is kept by the month: partitions are made ahead, and dropped by an operator and nobody else.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import { type Db, sql } from "../../src/platform/postgres/postgres.ts";
import { dropMonths, listMonths, makePartitions } from "../../src/retention/partitions.ts";
import { type MonthlyTable, monthlyTables } from "../../src/retention/rules.ts";
import { settleAttempts } from "../../src/webhooks/attempt-store.ts";
import { claimDeliveries, setDead } from "../../src/webhooks/delivery-store.ts";
import { createFanOut } from "../../src/webhooks/fan-out.ts";
import { createSender } from "../../src/webhooks/send-deliveries.ts";
import { toRoom } from "../../src/webhooks/share-rules.ts";
import { askJournal } from "../support/journal.ts";
import { mintChild } from "../support/keys.ts";
import { dealer } from "../support/orders.ts";
import { hold, someoneWaits } from "../support/poison.ts";
import { registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

function findMonthly(table: string): MonthlyTable {
  return monthlyTables.find(({ name }) => name === table)!;
}
const delivered = findMonthly("delivered_blocks");

async function countIn({ ctx }: Service, table: string, month: string): Promise<number> {
  const { rows } = await ctx.db.pool.query(
    `select count(*)::int as n from ${table} where tableoid = $1::regclass`,
    [`${table}_${month}`],
  );
  return rows[0].n;
}

async function listPartitions({ ctx }: Service, table: string): Promise<string[]> {
  const months = await listMonths(ctx);
  return months.filter((one) => one.table === table).map(({ partition }) => partition);
}

/** However busy the machine is, no answer is slow. */
async function deliver({ ctx }: Service): Promise<void> {
  const scheduleS = [0];
  while ((await createFanOut(ctx, { scheduleS })()) === "more");
  const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"] });
  const sender = createSender(ctx, { outbound, scheduleS, blockMs: 60_000 });
  while ((await sender.work()) === "more");
  await sender.settled();
  await outbound.close();
}

/** A service in January with a webhook that is told of new keys. */
async function startInJanuary(t: TestContext) {
  const service = await startService(t);
  service.clock.set(new Date("2026-01-10T06:00:00Z"));
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const { webhook_id } = await registerWebhook(service, key, receiver.url, "key.created");
  return { service, key, receiver, webhook_id };
}

/** A service with one delivery in each of some months, its clock in the last of them. */
async function deliverFor(t: TestContext, months: number) {
  const { service, key, webhook_id } = await startInJanuary(t);
  for (let month = 0; month < months; month++) {
    await makePartitions(service.ctx);
    await mintChild(service, key);
    await deliver(service);
    if (month < months - 1) service.clock.advance({ days: 30 });
  }
  const list = async () => {
    const path = `/v1/webhooks/${webhook_id}/deliveries?limit=100`;
    return (await service.send("GET", path, { key, expect: 200 })).body;
  };
  return { service, list };
}

test("partitions are made for this month and the next two, by one of several processes", async (t) => {
  const service = await startService(t);
  service.clock.set(new Date("2026-11-16T00:00:00Z"));
  await Promise.all([1, 2, 3].map(() => makePartitions(service.ctx)));
  for (const { name: table } of monthlyTables) {
    assert.deepEqual(
      await listPartitions(service, table),
      ["2026_11", "2026_12", "2027_01", "rest"].map((name) => `${table}_${name}`),
    );
  }
});

test("what came before its month had a partition is moved into it, and read as before", async (t) => {
  const service = await startService(t);
  service.clock.set(new Date("2026-11-16T00:00:00Z"));
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const { webhook_id } = await registerWebhook(service, key, receiver.url, "key.created");
  await mintChild(service, key);
  await deliver(service);
  assert.equal(await countIn(service, "delivered_blocks", "rest"), 1);
  const path = `/v1/webhooks/${webhook_id}/deliveries`;
  const before = (await service.send("GET", path, { key, expect: 200 })).body;
  await makePartitions(service.ctx);
  assert.equal(await countIn(service, "delivered_blocks", "rest"), 0);
  assert.equal(await countIn(service, "delivered_blocks", "2026_11"), 1);
  assert.deepEqual((await service.send("GET", path, { key, expect: 200 })).body, before);
});

/** A service with a statement that counts a call this month. */
async function countCalls(t: TestContext) {
  const service = await startService(t);
  service.clock.set(new Date("2026-11-16T00:00:00Z"));
  const { key_id } = await service.issue();
  const count = (db: Db, route: string) =>
    db.rows(sql`
      insert into usage_days (key_id, day, route, calls)
      values (${key_id}, '2026-11-16', ${route}, 1)`);
  const made = async () => [
    await countIn(service, "usage_days", "rest"),
    await countIn(service, "usage_days", "2026_11"),
  ];
  return { service, db: service.ctx.db, count, made };
}

test("what was being written to the rest when its month is made is moved into it too", async (t) => {
  const { service, db, count, made } = await countCalls(t);
  const [writing, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const written = db.transaction(async (tx) => {
    await count(tx, "GET /v1/whoami");
    writing.resolve();
    await waiting.promise;
  });
  await writing.promise;
  const making = makePartitions(service.ctx);
  await someoneWaits(service);
  waiting.resolve();
  await Promise.all([written, making]);
  assert.deepEqual(await made(), [0, 1]);
});

test("what is written while its month is made goes into it", async (t) => {
  const { service, db, count, made } = await countCalls(t);
  // Attaching the month needs this lock for the foreign key.
  const held = await hold(service, "lock table api_keys in row exclusive mode");
  const making = makePartitions(service.ctx);
  await someoneWaits(service);
  const writing = count(db, "GET /v1/whoami");
  await someoneWaits(service, 2);
  await held.letGo();
  await Promise.all([writing, making]);
  assert.deepEqual(await made(), [0, 1]);
});

test("months are dropped before one, with a record, and the months that must be kept are not", async (t) => {
  const { service, list } = await deliverFor(t, 8);
  const { ctx } = service;
  assert.equal((await list()).total, 8);
  const drop = (before: string, dryRun = false) =>
    dropMonths(ctx, { table: delivered, before, dryRun }, operator);
  await assert.rejects(drop("2026-06"), Failure);
  const would = await drop("2026-04", true);
  assert.deepEqual(
    would.map(({ partition, rows }) => [partition, rows]),
    [
      ["delivered_blocks_2026_01", 1],
      ["delivered_blocks_2026_02", 1],
      ["delivered_blocks_2026_03", 1],
    ],
  );
  assert.equal((await list()).total, 8, "a dry run drops nothing");
  const told: string[] = [];
  await dropMonths(ctx, { table: delivered, before: "2026-04", dryRun: false }, operator, (one) =>
    told.push(one.partition),
  );
  assert.deepEqual(
    told,
    would.map(({ partition }) => partition),
  );
  const page = await list();
  assert.deepEqual([page.total, page.deliveries.length], [5, 5]);
  assert.deepEqual(await drop("2026-04"), [], "what is gone is gone");
  const { rows } = await askJournal(
    ctx.db.pool,
    "select entity_id from audit_records where action = 'retention.drop' and entity_id like 'delivered_%' order by seq",
  );
  assert.deepEqual(
    rows.map(({ entity_id }) => entity_id),
    told,
  );
});

/** Dead letters, one in each of some months, so that all have the same place in theirs. */
async function refuseFor(t: TestContext, months: number) {
  const { service, key, receiver, webhook_id } = await startInJanuary(t);
  for (let month = 0; month < months; month++) {
    if (month > 0) service.clock.advance({ days: 30 });
    await makePartitions(service.ctx);
    // A receiver that only fails would be disabled in the end.
    for (const status of [404, 200]) {
      receiver.react((response) => response.writeHead(status).end());
      await mintChild(service, key);
      await service.work();
    }
  }
  const list = async (): Promise<Answer["body"][]> => {
    const path = `/v1/webhooks/${webhook_id}/deliveries?limit=100&status=dead`;
    return (await service.send("GET", path, { key, expect: 200 })).body.deliveries;
  };
  const replay = async (deliveryId: string) => {
    const body = { delivery_ids: [deliveryId] };
    await service.send("POST", "/v1/webhooks/replay", { key, body, expect: 200 });
  };
  return { service, receiver, list, replay };
}

test("deliveries of several months with the same place in each are changed one by one", async (t) => {
  const { service, list, replay } = await refuseFor(t, 4);
  const { db, now } = service.ctx;
  for (const { delivery_id } of await list()) await replay(delivery_id);
  const countStates = async () => {
    const { rows } = await db.pool.query(
      "select ctid::text as place, state, lease from deliveries order by state, lease",
    );
    return rows.map(({ place, state, lease }) => [place, state, lease].join(" "));
  };
  assert.deepEqual(
    await countStates(),
    Array.from({ length: 4 }, () => "(0,2) pending 1"),
    "all have the same place",
  );
  const { rows: webhooks } = await db.pool.query("select webhook_id from webhooks");
  const { webhook_id } = webhooks[0];
  const leaseEndsAt = new Date(now().getTime() + 20_000);
  const claim = async (most: number) =>
    await db.transaction(
      async (tx) =>
        await claimDeliveries(tx, [{ webhook_id, most: toRoom(most) }], {
          now: now(),
          leaseEndsAt,
        }),
    );
  service.clock.advance({ seconds: 10 });
  const [claimed] = await claim(1);
  assert.ok(claimed);
  assert.deepEqual(await countStates(), [
    "(0,2) pending 1",
    "(0,2) pending 1",
    "(0,2) pending 1",
    "(0,3) pending 2",
  ]);
  await claim(3);
  const attempt = {
    delivery_id: claimed.delivery_id,
    lease: claimed.lease,
    at: now(),
    duration_ms: 1,
    outcome: "delivered" as const,
    status: 200,
    reason: null,
    answer: "",
    state: "delivered" as const,
    due_at: now(),
  };
  await settleAttempts(db, { made: [attempt], news: [], now: now() });
  await db.transaction(async (tx) => {
    await setDead(tx, { webhookIds: [webhook_id], reason: "disabled", fetch: 1, now: now() });
  });
  assert.deepEqual(await countStates(), [
    "(0,4) dead 2",
    "(0,4) delivered 2",
    "(0,3) pending 2",
    "(0,3) pending 2",
  ]);
});

test("a month with deliveries that are still to be sent is kept", async (t) => {
  const { service, list, replay } = await refuseFor(t, 6);
  const { ctx } = service;
  const january = (await list()).at(-1)!;
  await replay(january.delivery_id);
  const drop = async (table: string) =>
    (
      await dropMonths(
        ctx,
        { table: findMonthly(table), before: "2026-03", dryRun: false },
        operator,
      )
    ).map(({ partition, rows }) => [partition, rows]);
  await assert.rejects(drop("deliveries"), /deliveries_2026_01 holds 1 deliveries that are still/);
  assert.equal((await list()).length, 5, "nothing was dropped");
  await service.work();
  assert.deepEqual(await drop("deliveries"), [
    ["deliveries_2026_01", 1],
    ["deliveries_2026_02", 1],
  ]);
  assert.deepEqual(await drop("delivery_attempts"), [
    ["delivery_attempts_2026_01", 1],
    ["delivery_attempts_2026_02", 1],
  ]);
  assert.deepEqual(
    (await list()).map(({ attempt_log }) => attempt_log.length),
    [1, 1, 1, 1],
  );
});

test("quotes and calls of a month are dropped after a year, and orders on them stay", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  service.clock.set(new Date("2026-01-31T18:20:00Z")); // Ten minutes before February in India.
  await makePartitions(ctx);
  const { post, scripNo, key } = await dealer(service);
  const quote = (await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200)).body;
  const order = (await post("/v1/orders", { quote_ref: quote.quote_ref }, 201)).body;
  service.clock.advance({ seconds: 900 });
  const later = (
    await post("/v1/quote", { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 }, 200)
  ).body;
  assert.equal(await countIn(service, "quotes", "2026_01"), 1);
  assert.equal(await countIn(service, "quotes", "2026_02"), 1);
  assert.equal(await countIn(service, "usage_days", "rest"), 0);
  const drop = async (table: string, before: string) =>
    (await dropMonths(ctx, { table: findMonthly(table), before, dryRun: false }, operator)).map(
      ({ partition }) => partition,
    );
  service.clock.set(new Date("2027-01-31T18:20:00Z"));
  await assert.rejects(drop("quotes", "2026-02"), Failure);
  service.clock.advance({ seconds: 900 });
  assert.deepEqual(await drop("quotes", "2026-02"), ["quotes_2026_01"]);
  assert.deepEqual(await drop("usage_days", "2026-02"), ["usage_days_2026_01"]);
  await service.send("GET", `/v1/quotes/${quote.quote_ref}`, { key, expect: 404 });
  await service.send("GET", `/v1/quotes/${later.quote_ref}`, { key, expect: 200 });
  const { body } = await service.send("GET", `/v1/orders/${order.order_id}`, { key, expect: 200 });
  assert.equal(body.quote_ref, quote.quote_ref);
  const { rows } = await ctx.db.pool.query(
    "select distinct to_char(day, 'YYYY-MM') as month from usage_days order by 1",
  );
  assert.deepEqual(
    rows.map(({ month }) => month),
    ["2026-02", "2027-02"],
  );
});

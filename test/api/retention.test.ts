// What is kept by the month: partitions are made ahead, and dropped by an operator and nobody else.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import { dropMonths, listMonths, makePartitions } from "../../src/retention/partitions.ts";
import { monthlyTables } from "../../src/retention/rules.ts";
import { createFanOut } from "../../src/webhooks/fan-out.ts";
import { createSender } from "../../src/webhooks/send-deliveries.ts";
import { askJournal } from "../support/journal.ts";
import { mintChild } from "../support/keys.ts";
import { registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Service, startService } from "../support/service.ts";

const delivered = monthlyTables.find(({ name }) => name === "delivered_blocks")!;

async function countIn({ ctx }: Service, partition: string): Promise<number> {
  const { rows } = await ctx.db.pool.query(
    "select count(*)::int as n from delivered_blocks where tableoid = $1::regclass",
    [partition],
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
  const sender = createSender(ctx, { outbound, scheduleS, slowMs: 60_000 });
  while ((await sender.work()) === "more");
  await sender.settled();
  await outbound.close();
}

/** A service with one delivery in each of some months, its clock in the last of them. */
async function deliverFor(t: TestContext, months: number) {
  const service = await startService(t);
  service.clock.set(new Date("2026-01-10T06:00:00Z"));
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const { webhook_id } = await registerWebhook(service, key, receiver.url, "key.created");
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
  assert.equal(await countIn(service, "delivered_blocks_rest"), 1);
  const path = `/v1/webhooks/${webhook_id}/deliveries`;
  const before = (await service.send("GET", path, { key, expect: 200 })).body;
  await makePartitions(service.ctx);
  assert.equal(await countIn(service, "delivered_blocks_rest"), 0);
  assert.equal(await countIn(service, "delivered_blocks_2026_11"), 1);
  assert.deepEqual((await service.send("GET", path, { key, expect: 200 })).body, before);
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
    "select entity_id from audit_records where action = 'retention.drop' order by seq",
  );
  assert.deepEqual(
    rows.map(({ entity_id }) => entity_id),
    told,
  );
});

// Deliveries are written by the block: what succeeds at once has no row of its own, and nobody who reads
// the log or the dead letters can tell.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { findAnything } from "../../src/overview/find-anything.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import { claimDue } from "../../src/webhooks/claim-deliveries.ts";
import { createFanOut } from "../../src/webhooks/fan-out.ts";
import { Receivers } from "../../src/webhooks/receivers.ts";
import { recordBlocks } from "../../src/webhooks/send-deliveries.ts";
import { createSender } from "../../src/webhooks/send-deliveries.ts";
import { mintChild } from "../support/keys.ts";
import { type Receiver, registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const scheduleS = [0, 5, 300];

type Desk = {
  readonly service: Service;
  readonly key: string;
  readonly receiver: Receiver;
  readonly webhookId: string;
};

/** A desk with events that its webhook wants, which are not fanned out yet. */
async function startDesk(t: TestContext, events: number): Promise<Desk> {
  const service = await startService(t, { scheduleS });
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const hook = await registerWebhook(service, key, receiver.url, "key.created");
  for (let n = 0; n < events; n++) await mintChild(service, key);
  return { service, key, receiver, webhookId: hook.webhook_id };
}

async function readLog({ service, key, webhookId }: Desk, query = ""): Promise<Answer["body"]> {
  const path = `/v1/webhooks/${webhookId}/deliveries${query}`;
  return (await service.send("GET", path, { key, expect: 200 })).body;
}

async function readPages(desk: Desk, query: string): Promise<Answer["body"][]> {
  const pages: Answer["body"][] = [];
  for (let cursor = ""; ;) {
    const page = await readLog(desk, `?${query}${cursor}`);
    pages.push(page);
    if (!page.has_more) return pages;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

async function count({ service }: Desk, table: string): Promise<number> {
  const { rows } = await service.ctx.db.pool.query(`select count(*)::int as n from ${table}`);
  return rows[0].n;
}

const pickSequences = (rows: Answer["body"][]) => rows.map(({ sequence }) => sequence as number);
const idsSeen = ({ received }: Receiver) =>
  received.map(({ headers }) => String(headers["x-service-delivery"]));

test("deliveries that are taken at once write a row a block and none of their own", async (t) => {
  const desk = await startDesk(t, 40);
  const { ctx } = desk.service;
  while ((await createFanOut(ctx, { scheduleS })()) === "more");
  const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"] });
  // However busy the machine is, no answer is slow.
  const sender = createSender(ctx, { outbound, scheduleS, blockMs: 60_000 });
  while ((await sender.work()) === "more");
  await sender.settled();
  await outbound.close();
  assert.equal(desk.receiver.received.length, 40);
  assert.equal(await count(desk, "deliveries"), 0);
  assert.equal(await count(desk, "delivery_attempts"), 0);
  assert.equal(await count(desk, "delivery_blocks"), 0);
  assert.equal(await count(desk, "delivered_blocks"), 3);
  const { deliveries } = await readLog(desk);
  assert.equal(deliveries.length, 40);
  assert.deepEqual(
    new Set(deliveries.map(({ delivery_id }: Answer["body"]) => delivery_id)),
    new Set(idsSeen(desk.receiver)),
  );
  for (const { attempt_log, ...delivery } of deliveries) {
    assert.equal(delivery.status, "delivered");
    assert.deepEqual(
      [delivery.attempts, delivery.last_status, delivery.version, delivery.next_attempt_at],
      [1, 200, 2, null],
    );
    assert.equal(delivery.event, "key.created");
    assert.equal(attempt_log.length, 1);
    const { outcome, status, answer } = attempt_log[0];
    assert.deepEqual([outcome, status, answer], ["delivered", 200, "ok"]);
  }
});

test("what fails leaves its block, and pages and filters of the log show all as one list", async (t) => {
  const desk = await startDesk(t, 50);
  let calls = 0;
  desk.receiver.react((response) => {
    calls += 1;
    const refusal = calls % 11 === 0 ? 404 : 200;
    response.writeHead(calls % 7 === 0 ? 500 : refusal).end();
  });
  await desk.service.work();
  for (let n = 0; n < 20; n++) await mintChild(desk.service, desk.key);
  await createFanOut(desk.service.ctx, { scheduleS })(); // These wait in blocks.

  const { deliveries: all } = await readLog(desk);
  assert.equal(all.length, 70);
  const sequences = pickSequences(all);
  assert.deepEqual(
    sequences,
    sequences.toSorted((a, b) => b - a),
  );
  const counts = new Map<string, number>();
  for (const { status } of all) counts.set(status, (counts.get(status) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(counts), { pending: 27, delivered: 39, dead: 4 });
  for (const limit of [1, 3, 16, 50]) {
    const pages = await readPages(desk, `limit=${limit}`);
    assert.deepEqual(
      pages.flatMap(({ deliveries }) => deliveries),
      all,
      `pages of ${limit}`,
    );
    assert.ok(pages.every(({ total }) => total === 70));
  }
  for (const [status, total] of counts) {
    const pages = await readPages(desk, `limit=4&status=${status}`);
    assert.equal(pages[0].total, total);
    assert.deepEqual(
      pages.flatMap(({ deliveries }) => deliveries),
      all.filter((delivery: Answer["body"]) => delivery.status === status),
      status,
    );
  }
});

test("an answer that takes long holds up neither its block nor its record", async (t) => {
  const desk = await startDesk(t, 10);
  let answerLate = () => {};
  let calls = 0;
  const arrived = new Promise<void>((resolve) => {
    desk.receiver.react((response) => {
      calls += 1;
      if (calls < 10) response.end();
      else {
        answerLate = () => response.end("late");
        resolve();
      }
    });
  });
  const working = desk.service.work();
  await arrived;
  const statuses = async () =>
    (await readLog(desk)).deliveries
      .map(({ status }: Answer["body"]) => status as string)
      .toSorted();
  const others = ["delivered", "pending"];
  for (let tries = 0; tries < 500; tries++) {
    if (new Set(await statuses()).size === others.length) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(await statuses(), [...Array.from({ length: 9 }, () => "delivered"), "pending"]);
  answerLate();
  await working;
  const { deliveries } = await readLog(desk);
  assert.ok(deliveries.every(({ status }: Answer["body"]) => status === "delivered"));
  assert.ok(deliveries.every(({ attempt_log }: Answer["body"]) => attempt_log.length === 1));
  assert.equal(desk.receiver.received.length, 10);
});

test("a block that was sent and not recorded is sent again with the same ids, and recorded once", async (t) => {
  const desk = await startDesk(t, 5);
  const { service, receiver, webhookId } = desk;
  const { ctx } = service;
  await createFanOut(ctx, { scheduleS })();
  const { blocks } = await claimDue(ctx, new Receivers());
  const [block] = blocks;
  assert.ok(block);
  // That process died behind its POSTs; what it would have recorded comes late, and twice.
  service.clock.advance({ seconds: 21 });
  await service.work();
  assert.deepEqual(
    new Set(idsSeen(receiver)),
    new Set(block.deliveries.map(({ delivery_id }) => delivery_id)),
  );
  const made = block.deliveries.map(({ delivery_id, lease }) => ({
    webhookId,
    state: "delivered" as const,
    dueAt: null,
    attempt: {
      delivery_id,
      lease,
      at: ctx.now(),
      duration_ms: 1,
      outcome: "delivered" as const,
      status: 202,
      reason: null,
      answer: "",
    },
  }));
  await recordBlocks(ctx, [{ block, made }]);
  await recordBlocks(ctx, [{ block, made }]);
  const { deliveries } = await readLog(desk);
  assert.equal(deliveries.length, 5);
  for (const { status, attempts, last_status, attempt_log } of deliveries) {
    assert.deepEqual([status, attempts, last_status], ["delivered", 1, 200]);
    assert.deepEqual(
      attempt_log.map((attempt: Answer["body"]) => attempt.status),
      [202, 200],
      "that it was sent twice is on record",
    );
  }
});

test("a recording that is repeated after an unknown end changes nothing", async (t) => {
  const desk = await startDesk(t, 4);
  const { ctx } = desk.service;
  await createFanOut(ctx, { scheduleS })();
  const { blocks } = await claimDue(ctx, new Receivers());
  const [block] = blocks;
  assert.ok(block);
  const made = block.deliveries.map(({ delivery_id, lease }, place) => ({
    webhookId: desk.webhookId,
    state: place === 0 ? ("dead" as const) : ("delivered" as const),
    dueAt: null,
    attempt: {
      delivery_id,
      lease,
      at: ctx.now(),
      duration_ms: 1,
      outcome: place === 0 ? ("permanent" as const) : ("delivered" as const),
      status: place === 0 ? 404 : 200,
      reason: place === 0 ? ("refused" as const) : null,
      answer: "",
    },
  }));
  const result = { block, made: [...made.slice(0, 3), undefined] };
  await recordBlocks(ctx, [result]);
  const before = await readLog(desk);
  assert.deepEqual(
    before.deliveries.map(({ status, attempts }: Answer["body"]) => [status, attempts]),
    [
      ["pending", 0],
      ["delivered", 1],
      ["delivered", 1],
      ["dead", 1],
    ],
  );
  await recordBlocks(ctx, [result]);
  assert.deepEqual(await readLog(desk), before);
});

test("processes that record a block at the same time give each delivery one row", async (t) => {
  const desk = await startDesk(t, 12);
  const { ctx } = desk.service;
  await createFanOut(ctx, { scheduleS })();
  const { blocks } = await claimDue(ctx, new Receivers());
  // Nothing is answered yet: every delivery leaves its block and is pending.
  const results = blocks.map((block) => ({ block, made: block.deliveries.map(() => undefined) }));
  await Promise.all(
    Array.from({ length: 8 }, async (_, process) => {
      desk.service.clock.advance({ ms: process });
      await recordBlocks(ctx, results);
    }),
  );
  assert.equal(await count(desk, "deliveries"), 12);
  assert.equal(await count(desk, "delivery_blocks"), 0);
  const { deliveries } = await readLog(desk);
  assert.equal(new Set(pickSequences(deliveries)).size, 12);
});

test("an operator finds a delivery by its id whether it was taken at once or not", async (t) => {
  const desk = await startDesk(t, 3);
  let calls = 0;
  desk.receiver.react((response) => response.writeHead(++calls === 1 ? 404 : 200).end());
  await desk.service.work();
  for (const id of idsSeen(desk.receiver)) {
    const found = await findAnything(desk.service.ctx, id);
    assert.deepEqual(
      found.map((row) => [row.kind, row.id]),
      [["delivery", id]],
    );
  }
  assert.deepEqual(await findAnything(desk.service.ctx, `dlv_${"0".repeat(26)}`), []);
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { claimDue } from "../../src/webhooks/claim-deliveries.ts";
import { recordBlocks } from "../../src/webhooks/send-deliveries.ts";
import { createSender } from "../../src/webhooks/send-deliveries.ts";
import { createFanOut } from "../../src/webhooks/fan-out.ts";
import { measureDeliveries } from "../../src/webhooks/read-deliveries.ts";
import { Receivers } from "../../src/webhooks/receivers.ts";
import { senderShares } from "../../src/webhooks/share-rules.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import { addClientFirm, mintChild } from "../support/keys.ts";
import { type Receiver, registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { asOwner } from "../support/database.ts";
import { askJournal } from "../support/journal.ts";

/** The workers between an event and its receiver. */
const sending = ["fan-out", "deliveries"];
const scheduleS = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

type Desk = {
  readonly service: Service;
  readonly key: string;
  readonly deskId: string;
  readonly receiver: Receiver;
  readonly webhookId: string;
};

async function startDesk(
  t: TestContext,
  options: Parameters<typeof startService>[1] = {},
): Promise<Desk> {
  const service = await startService(t, options);
  const { api_key: key, firm_id: deskId } = await service.issue();
  const receiver = await startReceiver(t);
  const { webhook_id: webhookId } = await registerWebhook(service, key, receiver.url);
  return { service, key, deskId, receiver, webhookId };
}

async function ping({ service, key, webhookId }: Desk): Promise<string> {
  const path = `/v1/webhooks/${webhookId}/test`;
  return (await service.send("POST", path, { key, expect: 200 })).body.delivery_id;
}

async function listDeliveries({ service, key, webhookId }: Desk): Promise<Answer["body"][]> {
  const path = `/v1/webhooks/${webhookId}/deliveries`;
  return (await service.send("GET", path, { key, expect: 200 })).body.deliveries;
}

async function listFailures({ service, key }: Desk, query = ""): Promise<Answer["body"]> {
  return (await service.send("GET", `/v1/webhooks/failures${query}`, { key, expect: 200 })).body;
}

async function replay({ service, key }: Desk, body: object = {}): Promise<Answer["body"]> {
  return (await service.send("POST", "/v1/webhooks/replay", { key, body, expect: 200 })).body;
}

function turnTo({ service }: Desk, instant: string): void {
  service.clock.set(new Date(instant));
}

test("a failing delivery is tried ten times by the schedule with the same id and bytes, then dead-lettered", async (t) => {
  const desk = await startDesk(t);
  const { service, receiver } = desk;
  receiver.react((response) => response.writeHead(500).end());
  const id = await ping(desk);
  for (const [at, delayS] of scheduleS.slice(1).entries()) {
    const before = service.clock.now().getTime();
    await service.workOn(sending);
    await service.workOn(sending);
    assert.equal(receiver.received.length, at + 1, "nothing is sent before it is due");
    const [delivery] = await listDeliveries(desk);
    const waitS = (Date.parse(delivery.next_attempt_at) - before) / 1_000;
    assert.ok(waitS >= delayS && waitS <= delayS * 1.1, `attempt ${at + 2}: ${waitS} s`);
    turnTo(desk, delivery.next_attempt_at);
  }
  await service.work();
  const [delivery] = await listDeliveries(desk);
  assert.equal(delivery.status, "dead");
  assert.equal(delivery.attempts, scheduleS.length);
  assert.equal(delivery.attempt_log.length, scheduleS.length);
  assert.equal(delivery.reason, "unavailable");
  service.clock.advance({ days: 30 });
  await service.work();
  assert.equal(receiver.received.length, scheduleS.length);
  const sent = receiver.received;
  assert.deepEqual(
    new Set(sent.map(({ headers }) => headers["x-service-delivery"])),
    new Set([id]),
  );
  assert.equal(new Set(sent.map(({ body }) => body.toString("hex"))).size, 1);
  const { failures } = await listFailures(desk);
  assert.deepEqual(
    failures.map(({ delivery_id, reason, attempts, last_status }: Answer["body"]) => [
      delivery_id,
      reason,
      attempts,
      last_status,
    ]),
    [[id, "unavailable", scheduleS.length, 500]],
  );
});

test("a schedule of three is three attempts", async (t) => {
  const desk = await startDesk(t, { scheduleS: [0, 1, 1] });
  desk.receiver.react((response) => response.writeHead(503).end());
  await ping(desk);
  for (let turn = 0; turn < 5; turn++) {
    await desk.service.work();
    desk.service.clock.advance({ seconds: 2 });
  }
  assert.equal(desk.receiver.received.length, 3);
  assert.equal((await listFailures(desk)).failures.length, 1);
});

test("an unreliable receiver gets every event in the end", async (t) => {
  const desk = await startDesk(t);
  let calls = 0;
  desk.receiver.react((response) => response.writeHead(++calls % 2 === 1 ? 502 : 200).end());
  await ping(desk);
  await desk.service.work();
  desk.service.clock.advance({ seconds: 6 });
  await desk.service.work();
  const [delivery] = await listDeliveries(desk);
  assert.equal(delivery.status, "delivered");
  assert.deepEqual(
    delivery.attempt_log.map(({ outcome }: { outcome: string }) => outcome),
    ["transient", "delivered"],
  );
});

test("a delivery leased by a dead process is sent when the lease ends, and a late result is ignored", async (t) => {
  const desk = await startDesk(t);
  const { service, receiver } = desk;
  const { ctx } = service;
  await ping(desk);
  await createFanOut(ctx, { scheduleS })();
  const { blocks } = await claimDue(ctx, new Receivers());
  assert.equal(blocks.length, 1);
  await service.work();
  assert.equal(receiver.received.length, 0, "it is somebody's");
  service.clock.advance({ seconds: 21 });
  receiver.react((response) => response.writeHead(500).end());
  await service.work();
  assert.equal(receiver.received.length, 1);

  const [block] = blocks as [(typeof blocks)[0]];
  const { delivery_id, lease } = block.deliveries[0]!;
  const late = {
    webhookId: desk.webhookId,
    state: "delivered" as const,
    dueAt: null,
    attempt: {
      delivery_id,
      lease,
      at: ctx.now(),
      duration_ms: 1,
      outcome: "delivered" as const,
      status: 200,
      reason: null,
      answer: "",
    },
  };
  await recordBlocks(ctx, [{ block, made: [late] }]);
  await recordBlocks(ctx, [{ block, made: [late] }]);
  const [delivery] = await listDeliveries(desk);
  assert.equal(delivery.status, "pending", "only the holder of the lease settles");
  assert.equal(delivery.attempts, 1);
  assert.equal(delivery.attempt_log.length, 2, "that it was sent is on record");
  service.clock.advance({ seconds: 6 });
  receiver.react((response) => response.end());
  await service.work();
  assert.equal((await listDeliveries(desk))[0].status, "delivered");
});

test("several processes share the work, and each delivery is sent once", async (t) => {
  const desk = await startDesk(t);
  const { service, key } = desk;
  const others = await Promise.all([1, 2].map(() => startService(t, { beside: service })));
  for (let n = 0; n < 30; n++) await mintChild(service, key);
  await Promise.all([service, ...others].map((node) => node.work()));
  await service.work();
  const ids = desk.receiver.received.map(({ headers }) => headers["x-service-delivery"]);
  assert.equal(ids.length, 30);
  assert.equal(new Set(ids).size, 30);
  const sequences = (await listDeliveries(desk)).map(({ sequence }) => sequence);
  assert.deepEqual(
    sequences,
    sequences.toSorted((a, b) => b - a),
  );
});

test("hanging receivers delay no others", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const { api_key: key } = await service.issue();
  const [good, hanging] = [await startReceiver(t), await startReceiver(t)];
  hanging.react(() => {});
  for (let n = 0; n < 10; n++)
    await registerWebhook(service, key, `${hanging.url}?${n}`, "key.created");
  await registerWebhook(service, key, good.url, "key.created");
  for (let n = 0; n < 40; n++) await mintChild(service, key);

  const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"], deadlineMs: 60_000 });
  const sender = createSender(ctx, { outbound, scheduleS });
  const fanOut = createFanOut(ctx, { scheduleS });
  while ((await fanOut()) === "more");
  for (let turn = 0; turn < 400 && good.received.length < 40; turn++) await sender.work();
  assert.equal(good.received.length, 40);
  assert.ok(hanging.received.length > 10, "the others were sent to as well");
  await outbound.close();
});

/** A webhook of live has a receiver without TLS, as no registration would take it. */
async function registerPlain(service: Service, key: string, url: string) {
  const webhook = await registerWebhook(service, key, url.replace("http:", "https:"));
  const text = "update webhooks set url = $2 where webhook_id = $1";
  await service.ctx.db.pool.query(text, [webhook.webhook_id, url]);
  return webhook;
}

/** Answers 200 when it is let go: slow, and never a failure. */
async function startSlowReceiver(t: TestContext) {
  const receiver = await startReceiver(t);
  const letGo = Promise.withResolvers<void>();
  receiver.react((response) => void letGo.promise.then(() => response.end()));
  return { ...receiver, letGo: letGo.resolve };
}

test("a desk whose 50 receivers say 200 slowly delays neither another desk's ping nor a live one's", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const { api_key: key } = await service.issue();
  const slow = await startSlowReceiver(t);
  for (let n = 0; n < 50; n++)
    await registerWebhook(service, key, `${slow.url}?${n}`, "key.created");
  for (let n = 0; n < 40; n++) await mintChild(service, key);
  const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"], deadlineMs: 60_000 });
  const faults: unknown[] = [];
  const fanOut = createFanOut(ctx, { scheduleS });
  const sender = createSender(ctx, { outbound, scheduleS });
  while ((await fanOut()) === "more");
  const over = new AbortController();
  const working = (async () => {
    while (!over.signal.aborted) await sender.work().catch((error: unknown) => faults.push(error));
  })();
  for (const environment of ["sandbox", "live"] as const) {
    const other = await service.issue({ environment });
    const receiver = await startReceiver(t);
    const { webhook_id } = await registerPlain(service, other.api_key, receiver.url);
    const path = `/v1/webhooks/${webhook_id}/test`;
    await service.send("POST", path, { key: other.api_key, expect: 200 });
    while ((await fanOut()) === "more");
    for (let turn = 0; turn < 200 && receiver.received.length === 0; turn++) await sleep(25);
    assert.equal(receiver.received.length, 1, `the ping of a desk of ${environment}`);
  }
  assert.ok(slow.received.length > 50, "the slow ones were sent to as well");
  assert.ok(
    slow.received.length <= senderShares.desk.underWay,
    "as far as their desk's share goes",
  );
  slow.letGo();
  over.abort();
  await working;
  await sender.settled();
  assert.deepEqual(faults, []);
  await outbound.close();
});

test("a delivery that is answered 200 slowly is delivered, and its receiver gets one at a time", async (t) => {
  const desk = await startDesk(t);
  const { service, key, receiver } = desk;
  const { ctx } = service;
  const holdAnswers = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    receiver.react((response) => void promise.then(() => response.end()));
    return resolve;
  };
  const letFirstGo = holdAnswers();
  for (let n = 0; n < 40; n++) await mintChild(service, key);
  const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"] });
  const shares = { ...senderShares, slowMs: 50 };
  const sender = createSender(ctx, { outbound, scheduleS, shares });
  while ((await createFanOut(ctx, { scheduleS })()) === "more");
  await sender.work();
  await sleep(500);
  letFirstGo();
  await sender.settled();
  const slow = receiver.received.length;
  assert.ok(slow < 40, "some are left");
  const delivered = (await listDeliveries(desk)).filter(({ status }) => status === "delivered");
  assert.equal(delivered.length, slow, "what was answered in the end is delivered");

  const letSecondGo = holdAnswers();
  for (let turn = 0; turn < 200 && receiver.received.length === slow; turn++) await sender.work();
  for (let turn = 0; turn < 3; turn++) await sender.work();
  assert.equal(receiver.received.length, slow + 1, "the breaker is open");
  letSecondGo();
  await sender.settled();
  await outbound.close();
});

/** A dead letter per id, all of one receiver that refused them. */
async function deadLetters(desk: Desk, count: number): Promise<string[]> {
  desk.receiver.react((response) => response.writeHead(404).end());
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await ping(desk));
  await desk.service.work();
  desk.receiver.react((response) => response.end());
  return ids;
}

test("a replayed dead letter keeps its id and bytes and restarts the schedule", async (t) => {
  const desk = await startDesk(t);
  const [id] = await deadLetters(desk, 1);
  const before = desk.receiver.received[0]!;
  assert.deepEqual(await replay(desk, { delivery_ids: [id] }), {
    queued: 1,
    skipped: 0,
    remaining: 0,
  });
  desk.receiver.react((response) => response.writeHead(500).end());
  await desk.service.work();
  const [again] = await listDeliveries(desk);
  assert.equal(again.status, "pending", "a replay that fails is tried again");
  assert.equal(again.attempts, 2);
  desk.receiver.react((response) => response.end());
  desk.service.clock.advance({ seconds: 6 });
  await desk.service.work();
  const last = desk.receiver.received.at(-1)!;
  assert.equal(last.headers["x-service-delivery"], id);
  assert.deepEqual(last.body, before.body);
  assert.equal(last.headers["x-service-signature"], before.headers["x-service-signature"]);
  assert.equal((await listDeliveries(desk))[0].status, "delivered");
  assert.deepEqual((await listFailures(desk)).failures, []);
  assert.deepEqual(await replay(desk, { delivery_ids: [id, "dlv_x"] }), {
    queued: 0,
    skipped: 2,
    remaining: 0,
  });
});

test("replay takes filters and refuses ambiguous ones", async (t) => {
  const desk = await startDesk(t);
  const { service, key, webhookId } = desk;
  await deadLetters(desk, 2);
  const noon = service.clock.now();
  service.clock.advance({ days: 1 });
  const later = await deadLetters(desk, 1);
  const since = new Date(noon.getTime() + 3_600_000).toISOString();
  const tries = [
    [{ since }, 1],
    [{ until: since }, 2],
    [{ since, until: since }, 0],
    [{ event: "webhook.ping" }, 3],
    [{ event: "firm.suspended" }, 0],
    [{ webhook_id: webhookId }, 3],
    [{ webhook_id: webhookId, since }, 1],
    [{}, 3],
  ] as const;
  for (const [filter, queued] of tries) {
    const { body } = await service.send("POST", "/v1/webhooks/replay", {
      key,
      body: filter,
      headers: { "x-dry-run": "1" },
      expect: 200,
    });
    const told = { dry_run: true, queued, skipped: 0, remaining: 0 };
    assert.deepEqual(body, told, JSON.stringify(filter));
  }
  assert.equal((await listFailures(desk)).failures.length, 3, "a dry run replays nothing");
  const wrong = [
    { delivery_ids: later, event: "webhook.ping" },
    { since: "yesterday" },
    { until: "2026-11-15" },
    { delivery_ids: [] },
    { delivery_ids: "dlv_x" },
  ];
  for (const body of wrong) {
    await service.send("POST", "/v1/webhooks/replay", { key, body, expect: 422 });
  }
  for (const body of [{ event: "no.such" }, { surprise: 1 }]) {
    await service.send("POST", "/v1/webhooks/replay", { key, body, expect: 400 });
  }
  const unknown = { webhook_id: "whk_00000000000000000000000000" };
  await service.send("POST", "/v1/webhooks/replay", { key, body: unknown, expect: 404 });
  await service.send("POST", "/v1/webhooks/replay", { key, expect: 200 });
  await service.work();
  assert.deepEqual((await listFailures(desk)).failures, []);
});

test("another desk's dead letters are neither listed nor replayed", async (t) => {
  const desk = await startDesk(t);
  const [id] = await deadLetters(desk, 1);
  const other = await desk.service.issue();
  const stranger = { ...desk, key: other.api_key };
  assert.deepEqual((await listFailures(stranger)).failures, []);
  assert.deepEqual(await replay(stranger, { delivery_ids: [id] }), {
    queued: 0,
    skipped: 1,
    remaining: 0,
  });
  assert.deepEqual(await replay(stranger), { queued: 0, skipped: 0, remaining: 0 });
  assert.equal((await listFailures(desk)).failures.length, 1);
});

test("failures and deliveries are paged, and filtered by webhook, event and status", async (t) => {
  const desk = await startDesk(t);
  await deadLetters(desk, 5);
  const first = await listFailures(desk, "?limit=3");
  assert.deepEqual([first.count, first.total, first.has_more], [3, 5, true]);
  const rest = await listFailures(desk, `?limit=3&cursor=${first.next_cursor}`);
  const ids = [...first.failures, ...rest.failures].map(({ delivery_id }) => delivery_id);
  assert.equal(new Set(ids).size, 5);
  assert.equal((await listFailures(desk, `?webhook_id=${desk.webhookId}`)).failures.length, 5);
  assert.equal((await listFailures(desk, "?webhook_id=whk_x")).failures.length, 0);
  assert.equal((await listFailures(desk, "?event=firm.suspended")).failures.length, 0);
  const { service, key, webhookId } = desk;
  const path = `/v1/webhooks/${webhookId}/deliveries`;
  const { body } = await service.send("GET", `${path}?status=dead&limit=2`, { key, expect: 200 });
  assert.deepEqual([body.count, body.total, body.has_more], [2, 5, true]);
  const next = await service.send("GET", `${path}?status=dead&limit=2&cursor=${body.next_cursor}`, {
    key,
    expect: 200,
  });
  assert.ok(next.body.deliveries[0].sequence < body.deliveries[1].sequence);
  const { body: none } = await service.send("GET", `${path}?status=delivered`, { key });
  assert.deepEqual(none.deliveries, []);
});

/** The ping again and again, with the next numbers, where events were before there were blocks. */
async function repeatPing({ service }: Desk, times: number): Promise<void> {
  const { db } = service.ctx;
  const { rows } = await askJournal(db.pool, "select * from events where event = 'webhook.ping'");
  await asOwner(db, async (owner) => {
    await owner.query(
      `insert into former_events
      select desk_id, sequence + n, 'evt_' || lpad(n::text, 26, '0'), environment, firm_id, event,
        entity_type, entity_id, entity_version + n, created_at, body
      from json_populate_recordset(null::former_events, $1)
      cross join generate_series(1, $2::int) as n`,
      [JSON.stringify(rows), times],
    );
  });
}

test("more dead letters than one call replays take further calls, at a limited rate", async (t) => {
  const desk = await startDesk(t);
  const { service } = desk;
  // The events and deliveries of a long outage, written as it would have left them.
  await ping(desk);
  await service.work();
  await repeatPing(desk, 1_200);
  await service.ctx.db.pool.query(
    `insert into deliveries
    select 'dlv_' || lpad(to_hex(sequence), 26, '0'), $1, environment, desk_id, sequence, event,
      'dead', created_at, 1, 10, 10, 500, 'unavailable', 1, created_at, created_at
    from former_events`,
    [desk.webhookId],
  );
  assert.deepEqual(await replay(desk), { queued: 1_000, skipped: 0, remaining: 200 });
  assert.deepEqual(await replay(desk), { queued: 200, skipped: 0, remaining: 0 });
  await service.work();
  const atOnce = desk.receiver.received.length;
  assert.ok(atOnce < 20, `${atOnce} at once`);
  service.clock.advance({ seconds: 1 });
  await service.work();
  const afterASecond = desk.receiver.received.length - atOnce;
  assert.ok(afterASecond > 50 && afterASecond <= 210, `${afterASecond} in a second`);
  service.clock.advance({ seconds: 10 });
  await service.work();
  assert.equal(desk.receiver.received.length, 1 + 1_200);
});

test("a receiver that fails for days is reported twice and then disabled, by events to the desk's other webhooks", async (t) => {
  const desk = await startDesk(t);
  const { service, key, receiver, webhookId } = desk;
  const watcher = await startReceiver(t);
  await registerWebhook(service, key, watcher.url);
  receiver.react((response) => response.writeHead(500).end());
  const heard = () => watcher.received.map(({ headers }) => headers["x-service-event"]);
  const readWebhook = async () =>
    (await service.send("GET", `/v1/webhooks/${webhookId}`, { key, expect: 200 })).body;
  const failOnce = async () => {
    await mintChild(service, key);
    await service.work();
    await service.work();
  };

  await failOnce();
  assert.equal((await readWebhook()).status, "active");
  service.clock.advance({ days: 1, seconds: 1 });
  await failOnce();
  assert.equal((await readWebhook()).status, "failing");
  assert.equal(heard().filter((name) => name === "webhook.failing").length, 1);
  service.clock.advance({ days: 1 });
  await failOnce();
  assert.equal(
    heard().filter((name) => name === "webhook.failing").length,
    1,
    "warned once a stage",
  );
  service.clock.advance({ days: 2 });
  await failOnce();
  assert.equal(heard().filter((name) => name === "webhook.failing").length, 2);
  service.clock.advance({ days: 1 });
  await failOnce();
  const disabled = await readWebhook();
  assert.equal(disabled.status, "disabled");
  assert.deepEqual(disabled.allowed_actions, [
    "test",
    "update",
    "rotate_secret",
    "delete",
    "enable",
  ]);
  assert.equal(heard().filter((name) => name === "webhook.disabled").length, 1);
  const told = JSON.parse(watcher.received.at(-1)!.body.toString());
  assert.equal(told.entity.id, webhookId);
  assert.equal(told.to, "disabled");

  // What was on its way and what comes now lies in the dead letters, and nothing is sent.
  const calls = receiver.received.length;
  await mintChild(service, key);
  service.clock.advance({ days: 2 });
  await service.work();
  assert.equal(receiver.received.length, calls);
  const { failures } = await listFailures(desk);
  assert.equal(
    failures.filter(({ reason }: Answer["body"]) => reason === "disabled").length >= 1,
    true,
  );
  const pending = (await listDeliveries(desk)).filter(({ status }) => status === "pending");
  assert.deepEqual(pending, []);
  const all = failures.length;
  assert.deepEqual(await replay(desk), { queued: 0, skipped: all, remaining: 0 });

  // Enabled again it is sent to, and what it missed can be replayed.
  receiver.react((response) => response.end());
  const enabled = await service.send("POST", `/v1/webhooks/${webhookId}/enable`, {
    key,
    expect: 200,
  });
  assert.equal(enabled.body.status, "active");
  await service.send("POST", `/v1/webhooks/${webhookId}/enable`, { key, expect: 200 });
  assert.deepEqual(await replay(desk), { queued: all, skipped: 0, remaining: 0 });
  service.clock.advance({ seconds: 5 });
  await service.work();
  assert.deepEqual((await listFailures(desk)).failures, []);
});

test("a success makes a failing receiver active again, and the next failure starts a new count", async (t) => {
  const desk = await startDesk(t);
  const { service, key, receiver, webhookId } = desk;
  const readStatus = async () =>
    (await service.send("GET", `/v1/webhooks/${webhookId}`, { key, expect: 200 })).body.status;
  receiver.react((response) => response.writeHead(500).end());
  await ping(desk);
  await service.work();
  service.clock.advance({ days: 1, seconds: 1 });
  await service.work();
  assert.equal(await readStatus(), "failing");
  receiver.react((response) => response.end());
  service.clock.advance({ days: 1 });
  await service.work();
  assert.equal(await readStatus(), "active");
  receiver.react((response) => response.writeHead(500).end());
  await ping(desk);
  await service.work();
  assert.equal(await readStatus(), "active");
});

test("an enabled receiver is not disabled for earlier failures", async (t) => {
  const desk = await startDesk(t);
  const { service, key, receiver, webhookId } = desk;
  receiver.react((response) => response.writeHead(500).end());
  await ping(desk);
  await service.work();
  service.clock.advance({ days: 6 });
  await service.work();
  const path = `/v1/webhooks/${webhookId}`;
  assert.equal((await service.send("GET", path, { key })).body.status, "disabled");
  await service.send("POST", `${path}/enable`, { key, expect: 200 });
  await ping(desk);
  await service.work();
  assert.equal((await service.send("GET", path, { key })).body.status, "active");
});

test("metrics show due and dead deliveries and the age of the oldest", async (t) => {
  const desk = await startDesk(t);
  const { service } = desk;
  measureDeliveries(service.ctx, service.metrics);
  await deadLetters(desk, 2);
  await ping(desk);
  await ping(desk);
  await createFanOut(service.ctx, { scheduleS })();
  await ping(desk);
  service.clock.advance({ seconds: 30 });
  const text = await service.metrics.registry.metrics();
  for (const line of [
    "scripdesk_webhook_deliveries_due 2",
    "scripdesk_webhook_deliveries_dead 2",
    "scripdesk_webhook_events_behind 1",
    "scripdesk_webhook_lag_seconds 30",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});

test("a sub_account key lists the failures of its own subscriptions only", async (t) => {
  const desk = await startDesk(t);
  const { service, key, deskId } = desk;
  const firmId = await addClientFirm(service, deskId);
  const sub = await mintChild(service, key, { kind: "sub_account", firm_id: firmId });
  await service.work();
  await deadLetters(desk, 1);
  const mine = await registerWebhook(service, sub.api_key, desk.receiver.url);
  const own = { ...desk, key: sub.api_key, webhookId: mine.webhook_id };
  assert.deepEqual((await listFailures(own)).failures, []);
  assert.deepEqual(await replay(own), { queued: 0, skipped: 0, remaining: 0 });
  await deadLetters(own, 1);
  assert.equal((await listFailures(own)).failures.length, 1);
  assert.equal((await listFailures(desk)).failures.length, 2);
});

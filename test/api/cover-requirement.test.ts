// Covering a requirement: what is bought for it, and that the same duty is never bought twice.

import assert from "node:assert/strict";
import { test } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import type { Scheme } from "../../src/kernel/scheme.ts";
import { addDay } from "../../src/outside/calendar.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { payIn } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const face = 25_000_000;
const faces = (count: number, scheme: Scheme = "RODTEP") =>
  Array.from({ length: count }, () => ({ face_paise: face, scheme }));
const limit = { limit_bps: 9_890 };

let references = 0;

async function declare(buyer: Dealer, fields: object = {}) {
  const path = `/v1/firms/${buyer.firmId}/requirements`;
  const duty = { scheme: "RODTEP", amount_paise: face, due_on: "2026-12-31" };
  const reference = `BE-${++references}`;
  const { body } = await buyer.post(path, { ...duty, reference, ...fields }, 201);
  const own = `${path}/${body.requirement_id}`;
  return {
    path: own,
    id: body.requirement_id as string,
    declared: body,
    cover: async (terms: object, expect: number, headers = {}) =>
      (await buyer.post(`${own}/cover`, terms, expect, headers)).body,
    read: async () => await buyer.get(own),
  };
}

function amounts({ covered_paise, uncovered_paise, resting_paise, order_ids }: Answer["body"]) {
  return [covered_paise, uncovered_paise, resting_paise, order_ids];
}

async function listUncovered({ get }: Dealer) {
  const { events } = await get("/v1/events");
  return events.filter(({ event }: Answer["body"]) => event === "requirement.uncovered");
}

async function advance({ send }: Service, { key }: Dealer, days: number) {
  const body = { advance_s: days * 86_400 };
  return (await send("POST", "/v1/sandbox/clock", { key, body, expect: 200 })).body;
}

test("a cover", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  await stockHouse(service.ctx, [...faces(12), ...faces(4, "ROSCTL")]);
  const buyer = await dealer(service, []);
  await payIn(service, buyer.firmId, 40 * face);

  await t.test("buys what is uncovered, and the requirement shows it", async () => {
    const duty = await declare(buyer, { amount_paise: 2 * face + 1_000_000 });
    assert.deepEqual(amounts(duty.declared), [0, 2 * face + 1_000_000, 0, []]);
    const order = await duty.cover({}, 201);
    assert.deepEqual(
      [order.status, order.side, order.requirement_paise, order.covered_paise],
      ["matched", "buy", 2 * face + 1_000_000, 2 * face],
    );
    assert.equal(order.firm_id, buyer.firmId);
    assert.deepEqual(amounts(await duty.read()), [2 * face, 1_000_000, 0, [order.order_id]]);
    const { requirements } = await buyer.get(`/v1/firms/${buyer.firmId}/requirements`);
    assert.deepEqual(requirements[0], await duty.read());
  });

  await t.test("that rests keeps another away until it has ended", async () => {
    const duty = await declare(buyer, { amount_paise: 2_000_000 });
    const order = await duty.cover({ limit_bps: 9_000 }, 201);
    assert.equal(order.status, "open");
    assert.deepEqual(amounts(await duty.read()), [0, 2_000_000, 2_000_000, [order.order_id]]);
    const { detail } = await duty.cover(limit, 409);
    assert.deepEqual(detail, { reason: "cover_rests", order_id: order.order_id });
    const change = async (method: string, body: object | undefined, expect: number) =>
      (await service.send(method, duty.path, { key: buyer.key, ...(body && { body }), expect }))
        .body;
    // What rests would buy more than is needed.
    assert.deepEqual((await change("DELETE", undefined, 409)).detail, detail);
    assert.deepEqual((await change("PATCH", { amount_paise: 1_999_999 }, 409)).detail, detail);
    assert.deepEqual((await change("PATCH", { scheme: null }, 409)).detail, detail);
    await change("PATCH", { amount_paise: 2_000_001, due_on: "2026-12-02" }, 200);
    await change("PATCH", { amount_paise: 2_000_000 }, 200);
    await buyer.post(`/v1/orders/${order.order_id}/cancel`, {}, 200);
    assert.deepEqual(amounts(await duty.read()), [0, 2_000_000, 0, [order.order_id]]);
    const expires_at = "2026-12-01T10:00:00+05:30";
    const second = await duty.cover({ limit_bps: 9_000, expires_at }, 201);
    assert.equal(second.time_in_force, "GTD");
  });

  await t.test(
    "of a covered requirement is refused, and again possible when it grows",
    async () => {
      const duty = await declare(buyer);
      await duty.cover({}, 201);
      const { detail } = await duty.cover({}, 409);
      assert.deepEqual(detail, { reason: "requirement_covered", covered_paise: face });
      await service.send("PATCH", duty.path, {
        key: buyer.key,
        body: { amount_paise: 2 * face },
        expect: 200,
      });
      assert.equal((await duty.cover({}, 201)).requirement_paise, face);
      await service.send("PATCH", duty.path, {
        key: buyer.key,
        body: { amount_paise: 1 },
        expect: 200,
      });
      assert.deepEqual(amounts(await duty.read()).slice(0, 3), [2 * face, 0, 0]);
    },
  );

  await t.test("takes the scheme that the requirement does not name", async () => {
    const either = await declare(buyer, { scheme: undefined });
    const missing = await either.cover({}, 422);
    assert.equal(missing.detail.fields[0].path, "scheme");
    assert.equal((await either.cover({ scheme: "ROSCTL" }, 201)).scheme, "ROSCTL");
    const one = await declare(buyer);
    assert.equal((await one.cover({ scheme: "ROSCTL" }, 422)).detail.fields[0].path, "scheme");
    await one.cover({ expires_at: "2026-12-01T10:00:00+05:30" }, 422);
    await one.cover({ scheme: "RODTEP" }, 201);
  });

  await t.test("is one order, however often it is sent", async () => {
    const duty = await declare(buyer);
    const headers = { "idempotency-key": "cover-1" };
    const order = await duty.cover({}, 201, headers);
    assert.deepEqual((await duty.cover({}, 200, headers)).order_id, order.order_id);
    assert.equal((await duty.cover(limit, 409, headers)).detail.order_id, order.order_id);
    const other = await declare(buyer);
    assert.equal((await other.cover({}, 409, headers)).detail.order_id, order.order_id);
    const plain = { side: "buy", scheme: "RODTEP", requirement_paise: face };
    await buyer.post("/v1/orders", plain, 409, headers);
  });

  await t.test("that is tried places nothing", async () => {
    const duty = await declare(buyer);
    assert.equal((await duty.cover({}, 200, { "x-dry-run": "1" })).status, "matched");
    assert.deepEqual(amounts(await duty.read()), [0, face, 0, []]);
  });

  await t.test(
    "needs a key that may order, and the requirement is read with orders:read",
    async () => {
      const duty = await declare(buyer, { amount_paise: 2_000_000 });
      const keyed = async (scopes: string[]) =>
        (await mintChild(service, buyer.key, { scopes, buy_side: true })).api_key;
      const [reads, firms] = [await keyed(["orders:read"]), await keyed(["firms"])];
      for (const path of [duty.path, `/v1/firms/${buyer.firmId}/requirements`]) {
        await service.send("GET", path, { key: reads, expect: 200 });
        await service.send("GET", path, { key: firms, expect: 200 });
        await service.send("GET", path, { key: await keyed(["quote"]), expect: 403 });
      }
      const cover = async (key: string, expect: number) =>
        await service.send("POST", `${duty.path}/cover`, {
          key,
          body: { limit_bps: 9_000 },
          expect,
        });
      await cover(reads, 403);
      await cover(firms, 403);
      await cover(await keyed(["orders:write"]), 201);
      const stranger = await dealer(service, []);
      await cover(stranger.key, 404);
    },
  );

  await t.test("whose deal fails counts no more", async () => {
    const poor = await dealer(service, []);
    const duty = await declare(poor);
    const order = await duty.cover({}, 201);
    assert.deepEqual(amounts(await duty.read()), [face, 0, 0, [order.order_id]]);
    await service.ctx.db.pool.query(
      "update settlement_legs set state = 'failed', answered_at = now()",
    );
    assert.deepEqual(amounts(await duty.read()), [0, face, 0, [order.order_id]]);
  });
});

test("many covers at once, in both schemes and on two nodes, buy the duty once", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  await stockHouse(service.ctx, [...faces(12), ...faces(12, "ROSCTL")]);
  const buyer = await dealer(service, []);
  await payIn(service, buyer.firmId, 40 * face);
  const duty = await declare(buyer, { scheme: undefined });
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, at) => {
      const body = { scheme: at % 4 < 2 ? "RODTEP" : "ROSCTL" };
      const { send } = at % 2 === 0 ? service : beside;
      return send("POST", `${duty.path}/cover`, { key: buyer.key, body });
    }),
  );
  const placed = answers.filter(({ status }) => status === 201);
  assert.equal(placed.length, 1);
  assert.ok(answers.every(({ status }) => status === 201 || status === 409));
  assert.deepEqual(amounts(await duty.read()), [face, 0, 0, [placed[0]?.body.order_id]]);
  await assertOrdersSound(service);
});

test("an uncovered requirement is told of five working days before it is due", async (t) => {
  const service = await startService(t);
  await stockHouse(service.ctx, faces(3));
  const buyer = await dealer(service, []);
  await payIn(service, buyer.firmId, 10 * face);
  // It is Sunday, 15 November. After the 20th come five working days up to the 27th: the 24th is a holiday.
  const covered = await declare(buyer, { due_on: "2026-11-27" });
  await covered.cover({}, 201);
  const uncovered = await declare(buyer, { due_on: "2026-11-27", reference: "BE-late" });
  const far = await declare(buyer, { due_on: "2026-12-04" });
  const partly = await uncovered.cover({ limit_bps: 9_000 }, 201);
  assert.equal(partly.status, "open");
  await service.work();
  service.clock.advance({ days: 4 });
  await service.work();
  assert.deepEqual(await listUncovered(buyer), []);
  service.clock.advance({ days: 1 });
  await service.work();
  await service.work();
  const told = await listUncovered(buyer);
  assert.equal(told.length, 1);
  const [{ entity, data }] = told;
  assert.equal(entity.id, uncovered.id);
  assert.deepEqual(data, {
    requirement_id: uncovered.id,
    reference: "BE-late",
    scheme: "RODTEP",
    due_on: "2026-11-27",
    amount_paise: face,
    covered_paise: 0,
    uncovered_paise: face,
    resting_paise: face,
  });

  await t.test("a cover that fails later is told of the next day", async () => {
    await service.ctx.db.pool.query(
      "update settlement_legs set state = 'failed', answered_at = now()",
    );
    await service.work();
    assert.equal((await listUncovered(buyer)).length, 1, "it was looked at today");
    service.clock.advance({ days: 1 });
    await service.work();
    const [, ...later] = await listUncovered(buyer);
    assert.deepEqual(
      later.map(({ data }: Answer["body"]) => data.requirement_id),
      [covered.id],
    );
  });

  await t.test(
    "the sandbox's clock brings the day nearer, and another day is told of anew",
    async () => {
      const moved = await advance(service, buyer, 4);
      assert.equal(moved.brought_nearer.requirements, 3);
      assert.equal((await far.read()).due_on, "2026-11-30");
      await service.work();
      const ids = (await listUncovered(buyer)).map(({ entity: { id } }: Answer["body"]) => id);
      assert.deepEqual(ids, [uncovered.id, covered.id, far.id]);
      const body = { due_on: "2026-11-25" };
      await service.send("PATCH", far.path, { key: buyer.key, body, expect: 200 });
      await service.work();
      assert.equal((await listUncovered(buyer)).length, 4);
    },
  );

  await t.test("a holiday that is added brings it nearer", async () => {
    const next = await declare(buyer, { due_on: "2026-12-01" });
    const isTold = async () =>
      (await listUncovered(buyer)).some(({ entity: { id } }: Answer["body"]) => id === next.id);
    await service.work();
    assert.equal(await isTold(), false);
    const day = { office: "bank", day: "2026-11-25", name: "Bank holiday", works: "no" };
    await addDay(service.ctx, operator, day);
    await service.work();
    assert.equal(await isTold(), true);
  });
});

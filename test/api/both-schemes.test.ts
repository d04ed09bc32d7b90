// Orders of both schemes are matched in one sequence per environment, in this process and beside others:
// what they share (money, debts, limits, idempotency keys, the journal of a desk) is spent once, and
// desks take turns.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { putCard } from "../support/dealing-house.ts";
import { addFirm } from "../support/holdings.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { payIn } from "../support/ledger.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { hold, someoneWaits } from "../support/poison.ts";
import { type Send, type Service, startService } from "../support/service.ts";

const face = 25_000_000;
const both = ["RODTEP", "ROSCTL"] as const;
const schemeAt = (at: number) => both[at % 2] ?? "RODTEP";

const holdMatching = (service: Service) =>
  hold(service, "select from match_locks where environment = 'sandbox' for update");

async function twoNodes(
  t: TestContext,
): Promise<{ service: Service; chooseSend: (n: number) => Send }> {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  return { service, chooseSend: (n) => ((n >> 1) % 2 === 0 ? service.send : beside.send) };
}

test("a batch of both schemes waits for the match lock and is one set", async (t) => {
  const service = await startService(t);
  const credits = Array.from({ length: 4 }, (_, at) => ({ scheme: schemeAt(at) }));
  const { post, scripNos } = await dealer(service, credits);
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  const { letGo } = await holdMatching(service);
  const answered = post("/v1/orders:batch", { orders }, 200);
  await someoneWaits(service);
  await letGo();
  const { body } = await answered;
  assert.deepEqual([body.submitted, body.failed], [4, 0]);
  const { rows } = await service.ctx.db.pool.query(
    "select count(distinct xmin::text)::int as sets from orders where scrip_no = any($1)",
    [scripNos],
  );
  assert.deepEqual(rows, [{ sets: 1 }]);
  await assertOrdersSound(service);
});

test("the matcher serves both schemes after new cards", async (t) => {
  const service = await startService(t);
  const { post, read, scripNos } = await dealer(
    service,
    both.map((scheme) => ({ scheme })),
  );
  const orderIds: string[] = [];
  for (const scrip_no of scripNos) {
    const rests = { side: "sell", scrip_no, limit_bps: 9_900 };
    orderIds.push((await post("/v1/orders", rests, 201)).body.order_id);
  }
  await service.work();
  for (const scheme of both) {
    await putCard(service, { scheme, mid_bps: 9_990, ceiling_bps: 9_990, ask_ceiling_bps: 9_999 });
  }
  await service.work();
  for (const orderId of orderIds) assert.equal((await read(orderId)).status, "matched");
  await assertOrdersSound(service);
});

const buyAt = (at: number) => ({
  side: "buy",
  scheme: schemeAt(at),
  requirement_paise: face,
});

async function stockBoth({ ctx }: Service, each: number): Promise<void> {
  for (const scheme of both) {
    await stockHouse(
      ctx,
      Array.from({ length: each }, () => ({ face_paise: face, scheme })),
    );
  }
}

async function pendingPaise({ ctx }: Service, deskId: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ sum: string }>(
    "select coalesce(sum(buyer_paise), 0) as sum from settlements where buyer_firm_id = $1 and state = 'pending'",
    [deskId],
  );
  return Number(rows[0]?.sum);
}

/** Sends a dealer's calls to both nodes at once; the counts of the statuses. */
async function race(
  { key }: Pick<Dealer, "key">,
  chooseSend: (n: number) => Send,
  bodies: readonly object[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Record<string, number>> {
  const answers = await Promise.all(
    bodies.map(
      async (body, n) => await chooseSend(n)("POST", "/v1/orders", { key, body, headers }),
    ),
  );
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const rounds = 6;

test("the unfunded limit of a firm holds over both schemes and two nodes", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  await service.ctx.db.pool.query("update plans set unfunded_max_paise = $1", [3 * face]);
  await stockBoth(service, 8 * rounds);
  for (let round = 0; round < rounds; round++) {
    const buyer = await dealer(service, []);
    const bodies = Array.from({ length: 16 }, (_, at) => buyAt(at));
    const counts = await race(buyer, chooseSend, bodies);
    assert.deepEqual(counts, { "201": 3, "409": 13 });
    assert.ok((await pendingPaise(service, buyer.deskId)) <= 3 * face);
  }
  await assertOrdersSound(service);
});

test("the unfunded limit of a desk holds over its firms, both schemes and two nodes", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  await service.ctx.db.pool.query("update plans set unfunded_desk_max_paise = $1", [3 * face]);
  await stockBoth(service, 8 * rounds);
  for (let round = 0; round < rounds; round++) {
    const buyer = await dealer(service, []);
    const firms = [buyer.firmId, buyer.deskId, await addFirm(service, { deskId: buyer.deskId })];
    const bodies = Array.from({ length: 16 }, (_, at) => ({
      ...buyAt(at),
      firm_id: firms[at % firms.length],
    }));
    const counts = await race(buyer, chooseSend, bodies);
    assert.deepEqual(counts, { "201": 3, "409": 13 });
  }
  await assertOrdersSound(service);
});

test("a firm's money is spent once over both schemes and two nodes", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  await service.ctx.db.pool.query("update plans set unfunded_max_paise = 0");
  await stockBoth(service, 8 * rounds);
  for (let round = 0; round < rounds; round++) {
    const buyer = await dealer(service, []);
    await payIn(service, buyer.deskId, 3 * face);
    const bodies = Array.from({ length: 16 }, (_, at) => buyAt(at));
    const counts = await race(buyer, chooseSend, bodies);
    assert.deepEqual(counts, { "201": 3, "409": 13 });
    assert.equal(await pendingPaise(service, buyer.deskId), 0);
  }
  await assertOrdersSound(service);
});

test("the daily limit of a key holds over both schemes and two nodes", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const credits = Array.from({ length: 16 }, (_, at) => ({ scheme: schemeAt(at) }));
  const root = { kind: "app", scopes: ["*"], buy_side: true };
  const limits = { daily_notional_paise: 3 * face };
  for (let round = 0; round < rounds; round++) {
    const seller = await dealer(service, credits);
    const { api_key: key } = await mintChild(service, seller.key, { ...root, limits });
    const bodies = seller.scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
    assert.deepEqual(await race({ key }, chooseSend, bodies), { "201": 3, "403": 13 });
  }
  await assertOrdersSound(service);
});

test("two bodies of different schemes that race for one idempotency key make one order", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const headers = { "idempotency-key": "contested" };
  for (let round = 0; round < rounds; round++) {
    const seller = await dealer(
      service,
      both.map((scheme) => ({ scheme })),
    );
    const bodies = Array.from({ length: 40 }, (_, at) => ({
      side: "sell",
      scrip_no: seller.scripNos[at % 2],
      limit_bps: 9_990,
    }));
    const counts = await race(seller, chooseSend, bodies, headers);
    assert.deepEqual(counts, { "200": 19, "201": 1, "409": 20 });
    assert.equal((await seller.orders()).length, 1);
  }
  await assertOrdersSound(service);
});

test("one desk that deals in both schemes at once is refused nothing, and its journal has no gap", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const credits = Array.from({ length: 120 }, (_, at) => ({ scheme: schemeAt(at) }));
  const { key, scripNos, list } = await dealer(service, credits);
  const single = scripNos.slice(0, 40).map((scrip_no) => ({ side: "sell", scrip_no }));
  const batches = Array.from({ length: 8 }, (_, at) => ({
    orders: scripNos
      .slice(40)
      .filter((_, place) => place % 2 === at % 2 && (place >> 1) % 4 === at >> 1)
      .map((scrip_no) => ({ side: "sell", scrip_no })),
  }));
  const singles = single.map(async (body, n) => {
    await chooseSend(n)("POST", "/v1/orders", { key, body, expect: 201 });
  });
  const lots = batches.map(async (body, n) => {
    const answer = await chooseSend(n)("POST", "/v1/orders:batch", { key, body, expect: 200 });
    assert.equal(answer.body.failed, 0);
  });
  await Promise.all([...singles, ...lots]);
  assert.equal((await list("?status=matched")).length, 120);
  await assertOrdersSound(service);
});

test("however many sets of its own a desk asks for, the orders of others are refused nothing and come in turn", async (t) => {
  const service = await startService(t);
  const greedy = await dealer(service);
  const other = await dealer(service);
  const tried = { side: "sell", scrip_no: greedy.scripNo, limit_bps: 9_990 };
  const { letGo } = await holdMatching(service);
  const statuses: number[] = [];
  const asked = Array.from({ length: 100 }, async () => {
    const { status } = await greedy.post("/v1/orders", tried, 0, { "x-dry-run": "1" });
    statuses.push(status);
  });
  for (let look = 0; look < 400 && !statuses.includes(500); look++) await sleep(5);
  assert.ok(statuses.includes(500), "the desk has as many sets waiting as it may");
  const ordered = other.post("/v1/orders", { ...tried, scrip_no: other.scripNo }, 201);
  await service.send("GET", "/v1/orders", { key: other.key, expect: 200 });
  await letGo();
  await ordered;
  const before = statuses.filter((status) => status === 200).length;
  assert.ok(before < 32, `${before} sets of the desk came before`);
  await Promise.all(asked);
});

test("an order that a stranger asks to cancel in the same set is cancelled by its own desk, and only for it", async (t) => {
  const service = await startService(t);
  const owner = await dealer(service);
  const stranger = await dealer(service, []);
  const rests = { side: "sell", scrip_no: owner.scripNo, limit_bps: 9_990 };
  const { order_id } = (await owner.post("/v1/orders", rests, 201)).body;
  const cancel = (by: Dealer, status: number) =>
    by.post(`/v1/orders/${order_id}/cancel`, {}, status);
  await cancel(stranger, 404);
  const { letGo } = await holdMatching(service);
  const first = cancel(await dealer(service, []), 404);
  await someoneWaits(service);
  const asked = [cancel(stranger, 404), cancel(owner, 200), cancel(stranger, 404)];
  await service.send("GET", "/v1/orders", { key: owner.key, expect: 200 });
  await letGo();
  const [, cancelled] = await Promise.all(asked);
  await first;
  assert.equal(cancelled?.body.status, "cancelled");
  const { body } = await owner.post(`/v1/orders/${order_id}/cancel`, {}, 200);
  assert.equal(body.status, "cancelled");
});

// Matching has one lane per environment and scheme. Orders of one scheme go on while the lane of the
// other is held; what both lanes share (money, debts, limits, idempotency keys, the journal of a desk)
// is as safe as in one lane.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { expireOrders } from "../../src/trading/end-orders.ts";
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

/** Whoever matches waits longer for a lane than for a row. */
const longerThanForRowsMs = 700;

const holdLane = (service: Service, scheme: string) =>
  hold(
    service,
    `select from match_locks where environment = 'sandbox' and scheme = '${scheme}' for update`,
  );

async function twoNodes(
  t: TestContext,
): Promise<{ service: Service; chooseSend: (n: number) => Send }> {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  return { service, chooseSend: (n) => ((n >> 1) % 2 === 0 ? service.send : beside.send) };
}

/** Each way to a deal in a scheme, as a call that is answered with success. */
async function prepareCalls(
  service: Service,
  scheme: (typeof both)[number],
): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  const { post, scripNos } = await dealer(
    service,
    Array.from({ length: 6 }, () => ({ scheme })),
  );
  await stockHouse(service.ctx, [
    { face_paise: face, scheme },
    { face_paise: face, scheme },
  ]);
  const sell = (at: number) => ({ side: "sell", scrip_no: scripNos[at] });
  const rests = (await post("/v1/orders", { ...sell(0), limit_bps: 9_990 }, 201)).body;
  const { body: sellQuote } = await post("/v1/quote", sell(1), 200);
  const buy = { side: "buy", scheme, requirement_paise: face };
  const { body: buyQuote } = await post("/v1/quote", buy, 200);
  return {
    "a sell by number": () => post("/v1/orders", sell(2), 201),
    "a sell by quote": () => post("/v1/orders", { quote_ref: sellQuote.quote_ref }, 201),
    "a sell that rests": () => post("/v1/orders", { ...sell(3), limit_bps: 9_990 }, 201),
    "a buy by quote": () => post("/v1/orders", { quote_ref: buyQuote.quote_ref }, 201),
    "a buy": () => post("/v1/orders", buy, 201),
    "a batch": async () => {
      const { body } = await post("/v1/orders:batch", { orders: [sell(4), sell(5)] }, 200);
      assert.deepEqual([body.submitted, body.failed], [2, 0]);
    },
    "a dry run": () => post("/v1/orders", { ...buy, limit_bps: 9_000 }, 200, { "x-dry-run": "1" }),
    "a cancel": () => post(`/v1/orders/${rests.order_id}/cancel`, {}, 200),
  };
}

for (const [at, scheme] of both.entries()) {
  const other = schemeAt(at + 1);

  test(`while the lane of ${scheme} is held, ${other} is dealt and ${scheme} waits`, async (t) => {
    const service = await startService(t);
    const same = await prepareCalls(service, scheme);
    const others = await prepareCalls(service, other);
    for (const [what, call] of Object.entries(same)) {
      const { letGo } = await holdLane(service, scheme);
      const answered = call();
      await someoneWaits(service).catch(() => assert.fail(`${what} did not wait`));
      await letGo();
      await answered;
    }
    // An order of the held lane that waits in this process is in nobody's way either.
    const waiter = await dealer(service, [{ scheme }]);
    const { letGo } = await holdLane(service, scheme);
    const waits = waiter.post("/v1/orders", { side: "sell", scrip_no: waiter.scripNo }, 0);
    await someoneWaits(service);
    for (const call of Object.values(others)) await call();
    await letGo();
    await waits;
    await assertOrdersSound(service);
  });

  test(`workers end orders of ${other} while the lane of ${scheme} is held`, async (t) => {
    const service = await startService(t);
    const expires_at = new Date(service.clock.now().getTime() + 60_000).toISOString();
    const terms = { side: "sell", limit_bps: 9_990, time_in_force: "GTD", expires_at };
    const { post, read, scripNos } = await dealer(service, [{ scheme: other }, { scheme }]);
    const orderIds: string[] = [];
    for (const scrip_no of scripNos) {
      orderIds.push((await post("/v1/orders", { ...terms, scrip_no }, 201)).body.order_id);
    }
    service.clock.advance({ seconds: 61 });
    const { letGo } = await holdLane(service, scheme);
    await expireOrders(service.ctx);
    const states = async () =>
      await Promise.all(orderIds.map(async (orderId) => (await read(orderId)).status));
    assert.deepEqual(await states(), ["expired", "open"]);
    await letGo();
    await expireOrders(service.ctx);
    assert.deepEqual(await states(), ["expired", "expired"]);
  });
}

test("a batch of both schemes waits for both lanes and is one set", async (t) => {
  const service = await startService(t);
  const credits = Array.from({ length: 4 }, (_, at) => ({ scheme: schemeAt(at) }));
  for (const held of both) {
    const { post, scripNos } = await dealer(service, credits);
    const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
    const { letGo } = await holdLane(service, held);
    const answered = post("/v1/orders:batch", { orders }, 200);
    await someoneWaits(service);
    await sleep(longerThanForRowsMs);
    await letGo();
    const { body } = await answered;
    assert.deepEqual([body.submitted, body.failed], [4, 0]);
    const { rows } = await service.ctx.db.pool.query(
      "select count(distinct xmin::text)::int as sets from orders where scrip_no = any($1)",
      [scripNos],
    );
    assert.deepEqual(rows, [{ sets: 1 }]);
  }
  await assertOrdersSound(service);
});

test("the matcher serves both lanes after new cards", async (t) => {
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

test("a quote whose ref names another scheme, or none, is dealt in the lane of its own", async (t) => {
  const service = await startService(t);
  for (const scheme of both) {
    for (const digit of ["d", "s", "0"]) {
      const { post, scripNo } = await dealer(service, [{ scheme }]);
      const { body: quote } = await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200);
      const ref = `${quote.quote_ref.slice(0, -1)}${digit}`;
      await service.ctx.db.pool.query("update quotes set quote_ref = $2 where quote_ref = $1", [
        quote.quote_ref,
        ref,
      ]);
      const { body } = await post("/v1/orders", { quote_ref: ref }, 201);
      assert.deepEqual([body.scheme, body.status], [scheme, "matched"], `${scheme} ${digit}`);
    }
  }
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
  const { letGo } = await holdLane(service, "RODTEP");
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

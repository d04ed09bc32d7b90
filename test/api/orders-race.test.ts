// Many at once on one key, one credit, one set of credits, one order: over two nodes, each of which
// forms its own sets. Every promise has its control: the same race run the naive way must break it.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { expireOrders } from "../../src/trading/end-orders.ts";
import { testDatabase } from "../support/database.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { startRandom } from "../support/random.ts";
import {
  type Answer,
  type Send,
  type Service,
  type ServiceOptions,
  startService,
} from "../support/service.ts";

const parallel = 1_000;
const face = 25_000_000;

/** Two nodes of one service, and a sender that takes them in turn. */
async function twoNodes(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<{ service: Service; chooseSend: (n: number) => Send }> {
  const service = await startService(t, options);
  const beside = await startService(t, { ...options, beside: service });
  return { service, chooseSend: (n) => (n % 2 === 0 ? service.send : beside.send) };
}

function countEach<Item>(items: readonly Item[]): Map<Item, number> {
  const counts = new Map<Item, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** The statuses that single orders and items of batches were answered with. */
function pickStatuses({ status, body }: Answer): number[] {
  return body.results ? body.results.map((result: Answer["body"]) => result.status) : [status];
}

async function countSales({ ctx }: Service, scripNo: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ sales: number }>(
    "select count(*) as sales from settlement_legs where scrip_no = $1",
    [scripNo],
  );
  return rows[0]?.sales ?? 0;
}

test("a thousand requests with one idempotency key on two nodes make one order", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const { key, scripNos, orders } = await dealer(service, [{}, {}]);
  const headers = { "idempotency-key": "one" };
  const body = { side: "sell", scrip_no: scripNos[0], limit_bps: 9_900 };
  const answers = await Promise.all(
    Array.from(
      { length: parallel },
      async (_, n) => await chooseSend(n)("POST", "/v1/orders", { key, body, headers }),
    ),
  );
  assert.deepEqual(
    countEach(answers.map(({ status }) => status)),
    new Map([
      [201, 1],
      [200, parallel - 1],
    ]),
  );
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal((await orders()).length, 1);

  const others = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const other = { ...body, scrip_no: scripNos[1], client_ref: `n${n}` };
      return await chooseSend(n)("POST", "/v1/orders", { key, body: other, headers });
    }),
  );
  assert.deepEqual(countEach(others.map(({ status }) => status)), new Map([[409, 200]]));
  for (const { body: refused } of others) {
    assert.equal(refused.detail.order_id, answers[0]?.body.order_id);
    assert.deepEqual(refused.detail.differs, ["client_ref", "scrip_no"]);
  }
  assert.equal((await orders()).length, 1);
  await assertOrdersSound(service, { acked: new Map([["one", answers[0]?.body.order_id]]) });
});

test("two bodies that race for one idempotency key make one order, and the other is refused with its id", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const { key, scripNos, orders } = await dealer(service, [{}, {}]);
  const headers = { "idempotency-key": "contested" };
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const body = { side: "sell", scrip_no: scripNos[(n >> 1) % 2], limit_bps: 9_900 };
      return await chooseSend(n)("POST", "/v1/orders", { key, body, headers });
    }),
  );
  assert.deepEqual(
    countEach(answers.map(({ status }) => status)),
    new Map([
      [201, 1],
      [200, 99],
      [409, 100],
    ]),
  );
  assert.equal((await orders()).length, 1);
  await assertOrdersSound(service);
});

test("a credit that a thousand concurrent orders, quotes, batches and crosses sell is sold once", async (t) => {
  const { service, chooseSend } = await twoNodes(t, { blockMinPaise: 1 });
  const { key, deskId, firmId, scripNo, post } = await dealer(service);
  const byNumber = { side: "sell", scrip_no: scripNo };
  const sister = await addFirm(service, { deskId });
  const crossing = { kind: "block", side: "sell", firm_id: firmId, counterparty_firm_id: sister };
  const crosses = await Promise.all(
    Array.from({ length: 100 }, async () => {
      return (await post("/v1/cross/quote", { ...crossing, scrip_nos: [scripNo] }, 200)).body;
    }),
  );
  const quotes = await Promise.all(
    Array.from({ length: 200 }, async () => (await post("/v1/quote", byNumber, 200)).body),
  );
  const singles = Array.from({ length: 400 }, () => byNumber);
  const batches = Array.from({ length: 60 }, () => ({
    orders: Array.from({ length: 5 }, () => byNumber),
  }));
  const asks = [
    ...singles.map((body) => ({ path: "/v1/orders", body })),
    ...quotes.map(({ quote_ref }) => ({ path: "/v1/orders", body: { quote_ref } })),
    ...batches.map((body) => ({ path: "/v1/orders:batch", body })),
    ...crosses.map(({ cross_quote_ref }) => ({ path: "/v1/cross", body: { cross_quote_ref } })),
  ];
  const order = startRandom(t);
  const shuffled = asks
    .map((ask) => ({ ask, at: order.below(1e9) }))
    .toSorted((a, b) => a.at - b.at);
  // Who waited too long for the credit is told to try again: by itself, where it was in a batch.
  const ask = async (n: number, path: string, body: unknown) =>
    await chooseSend(n)("POST", path, { key, body, isPatient: true });
  const statuses = await Promise.all(
    shuffled.map(async ({ ask: { path, body } }, n) => {
      const answered = pickStatuses(await ask(n, path, body));
      return await Promise.all(
        answered.map(async (status) =>
          status === 500 ? (await ask(n, "/v1/orders", byNumber)).status : status,
        ),
      );
    }),
  );
  assert.deepEqual(
    countEach(statuses.flat()),
    new Map([
      [201, 1],
      [409, parallel - 1],
    ]),
  );
  const agreed = (await service.send("GET", "/v1/cross", { key })).body.crosses.length;
  assert.equal((await countSales(service, scripNo)) + agreed, 1);
  await assertOrdersSound(service);
});

test("a credit of the house or of a resting sell is bought once by concurrent buyers", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const buyers = await Promise.all(
    Array.from({ length: 8 }, async () => await dealer(service, [])),
  );
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: face };
  const seller = await dealer(service);
  const offers: Readonly<Record<string, () => Promise<string>>> = {
    house: async () => (await stockHouse(service.ctx, [{ face_paise: face }]))[0]?.scrip_no ?? "",
    client: async () => {
      const body = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_800 };
      await seller.post("/v1/orders", body, 201);
      return seller.scripNo;
    },
  };
  for (const [whose, offer] of Object.entries(offers)) {
    const scripNo = await offer();
    const quoted = await Promise.all(
      buyers.map(async ({ post }) => (await post("/v1/quote", wanted, 200)).body.quote_ref),
    );
    const asks = Array.from({ length: 240 }, (_, n) => {
      const buyer = buyers[n % buyers.length] as Dealer; // There are eight.
      if (n < quoted.length) return { buyer, path: "/v1/orders", body: { quote_ref: quoted[n] } };
      if (n % 5 > 0) return { buyer, path: "/v1/orders", body: wanted };
      return { buyer, path: "/v1/orders:batch", body: { orders: [wanted, wanted, wanted] } };
    });
    const answers = await Promise.all(
      asks.map(
        async ({ buyer, path, body }, n) =>
          await chooseSend(n)("POST", path, { key: buyer.key, body }),
      ),
    );
    const statuses = countEach(answers.flatMap(pickStatuses));
    assert.equal(statuses.get(201), 1, `${whose}: ${JSON.stringify([...statuses])}`);
    assert.deepEqual(new Set(statuses.keys()), new Set([201, 409]), whose);
    assert.equal(await countSales(service, scripNo), 1);
  }
  await assertOrdersSound(service);
});

test("overlapping batches of 500 in random order, with sells and buys among them, neither fail nor sell twice", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const random = startRandom(t);
  const small = 100_000;
  const credits = Array.from({ length: 500 }, () => ({ facePaise: small }));
  const seller = await dealer(service, credits);
  const buyer = await dealer(service, []);
  const sells = seller.scripNos.map((scripNo, n) => ({
    side: "sell",
    scrip_no: scripNo,
    // A third of them rest, so that the buyers' batches have something to take.
    ...(n % 3 === 0 && { limit_bps: 9_640 }),
  }));
  const buys = Array.from({ length: 500 }, () => ({
    side: "buy",
    scheme: "RODTEP",
    requirement_paise: small,
  }));
  const shuffled = <Item>(items: readonly Item[]) =>
    items
      .map((item) => ({ item, at: random.below(1e9) }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item);
  const batches = Array.from({ length: 8 }, (_, n) =>
    n < 6
      ? { key: seller.key, orders: shuffled(sells) }
      : { key: buyer.key, orders: shuffled(buys) },
  );
  const answers = await Promise.all(
    batches.map(
      async ({ key, orders }, n) =>
        await chooseSend(n)("POST", "/v1/orders:batch", { key, body: { orders }, expect: 200 }),
    ),
  );
  const sold = answers.slice(0, 6).flatMap(pickStatuses);
  assert.deepEqual(
    countEach(sold),
    new Map([
      [201, 500],
      [409, 2_500],
    ]),
  );
  const bought = countEach(answers.slice(6).flatMap(pickStatuses));
  assert.deepEqual(
    [...bought.keys()].filter((status) => status !== 201 && status !== 409),
    [],
  );
  await assertOrdersSound(service);
});

test("of a concurrent cancel and match of one order exactly one wins", async (t) => {
  const { service, chooseSend } = await twoNodes(t);
  const rounds = 12;
  const seller = await dealer(
    service,
    Array.from({ length: rounds }, () => ({})),
  );
  const buyer = await dealer(service, []);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: face };
  const ended: string[] = [];
  for (const [n, scripNo] of seller.scripNos.entries()) {
    const sell = { side: "sell", scrip_no: scripNo, limit_bps: 9_800 };
    const { body } = await seller.post("/v1/orders", sell, 201);
    const cancel = () =>
      chooseSend(n)("POST", `/v1/orders/${body.order_id}/cancel`, { key: seller.key, body: {} });
    const buy = () => chooseSend(n + 1)("POST", "/v1/orders", { key: buyer.key, body: wanted });
    // Whoever is first on the wire wins more often, so each of them is first half the time.
    const [cancelled, bought] =
      n % 4 < 2
        ? await Promise.all([cancel(), buy()])
        : (await Promise.all([buy(), cancel()])).toReversed();
    const order = await seller.read(body.order_id);
    const credit = await seller.credit(scripNo);
    ended.push(order.status);
    if (order.status === "cancelled") {
      assert.deepEqual([cancelled?.status, bought?.status], [200, 409]);
      assert.equal(credit.status, "listed");
    } else {
      assert.equal(order.status, "matched");
      assert.deepEqual([cancelled?.status, bought?.status], [409, 201]);
      assert.equal(credit.status, "reserved");
    }
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(countEach(ended))));
  await assertOrdersSound(service);
});

test("of a concurrent expiry and match of one order exactly one wins, and no order is dealt after its expiry", async (t) => {
  const { service } = await twoNodes(t);
  const random = startRandom(t);
  const rounds = 10;
  const seller = await dealer(
    service,
    Array.from({ length: rounds }, () => ({})),
  );
  const buyer = await dealer(service, []);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: face };
  const ended: string[] = [];
  for (const [n, scripNo] of seller.scripNos.entries()) {
    const expiresAt = new Date(service.clock.now().getTime() + 60_000);
    const sell = {
      side: "sell",
      scrip_no: scripNo,
      limit_bps: 9_800,
      time_in_force: "GTD",
      expires_at: expiresAt.toISOString(),
    };
    const { body } = await seller.post("/v1/orders", sell, 201);
    const isOver = n % 2 === 0;
    if (isOver) service.clock.set(expiresAt);
    const [bought] = await Promise.all([
      buyer.post("/v1/orders", wanted, 0),
      // Turned while the buyer's order is on its way, somewhere.
      (async () => {
        await sleep(random.below(60));
        service.clock.set(expiresAt);
        while ((await expireOrders(service.ctx)) === "more");
      })(),
    ]);
    const order = await seller.read(body.order_id);
    ended.push(order.status);
    assert.equal(order.status, bought.status === 201 ? "matched" : "expired");
    if (isOver) assert.equal(order.status, "expired");
    assert.equal(
      (await seller.credit(scripNo)).status,
      bought.status === 201 ? "reserved" : "listed",
    );
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(countEach(ended))));
  await assertOrdersSound(service);
});

/** A pool on a database of its own, with what a naive service would keep. */
async function naiveDesk(t: TestContext): Promise<pg.Pool> {
  const { connection } = await testDatabase(t);
  const pool = new pg.Pool({ ...connection, max: 16 });
  pool.on("error", () => {}); // A connection may outlive the pool until its database is dropped.
  await pool.query("create table naive_orders (idempotency_key text)");
  await pool.query("create table naive_credits (scrip_no text primary key, state text, sales int)");
  await pool.query("insert into naive_credits values ('C1', 'listed', 0), ('C2', 'listed', 0)");
  return pool;
}

// In these controls everybody has read, or has a first lock, before anybody goes on, so that the outcome
// is certain.

test("control: select then insert makes several orders of one key", async (t) => {
  const pool = await naiveDesk(t);
  const callers = Array.from({ length: parallel });
  const find = () => pool.query("select from naive_orders where idempotency_key = 'one'");
  const found = await Promise.all(callers.map(find));
  const without = found.filter(({ rowCount }) => rowCount === 0);
  const insert = () => pool.query("insert into naive_orders values ('one')");
  await Promise.all(without.map(insert));
  const { rowCount } = await pool.query("select from naive_orders");
  await pool.end();
  assert.equal(rowCount, parallel);
});

test("control: read, check, then update sells a credit several times", async (t) => {
  const pool = await naiveDesk(t);
  const callers = Array.from({ length: parallel });
  const read = () => pool.query("select state from naive_credits where scrip_no = 'C1'");
  const listed = (await Promise.all(callers.map(read))).filter(({ rows: [row] }) => {
    return row.state === "listed";
  });
  const sell = () =>
    pool.query("update naive_credits set state = 'sold', sales = sales + 1 where scrip_no = 'C1'");
  await Promise.all(listed.map(sell));
  const { rows } = await pool.query("select sales from naive_credits where scrip_no = 'C1'");
  await pool.end();
  assert.equal(rows[0].sales, parallel);
});

test("control: a cancel and a match that check before they write both win", async (t) => {
  const pool = await naiveDesk(t);
  const read = () => pool.query("select state from naive_credits where scrip_no = 'C1'");
  const seen = await Promise.all([read(), read()]);
  const moves = ["cancelled", "matched"].filter((_, at) => seen[at]?.rows[0].state === "listed");
  const won = await Promise.all(
    moves.map(async (to) => {
      const move = "update naive_credits set state = $1 where scrip_no = 'C1'";
      return (await pool.query(move, [to])).rowCount;
    }),
  );
  await pool.end();
  assert.deepEqual(won, [1, 1]);
});

test("control: batches that lock in the given order deadlock", async (t) => {
  const pool = await naiveDesk(t);
  const lock = "select from naive_credits where scrip_no = $1 for update";
  const begin = async (first: string) => {
    const client = await pool.connect();
    await client.query("begin");
    await client.query(lock, [first]);
    return client;
  };
  const lockLast = async (client: pg.PoolClient, last: string) => {
    try {
      await client.query(lock, [last]);
      await client.query("commit");
      return "";
    } catch (error) {
      await client.query("rollback");
      return error instanceof pg.DatabaseError ? error.code : "fault";
    } finally {
      client.release();
    }
  };
  const rising = await begin("C1");
  const falling = await begin("C2");
  const codes = await Promise.all([lockLast(rising, "C2"), lockLast(falling, "C1")]);
  await pool.end();
  assert.deepEqual(codes.toSorted(), ["", "40P01"]);
});

// What becomes of orders while they rest, and of callers while they wait.

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { OfferSource } from "../../src/trading/book.ts";
import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import type { RegistryNews } from "../../src/credits/rules.ts";
import { operator } from "../../src/kernel/actor.ts";
import { offerSources } from "../../src/hooks.ts";
import { asOwner } from "../support/database.ts";
import { putCard, setTaken } from "../support/dealing-house.ts";
import { addFirm } from "../support/holdings.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { holdRow } from "../support/locks.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { someoneWaits } from "../support/poison.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";

const face = 25_000_000;
const cover = { side: "buy", scheme: "RODTEP", requirement_paise: face };

async function restSell({ post, scripNo }: Dealer, over: object = {}): Promise<Answer["body"]> {
  const body = { side: "sell", scrip_no: scripNo, limit_bps: 9_800, ...over };
  return (await post("/v1/orders", body, 201)).body;
}

/** Holds the matching of the sandbox, as a set does, until it is let go. */
async function holdMatching({ ctx }: Service): Promise<() => Promise<void>> {
  const client = await ctx.db.pool.connect();
  await client.query("begin");
  await client.query("select from match_locks where environment = 'sandbox' for update");
  return async () => {
    await client.query("rollback");
    client.release();
  };
}

async function tell({ ctx }: Service, scripNo: string, news: RegistryNews): Promise<void> {
  const told = [{ scripNo, news, reason: "a test" }];
  const [result] = await applyRegistryNews(ctx, operator, {
    environment: "sandbox",
    news: told,
    onLost: [],
  });
  assert.ok(result?.ok, result?.problem ?? "");
}

test("an order past its expiry is not dealt, even before a worker ends it", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  const until = (seconds: number) => ({
    time_in_force: "GTD",
    expires_at: new Date(service.clock.now().getTime() + seconds * 1_000).toISOString(),
  });
  const buyer = await dealer(service, []);

  await t.test("a sell that a buy or a quote would take", async () => {
    const seller = await dealer(service);
    const { order_id } = await restSell(seller, until(60));
    const { body: quote } = await buyer.post("/v1/quote", cover, 200);
    service.clock.advance({ seconds: 60 });
    await buyer.post("/v1/orders", cover, 409);
    await buyer.post("/v1/orders", { quote_ref: quote.quote_ref }, 409);
    assert.equal((await seller.read(order_id)).status, "open");
    await service.work();
    assert.equal((await seller.read(order_id)).status, "expired");
  });

  await t.test("a buy that a sell would meet", async () => {
    const seller = await dealer(service);
    const buy = { ...cover, limit_bps: 9_840, ...until(60) };
    const { body } = await buyer.post("/v1/orders", buy, 201);
    service.clock.advance({ seconds: 60 });
    const sell = { side: "sell", scrip_no: seller.scripNo };
    const sold = await seller.post("/v1/orders", sell, 201);
    assert.equal(sold.body.price_bps, 9_765, "the house bought it");
    assert.equal((await buyer.read(body.order_id)).status, "open");
  });
});

test("a resting sell is offered exactly while its firm may trade", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const seller = await dealer(service);
  const buyer = await dealer(service, []);
  const { order_id } = await restSell(seller);
  const firm = async (action: string) =>
    await seller.post(`/v1/firms/${seller.firmId}/${action}`, { reason: "a pause" }, 200);
  await buyer.post("/v1/quote", cover, 200);
  await firm("suspend");
  for (const { send } of [service, beside]) {
    await send("POST", "/v1/orders", { key: buyer.key, body: cover, expect: 409 });
    const { body } = await send("POST", "/v1/quote", { key: buyer.key, body: cover, expect: 200 });
    assert.equal(body.no_quote, true);
  }
  await service.work();
  assert.equal((await seller.read(order_id)).status, "open");
  await seller.post(`/v1/firms/${seller.firmId}/resume`, {}, 200);
  const resting = { ...cover, limit_bps: 9_830, client_ref: "waits" };
  await service.send("POST", "/v1/orders", { key: buyer.key, body: resting, expect: 201 });
  assert.equal((await seller.read(order_id)).status, "matched");
  await assertOrdersSound(service);
});

test("resting orders match when a firm may trade again, without another event", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service);
  const buyer = await dealer(service, []);
  const { order_id } = await restSell(seller);
  await seller.post(`/v1/firms/${seller.firmId}/suspend`, { reason: "a pause" }, 200);
  await buyer.post("/v1/orders", { ...cover, limit_bps: 9_830 }, 201);
  await service.work();
  assert.equal((await seller.read(order_id)).status, "open");
  await seller.post(`/v1/firms/${seller.firmId}/resume`, {}, 200);
  service.clock.advance({ seconds: 10 });
  await service.work();
  assert.equal((await seller.read(order_id)).status, "matched");
  await assertOrdersSound(service);
});

test("many resting sells of a suspended firm hide no other offers", async (t) => {
  const service = await startService(t);
  const seller = await dealer(
    service,
    Array.from({ length: 40 }, (_, n) => ({ facePaise: face - n })),
  );
  const other = await dealer(service, [{ facePaise: face - 100 }]);
  const buyer = await dealer(service, []);
  const orders = seller.scripNos.map((scripNo) => ({
    side: "sell",
    scrip_no: scripNo,
    limit_bps: 9_800,
  }));
  await seller.post("/v1/orders:batch", { orders }, 200);
  await restSell(other);
  await buyer.post("/v1/quote", cover, 200);
  await seller.post(`/v1/firms/${seller.firmId}/suspend`, { reason: "a pause" }, 200);
  const { body } = await buyer.post("/v1/orders", cover, 201);
  assert.deepEqual(body.scrip_nos, other.scripNos);
  await assertOrdersSound(service);
});

test("a resting sell follows its credit", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  const buyer = await dealer(service, []);

  await t.test(
    "a suspended credit's sell rests without being offered, and is offered when lifted",
    async () => {
      const seller = await dealer(service);
      const { order_id } = await restSell(seller);
      await buyer.post("/v1/quote", cover, 200);
      await tell(service, seller.scripNo, "suspend");
      await buyer.post("/v1/orders", cover, 409);
      await service.work();
      assert.equal((await seller.read(order_id)).status, "open");
      await tell(service, seller.scripNo, "lift");
      const { body } = await buyer.post("/v1/orders", cover, 201);
      assert.deepEqual(body.scrip_nos, seller.scripNos);
      assert.equal((await seller.read(order_id)).status, "matched");
    },
  );

  await t.test("the same holds while an old transaction holds the book's horizon", async () => {
    const old = await service.ctx.db.pool.connect();
    try {
      await old.query("begin");
      await old.query("select pg_current_xact_id()");
      const seller = await dealer(service);
      await restSell(seller);
      await tell(service, seller.scripNo, "suspend");
      await buyer.post("/v1/orders", cover, 409);
      await buyer.post("/v1/orders", cover, 409);
      await tell(service, seller.scripNo, "lift");
      const { body } = await buyer.post("/v1/orders", cover, 201);
      assert.deepEqual(body.scrip_nos, seller.scripNos);
    } finally {
      await old.query("rollback");
      old.release();
    }
  });

  for (const news of ["cancel", "use"] as const) {
    await t.test(
      `an order whose credit customs ends (${news}) ends and releases its other credits`,
      async () => {
        const seller = await dealer(service, [{}, { facePaise: 3_000_000 }]);
        const body = {
          side: "sell",
          scheme: "RODTEP",
          face_paise: 28_000_000,
          firm_id: seller.firmId,
          limit_bps: 9_960,
        };
        const { body: order } = await seller.post("/v1/orders", body, 201);
        assert.equal(order.status, "open");
        await tell(service, seller.scripNos[0] ?? "", news);
        await service.work();
        const ended = await seller.read(order.order_id);
        assert.equal(ended.status, "cancelled");
        assert.equal(ended.history.at(-1).reason, "credit_gone");
        assert.equal((await seller.credit(seller.scripNos[1] ?? "")).status, "listed");
      },
    );
  }

  await t.test("an order whose credit is suspended and then ended, ends", async () => {
    const seller = await dealer(service);
    const { order_id } = await restSell(seller, { limit_bps: 9_960 });
    await tell(service, seller.scripNo, "suspend");
    await tell(service, seller.scripNo, "cancel");
    await service.work();
    assert.equal((await seller.read(order_id)).status, "cancelled");
  });

  await t.test("an order whose credit lapses ends, and the credit expires", async () => {
    const seller = await dealer(service, [{ expiresOn: "2027-01-20" }]);
    const { order_id } = await restSell(seller, { limit_bps: 9_960 });
    service.clock.set(new Date("2027-01-20T18:29:59Z"));
    await service.work();
    assert.equal((await seller.read(order_id)).status, "open");
    service.clock.advance({ seconds: 1 });
    await service.work();
    assert.equal((await seller.read(order_id)).history.at(-1).reason, "credit_gone");
    await service.work();
    assert.equal((await seller.credit(seller.scripNo)).status, "expired");
  });
});

test("an order beyond the house's limit of one day is taken the next day", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service);
  const { order_id } = await restSell(seller);
  await setTaken(service, 1_000_000_000_000);
  await putCard(service, { mid_bps: 9_890 });
  await service.work();
  assert.equal((await seller.read(order_id)).status, "open");
  service.clock.set(new Date("2026-11-15T18:30:00Z"));
  await service.work();
  assert.equal((await seller.read(order_id)).status, "matched");
  await assertOrdersSound(service);
});

test("of resting buys at one price the first of a batch is served first", async (t) => {
  const service = await startService(t);
  const buyer = await dealer(service, []);
  const count = 12;
  const orders = Array.from({ length: count }, (_, n) => ({
    ...cover,
    limit_bps: 9_830,
    client_ref: `${n}`,
  }));
  const { body } = await buyer.post("/v1/orders:batch", { orders }, 200);
  const placed: string[] = body.results.map(({ order }: Answer["body"]) => order.order_id);
  const seller = await dealer(service, [{}]);
  await seller.post("/v1/orders", { side: "sell", scrip_no: seller.scripNo }, 201);
  const states = await Promise.all(placed.map(async (id) => (await buyer.read(id)).status));
  assert.deepEqual(states, ["matched", ...Array.from({ length: count - 1 }, () => "open")]);
});

test("a replayed order shows the effect of earlier orders in its batch", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service);
  const headers = { "idempotency-key": "rests" };
  const sell = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_800 };
  await seller.post("/v1/orders", sell, 201, headers);
  const { body } = await seller.post(
    "/v1/orders:batch",
    { orders: [cover, { ...sell, idempotency_key: "rests" }] },
    200,
  );
  assert.deepEqual(
    body.results.map(({ status, order }: Answer["body"]) => [status, order.status]),
    [
      [201, "matched"],
      [200, "matched"],
    ],
  );
  assert.equal(body.results[1].order.settlement_status, body.results[0].order.settlement_status);
  await assertOrdersSound(service);
});

test("a quote that is valid when its order arrives is honoured after any wait", async (t) => {
  const arrived = new EventEmitter();
  const service = await startService(t, {
    routes: (app) =>
      app.addHook("preHandler", (_request, _reply, next) => {
        next();
        arrived.emit("call"); // The handler has begun, and so looked at the clock.
      }),
  });
  const { post, scripNo } = await dealer(service);
  const { body: quote } = await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200);
  const letGo = await holdMatching(service);
  const first = post("/v1/orders", { side: "sell", scrip_no: "NOSUCH0001" }, 404);
  await someoneWaits(service);
  const call = once(arrived, "call");
  const ordered = post("/v1/orders", { quote_ref: quote.quote_ref }, 201);
  await call;
  service.clock.advance({ seconds: 121 });
  await letGo();
  await Promise.all([ordered, first]);
});

test("an order that waits too long for the matching gets a retryable answer and stores nothing", async (t) => {
  const service = await startService(t);
  const { post, scripNos, list } = await dealer(service, [{}, {}, {}]);
  const order = (n: number) => ({ side: "sell", scrip_no: scripNos[n], limit_bps: 9_900 });
  const { body: resting } = await post("/v1/orders", order(0), 201);
  const letGo = await holdMatching(service);
  const answers = await Promise.all([
    post("/v1/orders", order(1), 500),
    post("/v1/orders", order(1), 500),
    post("/v1/orders:batch", { orders: [order(2)] }, 500),
    post(`/v1/orders/${resting.order_id}/cancel`, {}, 500),
  ]);
  await letGo();
  for (const answer of answers) {
    assert.equal(readSlug(answer), "internal");
    assert.equal(answer.headers.get("retry-after"), null);
  }
  assert.equal((await list("")).length, 1);
  await post("/v1/orders", order(1), 201);
  await post(`/v1/orders/${resting.order_id}/cancel`, {}, 200);
  await assertOrdersSound(service);
});

test("hundreds of concurrent cancels and buys are all answered", async (t) => {
  const service = await startService(t);
  const count = 300;
  const seller = await dealer(
    service,
    Array.from({ length: count }, () => ({})),
  );
  const buyer = await dealer(service, []);
  const orders = seller.scripNos.map((scripNo) => ({
    side: "sell",
    scrip_no: scripNo,
    limit_bps: 9_800,
  }));
  const { body } = await seller.post("/v1/orders:batch", { orders }, 200);
  const cancels = body.results.map(
    async ({ order }: Answer["body"]) =>
      await seller.post(`/v1/orders/${order.order_id}/cancel`, {}, 0),
  );
  const buys = Array.from({ length: 40 }, async () => await buyer.post("/v1/orders", cover, 0));
  const answers: Answer[] = await Promise.all([...cancels, ...buys]);
  assert.deepEqual(
    answers.filter(({ status }) => status >= 500).map(({ text }) => text),
    [],
  );
  await assertOrdersSound(service);
});

test("a sub_account key does not see sibling orders under the same idempotency key", async (t) => {
  const service = await startService(t);
  const { key, deskId, post, firmId, scripNo } = await dealer(service);
  const sibling = await addFirm(service, { deskId });
  const child = async (firm: string) =>
    (await mintChild(service, key, { kind: "sub_account", firm_id: firm })).api_key;
  const headers = { "idempotency-key": "shared" };
  const amount = { side: "sell", scheme: "RODTEP", face_paise: face };
  const place = async (as: string, expect: number) =>
    await service.send("POST", "/v1/orders", { key: as, body: amount, headers, expect });
  const own = await child(firmId);
  const { body } = await place(own, 201);
  assert.deepEqual(body.scrip_nos, [scripNo]);
  assert.equal(body.firm_id, firmId);
  // Neither a sibling nor the desk is in the reach of the key: both try to sell, and hold nothing.
  const refused = await place(await child(sibling), 409);
  assert.equal(refused.body.detail.reason, "nothing_to_deliver");
  assert.ok(!refused.text.includes(body.order_id));
  assert.equal((await place(own, 200)).body.order_id, body.order_id);
  const byDesk = await post("/v1/orders", amount, 409, headers);
  assert.equal(byDesk.body.detail.reason, "nothing_to_deliver");
});

test("reads that share their statements show each caller its own orders only", async (t) => {
  const service = await startService(t);
  const desks = await Promise.all([dealer(service, [{}, {}]), dealer(service, [{}, {}])]);
  const callers = await Promise.all(
    desks.map(async ({ key, deskId, firmId, post, scripNos }) => {
      const own = await Promise.all(
        scripNos.map((scrip_no) => post("/v1/orders", { side: "sell", scrip_no }, 201)),
      );
      const orderIds = own.map(({ body }) => body.order_id as string);
      const ofFirm = async (firm_id: string) =>
        (await mintChild(service, key, { kind: "sub_account", firm_id })).api_key;
      return [
        { key, orderIds },
        { key: await ofFirm(firmId), orderIds },
        { key: await ofFirm(await addFirm(service, { deskId })), orderIds: [] },
      ];
    }),
  );
  const all = [...new Set(callers.flat().flatMap(({ orderIds }) => orderIds))];
  assert.equal(all.length, 4);
  const reads = callers.flat().flatMap((caller) =>
    all.map(async (orderId) => {
      const { status, body } = await service.send("GET", `/v1/orders/${orderId}`, caller);
      assert.equal(status, caller.orderIds.includes(orderId) ? 200 : 404);
      if (status === 200) assert.equal(body.order_id, orderId);
    }),
  );
  await Promise.all(reads);
});

test("a sub_account key orders for its own firm only", async (t) => {
  const service = await startService(t);
  const { key, deskId, firmId, scripNo } = await dealer(service);
  const sibling = await addFirm(service, { deskId });
  const minted = await mintChild(service, key, { kind: "sub_account", firm_id: sibling });
  const place = async (body: object, expect: number) =>
    await service.send("POST", "/v1/orders", { key: minted.api_key, body, expect });
  await place({ side: "sell", scrip_no: scripNo }, 404);
  await place({ side: "sell", scheme: "RODTEP", face_paise: face, firm_id: firmId }, 404);
  const { body } = await place({ side: "sell", scheme: "RODTEP", face_paise: face }, 409);
  assert.equal(body.detail.reason, "nothing_to_deliver");
});

test("a quote by amount is delivered by the firm that the order names", async (t) => {
  const service = await startService(t);
  const { post, firmId, scripNo, deskId } = await dealer(service);
  const asked = { side: "sell", scheme: "RODTEP", face_paise: face };
  const { body: quote } = await post("/v1/quote", asked, 200);
  const { quote_ref } = quote;
  const none = await post("/v1/orders", { quote_ref }, 409);
  assert.equal(none.body.detail.reason, "nothing_to_deliver", `the desk ${deskId} holds none`);
  const { body } = await post("/v1/orders", { quote_ref, firm_id: firmId }, 201);
  assert.deepEqual(body.scrip_nos, [scripNo]);
  assert.equal(body.all_in_paise, quote.all_in_paise);
  await assertOrdersSound(service);
});

test("a sell by amount waits for a locked credit and then takes the best bundle", async (t) => {
  const service = await startService(t);
  const { post, firmId, scripNos } = await dealer(service, [
    { facePaise: 20_000_000 },
    { facePaise: 5_000_000 },
    { facePaise: 5_000_000 },
  ]);
  const client = await service.ctx.db.pool.connect();
  await client.query("begin");
  await client.query("select from credits where scrip_no = $1 for update", [scripNos[0]]);
  const amount = { side: "sell", scheme: "RODTEP", face_paise: face, firm_id: firmId };
  const ordered = post("/v1/orders:batch", { orders: [amount, amount] }, 200);
  // Nobody waits for the row itself: the orders are tried again until it is free.
  await sleep(300);
  await client.query("rollback");
  client.release();
  const { results } = (await ordered).body;
  assert.equal(results[0].order.covered_paise, face);
  assert.equal(results[1].order.covered_paise, 5_000_000);
  await assertOrdersSound(service);
});

/** A source of offers that can be made to fail, and to be slow once. */
function brittleSource(): OfferSource & { broken: boolean; pauseMs: number } {
  return {
    broken: false,
    pauseMs: 0,
    isOwn: () => false,
    async *all() {},
    async changes() {
      if (this.broken) throw new Error("a test broke this source");
      const ms = this.pauseMs;
      this.pauseMs = 0;
      if (ms > 0) await sleep(ms);
      return { horizon: "0", changes: [] };
    },
  };
}

test("a set that waited for the book until PostgreSQL ended it is placed again, once", async (t) => {
  const source = brittleSource();
  const service = await startService(t, { sources: [...offerSources, source] });
  await stockHouse(service.ctx, [{ face_paise: face }, { face_paise: face }]);
  const desk = await dealer(service);
  await desk.post("/v1/orders", cover, 201);
  source.pauseMs = 2_500; // The transaction may be idle for 1.5 s with the match lock.
  await desk.post("/v1/orders", cover, 201);
  assert.equal(source.pauseMs, 0, "the book was slow");
  assert.equal((await desk.orders()).length, 2);
  await assertOrdersSound(service);
});

test("an order whose connection is lost before the commit is placed again, once", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service);
  const held = await holdRow(t, service, { table: "firms", where: `firm_id = '${desk.firmId}'` });
  const placing = desk.post("/v1/orders", { side: "sell", scrip_no: desk.scripNo }, 201);
  await held.whenWaiting(1);
  const { rowCount } = await asOwner(service.ctx.db, (owner) =>
    owner.query(
      `select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    ),
  );
  await held.release();
  await placing;
  assert.equal(rowCount, 1);
  assert.equal((await desk.orders()).length, 1);
  await assertOrdersSound(service);
});

test("a batch is answered even when its fresh quotes fail", async (t) => {
  const source = brittleSource();
  const service = await startService(t, { sources: [...offerSources, source] });
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const [one, two] = [await dealer(service), await dealer(service)];
  const { body: quote } = await two.post("/v1/quote", cover, 200);
  await one.post("/v1/orders", cover, 201);
  source.broken = true;
  const orders = [{ side: "sell", scrip_no: two.scripNo }, { quote_ref: quote.quote_ref }];
  const { body } = await two.post("/v1/orders:batch", { orders }, 200);
  assert.deepEqual(
    body.results.map(({ status }: Answer["body"]) => status),
    [201, 409],
  );
  assert.deepEqual(body.results[1].error.detail, { reason: "bundle_gone" });
  await assertOrdersSound(service);
});

test("a batch of 500 orders of every kind is answered item by item", async (t: TestContext) => {
  const service = await startService(t);
  const seller = await dealer(
    service,
    Array.from({ length: 200 }, (_, n) => ({ facePaise: 1_000_000 + n })),
  );
  await stockHouse(
    service.ctx,
    Array.from({ length: 50 }, (_, n) => ({ face_paise: 2_000_000 + n })),
  );
  const { firmId } = seller;
  const quotes = await Promise.all(
    seller.scripNos
      .slice(0, 50)
      .map(
        async (scripNo) => await seller.post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200),
      ),
  );
  const kinds = [
    (n: number) => ({ quote_ref: quotes[n % 50]?.body.quote_ref }),
    (n: number) => ({ side: "sell", scrip_no: seller.scripNos[(n * 7) % 200] }),
    (n: number) => ({ side: "sell", scrip_no: seller.scripNos[(n * 3) % 200], limit_bps: 9_700 }),
    (n: number) => ({ side: "sell", scheme: "RODTEP", face_paise: 3_000_000 + n, firm_id: firmId }),
    (n: number) => ({ side: "buy", scheme: "RODTEP", requirement_paise: 4_000_000 + n }),
    (n: number) => ({ ...cover, requirement_paise: 1_100_000 + n, limit_bps: 9_690 }),
    () => ({ side: "sell", scheme: "ROSCTL" }),
    () => ({ quote_ref: "qte_01jd2m7q4x8r5v6w9y0abcdefg" }),
  ];
  const orders = Array.from({ length: 500 }, (_, n) => kinds[n % kinds.length]?.(n));
  const { body } = await seller.post("/v1/orders:batch", { orders }, 200);
  const statuses = new Set<number>(body.results.map(({ status }: Answer["body"]) => status));
  assert.deepEqual(statuses, new Set([201, 404, 409, 422]));
  assert.equal(body.submitted + body.failed, 500);
  assert.deepEqual(
    body.results.map(({ index }: Answer["body"]) => index),
    orders.map((_, index) => index),
  );
  await service.work();
  await assertOrdersSound(service);
});

test("sells skip a resting buy of a firm that may not trade", async (t) => {
  const service = await startService(t);
  const { post, read, deskId } = await dealer(service, []);
  const firmId = await addFirm(service, { deskId });
  const buy = { ...cover, limit_bps: 9_830, firm_id: firmId };
  const { body } = await post("/v1/orders", buy, 201);
  await post(`/v1/firms/${firmId}/suspend`, { reason: "a pause" }, 200);
  const seller = await dealer(service);
  const sell = { side: "sell", scrip_no: seller.scripNo };
  const sold = await seller.post("/v1/orders", sell, 201);
  assert.equal(sold.body.price_bps, 9_765, "the house bought it");
  assert.equal((await read(body.order_id)).status, "open");
  await assertOrdersSound(service);
});

test("any number of sells above the bid block no sell to the house", async (t) => {
  const service = await startService(t);
  const count = 210;
  const small = await dealer(
    service,
    Array.from({ length: count }, () => ({ facePaise: 100_000 })),
  );
  const large = await dealer(service, [{ facePaise: 300_000_000 }]);
  await putCard(service, { state: "halted" });
  const orders = small.scripNos.map((scripNo) => ({
    side: "sell",
    scrip_no: scripNo,
    limit_bps: 9_700,
  }));
  await small.post("/v1/orders:batch", { orders }, 200);
  const { order_id } = await restSell(large, { limit_bps: 9_790 });
  await putCard(service, {});
  await service.work();
  assert.equal((await large.read(order_id)).status, "matched");
  assert.equal((await small.list("?status=open")).length, count);
  await assertOrdersSound(service);
});

test("a set that fails releases its reservations, and fails no other set", async (t) => {
  const service = await startService(t);
  const [credit] = await stockHouse(service.ctx, [{ face_paise: face }]);
  const [unlucky, lucky] = [await dealer(service, []), await dealer(service, [])];
  await asOwner(service.ctx.db, async (owner) => {
    await owner.query(`
      create function refuse() returns trigger language plpgsql
      as $$ begin raise exception 'a test refuses this'; end $$;
      create trigger refuse before insert on settlements for each row
      when (new.buyer_firm_id = '${unlucky.deskId}') execute function refuse()`);
  });
  await unlucky.post("/v1/orders", cover, 500);
  const [first, second] = await Promise.all([
    unlucky.post("/v1/orders", cover, 0),
    lucky.post("/v1/orders", cover, 0),
  ]);
  assert.ok([409, 500].includes(first.status));
  assert.equal(second.status, 201);
  assert.deepEqual(second.body.scrip_nos, [credit?.scrip_no]);
  assert.equal((await unlucky.orders()).length, 0);
  await assertOrdersSound(service);
});

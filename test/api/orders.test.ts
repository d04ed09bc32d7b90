import assert from "node:assert/strict";
import { test } from "node:test";

import { assertOrdersSound } from "../support/invariants.ts";
import { assertAbsent, checkDoors } from "../support/doors.ts";
import { putCard } from "../support/dealing-house.ts";
import { mintChild } from "../support/keys.ts";
import { stockHouse } from "../support/inventory.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, readSlug, startService } from "../support/service.ts";

const noOrder = "ord_01jd2m7q4x8r5v6w9y0abcdefg";
/** The starting card: 9850 − 45 for the size − 40 for the spread; long-lived. */
const bid = 9_765;
const face = 25_000_000;

const pickReason = ({ body }: Answer): string => body.detail.reason;

test("selling", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));

  await t.test("every order route checks key, scope, rate and body", async (t) => {
    await checkDoors(t, service, [
      {
        method: "POST",
        path: "/v1/orders",
        scope: "orders:write",
        body: { side: "sell", scrip_no: "ABCDEF1234" },
      },
      { method: "POST", path: "/v1/orders:batch", scope: "orders:write", body: { orders: [{}] } },
      { method: "GET", path: "/v1/orders", scope: "orders:read" },
      { method: "GET", path: `/v1/orders/${noOrder}`, scope: "orders:read" },
      { method: "POST", path: `/v1/orders/${noOrder}/cancel`, scope: "orders:write" },
    ]);
  });

  await t.test("an order on a quote deals with the house at its price, once", async () => {
    const { post, scripNo, firmId } = await dealer(service);
    const quote = await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200);
    const { body } = await post("/v1/orders", { quote_ref: quote.body.quote_ref }, 201);
    assert.equal(body.status, "matched");
    assert.equal(body.firm_id, firmId);
    assert.equal(body.price_bps, bid);
    assert.equal(body.all_in_paise, quote.body.all_in_paise);
    assert.equal(body.settlement_status, "transfer_initiated");
    assert.deepEqual(body.scrip_nos, [scripNo]);
    const again = await post("/v1/orders", { quote_ref: quote.body.quote_ref }, 409);
    assert.deepEqual(again.body.detail, { reason: "quote_used", order_id: body.order_id });
  });

  await t.test("a quote is honoured to its last instant, whatever the market does", async () => {
    const { post, scripNo } = await dealer(service);
    const { body: quote } = await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200);
    await putCard(service, { mid_bps: 9_000, state: "halted" });
    service.clock.set(new Date(quote.valid_until));
    const { body } = await post("/v1/orders", { quote_ref: quote.quote_ref }, 201);
    assert.equal(body.price_bps, bid);
    await putCard(service, {});
  });

  await t.test("a quote that has expired is refused and its credit stays free", async () => {
    const { post, scripNo } = await dealer(service);
    const { body: quote } = await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200);
    service.clock.advance({ seconds: 121 });
    assert.equal(
      pickReason(await post("/v1/orders", { quote_ref: quote.quote_ref }, 409)),
      "quote_expired",
    );
    await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
  });

  await t.test("a credit without a limit is sold at the current price, or not at all", async () => {
    const { post, scripNo, orders } = await dealer(service);
    await putCard(service, { state: "halted" });
    const refused = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 409);
    assert.equal(pickReason(refused), "no_price");
    assert.deepEqual(await orders(), []);
    await putCard(service, {});
    const { body } = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
    assert.equal(body.all_in_paise, 24_412_500);
  });

  await t.test("an amount takes the whole credits whose sum is the largest within it", async () => {
    const { post, scripNos, firmId } = await dealer(service, [
      { facePaise: 30_000_000 },
      { facePaise: 50_000_000 },
      { facePaise: 65_000_000 },
      { facePaise: 79_000_000, expiresOn: "2027-06-01" },
    ]);
    const { body } = await post(
      "/v1/orders",
      { side: "sell", scheme: "RODTEP", face_paise: 81_000_000, firm_id: firmId },
      201,
    );
    assert.deepEqual(new Set(body.scrip_nos), new Set(scripNos.slice(0, 2)));
    assert.equal(body.face_paise, 81_000_000);
    assert.equal(body.covered_paise, 80_000_000);
    assert.equal(body.residual_paise, 1_000_000);
    assert.equal(body.all_in_paise, 78_360_000);
  });

  await t.test("an amount that no credit fits is refused", async () => {
    const { post, firmId } = await dealer(service);
    const body = { side: "sell", scheme: "RODTEP", face_paise: 1_000, firm_id: firmId };
    assert.equal(pickReason(await post("/v1/orders", body, 409)), "nothing_to_deliver");
  });

  await t.test(
    "a sell with a limit above the bid rests, reserves its credit and can be cancelled",
    async () => {
      const { post, scripNo, credit } = await dealer(service);
      const order = { side: "sell", scrip_no: scripNo, limit_bps: 9_900, client_ref: "mine" };
      const { body } = await post("/v1/orders", order, 201);
      assert.equal(body.status, "open");
      assert.deepEqual(body.allowed_actions, ["cancel"]);
      assert.equal(body.all_in_paise, null);
      assert.equal((await credit(scripNo)).status, "reserved");
      const second = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 409);
      assert.equal(second.body.detail.credit_status, "reserved");
      const cancelled = await post(`/v1/orders/${body.order_id}/cancel`, {}, 200);
      assert.equal(cancelled.body.status, "cancelled");
      assert.equal(cancelled.body.version, 2);
      assert.equal((await credit(scripNo)).status, "listed");
      const twice = await post(`/v1/orders/${body.order_id}/cancel`, {}, 200);
      assert.deepEqual(twice.body, cancelled.body);
    },
  );

  await t.test("a matched order cannot be cancelled", async () => {
    const { post, scripNo } = await dealer(service);
    const { body } = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201);
    const refused = await post(`/v1/orders/${body.order_id}/cancel`, {}, 409);
    assert.deepEqual(refused.body.detail, {
      reason: "wrong_state",
      state: "matched",
      allowed_actions: [],
    });
  });

  await t.test("an unmatched order that may not rest ends cancelled", async () => {
    const { post, scripNo, credit } = await dealer(service);
    const order = { side: "sell", scrip_no: scripNo, limit_bps: 9_900, time_in_force: "IOC" };
    const { body } = await post("/v1/orders", order, 201);
    assert.equal(body.status, "cancelled");
    assert.equal(body.history.at(-1).reason, "unfilled");
    assert.equal((await credit(scripNo)).status, "listed");
  });

  await t.test("an order rests until its expiry and no longer", async () => {
    const { post, read, scripNo, credit } = await dealer(service);
    const expires = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
    const order = {
      side: "sell",
      scrip_no: scripNo,
      limit_bps: 9_900,
      time_in_force: "GTD",
      expires_at: expires,
    };
    const { body } = await post("/v1/orders", order, 201);
    await service.work();
    assert.equal((await read(body.order_id)).status, "open");
    service.clock.advance({ seconds: 3_600 });
    await service.work();
    assert.equal((await read(body.order_id)).status, "expired");
    assert.equal((await credit(scripNo)).status, "listed");
  });

  await t.test("a new card whose bid reaches a resting sell buys it at its limit", async () => {
    const { post, read, scripNo } = await dealer(service);
    const order = { side: "sell", scrip_no: scripNo, limit_bps: 9_800 };
    const { body } = await post("/v1/orders", order, 201);
    await service.work();
    assert.equal((await read(body.order_id)).status, "open");
    await putCard(service, { mid_bps: 9_890 });
    await service.work();
    const matched = await read(body.order_id);
    assert.equal(matched.status, "matched");
    assert.equal(matched.price_bps, 9_800);
    assert.equal(matched.all_in_paise, 24_500_000);
    await putCard(service, {});
  });

  await t.test("an order acts for a firm of the desk only", async () => {
    const { post, scripNo } = await dealer(service);
    const other = await dealer(service);
    const foreign = { side: "sell", scrip_no: scripNo, firm_id: other.firmId };
    assert.equal((await post("/v1/orders", foreign, 404)).status, 404);
    await assertAbsent([
      other.post("/v1/orders", { side: "sell", scrip_no: scripNo }, 404),
      other.post("/v1/orders", { side: "sell", scrip_no: "NOSUCH0001" }, 404),
    ]);
  });

  await t.test("a firm that may not trade is refused by its state", async () => {
    const { post, scripNo, firmId, key } = await dealer(service);
    const reason = { reason: "test" };
    await service.send("POST", `/v1/firms/${firmId}/suspend`, { key, body: reason, expect: 200 });
    const refused = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 409);
    assert.equal(pickReason(refused), "firm_not_authorized");
  });

  await t.test("a key orders within its limits only", async () => {
    const { scripNos, key } = await dealer(service, [{}, {}]);
    const child = await mintChild(service, key, {
      scopes: ["orders:write"],
      limits: { max_order_paise: face, daily_notional_paise: face + 1 },
    });
    const place = async (scripNo: string | undefined, expect: number) =>
      await service.send("POST", "/v1/orders", {
        key: child.api_key,
        body: { side: "sell", scrip_no: scripNo },
        expect,
      });
    await place(scripNos[0], 201);
    const { body } = await place(scripNos[1], 403);
    assert.deepEqual(body.detail, { reason: "key_limit", limit: "daily_notional_paise" });
    service.clock.advance({ days: 1 });
    await place(scripNos[1], 201);
  });
});

test("over all nodes the house buys no more in a day than its limit, but honours its quotes", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  await putCard(service, { house_limit_paise: 3 * face, desk_share_bps: 10_000 });
  const { key, scripNos, post } = await dealer(
    service,
    Array.from({ length: 12 }, () => ({})),
  );
  const { body: quote } = await post("/v1/quote", { side: "sell", scrip_no: scripNos[11] }, 200);
  const answers = await Promise.all(
    scripNos.slice(0, 10).map(async (scripNo, at) => {
      const { send } = at % 2 === 0 ? service : beside;
      return await send("POST", "/v1/orders", { key, body: { side: "sell", scrip_no: scripNo } });
    }),
  );
  assert.equal(
    answers.filter(({ status }) => status === 201).length,
    2,
    "the quote holds the third",
  );
  assert.equal(answers.filter((answer) => readSlug(answer) === "conflict").length, 8);
  await post("/v1/orders", { quote_ref: quote.quote_ref }, 201);
  service.clock.advance({ days: 1 });
  await post("/v1/orders", { side: "sell", scrip_no: scripNos[10] }, 201);
  await assertOrdersSound(service);
});

test("buying", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  const [a, b, c] = await stockHouse(service.ctx, [
    { face_paise: 100_000_000 },
    { face_paise: 60_000_000 },
    { face_paise: 45_000_000 },
  ]);
  let first: Answer["body"];
  const requirement = { side: "buy", scheme: "RODTEP", requirement_paise: 146_000_000 };

  await t.test("a requirement is covered by the bundle that leaves the least", async () => {
    const { post } = await dealer(service, []);
    first = (await post("/v1/orders", requirement, 201)).body;
    assert.deepEqual(new Set(first.scrip_nos), new Set([a?.scrip_no, c?.scrip_no]));
    assert.equal(first.status, "matched");
    assert.equal(first.covered_paise, 145_000_000);
    assert.equal(first.residual_paise, 1_000_000);
    assert.equal(first.price_bps, 9_905);
    assert.equal(first.all_in_paise, 143_622_500);
    assert.equal(first.savings_paise, 1_377_500);
    assert.equal(first.settlement_status, "pending");
  });

  await t.test("a bought credit is not offered again", async () => {
    const { post } = await dealer(service, []);
    const { body } = await post("/v1/orders", requirement, 201);
    assert.deepEqual(body.scrip_nos, [b?.scrip_no]);
    assert.equal(pickReason(await post("/v1/orders", requirement, 409)), "no_price");
  });

  await t.test(
    "a quoted bundle is bought at its price, or refused with a fresh quote when it is gone",
    async () => {
      await stockHouse(service.ctx, [{ face_paise: 10_000_000 }, { face_paise: 9_000_000 }]);
      const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 10_000_000 };
      const one = await dealer(service, []);
      const two = await dealer(service, []);
      const { body: quote } = await one.post("/v1/quote", wanted, 200);
      const { body: rival } = await two.post("/v1/quote", wanted, 200);
      assert.deepEqual(quote.scrip_nos, rival.scrip_nos);
      const { body: order } = await one.post("/v1/orders", { quote_ref: quote.quote_ref }, 201);
      assert.equal(order.all_in_paise, quote.all_in_paise);
      const gone = await two.post("/v1/orders", { quote_ref: rival.quote_ref }, 409);
      assert.equal(pickReason(gone), "bundle_gone");
      assert.equal(gone.body.detail.quote.covered_paise, 9_000_000);
      await two.post("/v1/orders", { quote_ref: gone.body.detail.quote.quote_ref }, 201);
    },
  );

  await t.test("without the buy side a key does not buy", async () => {
    const { api_key: key } = await service.issue({ buySide: false });
    const answer = await service.send("POST", "/v1/orders", {
      key,
      body: requirement,
      expect: 403,
    });
    assert.equal(readSlug(answer), "forbidden");
  });
});

test("orders of clients match each other", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  const buyer = await dealer(service, []);

  const restSell = async (seller: Dealer, limit: number, at = 0) =>
    (
      await seller.post(
        "/v1/orders",
        { side: "sell", scrip_no: seller.scripNos[at], limit_bps: limit },
        201,
      )
    ).body;

  await t.test("a buyer's cover takes a resting sell, which gets its limit", async () => {
    const seller = await dealer(service);
    const sell = await restSell(seller, 9_800);
    const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: 25_500_000 };
    const { body: buy } = await buyer.post("/v1/orders", wanted, 201);
    assert.deepEqual(buy.scrip_nos, seller.scripNos);
    assert.equal(buy.price_bps, 9_935);
    const sold = await seller.read(sell.order_id);
    assert.equal(sold.status, "matched");
    assert.equal(sold.price_bps, 9_800);
    assert.equal(sold.all_in_paise, 24_500_000);
    assert.equal(sold.settlement_id, buy.settlement_id);
    assert.deepEqual(
      sold.history.map((entry: { status: string }) => entry.status),
      ["open", "matched"],
    );
  });

  await t.test("a resting buy is served before the house, the best price first", async () => {
    const rest = async (limit: number) =>
      (
        await buyer.post(
          "/v1/orders",
          { side: "buy", scheme: "RODTEP", requirement_paise: face, limit_bps: limit },
          201,
        )
      ).body;
    const low = await rest(9_830);
    const high = await rest(9_835);
    const seller = await dealer(service);
    const { body: sell } = await seller.post(
      "/v1/orders",
      { side: "sell", scrip_no: seller.scripNo },
      201,
    );
    assert.equal(sell.price_bps, 9_835 - 20);
    const served = await buyer.read(high.order_id);
    assert.equal(served.status, "matched");
    assert.equal(served.price_bps, 9_835);
    assert.equal((await buyer.read(low.order_id)).status, "open");
    await buyer.post(`/v1/orders/${low.order_id}/cancel`, {}, 200);
  });

  await t.test("firms of one PAN do not deal with each other", async () => {
    const seller = await dealer(service);
    const twin = await dealer(service, [], { pan: seller.pan });
    await restSell(seller, 9_800);
    const wanted = {
      side: "buy",
      scheme: "RODTEP",
      requirement_paise: 25_500_000,
      firm_id: twin.firmId,
    };
    assert.equal(pickReason(await twin.post("/v1/orders", wanted, 409)), "no_price");
    const { body } = await buyer.post("/v1/orders", { ...wanted, firm_id: undefined }, 201);
    assert.deepEqual(body.scrip_nos, seller.scripNos);
  });

  await t.test("the remainder of a buy rests at the price it dealt at", async () => {
    const seller = await dealer(service, [{ facePaise: 20_000_000 }, { facePaise: 4_000_000 }]);
    await restSell(seller, 9_780);
    const { body: buy } = await buyer.post(
      "/v1/orders",
      { side: "buy", scheme: "RODTEP", requirement_paise: 24_000_000, limit_bps: 9_900 },
      201,
    );
    assert.equal(buy.status, "open");
    assert.equal(buy.covered_paise, 20_000_000);
    await seller.post("/v1/orders", { side: "sell", scrip_no: seller.scripNos[1] }, 201);
    const done = await buyer.read(buy.order_id);
    assert.equal(done.status, "matched");
    assert.equal(done.residual_paise, 0);
    assert.equal(done.settlement_ids.length, 2);
    assert.equal(done.all_in_paise, Math.ceil((24_000_000 * done.price_bps) / 10_000));
  });

  await t.test("two resting orders that cross are matched", async () => {
    const seller = await dealer(service);
    await putCard(service, { state: "halted" });
    const sell = await restSell(seller, 9_700);
    const { body: buy } = await buyer.post(
      "/v1/orders",
      { side: "buy", scheme: "RODTEP", requirement_paise: face, limit_bps: 9_750 },
      201,
    );
    await service.work();
    assert.equal((await buyer.read(buy.order_id)).status, "open");
    await putCard(service, { mid_bps: 9_500 });
    await service.work();
    const bought = await buyer.read(buy.order_id);
    assert.equal(bought.status, "matched");
    assert.equal(bought.price_bps, 9_750);
    assert.equal((await seller.read(sell.order_id)).price_bps, 9_700);
    await putCard(service, {});
  });
});

test("an idempotency key", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));

  await t.test("finds its order in its current state", async () => {
    const { post, scripNo } = await dealer(service);
    const order = { side: "sell", scrip_no: scripNo, limit_bps: 9_900 };
    const headers = { "idempotency-key": "k-1" };
    const { body } = await post("/v1/orders", order, 201, headers);
    const again = await post("/v1/orders", order, 200, headers);
    assert.deepEqual(again.body, body);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    await post(`/v1/orders/${body.order_id}/cancel`, {}, 200);
    assert.equal((await post("/v1/orders", order, 200, headers)).body.status, "cancelled");
    const other = await post("/v1/orders", { ...order, limit_bps: 9_901 }, 409, headers);
    assert.deepEqual(other.body.detail, {
      reason: "idempotency_key_reused",
      order_id: body.order_id,
      differs: ["limit_bps"],
    });
  });

  await t.test("is not bound by a refused order", async () => {
    const { post, scripNo } = await dealer(service);
    const headers = { "idempotency-key": "k-2" };
    await post("/v1/orders", { side: "sell", scrip_no: "NOSUCH0001" }, 404, headers);
    await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 201, headers);
  });

  await t.test("of a batch identifies each of its orders", async () => {
    const { post, scripNos, list } = await dealer(service, [{}, {}]);
    const orders = [
      { side: "sell", scrip_no: scripNos[0] },
      { side: "sell", scrip_no: scripNos[1], idempotency_key: "own" },
    ];
    const headers = { "idempotency-key": "batch" };
    const { body } = await post("/v1/orders:batch", { orders }, 200, headers);
    const again = await post("/v1/orders:batch", { orders }, 200, headers);
    assert.deepEqual(
      again.body.results.map((result: Answer["body"]) => [result.status, result.order.order_id]),
      body.results.map((result: Answer["body"]) => [200, result.order.order_id]),
    );
    assert.equal((await list("?idempotency_key=batch%230")).length, 1);
    assert.equal((await list("?idempotency_key=own")).length, 1);
  });

  await t.test("makes one order for concurrent callers", async () => {
    const { post, scripNo, orders } = await dealer(service);
    const order = { side: "sell", scrip_no: scripNo };
    const headers = { "idempotency-key": "k-3" };
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => await post("/v1/orders", order, 0, headers)),
    );
    assert.deepEqual(new Set(answers.map(({ body }) => body.order_id)).size, 1);
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal((await orders()).length, 1);
  });
});

test("a dry run prices an order and stores nothing", async (t) => {
  const service = await startService(t);
  const { post, scripNo, orders, credit } = await dealer(service);
  const headers = { "x-dry-run": "1" };
  const { body } = await post("/v1/orders", { side: "sell", scrip_no: scripNo }, 200, headers);
  assert.equal(body.all_in_paise, 24_412_500);
  assert.deepEqual(await orders(), []);
  assert.equal((await credit(scripNo)).status, "listed");
});

test("a batch", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));

  await t.test("answers each order by itself, the first for a credit wins", async () => {
    const { post, scripNos } = await dealer(service, [{}, {}]);
    const [a, b] = scripNos;
    const orders = [
      { side: "sell", scrip_no: a },
      { side: "sell", scrip_no: a },
      { side: "sell", scrip_no: b, limit_bps: 9_900 },
      { side: "sell" },
      { side: "sell", scrip_no: "NOSUCH0001" },
      { side: "sideways" },
      { side: "sell", scrip_no: a, colour: "red" },
      7,
    ];
    const { body } = await post("/v1/orders:batch", { orders }, 200);
    assert.deepEqual(
      body.results.map(({ index, status }: Answer["body"]) => [index, status]),
      [201, 409, 201, 422, 404, 400, 400, 422].map((status, index) => [index, status]),
    );
    assert.equal(body.results[1].error.code, "conflict");
    assert.equal(body.results[0].error, null);
    assert.deepEqual([body.submitted, body.failed], [2, 6]);
  });

  await t.test("over its limit is refused whole", async () => {
    const { post, orders, scripNo } = await dealer(service);
    const many = Array.from({ length: 501 }, () => ({ side: "sell", scrip_no: scripNo }));
    await post("/v1/orders:batch", { orders: many }, 400);
    assert.deepEqual(await orders(), []);
  });
});

test("orders are listed newest first, by filter and by page", async (t) => {
  const service = await startService(t);
  const { post, list, scripNos, firmId } = await dealer(service, [{}, {}, {}]);
  const placed: string[] = [];
  for (const scripNo of scripNos) {
    service.clock.advance({ seconds: 1 });
    const order = { side: "sell", scrip_no: scripNo, limit_bps: 9_900, client_ref: scripNo };
    placed.unshift((await post("/v1/orders", order, 201)).body.order_id);
  }
  const ids = (rows: Answer["body"][]) => rows.map((row) => row.order_id);
  assert.deepEqual(ids(await list("")), placed);
  assert.deepEqual(ids(await list(`?client_ref=${scripNos[1]}`)), [placed[1]]);
  assert.equal((await list("?status=matched")).length, 0);
  assert.equal((await list(`?firm_id=${firmId}&side=sell&scheme=RODTEP`)).length, 3);
  const from = encodeURIComponent(service.clock.now().toISOString());
  assert.deepEqual(ids(await list(`?from=${from}`)), [placed[0]]);
  assert.deepEqual(ids(await list(`?to=${from}`)), placed.slice(1));
});

test("each change of an order is an event of its desk", async (t) => {
  const service = await startService(t);
  const { post, key, scripNos } = await dealer(service, [{}, {}]);
  await post("/v1/orders", { side: "sell", scrip_no: scripNos[0] }, 201);
  const order = { side: "sell", scrip_no: scripNos[1], limit_bps: 9_900 };
  const { body } = await post("/v1/orders", order, 201);
  await post(`/v1/orders/${body.order_id}/cancel`, {}, 200);
  const { body: told } = await service.send("GET", "/v1/events", { key, expect: 200 });
  const names = told.events.map(({ event }: { event: string }) => event);
  assert.deepEqual(
    names.filter((name: string) => /^(order|settlement)\./.test(name)),
    [
      "order.matched",
      "settlement.created",
      "settlement.transfer_initiated",
      "order.accepted",
      "order.cancelled",
    ],
  );
});

test("an order fails with the last of its settlements", async (t) => {
  const service = await startService(t);
  const { post, read, key, firmId } = await dealer(service, []);
  // The simulated registry refuses a transfer of such a number.
  const credit = {
    scrip_no: "REFUSED0409",
    scheme: "RODTEP",
    face_paise: face,
    issued_on: "2026-01-01",
    expires_on: "2028-01-01",
  };
  await post(`/v1/firms/${firmId}/credits`, { credits: [credit] }, 200);
  const { body } = await post("/v1/orders", { side: "sell", scrip_no: credit.scrip_no }, 201);
  assert.equal(body.status, "matched");
  for (let second = 0; second < 5; second++) {
    service.clock.advance({ seconds: 1 });
    await service.work();
  }
  const failed = await read(body.order_id);
  assert.equal(failed.status, "failed");
  assert.equal(failed.settlement_status, "failed");
  assert.equal(failed.history.at(-1).reason, "settlement_failed");
  assert.deepEqual(failed.allowed_actions, []);
  const told = await service.send("GET", "/v1/events", { key, expect: 200 });
  const last = told.body.events.findLast(({ event }: Answer["body"]) => event === "order.failed");
  assert.deepEqual([last.from, last.to, last.firm_id], ["matched", "failed", firmId]);
  await assertOrdersSound(service);
});

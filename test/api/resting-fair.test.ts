// What rests is big enough to be worth a look, and nobody's resting orders hide another's.

import assert from "node:assert/strict";
import { test } from "node:test";

import { listOfferedSince } from "../../src/trading/resting-store.ts";
import { putCard } from "../support/dealing-house.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, startService } from "../support/service.ts";

const face = 25_000_000;
const floor = 100_000;
const buy = { side: "buy", scheme: "RODTEP" } as const;

function pickReasons({ history }: Answer["body"]): (string | null)[] {
  return history.map(({ reason }: { readonly reason: string | null }) => reason);
}

async function restMany({ post }: Dealer, count: number, order: object): Promise<void> {
  const orders = Array.from({ length: count }, () => ({ ...buy, ...order }));
  const { body } = await post("/v1/orders:batch", { orders }, 200);
  assert.equal(body.submitted, count);
}

test("five hundred small buys of one desk hide no other order", async (t) => {
  const service = await startService(t);
  const [crowd, buyer, seller] = [
    await dealer(service, []),
    await dealer(service, []),
    await dealer(service),
  ];
  await restMany(crowd, 500, { requirement_paise: floor, limit_bps: 9_999 });
  await restMany(crowd, 500, { requirement_paise: floor, limit_bps: 9_999 });
  const wanted = { ...buy, requirement_paise: face, limit_bps: 9_860 };
  const { body: rests } = await buyer.post("/v1/orders", wanted, 201);
  const sell = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_830 };
  const { body: sold } = await seller.post("/v1/orders", sell, 201);
  assert.equal(sold.status, "matched");
  assert.equal(sold.price_bps, 9_840);
  assert.equal((await buyer.read(rests.order_id)).status, "matched");
  await assertOrdersSound(service);
});

test("buys of a suspended firm hide no other order, on its own desk or others", async (t) => {
  const service = await startService(t);
  const [idle, seller] = [await dealer(service, []), await dealer(service)];
  const order = { firm_id: idle.firmId, requirement_paise: 2 * face, limit_bps: 9_870 };
  await restMany(idle, 300, order);
  await restMany(idle, 300, order);
  await idle.post(`/v1/firms/${idle.firmId}/suspend`, { reason: "a pause" }, 200);
  const wanted = { ...buy, requirement_paise: face, limit_bps: 9_860 };
  const { body: rests } = await idle.post("/v1/orders", wanted, 201);
  const sell = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_830 };
  await seller.post("/v1/orders", sell, 201);
  assert.equal((await idle.read(rests.order_id)).status, "matched");
});

test("attractive sells of many suspended firms block no buy", async (t) => {
  const service = await startService(t);
  const buyer = await dealer(service, []);
  const sellers = [];
  for (let at = 0; at < 8; at++) {
    const seller = await dealer(service, [{ facePaise: face + at }]);
    const sell = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_800 };
    await seller.post("/v1/orders", sell, 201);
    sellers.push(seller);
  }
  const [honest] = sellers;
  await buyer.post("/v1/quote", { ...buy, requirement_paise: face }, 200);
  for (const seller of sellers.slice(1)) {
    await seller.post(`/v1/firms/${seller.firmId}/suspend`, { reason: "a pause" }, 200);
  }
  const { body } = await buyer.post("/v1/orders", { ...buy, requirement_paise: face + 7 }, 201);
  assert.deepEqual(body.scrip_nos, honest?.scripNos);
  await assertOrdersSound(service);
});

test("an order below the minimum to rest is refused, unless it does not rest", async (t) => {
  const service = await startService(t);
  const { post, firmId, scripNos } = await dealer(service, [
    { facePaise: floor - 1 },
    { facePaise: floor },
  ]);
  const small = { ...buy, requirement_paise: floor - 1, limit_bps: 9_800 };
  const { body } = await post("/v1/orders", small, 422);
  assert.deepEqual(body.detail.fields, [
    { path: "requirement_paise", problem: `must be at least ${floor} to rest` },
  ]);
  const day = new Date(service.clock.now().getTime() + 86_400_000).toISOString();
  await post("/v1/orders", { ...small, time_in_force: "GTD", expires_at: day }, 422);
  const { body: tried } = await post("/v1/orders", { ...small, time_in_force: "IOC" }, 201);
  assert.deepEqual([tried.status, ...pickReasons(tried)], ["cancelled", "unfilled"]);
  await post("/v1/orders", { ...small, requirement_paise: floor }, 201);
  const sell = { side: "sell", limit_bps: 9_950 };
  const one = await post("/v1/orders", { ...sell, scrip_no: scripNos[0] }, 422);
  assert.equal(one.body.detail.fields[0].path, "scrip_no");
  const amount = { scheme: "RODTEP", face_paise: floor - 1, firm_id: firmId };
  const two = await post("/v1/orders", { ...sell, ...amount }, 422);
  assert.equal(two.body.detail.fields[0].path, "face_paise");
  await post("/v1/orders", { ...sell, scrip_no: scripNos[1] }, 201);
  await putCard(service, { rest_min_paise: 1 });
  await post("/v1/orders", { ...sell, scrip_no: scripNos[0] }, 201);
});

test("a remainder below the minimum is cancelled, with the reason in the history", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  const buyer = await dealer(service, []);

  await t.test("of a buy as it arrives", async () => {
    await stockHouse(service.ctx, [{ face_paise: face }]);
    const wanted = { ...buy, requirement_paise: face + floor - 1, limit_bps: 9_990 };
    const { body } = await buyer.post("/v1/orders", wanted, 201);
    assert.deepEqual([body.status, ...pickReasons(body)], ["matched", "rest_below_minimum"]);
    assert.equal(body.covered_paise, face);
  });

  await t.test("of a buy that rested", async () => {
    const seller = await dealer(service);
    const wanted = { ...buy, requirement_paise: face + floor - 1, limit_bps: 9_860 };
    const { body } = await buyer.post("/v1/orders", wanted, 201);
    await seller.post("/v1/orders", { side: "sell", scrip_no: seller.scripNo }, 201);
    const after = await buyer.read(body.order_id);
    assert.deepEqual(
      [after.status, ...pickReasons(after)],
      ["matched", null, "rest_below_minimum"],
    );
  });

  await t.test("of a sell, whose credits are free again", async () => {
    const faces = [{ facePaise: face }, { facePaise: floor - 1 }];
    const seller = await dealer(service, faces);
    const amount = { side: "sell", scheme: "RODTEP", face_paise: face + floor, limit_bps: 9_850 };
    const { body } = await seller.post("/v1/orders", { ...amount, firm_id: seller.firmId }, 201);
    assert.equal(body.scrip_nos.length, 2);
    await buyer.post("/v1/orders", { ...buy, requirement_paise: face }, 201);
    await service.work();
    const after = await seller.read(body.order_id);
    assert.deepEqual(
      [after.status, ...pickReasons(after)],
      ["matched", null, "rest_below_minimum"],
    );
    assert.equal((await seller.credit(seller.scripNos[1] ?? "")).status, "listed");
  });
});

test("a buy that no whole credit fits is refused with the smallest face on offer", async (t) => {
  const service = await startService(t);
  const { post } = await dealer(service, []);
  const small = { ...buy, requirement_paise: face - 1 };
  assert.equal((await post("/v1/orders", small, 409)).body.detail.reason, "no_price");
  await stockHouse(service.ctx, [{ face_paise: 2 * face }, { face_paise: face }]);
  const { body } = await post("/v1/orders", small, 409);
  assert.deepEqual(body.detail, { reason: "no_cover", smallest_face_paise: face });
  const { body: quote } = await post("/v1/quote", small, 200);
  assert.deepEqual(quote, { no_quote: true, reason: "size_unavailable" });
});

test("a sell whose transaction id is ahead after a restore is not announced forever", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const seller = await dealer(service);
  const { horizon } = await listOfferedSince(db, "sandbox", null);
  const sell = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_830 };
  await seller.post("/v1/orders", sell, 201);
  assert.equal((await listOfferedSince(db, "sandbox", horizon)).rows.length, 1);
  await db.pool.query("update orders set changed_in = '1000000000000'");
  assert.equal((await listOfferedSince(db, "sandbox", horizon)).rows.length, 0);
});

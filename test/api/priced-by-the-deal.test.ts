// A buy is priced by what is dealt: whoever asks for more than is there pays for what there is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";

const face = 4_000_000;
const crore = 1_000_000_000;
/** The starting card: below ₹50,000, and from ₹1 crore on. */
const askOfFace = 9_990;
const askOfCrores = 9_880;

const buy = (requirementPaise: number) => ({
  side: "buy",
  scheme: "RODTEP",
  requirement_paise: requirementPaise,
});

test("a larger requirement does not lower the price of what there is, by quote, order or batch", async (t) => {
  const service = await startService(t);
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const { post } = await dealer(service, []);
  const plain = await post("/v1/quote", buy(face), 200);
  const inflated = await post("/v1/quote", buy(40 * crore), 200);
  assert.equal(plain.body.price_bps, askOfFace);
  assert.equal(inflated.body.price_bps, askOfFace);
  assert.equal(inflated.body.all_in_paise, plain.body.all_in_paise);
  assert.ok(inflated.body.savings_paise > 0);
  const { body: ordered } = await post("/v1/orders", buy(40 * crore), 201);
  assert.equal(ordered.price_bps, askOfFace);
  assert.equal(ordered.all_in_paise, inflated.body.all_in_paise, "to the paisa as quoted");
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const { body: batch } = await post("/v1/orders:batch", { orders: [buy(40 * crore)] }, 200);
  assert.equal(batch.results[0].order.price_bps, askOfFace);
  await assertOrdersSound(service);
});

test("a limit is tested on the price of what is dealt, on arrival and at rest", async (t) => {
  const service = await startService(t);
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const { post, read } = await dealer(service, []);
  const limited = { ...buy(4 * crore), limit_bps: askOfCrores };
  const { body: now } = await post("/v1/orders", { ...limited, time_in_force: "IOC" }, 201);
  assert.equal(now.status, "cancelled", "the credit costs more than the limit");
  const { body: rests } = await post("/v1/orders", limited, 201);
  assert.equal(rests.status, "open");
  const look = async () => {
    service.clock.advance({ seconds: 10 });
    await service.work();
    return await read(rests.order_id);
  };
  assert.equal((await look()).covered_paise, 0);
  await stockHouse(service.ctx, [{ face_paise: crore }]);
  const dealt = await look();
  assert.equal(dealt.covered_paise, crore + face, "together they are worth the limit");
  assert.equal(dealt.price_bps, askOfCrores);
  await assertOrdersSound(service);
});

test("an offer that the price of its own sum pays for is dealt, whatever was asked for", async (t) => {
  const service = await startService(t);
  const { post: sell, scripNo } = await dealer(service, [{ facePaise: face }]);
  // Above what a crore costs, and within what ₹40,000 cost.
  const limitBps = askOfFace - 20;
  await sell("/v1/orders", { side: "sell", scrip_no: scripNo, limit_bps: limitBps }, 201);
  const { post } = await dealer(service, []);
  const { body: quote } = await post("/v1/quote", buy(crore), 200);
  assert.deepEqual([quote.covered_paise, quote.price_bps], [face, askOfFace]);
  const { body: order } = await post("/v1/orders", buy(crore), 201);
  assert.equal(order.all_in_paise, quote.all_in_paise);
  await assertOrdersSound(service);
});

test("an order saves against cash as a quote does", async (t) => {
  const service = await startService(t);
  await stockHouse(service.ctx, [{ face_paise: 900 }]);
  const { post } = await dealer(service, []);
  const { body: quote } = await post("/v1/quote", buy(crore), 200);
  assert.deepEqual(quote, { no_quote: true, reason: "size_unavailable" });
  const { body: refusal } = await post("/v1/orders", buy(crore), 409);
  assert.equal(refusal.detail.reason, "no_price");
});

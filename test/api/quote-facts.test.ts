// A quote binds what it was priced on. Whoever changes that between the quote and the order is told so
// and gets a fresh price; nobody is paid for the difference.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addDays, istDay } from "../../src/kernel/time.ts";
import { addCard } from "../support/cards.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { mintChild } from "../support/keys.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const face = 25_000_000;
const block = 1_234_567_890;

/** Takes a credit out and puts it in again with other facts. */
async function declareAgain(
  service: Service,
  { post, firmId, scripNo }: Dealer,
  facts: { readonly face_paise?: number; readonly daysLeft?: number },
): Promise<void> {
  await post(`/v1/credits/${scripNo}/withdraw`, {}, 200);
  service.clock.advance({ seconds: 1 });
  const today = istDay(service.clock.now());
  const credit = {
    scrip_no: scripNo,
    scheme: "RODTEP",
    face_paise: facts.face_paise ?? face,
    issued_on: addDays(today, -100),
    expires_on: addDays(today, facts.daysLeft ?? 600),
  };
  const { body } = await post(`/v1/firms/${firmId}/credits`, { credits: [credit] }, 200);
  assert.equal(body.results[0].credit?.status, "listed", JSON.stringify(body));
}

function assertChanged({ status, body }: Answer, fresh: Readonly<Record<string, unknown>>): void {
  assert.equal(status, 409, JSON.stringify(body));
  assert.equal(body.detail.reason, "facts_changed");
  for (const [field, value] of Object.entries(fresh)) {
    assert.equal(body.detail.quote[field], value, field);
  }
  assert.match(body.detail.quote.quote_ref, /^qte_/);
}

test("an order on a quote is refused when its offer was cancelled and rests at another price", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: block }]);
  const buyer = await dealer(service, []);
  const rest = { side: "sell", scrip_no: seller.scripNo, time_in_force: "GTC" };
  const { body: cheap } = await seller.post("/v1/orders", { ...rest, limit_bps: 9_830 }, 201);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: block };
  const { body: quote } = await buyer.post("/v1/quote", wanted, 200);
  assert.deepEqual(quote.scrip_nos, [seller.scripNo]);

  await seller.post(`/v1/orders/${cheap.order_id}/cancel`, {}, 200);
  await seller.post("/v1/orders", { ...rest, limit_bps: 10_000 }, 201);
  const dear = await buyer.post("/v1/orders", { quote_ref: quote.quote_ref }, 0);
  assert.equal(dear.status, 409, dear.text);
  assert.equal(dear.body.detail.reason, "facts_changed");
  assert.deepEqual(dear.body.detail.scrip_nos, [seller.scripNo]);
  assert.deepEqual(dear.body.detail.quote, { no_quote: true, reason: "size_unavailable" });
  await assertOrdersSound(service);
});

test("an offer that rests again at the same price is a new offer, which the fresh quote binds", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: block }]);
  const buyer = await dealer(service, []);
  const rest = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_830 };
  const { body: first } = await seller.post("/v1/orders", rest, 201);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: block };
  const { body: quote } = await buyer.post("/v1/quote", wanted, 200);
  await seller.post(`/v1/orders/${first.order_id}/cancel`, {}, 200);
  await seller.post("/v1/orders", rest, 201);
  const refused = await buyer.post("/v1/orders", { quote_ref: quote.quote_ref }, 0);
  assertChanged(refused, { side: "buy", requirement_paise: block, covered_paise: block });
  const { quote_ref } = refused.body.detail.quote;
  const { body: order } = await buyer.post("/v1/orders", { quote_ref }, 201);
  assert.deepEqual(order.scrip_nos, [seller.scripNo]);
  await assertOrdersSound(service);
});

test("a credit declared again with another face gets a fresh quote", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service);
  for (const face_paise of [2 * face, face / 2]) {
    const wanted = { side: "sell", scrip_no: seller.scripNo };
    const { body: quote } = await seller.post("/v1/quote", wanted, 200);
    await declareAgain(service, seller, { face_paise });
    const refused = await seller.post("/v1/orders", { quote_ref: quote.quote_ref }, 0);
    assertChanged(refused, { side: "sell", scrip_no: seller.scripNo, face_paise });
    assert.equal((await seller.orders()).length, 0);
  }
  await assertOrdersSound(service);
});

test("a credit declared again with an earlier expiry gets a fresh quote", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service);
  const wanted = { side: "sell", scrip_no: seller.scripNo };
  const { body: quote } = await seller.post("/v1/quote", wanted, 200);
  await declareAgain(service, seller, { daysLeft: 34 });
  const refused = await seller.post("/v1/orders", { quote_ref: quote.quote_ref }, 0);
  assertChanged(refused, { face_paise: face });
  const { price_bps, quote_ref } = refused.body.detail.quote;
  assert.ok(price_bps < quote.price_bps, "a shorter life is worth less");
  const { body: order } = await seller.post("/v1/orders", { quote_ref }, 201);
  assert.equal(order.price_bps, price_bps);
  await assertOrdersSound(service);
});

test("in a batch only the order on a changed quote is refused", async (t) => {
  const service = await startService(t);
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const seller = await dealer(service, [{}, {}, {}]);
  const [, second = "", third = ""] = seller.scripNos;
  const wanted = { side: "sell", scrip_no: seller.scripNo };
  const { body: quote } = await seller.post("/v1/quote", wanted, 200);
  await declareAgain(service, seller, { face_paise: 2 * face });
  const orders = [
    { side: "sell", scrip_no: second },
    { quote_ref: quote.quote_ref },
    { side: "sell", scrip_no: third },
    { side: "buy", scheme: "RODTEP", requirement_paise: face, firm_id: seller.firmId },
  ];
  const { body } = await seller.post("/v1/orders:batch", { orders }, 200);
  const statuses = body.results.map((result: Answer["body"]) => result.status);
  assert.deepEqual(statuses, [201, 409, 201, 201]);
  const { detail } = body.results[1].error;
  assert.equal(detail.reason, "facts_changed");
  assert.equal(detail.quote.face_paise, 2 * face);
  await assertOrdersSound(service);
});

test("an order on a quote is refused when a credit of the house came back with another expiry", async (t) => {
  const service = await startService(t);
  const [credit] = await stockHouse(service.ctx, [{ face_paise: face }]);
  const scripNo = credit?.scrip_no ?? "";
  const buyer = await dealer(service, []);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: face };
  const { body: quote } = await buyer.post("/v1/quote", wanted, 200);
  const expiresOn = addDays(istDay(service.clock.now()), 40);
  await service.ctx.db.pool.query(
    "update credits set expires_on = $2, changed_in = pg_current_xact_id() where scrip_no = $1",
    [scripNo, expiresOn],
  );
  const refused = await buyer.post("/v1/orders", { quote_ref: quote.quote_ref }, 0);
  assertChanged(refused, { side: "buy", covered_paise: face });
  assert.deepEqual(refused.body.detail.scrip_nos, [scripNo]);
  await assertOrdersSound(service);
});

test("an order on a quote is refused when its credit went from the seller to the house", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: face }]);
  const buyer = await dealer(service, []);
  const sale = { side: "sell", scrip_no: seller.scripNo };
  const { body: rested } = await seller.post("/v1/orders", { ...sale, limit_bps: 9_800 }, 201);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: face };
  const { body: quote } = await buyer.post("/v1/quote", wanted, 200);
  await seller.post(`/v1/orders/${rested.order_id}/cancel`, {}, 200);
  await seller.post("/v1/orders", sale, 201);
  service.clock.advance({ seconds: 10 });
  await service.work();
  const refused = await buyer.post("/v1/orders", { quote_ref: quote.quote_ref }, 0);
  assertChanged(refused, { scheme: "RODTEP", covered_paise: face });
  await assertOrdersSound(service);
});

test("the price of a large amount is not paid for a small one", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: 600_000_000 }, { facePaise: 4_000_000 }]);
  const [large = ""] = seller.scripNos;
  const amount = { side: "sell", scheme: "RODTEP", face_paise: 700_000_000 };
  const { body: quote } = await seller.post("/v1/quote", amount, 200);
  await seller.post(`/v1/credits/${large}/withdraw`, {}, 200);
  const body = { quote_ref: quote.quote_ref, firm_id: seller.firmId };
  const refused = await seller.post("/v1/orders", body, 0);
  assertChanged(refused, { side: "sell", scheme: "RODTEP", face_paise: 4_000_000 });
  assert.equal(refused.body.detail.deliverable_paise, 4_000_000);
  const { price_bps, quote_ref } = refused.body.detail.quote;
  assert.ok(price_bps < quote.price_bps);
  const fresh = { quote_ref, firm_id: seller.firmId };
  const { body: order } = await seller.post("/v1/orders", fresh, 201);
  assert.equal(order.price_bps, price_bps);
  await assertOrdersSound(service);
});

test("a quote by amount holds for a smaller delivery of the same band, even when the card changes", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service, [{ facePaise: 600_000_000 }]);
  const amount = { side: "sell", scheme: "RODTEP", face_paise: 700_000_000 };
  const { body: quote } = await seller.post("/v1/quote", amount, 200);
  await addCard(service, { midBps: 9_000 });
  const body = { quote_ref: quote.quote_ref, firm_id: seller.firmId };
  const { body: order } = await seller.post("/v1/orders", body, 201);
  assert.equal(order.price_bps, quote.price_bps);
  assert.equal(order.covered_paise, 600_000_000);
  await assertOrdersSound(service);
});

test("a quote without stored facts gets a fresh quote", async (t) => {
  const service = await startService(t);
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const seller = await dealer(service);
  const wanted = [
    { side: "sell", scrip_no: seller.scripNo },
    { side: "sell", scheme: "RODTEP", face_paise: face },
    { side: "buy", scheme: "RODTEP", requirement_paise: face },
  ];
  for (const request of wanted) {
    const { body: quote } = await seller.post("/v1/quote", request, 200);
    await service.ctx.db.pool.query(
      `update quotes
      set credit_id = null, expires_on = null, face_min_paise = null, days_left_min = null,
        offers = null
      where quote_ref = $1`,
      [quote.quote_ref],
    );
    const body = { quote_ref: quote.quote_ref, firm_id: seller.firmId };
    assertChanged(await seller.post("/v1/orders", body, 0), request);
  }
  assert.equal((await seller.orders()).length, 0);
});

test("rounding never makes a buyer pay less for a credit than its seller gets", async (t) => {
  const service = await startService(t);
  const limit = 9_800;
  const { api_key: key } = await service.issue();
  await stockHouse(service.ctx, [{ face_paise: 70_000_000 }]);
  const probe = { side: "buy", scheme: "RODTEP", requirement_paise: 70_000_001 };
  const { body: ask } = await service.send("POST", "/v1/quote", { key, body: probe, expect: 200 });
  // With this face before it, one more paisa of face costs the buyer nothing and pays the seller one.
  let large = 60_000_000;
  const added = (bps: number, round: "ceil" | "floor") =>
    Math[round](((large + 1) * bps) / 10_000) - Math[round]((large * bps) / 10_000);
  while (added(ask.price_bps, "ceil") !== 0 || added(limit, "floor") !== 1) large++;

  const seller = await dealer(service, [
    { facePaise: large, expiresOn: "2028-09-01" },
    { facePaise: 1, expiresOn: "2028-09-02" },
  ]);
  const buyer = await dealer(service, []);
  const amount = { side: "sell", scheme: "RODTEP", face_paise: large + 1, firm_id: seller.firmId };
  await seller.post("/v1/orders", { ...amount, limit_bps: limit }, 201);
  const wanted = { side: "buy", scheme: "RODTEP", requirement_paise: large + 1 };
  const { body: quote } = await buyer.post("/v1/quote", wanted, 200);
  assert.deepEqual(quote.scrip_nos, seller.scripNos.slice(0, 1));
  const { body: order } = await buyer.post("/v1/orders", wanted, 201);
  assert.deepEqual(order.scrip_nos, seller.scripNos.slice(0, 1));
  await assertOrdersSound(service);
});

test("a quote for a client is usable for that client only, by any key of its desk", async (t) => {
  const service = await startService(t);
  const { key, deskId, firmId, post } = await dealer(service);
  const sibling = await addFirm(service, { deskId });
  await addCredits(service, deskId, [
    {
      firmId: sibling,
      scheme: "RODTEP",
      facePaise: face,
      expiresOn: "2028-10-01",
      state: "listed",
    },
  ]);
  const client = await mintChild(service, key, { kind: "sub_account", firm_id: firmId });
  const wanted = { side: "sell", scheme: "RODTEP", face_paise: face };
  const { body: quote } = await service.send("POST", "/v1/quote", {
    key: client.api_key,
    body: wanted,
    expect: 200,
  });
  const use = { quote_ref: quote.quote_ref };
  await post("/v1/orders", { ...use, firm_id: sibling }, 422);
  const { body: order } = await post("/v1/orders", use, 201);
  assert.equal(order.firm_id, firmId);

  const { body: general } = await post("/v1/quote", wanted, 200);
  const forSibling = { quote_ref: general.quote_ref, firm_id: sibling };
  assert.equal((await post("/v1/orders", forSibling, 201)).body.firm_id, sibling);
});

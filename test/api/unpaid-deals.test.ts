// Who lets a deal fail for want of money buys with money that is there, whichever firm of its PAN asks.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { setPlan } from "../../src/access/plans.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { liftUnpaid, listUnpaidDeals } from "../../src/settlement/unpaid-deals.ts";
import { putCard } from "../support/dealing-house.ts";
import { addFirm } from "../support/holdings.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const environment = "live";
const face = 25_000_000;
const crore = 1_000_000_000;
const pan = "AAPCT4321K";
const asha = { kind: "operator", id: "asha", requestId: null } as const;

const buy = (firm: Pick<Dealer, "firmId">, requirementPaise = face) => ({
  side: "buy",
  scheme: "RODTEP",
  requirement_paise: requirementPaise,
  firm_id: firm.firmId,
});

/** A live market with these many credits of the house on its shelf. */
async function startMarket(t: TestContext, credits: number): Promise<Service> {
  const service = await startService(t);
  await putCard(service, { environment });
  const shelf = Array.from({ length: credits }, () => ({ face_paise: face }));
  await stockHouse(service.ctx, shelf, environment);
  return service;
}

/** Long enough for a deal to end unpaid, and less than the memory of that. */
async function letFail(service: Service): Promise<void> {
  service.clock.advance({ days: 6 });
  await service.work();
}

async function refuse(firm: Dealer, body: object = buy(firm)): Promise<void> {
  const { body: refused } = await firm.post("/v1/orders", body, 409);
  assert.deepEqual(refused.detail, { reason: "funds_first" }, "neither why nor until when");
}

async function payIn({ ctx }: Service, firmId: string, paise: number): Promise<void> {
  const reference = `UTIB${String(paise).padStart(18, "0")}`;
  await addDeposit(ctx, asha, { environment, firmId, paise, reference });
}

test("whoever takes the whole shelf without a rupee does so once, by any firm of its PAN", async (t) => {
  const service = await startMarket(t, 3);
  const thief = await dealer(service, [], { environment, pan });
  const wanted = buy(thief, 400 * crore);
  const { body: taken } = await thief.post("/v1/orders", wanted, 201);
  assert.equal(taken.covered_paise, 3 * face, "the whole shelf");
  await letFail(service);
  assert.equal((await thief.read(taken.order_id)).status, "failed");
  await refuse(thief, wanted);
  const { body: quote } = await thief.post("/v1/quote", { ...wanted, firm_id: undefined }, 200);
  assert.ok(quote.price_bps > 0, "a price is still told");
  const sibling = await dealer(service, [], { environment, pan });
  await refuse(sibling);
  await refuse(sibling, { ...buy(sibling), limit_bps: 9_990 });
  const another = {
    ...thief,
    firmId: await addFirm(service, { deskId: thief.deskId, environment }),
  };
  await another.post("/v1/orders", buy(another), 201);
  await payIn(service, sibling.firmId, face);
  const { body: paid } = await sibling.post("/v1/orders", buy(sibling), 201);
  assert.equal(paid.settlement_status, "funded");
  await refuse(sibling);
  await assertOrdersSound(service);
});

test("a firm keeps its PAN while a deal of it waits for money, so that the memory finds it", async (t) => {
  const service = await startMarket(t, 2);
  const thief = await dealer(service, [], { environment, pan });
  const rename = async (body: object, expect: number) =>
    await service.send("PATCH", `/v1/firms/${thief.firmId}`, { key: thief.key, body, expect });
  await thief.post("/v1/orders", buy(thief), 201);
  const another = { pan: "AAPCT9876K", iec: "AAPCT9876K" };
  const { body: refused } = await rename(another, 409);
  assert.equal(refused.detail.reason, "deal_unpaid");
  await rename({ legal_name: "Another Name" }, 200);
  await rename(another, 409);
  await letFail(service);
  await rename(another, 200);
  const sibling = await dealer(service, [], { environment, pan });
  await refuse(sibling);
});

test("a resting buy that may not wait for money is passed over and hides nobody", async (t) => {
  const service = await startMarket(t, 1);
  const poor = await dealer(service, [], { environment });
  await poor.post("/v1/orders", buy(poor), 201);
  const resting = { ...buy(poor), limit_bps: 9_700 };
  const { body: rests } = await poor.post("/v1/orders", resting, 201);
  await letFail(service);
  const other = await dealer(service, [], { environment });
  const { body: next } = await other.post("/v1/orders", { ...buy(other), limit_bps: 9_690 }, 201);
  await putCard(service, { environment, state: "open", mid_bps: 9_500 });
  const seller = await dealer(service, [{}], { environment });
  const sell = { side: "sell", scrip_no: seller.scripNo, firm_id: seller.firmId };
  await seller.post("/v1/orders", sell, 201);
  assert.equal((await poor.read(rests.order_id)).covered_paise, 0);
  assert.equal((await other.read(next.order_id)).status, "matched");
});

test("the memory ends after the working days of the plan, or when a person lifts it", async (t) => {
  const service = await startMarket(t, 4);
  const firms = [
    await dealer(service, [], { environment }),
    await dealer(service, [], { environment }),
  ];
  for (const firm of firms) await firm.post("/v1/orders", buy(firm), 201);
  await letFail(service);
  const [waits, lifted] = firms as [Dealer, Dealer];
  for (const firm of firms) await refuse(firm);
  const find = async () => await listUnpaidDeals(service.ctx, { environment, limit: 10 });
  const deals = await find();
  assert.deepEqual(
    deals.map(({ firm_id, counts }) => [firm_id, counts]),
    [
      [lifted.firmId, true],
      [waits.firmId, true],
    ],
  );
  const settlementId = deals[0]?.settlement_id ?? "";
  const reason = "their bank was shut";
  assert.deepEqual(await liftUnpaid(service.ctx, asha, { settlementId, reason }), [settlementId]);
  await lifted.post("/v1/orders", buy(lifted), 201);
  await refuse(waits);
  await assert.rejects(liftUnpaid(service.ctx, asha, { settlementId, reason }), /any more/);
  await assert.rejects(liftUnpaid(service.ctx, asha, { settlementId: "stl_none", reason }));
  await assert.rejects(liftUnpaid(service.ctx, asha, { settlementId, reason: " " }));
  service.clock.advance({ days: 16 });
  await service.work();
  await waits.post("/v1/orders", buy(waits), 201);
});

test("a plan says how many working days count, and the sandbox's none", async (t) => {
  const service = await startMarket(t, 2);
  await setPlan(service.ctx, {
    name: "growth",
    perMinute: 600,
    monthlyQuota: 10_000,
    unpaidDays: 0,
  });
  const poor = await dealer(service, [], { environment });
  await poor.post("/v1/orders", buy(poor), 201);
  await letFail(service);
  await poor.post("/v1/orders", buy(poor), 201);
  const plan = { name: "tiny", perMinute: 5, monthlyQuota: 100 };
  assert.equal((await setPlan(service.ctx, plan)).unpaid_days, 10);
  await assert.rejects(setPlan(service.ctx, { ...plan, unpaidDays: 251 }));
  const { rows } = await service.ctx.db.pool.query("select * from plans where name = 'sandbox'");
  assert.equal(rows[0]?.unpaid_days, 0);
});

test("what all firms of a desk have bought unfunded has a limit of its own", async (t) => {
  const service = await startMarket(t, 4);
  const allow = "update plans set unfunded_desk_max_paise = $1";
  await service.ctx.db.pool.query(allow, [2 * face]);
  const desk = await dealer(service, [], { environment });
  const firms = [desk];
  for (let at = 0; at < 2; at++) {
    firms.push({ ...desk, firmId: await addFirm(service, { deskId: desk.deskId, environment }) });
  }
  const [one, two, three] = firms as [Dealer, Dealer, Dealer];
  await one.post("/v1/orders", buy(one), 201);
  await two.post("/v1/orders", buy(two), 201);
  const { body } = await three.post("/v1/orders", buy(three), 409);
  assert.deepEqual(body.detail, {
    reason: "unfunded_desk_limit",
    unfunded_desk_max_paise: 2 * face,
  });
  await payIn(service, three.firmId, face);
  await three.post("/v1/orders", buy(three), 201);
  const other = await dealer(service, [], { environment });
  await other.post("/v1/orders", buy(other), 201);
});

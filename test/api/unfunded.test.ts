// Deals that wait for money hold other people's credits, so a firm has only so much of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { setPlan } from "../../src/access/plans.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

const face = 25_000_000;
const buy = { side: "buy", scheme: "RODTEP", requirement_paise: face } as const;
const faces = (count: number) => Array.from({ length: count }, () => ({ face_paise: face }));

/** Room for two covers of a face and not for three. */
async function allowTwo({ ctx }: Service): Promise<void> {
  await ctx.db.pool.query("update plans set unfunded_max_paise = $1", [2 * face]);
}

async function pendingPaise({ ctx }: Service, firmId: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ sum: string }>(
    "select coalesce(sum(buyer_paise), 0) as sum from settlements where buyer_firm_id = $1 and state = 'pending'",
    [firmId],
  );
  return Number(rows[0]?.sum);
}

test("a firm buys unfunded up to the limit of its plan, and again after it has paid", async (t) => {
  const service = await startService(t);
  await allowTwo(service);
  await stockHouse(service.ctx, faces(8));
  const [one, other] = [await dealer(service, []), await dealer(service, [])];
  await one.post("/v1/orders", buy, 201);
  await one.post("/v1/orders", buy, 201);
  const { body } = await one.post("/v1/orders", buy, 409);
  assert.equal(body.detail.reason, "unfunded_limit");
  assert.equal(body.detail.unfunded_max_paise, 2 * face);
  const { body: quote } = await one.post("/v1/quote", buy, 200);
  const quoted = await one.post("/v1/orders", { quote_ref: quote.quote_ref }, 409);
  assert.equal(quoted.body.detail.reason, "unfunded_limit");
  await one.post("/v1/orders", { ...buy, firm_id: one.firmId }, 201);
  await other.post("/v1/orders", buy, 201);
  service.clock.advance({ seconds: 5 });
  await service.work();
  await one.post("/v1/orders", buy, 201);
  await assertOrdersSound(service);
});

test("the unfunded limit holds for concurrent orders on two nodes", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  await allowTwo(service);
  await stockHouse(service.ctx, faces(12));
  const { key, deskId } = await dealer(service, []);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? service : beside).send("POST", "/v1/orders", { key, body: buy }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 2);
  assert.ok((await pendingPaise(service, deskId)) <= 2 * face);
});

test("a resting buy above the unfunded limit waits, and hides no other order", async (t) => {
  const service = await startService(t);
  await allowTwo(service);
  const [poor, buyer] = [await dealer(service, []), await dealer(service, [])];
  const sellers = [];
  for (let at = 0; at < 4; at++) sellers.push(await dealer(service));
  const wanted = { ...buy, requirement_paise: 4 * face, limit_bps: 9_870 };
  const { body: rests } = await poor.post("/v1/orders", wanted, 201);
  const { body: next } = await buyer.post("/v1/orders", { ...buy, limit_bps: 9_860 }, 201);
  for (const seller of sellers.slice(0, 3)) {
    await seller.post("/v1/orders", { side: "sell", scrip_no: seller.scripNo }, 201);
  }
  assert.equal((await poor.read(rests.order_id)).covered_paise, 2 * face);
  assert.equal((await buyer.read(next.order_id)).status, "matched");
  const sell = { side: "sell", scrip_no: sellers[3]?.scripNo, limit_bps: 9_840 };
  const { body: offered } = (await sellers[3]?.post("/v1/orders", sell, 201)) ?? assert.fail();
  assert.equal(offered.status, "open");
  // The money comes, and then the matcher looks again.
  for (const seconds of [5, 10]) {
    service.clock.advance({ seconds });
    await service.work();
  }
  assert.equal((await poor.read(rests.order_id)).covered_paise, 3 * face);
  await assertOrdersSound(service);
});

test("the unfunded limit is set by the plan", async (t) => {
  const { ctx } = await startService(t);
  const plan = { name: "tiny", perMinute: 5, monthlyQuota: 100 };
  assert.equal((await setPlan(ctx, { ...plan, unfundedMaxPaise: 7 })).unfunded_max_paise, 7);
  assert.equal((await setPlan(ctx, plan)).unfunded_max_paise, 7);
  await assert.rejects(setPlan(ctx, { ...plan, unfundedMaxPaise: 2 ** 53 }));
});

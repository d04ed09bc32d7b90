// Whoever buys from the house and sells back to it loses, or keeps what they had.

import assert from "node:assert/strict";
import { test } from "node:test";

import { stockHouse } from "../support/inventory.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";

test("small covers sold back together by amount pay no more than they cost", async (t) => {
  const service = await startService(t);
  const faces = Array.from({ length: 14 }, (_, at) => 4_900_000 + at * 100);
  await stockHouse(
    service.ctx,
    faces.map((face_paise) => ({ face_paise, expires_on: "2028-10-01" })),
  );
  const { post } = await dealer(service, []);
  const costs = [];
  for (const requirement_paise of faces) {
    const order = { side: "buy", scheme: "RODTEP", requirement_paise };
    const { body } = await post("/v1/orders", order, 201);
    assert.equal(body.covered_paise, requirement_paise);
    costs.push(body.all_in_paise);
  }
  const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
  const sell = { side: "sell", scheme: "RODTEP", face_paise: sum(faces) };
  const { body: quote } = await post("/v1/quote", sell, 200);
  assert.ok(quote.all_in_paise <= sum(costs), `${quote.all_in_paise} for ${sum(costs)}`);
});

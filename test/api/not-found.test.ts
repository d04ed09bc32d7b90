import assert from "node:assert/strict";
import { test } from "node:test";

import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";

test("a 404 names what was not found as the request calls it, also of another desk and of an item", async (t) => {
  const service = await startService(t);
  const desk = await dealer(service);
  const { firm_id: stranger } = await service.issue({ firmName: "Other Desk" });
  const own = `/v1/firms/${desk.firmId}`;
  const cases: [string, string, string, object?][] = [
    ["firm_id", "GET", `/v1/firms/${stranger}`],
    ["firm_id", "GET", "/v1/firms/nobody/credits"],
    ["requirement_id", "GET", `${own}/requirements/nothing`],
    ["scrip_no", "GET", "/v1/credits/NOTHING"],
    ["scrip_no", "POST", "/v1/orders", { side: "sell", scrip_no: "NOTHING" }],
    ["firm_id", "POST", "/v1/orders", { side: "sell", scrip_no: desk.scripNo, firm_id: stranger }],
    ["scrip_no", "POST", "/v1/quote", { side: "sell", scrip_no: "NOTHING" }],
    ["quote_ref", "POST", "/v1/orders", { quote_ref: "qte_01jd2m7q4x8r5v6w9y0abcdefg" }],
    ["order_id", "GET", "/v1/orders/nothing"],
    ["settlement_id", "GET", "/v1/settlements/nothing"],
    ["payout_id", "GET", "/v1/payouts/nothing"],
    ["webhook_id", "DELETE", "/v1/webhooks/nothing"],
    ["group_id", "GET", "/v1/groups/nothing"],
    ["cross_id", "POST", "/v1/cross/nothing/accept", { terms_hash: "0".repeat(64) }],
    ["key_id", "GET", "/v1/keys/nothing"],
    ["period", "GET", "/v1/statements/1999-12"],
  ];
  for (const [field, method, path, body] of cases) {
    const answer = await service.send(method, path, { key: desk.key, body, expect: 404 });
    assert.deepEqual(answer.body.detail, { field }, `${method} ${path}`);
  }
  const orders = [{ side: "sell", scrip_no: "NOTHING" }];
  const batch = await service.send("POST", "/v1/orders:batch", { key: desk.key, body: { orders } });
  assert.deepEqual(batch.body.results[0].error.detail, { field: "scrip_no" });
});

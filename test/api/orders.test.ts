import assert from "node:assert/strict";
import { test } from "node:test";

import { addCredits, addFirm, type TestCredit } from "../support/holdings.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const face = 25_000_000;
/** The starting card: 9850 − 45 for the size − 40 for the spread; long-lived. */
const bid = 9_765;

async function openDesk(service: Service, credits: readonly Partial<TestCredit>[] = [{}]) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const firmId = await addFirm(service, { deskId });
  const scripNos = await addCredits(
    service,
    deskId,
    credits.map((credit) => ({
      firmId,
      scheme: "RODTEP",
      facePaise: face,
      expiresOn: "2028-10-01",
      state: "listed",
      ...credit,
    })),
  );
  const post = async (path: string, body: object, expect: number, headers = {}): Promise<Answer> =>
    await service.send("POST", path, { key, body, headers, expect });
  return { key, deskId, firmId, scripNos, scripNo: scripNos[0] ?? "", post };
}

test("selling", async (t) => {
  const service = await startService(t);

  await t.test("a quote is dealt with the house at its price", async () => {
    const { post, scripNo, firmId } = await openDesk(service);
    const quote = await post("/v1/quote", { side: "sell", scrip_no: scripNo }, 200);
    const { body } = await post("/v1/orders", { quote_ref: quote.body.quote_ref }, 201);
    assert.equal(body.status, "matched");
    assert.equal(body.firm_id, firmId);
    assert.equal(body.price_bps, bid);
    assert.equal(body.all_in_paise, quote.body.all_in_paise);
    assert.equal(body.settlement_status, "funded");
    assert.deepEqual(body.scrip_nos, [scripNo]);
    const again = await post("/v1/orders", { quote_ref: quote.body.quote_ref }, 409);
    assert.deepEqual(again.body.detail, { reason: "quote_used", order_id: body.order_id });
  });

  await t.test("a batch answers each order by itself", async () => {
    const { post, scripNos } = await openDesk(service, [{}, {}, {}]);
    const [a = "", b = ""] = scripNos;
    const { body } = await post(
      "/v1/orders:batch",
      {
        orders: [
          { side: "sell", scrip_no: a },
          { side: "sell", scrip_no: a },
          { side: "sell", scrip_no: b, limit_bps: 9_900 },
          { side: "sell" },
          { side: "sell", scrip_no: "NOSUCH0001" },
        ],
      },
      200,
    );
    assert.deepEqual(
      body.results.map((result: { status: number }) => result.status),
      [201, 409, 201, 422, 404],
    );
    assert.equal(body.results[2].order.status, "open");
    assert.equal(body.submitted, 2);
  });
});

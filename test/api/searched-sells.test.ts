// Sells by amount are searched for before their set holds the matching. Nothing here is timed: a search
// that is stopped shows who goes on beside it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Heavy, onThisThread } from "../../src/platform/heavy/kinds.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";

/** No two sums of these meet, so that no search can be sure of its answer. */
const oddCredits = Array.from({ length: 1_600 }, (_, at) => ({
  facePaise: 10_000_019 + ((at * 7_919_337) % 9_000_011),
}));

const amounts = Array.from({ length: 500 }, (_, at) => 33_000_001 + 2 * at);

const listSells = (firm_id: string) =>
  amounts.map((face_paise) => ({
    firm_id,
    side: "sell",
    scheme: "RODTEP",
    face_paise,
    limit_bps: 9_990,
  }));

/** Does all work here, and lets somebody act in the midst of each search. */
function interrupted(beside: () => Promise<void>): Heavy {
  const run: Heavy["run"] = async (kind, input, options) => {
    if (kind.name === "cover") await beside();
    return await onThisThread.run(kind, input, options);
  };
  return { ...onThisThread, run };
}

for (const dryRun of ["1", "0"]) {
  test(`while 500 sells by amount are searched for, others sell (dry run ${dryRun})`, async (t) => {
    let sold = 0;
    const desks: { other?: Dealer } = {};
    const service = await startService(t, {
      heavy: interrupted(async () => {
        const body = { side: "sell", scrip_no: desks.other?.scripNos[sold], limit_bps: 9_990 };
        await desks.other?.post("/v1/orders", body, 201);
        sold += 1;
      }),
    });
    desks.other = await dealer(service, [{}, {}, {}]);
    const seller = await dealer(service, oddCredits);
    const { body } = await seller.post(
      "/v1/orders:batch",
      { orders: listSells(seller.firmId) },
      200,
      {
        "x-dry-run": dryRun,
      },
    );
    assert.equal(sold, 1, "the search was made once, and another desk sold beside it");
    assert.deepEqual([body.submitted, body.failed], [500, 0]);
    const scripNos = body.results.flatMap(
      ({ order }: { order: { scrip_nos: string[] } }) => order.scrip_nos,
    );
    assert.equal(new Set(scripNos).size, scripNos.length, "no credit is delivered twice");
    for (const { order } of body.results) assert.ok(order.covered_paise <= order.face_paise);
  });
}

test("a credit that goes while its amount is searched for is delivered once, by who was first", async (t) => {
  const gone: string[] = [];
  const desks: { seller?: Dealer } = {};
  const service = await startService(t, {
    heavy: interrupted(async () => {
      gone.push(...(desks.seller?.scripNos.slice(0, 40) ?? []));
      const orders = gone.map((scrip_no) => ({ side: "sell", scrip_no, limit_bps: 9_990 }));
      const answer = await desks.seller?.post("/v1/orders:batch", { orders }, 200);
      assert.equal(answer?.body.submitted, orders.length);
    }),
  });
  const seller = await dealer(service, oddCredits);
  desks.seller = seller;
  const { body } = await seller.post("/v1/orders:batch", { orders: listSells(seller.firmId) }, 200);
  assert.equal(gone.length, 40, "a search was made without the matching");
  assert.deepEqual([body.submitted, body.failed], [500, 0]);
  const delivered = body.results.flatMap(
    ({ order }: { order: { scrip_nos: string[] } }) => order.scrip_nos,
  );
  assert.equal(new Set([...delivered, ...gone]).size, delivered.length + gone.length);
});

test("the first order of a batch delivers the best, however late a search ends", async (t) => {
  const service = await startService(t, { heavy: interrupted(async () => {}) });
  const seller = await dealer(service, oddCredits);
  const [best = 0] = oddCredits.map(({ facePaise }) => facePaise).toSorted((a, b) => b - a);
  const orders = [
    { firm_id: seller.firmId, side: "sell", scheme: "RODTEP", face_paise: best, limit_bps: 9_990 },
    ...listSells(seller.firmId).slice(0, 300),
    { firm_id: seller.firmId, side: "sell", scheme: "RODTEP", face_paise: best, limit_bps: 9_990 },
  ];
  const { body } = await seller.post("/v1/orders:batch", { orders }, 200);
  assert.equal(body.failed, 0);
  assert.equal(body.results[0].order.covered_paise, best);
  assert.ok(body.results.at(-1).order.covered_paise < best);
});

test("quoted amounts are searched for beside others, and deliver what was quoted", async (t) => {
  let searches = 0;
  const desks: { other?: Dealer } = {};
  const service = await startService(t, {
    heavy: interrupted(async () => {
      const body = { side: "sell", scrip_no: desks.other?.scripNos[searches], limit_bps: 9_990 };
      await desks.other?.post("/v1/orders", body, 201);
      searches += 1;
    }),
  });
  desks.other = await dealer(service, [{}, {}]);
  const seller = await dealer(service, oddCredits);
  const orders = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const wanted = { side: "sell", scheme: "RODTEP", face_paise: 57_000_011 + 2 * at };
      const { body } = await seller.post("/v1/quote", wanted, 200);
      return { firm_id: seller.firmId, quote_ref: body.quote_ref };
    }),
  );
  const { body } = await seller.post("/v1/orders:batch", { orders }, 200);
  assert.equal(searches, 1);
  assert.deepEqual([body.submitted, body.failed], [40, 0]);
});

test("single sells by amount that find no steps left are searched for without the matching", async (t) => {
  const service = await startService(t, { heavy: interrupted(async () => {}) });
  const seller = await dealer(service, oddCredits);
  const placed = await Promise.all(
    amounts.slice(0, 60).map(async (face_paise) => {
      const body = { firm_id: seller.firmId, side: "sell", scheme: "RODTEP", face_paise };
      return await seller.post("/v1/orders", { ...body, limit_bps: 9_990 }, 201);
    }),
  );
  const scripNos = placed.flatMap(({ body }) => body.scrip_nos as string[]);
  assert.equal(new Set(scripNos).size, scripNos.length);
});

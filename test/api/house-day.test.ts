import assert from "node:assert/strict";
import { test } from "node:test";

import { asBearer, startOps } from "../support/ops.ts";
import { addPerson, settleLiveSale } from "../support/people.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { startService } from "../support/service.ts";

test("the house's result of a day is its money and its credits at the mid when each was dealt", async (t) => {
  const service = await startService(t);
  await addLiveHouse(service);
  const { send } = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await asha.signIn()).token);
  const read = async (path: string) => (await send("GET", path, { headers, expect: 200 })).body;
  const publish = async (mid_bps: number) => {
    const body = { environment: "live", scheme: "RODTEP", terms: { mid_bps } };
    await send("POST", "/ops/rates", { headers, body, expect: 200 });
  };
  await publish(9_800);
  await settleLiveSale(service, 24_400_000);
  service.clock.advance({ seconds: 1 });
  await publish(9_850);
  const { settlementId } = await settleLiveSale(service, 24_500_000);
  const { settlements } = await read("/ops/settlements?environment=live");
  const mids = [9_850, 9_800]; // The newest settlement first.
  const expected = settlements.map((deal: { legs: Record<string, number>[] }, at: number) => {
    const [leg = assert.fail("a leg")] = deal.legs;
    const { face_paise = 0, seller_paise = 0, buyer_gst_paise = 0, seller_gst_paise = 0 } = leg;
    const worth = Math.floor((face_paise * (mids[at] ?? 0)) / 10_000);
    return worth - seller_paise - buyer_gst_paise - seller_gst_paise;
  });
  const { day, schemes, result_paise } = await read("/ops/house/day?environment=live");
  assert.equal(settlements.length, 2);
  assert.equal(schemes[0].bought, 2);
  assert.equal(result_paise, expected[0] + expected[1]);
  assert.equal(
    (await read(`/ops/house/day?environment=live&day=${day}`)).result_paise,
    result_paise,
  );
  assert.equal((await read("/ops/house/day?environment=live&day=2020-01-01")).result_paise, 0);
  const bad = await send("GET", "/ops/house/day?environment=live&day=2026-02-31", { headers });
  assert.equal(bad.status, 422, bad.text);
  assert.ok(settlementId);
});

// Anybody can register a company's IEC on a desk of their own. A proposal is for who was authorized
// for that IEC before it was made, and whoever comes later cannot tell that there is one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { firmThatIs } from "../support/client-firms.ts";
import { act, listCrossEvents, propose, read, terms, traders } from "../support/crosses.ts";
import { dealer, type Dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";

/** A desk that registers this IEC now, as far as being authorized. */
async function lateFirm(service: Service, desk: Dealer, iec: string): Promise<string> {
  service.clock.advance({ seconds: 1 });
  return (await firmThatIs(service, desk.key, "authorized", { iec, pan: iec })).firm_id;
}

async function assertBlind(service: Service, desk: Dealer, crossId: string, termsHash: string) {
  const { key } = desk;
  await service.send("GET", `/v1/cross/${crossId}`, { key, expect: 404 });
  await desk.post(`/v1/cross/${crossId}/accept`, { terms_hash: termsHash }, 404);
  await desk.post(`/v1/cross/${crossId}/decline`, {}, 404);
  for (const query of ["", "?status=proposed", "?limit=5"]) {
    const { crosses, total = 0 } = await desk.get(`/v1/cross${query}`);
    assert.deepEqual([crosses, total], [[], 0]);
  }
  assert.deepEqual(await listCrossEvents(desk), []);
}

test("a desk that authorizes the buyer's IEC after a proposal does not see it", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const cross = await propose(seller, terms(parties));
  const third = await dealer(service, []);
  await lateFirm(service, third, buyer.pan);
  await assertBlind(service, third, cross.cross_id, cross.terms_hash);
  assert.equal((await read(buyer, cross)).status, "proposed");
  assert.equal((await buyer.get("/v1/cross?limit=5")).total, 1);
  assert.equal((await act(buyer, cross, "accept")).status, "agreed");
  await assertBlind(service, third, cross.cross_id, cross.terms_hash);
});

test("events of a proposal go to the desks that saw it, and the next proposal to all", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const first = await propose(seller, terms(parties));
  const third = await dealer(service, []);
  await lateFirm(service, third, buyer.pan);
  await act(seller, first, "cancel");
  assert.deepEqual(await listCrossEvents(buyer), ["cross.proposed", "cross.cancelled"]);
  assert.deepEqual(await listCrossEvents(third), []);
  const second = await propose(seller, terms(parties));
  assert.equal((await read(third, second)).status, "proposed");
  assert.deepEqual(await listCrossEvents(third), ["cross.proposed"]);
  assert.equal((await third.get("/v1/cross")).crosses.length, 1);
});

test("a suspension interrupts an authorization, and offboarding ends it", async (t) => {
  const service = await startService(t);
  const parties = await traders(service);
  const { seller, buyer } = parties;
  const cross = await propose(seller, terms(parties));
  const visible = async () =>
    (await service.send("GET", `/v1/cross/${cross.cross_id}`, { key: buyer.key })).status;
  const path = `/v1/firms/${buyer.firmId}`;
  service.clock.advance({ seconds: 1 });
  await buyer.post(`${path}/suspend`, { reason: "a pause" }, 200);
  assert.equal(await visible(), 404, "while it may not deal");
  service.clock.advance({ seconds: 1 });
  await buyer.post(`${path}/resume`, {}, 200);
  assert.equal(await visible(), 200);
  await buyer.post(`${path}/offboard`, {}, 200);
  assert.equal(await visible(), 404);
  await lateFirm(service, buyer, buyer.pan);
  assert.equal(await visible(), 404, "registered again, it is another firm");
});

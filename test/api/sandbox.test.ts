import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { mintChild } from "../support/keys.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { holdRow } from "../support/locks.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  listHoldings,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
  readSettlement,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";

async function sell(
  service: Service,
  { seller, buyer = house(), ending }: { seller: TestParty; buyer?: TestParty; ending?: string },
) {
  const scripNo = await addCredit(service, seller, ending);
  return { scripNo, settlementId: await makeDeal(service, { buyer, legs: [{ seller, scripNo }] }) };
}

function buildSandboxCall({ send }: Service, { key }: Pick<TestDesk, "key">) {
  return async (path: string, body: object, expect = 200, headers = {}) =>
    (await send("POST", `/v1/sandbox/${path}`, { key, body, expect, headers })).body;
}

test("each call advances a settlement by one step, up to its end", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const buyer = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, buyer });
  const advance = buildSandboxCall(service, buyer);
  const path = `settlements/${settlementId}/advance`;
  const tried = await advance(path, {}, 200, { "x-dry-run": "1" });
  assert.equal(tried.status, "funded");
  assert.equal((await readSettlement(service, buyer, settlementId)).status, "pending");
  for (const status of ["funded", "transfer_initiated", "settled"]) {
    const answer = await advance(path, {});
    assert.equal(answer.status, status);
    assert.deepEqual(answer, await readSettlement(service, buyer, settlementId));
  }
  const over = await advance(path, {}, 409);
  assert.equal(over.detail.state, "settled");
  await buildSandboxCall(service, await openTestDesk(service))(path, {}, 404);
  await assertLedgerSound(service);
});

test("without an open question the next step is the deadline", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const { settlementId } = await sell(service, { seller, ending: "0408" });
  const advance = buildSandboxCall(service, seller);
  const failed = await advance(`settlements/${settlementId}/advance`, {});
  assert.equal(failed.status, "failed");
  assert.equal(failed.reason, "timeout");
});

test("a scenario applies once, to the desk's next subject only", async (t) => {
  const service = await startService(t);
  const other = await openTestDesk(service);
  const cases = [
    ["transfer_refused", "failed", "refused"],
    ["credit_suspended", "failed", "credit_suspended"],
    ["transfer_timeout", "failed", "timeout"],
  ] as const;
  for (const [scenario, status, reason] of cases) {
    const seller = await openTestDesk(service);
    const set = buildSandboxCall(service, seller);
    assert.deepEqual(await set("scenarios", { scenario }), { scenarios: [scenario] });
    assert.deepEqual(await set("scenarios", { scenario }), { scenarios: [scenario] });
    const next = await sell(service, { seller });
    const elsewhere = await sell(service, { seller: other });
    await letSettle(service, scenario === "transfer_timeout" ? 35 : 3);
    const after = await sell(service, { seller });
    await letSettle(service, 3);
    const settlement = await readSettlement(service, seller, next.settlementId);
    assert.deepEqual([settlement.status, settlement.reason], [status, reason]);
    assert.equal((await readSettlement(service, other, elsewhere.settlementId)).status, "settled");
    assert.equal((await readSettlement(service, seller, after.settlementId)).status, "settled");
  }
  const paid = await openTestDesk(service);
  const set = buildSandboxCall(service, paid);
  await set("scenarios", { scenario: "transfer_refused" });
  const both = await set("scenarios", { scenario: "payout_returned" });
  assert.equal(both.scenarios.length, 2);
  await sell(service, { seller: paid });
  await letSettle(service, 3);
  await sell(service, { seller: paid });
  await letSettle(service, 4);
  const [payout] = await listPayouts(service, paid);
  assert.equal(payout.status, "returned");
  const answer = await set("scenarios", { scenario: "earthquake" }, 400);
  assert.ok(answer.detail.allowed.includes("payout_returned"));
  await assertLedgerSound(service);
});

test("a desk that halts its sandbox market gets no quotes until it opens it", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const other = await openTestDesk(service);
  const set = buildSandboxCall(service, desk);
  const quote = async ({ key }: TestDesk) => {
    const body = { side: "sell", scheme: "RODTEP", face_paise: 10_000_000 };
    return (await service.send("POST", "/v1/quote", { key, body, expect: 200 })).body;
  };
  assert.deepEqual(await set("scenarios", { scenario: "market_halt" }), {
    scenarios: ["market_halt"],
  });
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(await quote(desk), { no_quote: true, reason: "market_unavailable" });
  }
  const body = { side: "buy", scheme: "RODTEP", requirement_paise: 10_000_000 };
  const { api_key: key } = await service.issue({ buySide: true });
  await buildSandboxCall(service, { key })("scenarios", { scenario: "market_halt" });
  const bought = await service.send("POST", "/v1/quote", { key, body, expect: 200 });
  assert.deepEqual(bought.body, { no_quote: true, reason: "market_unavailable" });
  assert.equal((await quote(other)).side, "sell");
  assert.deepEqual(await set("scenarios", { scenario: "market_open" }), { scenarios: [] });
  assert.equal((await quote(desk)).side, "sell");
});

test("seeded credits are listed and sellable, and the same seed makes them once", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const seed = buildSandboxCall(service, desk);
  const wanted = { firm_id: desk.firmId, count: 7, seed: "walk", scheme: "ROSCTL" };
  const first = await seed("credits:seed", wanted);
  assert.equal(first.scrip_nos.length, 7);
  assert.deepEqual(await seed("credits:seed", wanted), first);
  const { body } = await service.send("GET", `/v1/firms/${desk.firmId}/credits`, {
    key: desk.key,
    expect: 200,
  });
  assert.equal(body.credits.length, 7);
  assert.ok(body.credits.every((credit: { status: string }) => credit.status === "listed"));
  assert.ok(body.credits.every((credit: { scheme: string }) => credit.scheme === "ROSCTL"));
  const other = await seed("credits:seed", { count: 500 });
  assert.equal(other.firm_id, desk.deskId);
  const all = await service.send("GET", `/v1/firms/${desk.deskId}/credits?limit=500`, {
    key: desk.key,
    expect: 200,
  });
  assert.equal(all.body.credits.length, 500);
  assert.ok(
    all.body.credits.every((credit: Answer["body"]) => credit.not_sellable_reason === null),
  );
  await seed("credits:seed", { count: 501 }, 422);
  await seed("credits:seed", { count: 1, firm_id: "frm_none" }, 404);
});

test("a reset ends the open business of its desk, and nothing else", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const other = await openTestDesk(service);
  const reset = buildSandboxCall(service, desk);
  const own = await sell(service, { seller: desk });
  const between = await sell(service, { seller: desk, buyer: other });
  const free = await addCredit(service, desk);
  const resting = await addCredit(service, desk);
  const { body: order } = await service.send("POST", "/v1/orders", {
    key: desk.key,
    body: { side: "sell", scrip_no: resting, firm_id: desk.firmId, limit_bps: 9_999 },
    expect: 201,
  });
  assert.equal(order.status, "open");
  await reset("scenarios", { scenario: "transfer_refused" });
  const done = await reset("reset", {});
  assert.equal(done.orders_cancelled, 1);
  assert.equal(done.settlements_failed, 1);
  assert.equal((await readSettlement(service, desk, own.settlementId)).reason, "by_desk");
  assert.equal((await readSettlement(service, desk, between.settlementId)).status, "pending");
  for (const scripNo of [free, resting, own.scripNo]) {
    assert.equal((await listHoldings(service, scripNo))[0]?.state, "withdrawn");
  }
  assert.deepEqual(await reset("reset", {}), {
    orders_cancelled: 0,
    crosses_ended: 0,
    settlements_failed: 0,
    credits_withdrawn: 0,
  });
  await letSettle(service, 5);
  assert.equal((await readSettlement(service, desk, between.settlementId)).status, "settled");
  assert.equal((await readBalance(service, other)).posted_paise, 0);
  await assertLedgerSound(service);
});

test("sandbox routes are not found for a live key, and a sub_account key cannot act for its desk", async (t) => {
  const service = await startService(t);
  const live = await openTestDesk(service, "live");
  const scripNo = await addCredit(service, live);
  const legs = [{ seller: live, scripNo }];
  const deal = { environment: "live", buyer: house("live"), legs } as const;
  const settlementId = await makeDeal(service, deal);
  const call = buildSandboxCall(service, live);
  await call(`settlements/${settlementId}/advance`, {}, 404);
  await call("scenarios", { scenario: "transfer_timeout" }, 404);
  await call("credits:seed", { count: 1 }, 404);
  await call("reset", {}, 404);
  assert.equal((await readSettlement(service, live, settlementId)).status, "funded");

  const desk = await openTestDesk(service);
  const minted = { kind: "sub_account", firm_id: desk.firmId };
  const { api_key: key } = await mintChild(service, desk.key, minted);
  const bound = buildSandboxCall(service, { key });
  await bound("scenarios", { scenario: "transfer_timeout" }, 403);
  await bound("reset", {}, 403);
  assert.equal((await bound("credits:seed", { count: 1 })).firm_id, desk.firmId);
  await bound("credits:seed", { count: 1, firm_id: desk.deskId }, 404);
});

for (const { path, body } of [
  { path: "clock", body: { advance_s: 60 } },
  { path: "reset", body: {} },
]) {
  test(`${path} is done when a row of the desk is held longer than trading waits for one`, async (t) => {
    const service = await startService(t);
    const seller = await openTestDesk(service);
    const { settlementId } = await sell(service, { seller });
    const where = `settlement_id = '${settlementId}'`;
    const held = await holdRow(t, service, { table: "settlements", where });
    const once = { key: seller.key, expect: 200, isPatient: false };
    const done = service.send("POST", `/v1/sandbox/${path}`, { ...once, body });
    await held.whenWaiting(1);
    await sleep(700);
    await held.release();
    await done;
    await assertLedgerSound(service);
  });
}

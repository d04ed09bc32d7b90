// A side that is proved late at the portal pays the other a part of the face, and nobody fronts it. What
// a party says blames nobody; what the portal's report or an attestation shows does.

import assert from "node:assert/strict";
import { test } from "node:test";

import { settlementHooks } from "../../src/hooks.ts";
import { operator } from "../../src/kernel/actor.ts";
import { initiateAsHouse } from "../../src/settlement/tasks.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  face,
  house,
  makeDeal,
  openTestDesk,
  readBalance,
  readSettlement,
  sellerPaise,
} from "../support/settlements.ts";
import {
  dealBetween,
  defaultPaise,
  listEvents,
  type Made,
  openParties,
  pass,
  playScenario,
  saysCustoms,
} from "../support/task-parties.ts";

type Body = Answer["body"];

async function readDues({ ctx }: Service, firmId: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ dues: string }>(
    "select -posted_paise as dues from ledger_balances where kind = 'firm_dues' and firm_id = $1",
    [firmId],
  );
  return Number(rows[0]?.dues ?? 0);
}

/** What each side has available and owes. */
async function standing(service: Service, { seller, buyer }: Made): Promise<object> {
  const read = async ({ firmId, environment }: Made["seller"]) => ({
    has: Number((await readBalance(service, { firmId }, environment)).available_paise),
    owes: await readDues(service, firmId),
  });
  return { seller: await read(seller), buyer: await read(buyer) };
}

async function listSides(service: Service, made: Made): Promise<object> {
  const told = async (desk: Made["seller"]) => {
    const { sides } = await readSettlement(service, desk, made.settlementId);
    const [{ default_owed_paise: owes, default_due_paise: due, legs }] = sides;
    return { owes, due, by: legs[0].default_by, paise: legs[0].default_paise };
  };
  return { seller: await told(made.seller), buyer: await told(made.buyer) };
}

test("a holder that never initiates owes the buyer, who gets it once it is collected", async (t) => {
  const service = await startService(t);
  const made = await playScenario(service, "never_initiates");
  await pass(service, 70);
  await service.work();
  const owing = { seller: { has: 0, owes: defaultPaise }, buyer: { has: buyerPaise, owes: 0 } };
  assert.deepEqual(await standing(service, made), owing, "the house fronts nothing");
  const by = { by: "sell", paise: defaultPaise };
  assert.deepEqual(await listSides(service, made), {
    seller: { owes: defaultPaise, due: 0, ...by },
    buyer: { owes: 0, due: defaultPaise, ...by },
  });
  await payIn(service, made.seller.firmId, defaultPaise + 1, "sandbox");
  await service.work();
  const paid = {
    seller: { has: 1, owes: 0 },
    buyer: { has: buyerPaise + defaultPaise, owes: 0 },
  };
  assert.deepEqual(await standing(service, made), paid);
  const told = (await listEvents(service, made.buyer)).find(
    ({ event }) => event === "settlement.default_paid",
  );
  assert.equal(told?.data.default_due_paise, defaultPaise);
  const names = (await listEvents(service, made.seller)).map(({ event }) => event);
  assert.ok(names.includes("dues.raised") && names.includes("dues.set_off"), names.join());
  assert.ok(!names.includes("settlement.default_paid"), "the late side is told of its dues");
  await assertLedgerSound(service);
});

test("what a receiver that never accepts pays is kept back, and its papers say so", async (t) => {
  const service = await startService(t);
  const made = await playScenario(service, "never_accepts");
  await pass(service, 110);
  await service.work();
  assert.deepEqual(await standing(service, made), {
    seller: { has: defaultPaise, owes: 0 },
    buyer: { has: buyerPaise - defaultPaise, owes: 0 },
  });
  const month = "2026-11";
  for (const [desk, paise] of [
    [made.seller, defaultPaise],
    [made.buyer, -defaultPaise],
  ] as const) {
    const path = `/v1/statements/${month}?firm_id=${desk.firmId}`;
    const { body } = await service.send("GET", path, { key: desk.key, expect: 200 });
    const lines = body.lines.filter((line: Body) => line.kind === "default");
    assert.deepEqual(
      lines.map((line: Body) => [line.reference, line.amount_paise]),
      [[made.settlementId, paise]],
    );
    const note = `/v1/settlements/${made.settlementId}/contract-note`;
    const { notes } = (await service.send("GET", note, { key: desk.key, expect: 200 })).body;
    assert.deepEqual(
      notes[0].legs.map((leg: Body) => [leg.default_by, leg.default_paise]),
      [["buy", defaultPaise]],
    );
    const pdf = await service.send("GET", `${note}?format=pdf`, { key: desk.key });
    assert.equal(pdf.status, 200);
  }
  await assertLedgerSound(service);
});

test("who delivers after all owes for having been late, and the escrow settles whole", async (t) => {
  const service = await startService(t);
  const made = await playScenario(service, "accepts_late");
  await pass(service, 75);
  await service.work();
  const { status, sides } = await readSettlement(service, made.seller, made.settlementId);
  assert.deepEqual([status, sides[0].settled_paise], ["settled", sellerPaise]);
  const { buyer } = (await standing(service, made)) as { buyer: object };
  assert.deepEqual(buyer, { has: 0, owes: defaultPaise });
  await payIn(service, made.buyer.firmId, defaultPaise, "sandbox");
  await service.work();
  assert.equal((await readBalance(service, made.seller)).available_paise, defaultPaise);
  await assertLedgerSound(service);
});

test("what the house does late is nobody's default", async (t) => {
  const service = await startService(t);
  const parties = await openParties(service, "sandbox", "house");
  const body = { scenario: "never_initiates" };
  const { key } = parties.buyer;
  await service.send("POST", "/v1/sandbox/scenarios", { key, body, expect: 200 });
  const made = await dealBetween(service, parties);
  await pass(service, 70);
  await service.work();
  const { status } = await readSettlement(service, made.buyer, made.settlementId);
  assert.equal(status, "failed");
  assert.deepEqual(await standing(service, made), {
    seller: { has: 0, owes: 0 },
    buyer: { has: buyerPaise, owes: 0 },
  });
});

test("a seller's late part comes out of what its other part earned, in one payout", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await openParties(service, "sandbox");
  for (const { key } of [seller, buyer]) {
    const body = { scenario: "tasks_manual" };
    await service.send("POST", "/v1/sandbox/scenarios", { key, body, expect: 200 });
  }
  await payIn(service, buyer.firmId, 2 * buyerPaise, "sandbox");
  const scripNos = [await addCredit(service, seller), await addCredit(service, seller)];
  const legs = scripNos.map((scripNo) => ({ seller, scripNo }));
  const settlementId = await makeDeal(service, { buyer, legs });
  await pass(service, 5);
  const claim = async (desk: typeof seller, kind: string) => {
    const { tasks } = await readSettlement(service, desk, settlementId);
    const task = tasks.find((one: Body) => one.kind === kind && one.scrip_no === scripNos[0]);
    const path = `/v1/settlements/${settlementId}/tasks/${task.task_id}/done`;
    const body = { reference: "ICEGATE-1" };
    await service.send("POST", path, { key: desk.key, body, expect: 200 });
  };
  await claim(seller, "initiate");
  await claim(buyer, "accept");
  await pass(service, 70);
  await service.work();
  const { rows } = await service.ctx.db.pool.query(
    "select paise, set_off_paise from payouts where firm_id = $1",
    [seller.firmId],
  );
  const net = sellerPaise - defaultPaise;
  assert.deepEqual(
    rows.map(({ paise, set_off_paise }) => [Number(paise), Number(set_off_paise)]),
    [[net, defaultPaise]],
  );
  const { available_paise } = await readBalance(service, buyer);
  assert.equal(available_paise, buyerPaise + defaultPaise);
  await assertLedgerSound(service);
});

test("in a cross, too, the side that is late pays, whoever the other is", async (t) => {
  const service = await startService(t);
  const parties = await openParties(service, "sandbox");
  const { seller, buyer } = parties;
  const body = { scenario: "never_accepts" };
  await service.send("POST", "/v1/sandbox/scenarios", { key: buyer.key, body, expect: 200 });
  await payIn(service, buyer.firmId, buyerPaise, "sandbox");
  const scripNo = await addCredit(service, seller);
  const origin = "crs_00000000000000000000000001";
  const settlementId = await makeDeal(service, { origin, buyer, legs: [{ seller, scripNo }] });
  await pass(service, 110);
  await service.work();
  assert.deepEqual(await standing(service, { ...parties, scripNo, settlementId }), {
    seller: { has: defaultPaise, owes: 0 },
    buyer: { has: buyerPaise - defaultPaise, owes: 0 },
  });
});

/** Deals of a live scheme that has no card were told of nothing: as if they were told what most are. */
async function tellDefault({ ctx }: Service): Promise<void> {
  await ctx.db.pool.query("update settlements set default_bps = 50");
}

test("in live a claim blames nobody: without the portal's word nobody pays", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  await tellDefault(service);
  const { tasks } = await readSettlement(service, made.seller, made.settlementId);
  const path = `/v1/settlements/${made.settlementId}/tasks/${tasks[0].task_id}/done`;
  const body = { reference: "ICEGATE-1" };
  await service.send("POST", path, { key: made.seller.key, body, expect: 200 });
  service.clock.advance({ days: 10 });
  await service.work();
  await saysCustoms(service, made, "nothing_pending");
  await service.work();
  assert.deepEqual(await standing(service, made), {
    seller: { has: 0, owes: 0 },
    buyer: { has: buyerPaise, owes: 0 },
  });
});

test("an attestation that nothing was begun in time blames the holder, and it counts like an unpaid deal", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  await tellDefault(service);
  service.clock.advance({ days: 3 });
  await service.work();
  await saysCustoms(service, made, "nothing_pending");
  await service.work();
  assert.deepEqual(await standing(service, made), {
    seller: { has: 0, owes: (face * 50) / 10_000 },
    buyer: { has: buyerPaise, owes: 0 },
  });
  const { rows } = await service.ctx.db.pool.query(
    "select firm_id, failed_step from unpaid_deals where settlement_id = $1",
    [made.settlementId],
  );
  assert.deepEqual(rows, [{ firm_id: made.seller.firmId, failed_step: "initiate" }]);
  await assertLedgerSound(service);
});

test("what the house buys late from nobody is there at once, and nobody is credited twice", async (t) => {
  const service = await startService(t);
  const { seller } = await openParties(service);
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo }];
  const buyer = house("live");
  const settlementId = await makeDeal(service, { environment: "live", buyer, legs });
  await tellDefault(service);
  service.clock.advance({ days: 3 });
  await service.work();
  await saysCustoms(service, { settlementId } as Made, "nothing_pending");
  await payIn(service, seller.firmId, defaultPaise, "live");
  await service.work();
  assert.equal(await readDues(service, seller.firmId), 0);
  const { rows } = await service.ctx.db.pool.query(
    "select kind from ledger_entries where subject = $1 and kind = 'default'",
    [settlementId],
  );
  assert.equal(rows.length, 1);
  await assertLedgerSound(service);
});

test("the card's share is told with a quote, to the public and with the card, and a deal pays no more", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const scripNo = await addCredit(service, desk);
  const { key } = desk;
  const asked = { side: "sell", scrip_no: scripNo };
  const quote = (await service.send("POST", "/v1/quote", { key, body: asked, expect: 200 })).body;
  const readTerms = async (ref: string) =>
    (await service.send("GET", `/v1/quotes/${ref}`, { key, expect: 200 })).body.terms;
  assert.deepEqual(await readTerms(quote.quote_ref), { default_bps: 50 });
  await service.ctx.db.pool.query(
    `insert into rate_cards
    select (jsonb_populate_record(card, jsonb_build_object(
      'version', card.version + 1, 'default_bps', 200, 'published_at', $1::timestamptz
    ))).*
    from rate_cards as card where environment = 'sandbox' and scheme = 'RODTEP'`,
    [service.ctx.now()],
  );
  assert.deepEqual(await readTerms(quote.quote_ref), { default_bps: 50 });
  const order = { quote_ref: quote.quote_ref };
  const placed = (await service.send("POST", "/v1/orders", { key, body: order, expect: 201 })).body;
  const readBps = async (settlementId: string) => {
    const { rows } = await service.ctx.db.pool.query(
      "select default_bps from settlements where settlement_id = $1",
      [settlementId],
    );
    return rows[0].default_bps;
  };
  assert.equal(await readBps(placed.settlement_ids[0]), 50);
  service.clock.advance({ days: 1, seconds: 1 });
  const later = await addCredit(service, desk);
  const legs = [{ seller: desk, scripNo: later }];
  const settlementId = await makeDeal(service, { buyer: house(), legs });
  assert.equal(await readBps(settlementId), 200, "a raised share counts a day later");
});

test("what the house initiated for a holder blames no receiver that nobody saw", async (t) => {
  const service = await startService(t);
  const parties = await openParties(service, "live", "house");
  const made = await dealBetween(service, parties);
  await tellDefault(service);
  const { settlementId } = made;
  const done = { settlementId, reference: "ICEGATE-3", settlementHooks };
  await initiateAsHouse(service.ctx, operator, done);
  service.clock.advance({ days: 10 });
  await service.work();
  await saysCustoms(service, made, "transferred");
  await service.work();
  const { buyer } = (await standing(service, made)) as { buyer: object };
  assert.deepEqual(buyer, { has: 0, owes: 0 });
});

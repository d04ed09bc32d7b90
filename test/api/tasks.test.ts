// What the parties of a deal are told to do, what they say that they did, and what becomes of a deal of
// which a party does nothing. A claim proves nothing: money comes by the bank's line, and a credit by what
// customs says.

import assert from "node:assert/strict";
import { test } from "node:test";

import { settlementHooks } from "../../src/hooks.ts";
import { operator } from "../../src/kernel/actor.ts";
import { setOutage } from "../../src/outside/ask.ts";
import { initiateAsHouse } from "../../src/settlement/tasks.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { startMailServer, workNotices } from "../support/mail.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { type Answer, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  house,
  listHoldings,
  makeDeal,
  openTestDesk,
  readBalance,
  readSettlement,
  type TestDesk,
} from "../support/settlements.ts";
import {
  dealBetween,
  defaultPaise,
  findTask,
  listEvents,
  openParties,
  pass,
  playScenario,
  say,
  saysCustoms,
} from "../support/task-parties.ts";

type Body = Answer["body"];

const stand = (one: Body) => [
  one.status,
  one.waiting_on,
  one.tasks.map((task: Body) => task.status),
];

test("each party of a live deal is told what to do, for whom and by when, and only its own", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  const { seller, buyer, settlementId, scripNo } = made;
  const sold = await readSettlement(service, seller, settlementId);
  assert.deepEqual(stand(sold), ["funded", "seller", ["waiting"]]);
  const [initiate] = sold.tasks;
  assert.deepEqual([initiate.kind, initiate.side, initiate.by], ["initiate", "sell", "firm"]);
  assert.equal(initiate.due_at, "2026-11-17T17:30:00.000+05:30");
  const { rows } = await service.ctx.db.pool.query("select firm_id, iec, legal_name from firms");
  const findParty = ({ firmId }: TestDesk) => rows.find((row) => row.firm_id === firmId);
  assert.deepEqual(initiate.instructions, {
    scrip_no: scripNo,
    face_paise: 25_000_000,
    to_iec: findParty(buyer).iec,
    to_name: findParty(buyer).legal_name,
  });
  const bought = await readSettlement(service, buyer, settlementId);
  assert.deepEqual(stand(bought), ["funded", "seller", ["done"]]);

  const begun = await say(service, seller, made, { kind: "initiate" });
  assert.deepEqual(stand(begun), ["transfer_initiated", "buyer", ["done"]]);
  const accept = await findTask(service, buyer, made, "accept");
  assert.deepEqual(accept.instructions, {
    scrip_no: scripNo,
    face_paise: 25_000_000,
    from_iec: findParty(seller).iec,
    from_name: findParty(seller).legal_name,
  });
  const accepted = await say(service, buyer, made, { kind: "accept" });
  assert.deepEqual(stand(accepted), ["transfer_initiated", "customs", ["done", "done"]]);
  assert.equal(accepted.tasks[1].instructions, null);
  assert.deepEqual(await listHoldings(service, scripNo), [
    { firm_id: seller.firmId, state: "in_settlement" },
  ]);
  await saysCustoms(service, made, "transferred");
  const settled = await readSettlement(service, buyer, settlementId);
  assert.deepEqual(stand(settled), ["settled", "none", ["done", "done"]]);

  const told = await listEvents(service, buyer);
  assert.deepEqual(
    told.map(({ event }) => event).filter((name) => name.startsWith("task.")),
    ["task.waiting", "task.done"],
    "what was paid with the deal tells nothing",
  );
  const secrets = [seller, buyer].flatMap((party) => [
    findParty(party).iec,
    findParty(party).legal_name,
  ]);
  const tasks = [...told, ...(await listEvents(service, seller))].filter(
    ({ entity }) => entity.type === "task",
  );
  assert.ok(tasks.length >= 4);
  for (const secret of secrets) assert.ok(!JSON.stringify(tasks).includes(secret));
  await assertLedgerSound(service);
});

test("a claim counts once, is refused to the other side, and a second one is answered alike", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  const { seller, buyer, settlementId } = made;
  const { task_id } = await findTask(service, seller, made, "initiate");
  const path = `/v1/settlements/${settlementId}/tasks/${task_id}/done`;
  const body = { reference: "ICEGATE-1" };
  await service.send("POST", path, { key: buyer.key, body, expect: 404 });
  const stranger = await openTestDesk(service, "live");
  await service.send("POST", path, { key: stranger.key, body, expect: 404 });
  await service.send("POST", path, { key: seller.key, body: {}, expect: 422 });
  const first = await say(service, seller, made, { kind: "initiate" });
  const second = await say(service, seller, made, {
    kind: "initiate",
    body: { reference: "ANOTHER" },
  });
  assert.deepEqual(second, first);
  assert.equal(second.tasks[0].reference, "ICEGATE-1");
});

test("a claim of pay starts nothing: the bank's line funds the deal", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service), false);
  const { buyer, settlementId } = made;
  const claimed = await say(service, buyer, made, { kind: "pay", body: { reference: "UTR-1" } });
  assert.deepEqual(stand(claimed), ["pending", "buyer", ["waiting"]]);
  assert.equal(claimed.tasks[0].reference, "UTR-1");
  await service.work();
  assert.equal((await readSettlement(service, buyer, settlementId)).status, "pending");
  await payIn(service, buyer.firmId, buyerPaise, "live");
  await service.work();
  const funded = await readSettlement(service, buyer, settlementId);
  assert.deepEqual(stand(funded), ["funded", "seller", ["done"]]);
});

test("a receiver that finds nothing reopens the holder's task, and the clock ends nothing", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  const { seller, buyer, settlementId, scripNo } = made;
  await say(service, seller, made, { kind: "initiate" });
  const missing = { kind: "accept", word: "missing", body: { note: "nothing there" } } as const;
  const missed = await say(service, buyer, made, missing);
  assert.deepEqual(stand(missed), ["transfer_initiated", "seller", ["done", "waiting"]]);
  assert.deepEqual(await say(service, buyer, made, missing), missed);
  const reopened = await findTask(service, seller, made, "initiate");
  assert.deepEqual([reopened.status, reopened.done_at], ["waiting", null]);
  service.clock.advance({ days: 30 });
  await service.work();
  const late = await readSettlement(service, seller, settlementId);
  assert.deepEqual([late.status, late.late], ["transfer_initiated", true]);
  assert.deepEqual(await listHoldings(service, scripNo), [
    { firm_id: seller.firmId, state: "in_settlement" },
  ]);
  const again = await say(service, seller, made, {
    kind: "initiate",
    body: { reference: "ICEGATE-2" },
  });
  assert.deepEqual(stand(again), ["transfer_initiated", "buyer", ["done"]]);
  await saysCustoms(service, made, "nothing_pending");
  const ended = await readSettlement(service, seller, settlementId);
  assert.deepEqual([ended.status, ended.failed_step], ["failed", "accept"]);
  const { available_paise } = await readBalance(service, buyer, "live");
  assert.equal(available_paise, buyerPaise);
  await assertLedgerSound(service);
});

test("a holder that never initiates ends the deal, which names the step, and is told that it is late first", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  const { seller, buyer, settlementId } = made;
  service.clock.advance({ days: 3 });
  await service.work();
  const late = await readSettlement(service, buyer, settlementId);
  assert.deepEqual([late.status, late.late], ["funded", true], "it waits for the portal's report");
  service.clock.advance({ days: 2 });
  await service.work();
  const ended = await readSettlement(service, buyer, settlementId);
  assert.deepEqual(
    [ended.status, ended.reason, ended.failed_step],
    ["failed", "timeout", "initiate"],
  );
  assert.equal((await findTask(service, seller, made, "initiate")).status, "void");
  const names = (await listEvents(service, seller)).map(({ event }) => event);
  const lateAt = names.indexOf("task.late");
  assert.ok(lateAt > 0 && lateAt < names.indexOf("settlement.failed"), names.join());
  assert.equal((await readBalance(service, buyer, "live")).available_paise, buyerPaise);
});

test("a receiver that is late is told once, and nobody is late at customs that are down", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  const { seller, buyer } = made;
  await say(service, seller, made, { kind: "initiate" });
  const registry = { environment: "live", port: "registry" } as const;
  await setOutage(service.ctx, registry, "maintenance");
  service.clock.advance({ days: 10 });
  await service.work();
  const countLate = async () =>
    (await listEvents(service, buyer)).filter(({ event }) => event === "task.late").length;
  assert.equal(await countLate(), 0);
  await setOutage(service.ctx, registry, undefined);
  await service.work();
  await service.work();
  assert.equal(await countLate(), 1);
  const { body } = await service.send("GET", "/v1/tasks?status=late&limit=5", {
    key: buyer.key,
    expect: 200,
  });
  assert.deepEqual([body.count, body.total, body.tasks[0].kind], [1, 1, "accept"]);
});

test("the house initiates for a holder that left it to the house, and the holder cannot say so", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service, "live");
  const scripNo = await addCredit(service, seller);
  const buyer = house("live");
  const legs = [{ seller, scripNo }];
  const settlementId = await makeDeal(service, { environment: "live", buyer, legs });
  const made = { seller, buyer: seller, scripNo, settlementId };
  const refused = await say(service, seller, made, { kind: "initiate", expect: 409 });
  assert.equal(refused.detail.reason, "task_of_house");
  const done = { settlementId, reference: "ICEGATE-3", settlementHooks };
  assert.deepEqual(await initiateAsHouse(service.ctx, operator, done), { initiated: 1 });
  assert.deepEqual(await initiateAsHouse(service.ctx, operator, done), { initiated: 0 });
  const begun = await readSettlement(service, seller, settlementId);
  assert.deepEqual(stand(begun), ["transfer_initiated", "buyer", ["done"]]);
});

test("a live firm's contact is told of what waits and what is late, by amounts and never by whom or where", async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, { mail });
  const parties = await openParties(service);
  const { seller, buyer } = parties;
  const setContact = async ({ key, firmId }: TestDesk, email: string) => {
    await service.send("PATCH", `/v1/firms/${firmId}`, { key, body: { email }, expect: 200 });
  };
  await setContact(seller, "Holder@Seller.example");
  await setContact(buyer, "former@buyer.example");
  await setContact(buyer, "payer@buyer.example");
  const told = async (to: string) => {
    await workNotices(service);
    const own = mail.mails.filter(({ recipients }) => recipients.includes(to));
    return own.map(({ subject }) => subject);
  };
  const made = await dealBetween(service, parties, false);
  const pay = await findTask(service, buyer, made, "pay");
  const waits = "To do: pay ₹2,46,000.00, by 17 Nov 2026, 17:30:00 IST";
  assert.deepEqual(await told("payer@buyer.example"), [waits]);
  assert.match(mail.mails[0]?.text ?? "", new RegExp(`${pay.task_id}[^]*never sends its account`));
  service.clock.advance({ days: 3 });
  await service.work();
  const late = "Late: pay ₹2,46,000.00, by 17 Nov 2026, 17:30:00 IST";
  assert.deepEqual(await told("payer@buyer.example"), [waits, late]);

  const paid = await dealBetween(service, parties);
  const initiate = /^To do: initiate the transfer of a credit of ₹2,50,000\.00, by 19 Nov 2026/;
  assert.match((await told("holder@seller.example")).join(), initiate);
  await say(service, seller, paid, { kind: "initiate" });
  const [, , accept] = await told("payer@buyer.example");
  assert.match(accept ?? "", /^To do: accept the transfer of a credit of ₹2,50,000\.00/);

  assert.deepEqual(await told("former@buyer.example"), []);
  const { rows } = await service.ctx.db.pool.query(
    "select iec, legal_name from firms where firm_id = any($1)",
    [[seller.firmId, buyer.firmId]],
  );
  for (const { text, subject } of mail.mails) {
    assert.doesNotMatch(`${subject}${text}`, /account \w*\d|HDFC|undefined|[{}]/);
    for (const { iec, legal_name } of rows) {
      assert.ok(!text.includes(iec) && !text.includes(legal_name), text);
    }
  }
});

test("nobody is told by mail of what the house does, nor in the sandbox a firm's contact", async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, { mail });
  for (const environment of ["live", "sandbox"] as const) {
    const seller = await openTestDesk(service, environment);
    const path = `/v1/firms/${seller.firmId}`;
    const body = { email: "holder@seller.example" };
    await service.send("PATCH", path, { key: seller.key, body, expect: 200 });
    const legs = [{ seller, scripNo: await addCredit(service, seller) }];
    await makeDeal(service, { environment, buyer: house(environment), legs });
    await workNotices(service);
  }
  assert.deepEqual(mail.mails, []);
});

test("an operator sees what every side has to do, the house's too, with both codes of a transfer", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await person.signIn()).token);
  const ask = async (path: string) => (await send("GET", path, { headers, expect: 200 })).body;
  const { seller, buyer, settlementId } = await dealBetween(service, await openParties(service));
  const { rows } = await service.ctx.db.pool.query("select firm_id, iec from firms");
  const findIec = ({ firmId }: TestDesk) => rows.find((row) => row.firm_id === firmId).iec;
  const { tasks, waiting_on } = await ask(`/ops/settlements/${settlementId}`);
  const say = (task: Body) => [task.kind, task.by, task.status, task.firm_iec];
  assert.deepEqual(tasks.map(say), [
    ["pay", "firm", "done", findIec(buyer)],
    ["initiate", "firm", "waiting", findIec(seller)],
  ]);
  assert.deepEqual([waiting_on, tasks[1].instructions.to_iec], ["seller", findIec(buyer)]);
  const own = await ask(`/ops/firms/${seller.firmId}/tasks`);
  assert.deepEqual(
    own.tasks.map((task: Body) => [task.settlement_id, task.kind]),
    [[settlementId, "initiate"]],
  );
  assert.deepEqual((await ask(`/ops/firms/${buyer.firmId}/tasks`)).tasks, []);

  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  const bought = await makeDeal(service, { environment: "live", buyer: house("live"), legs });
  const made = { seller, buyer: seller, settlementId: bought, scripNo: "" };
  const { task_id } = await findTask(service, seller, made, "initiate");
  const path = `/v1/settlements/${bought}/tasks/${task_id}/done`;
  await service.send("POST", path, { key: seller.key, body: { reference: "I-1" }, expect: 200 });
  const { settlements } = await ask("/ops/settlements/queue?environment=live");
  const queued = settlements.find((one: Body) => one.settlement_id === bought);
  assert.deepEqual(
    queued.tasks.map((task: Body) => [task.kind, task.by, task.status]),
    [
      ["initiate", "firm", "done"],
      ["accept", "house", "waiting"],
    ],
  );
});

test("what customs shows counts without anybody's claim", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  await saysCustoms(service, made, "transferred");
  const settled = await readSettlement(service, made.seller, made.settlementId);
  assert.deepEqual(stand(settled), ["settled", "none", ["done"]]);
  assert.equal((await listHoldings(service, made.scripNo))[0]?.firm_id, made.buyer.firmId);
  await assertLedgerSound(service);
});

test("one holder's deadline ends its own credit, and what another has begun goes on", async (t) => {
  const service = await startService(t);
  const { seller, buyer } = await openParties(service);
  const other = (await openParties(service)).seller;
  await payIn(service, buyer.firmId, 2 * buyerPaise, "live");
  const legs = [
    { seller, scripNo: await addCredit(service, seller) },
    { seller: other, scripNo: await addCredit(service, other) },
  ];
  const settlementId = await makeDeal(service, { environment: "live", buyer, legs });
  const made = { seller, buyer, settlementId, scripNo: legs[0]?.scripNo ?? "" };
  await say(service, seller, made, { kind: "initiate" });
  assert.equal((await readSettlement(service, buyer, settlementId)).waiting_on, "seller");
  service.clock.advance({ days: 30 });
  await service.work();
  const ended = await readSettlement(service, other, settlementId);
  assert.deepEqual([ended.status, ended.failed_step], ["failed", "initiate"]);
  const open = await readSettlement(service, buyer, settlementId);
  assert.deepEqual([open.status, open.waiting_on], ["transfer_initiated", "buyer"]);
  await saysCustoms(service, made, "transferred");
  const settled = await readSettlement(service, buyer, settlementId);
  assert.deepEqual(
    [settled.status, settled.sides[0].settled_paise, settled.sides[0].undelivered_paise],
    ["settled", buyerPaise, buyerPaise],
  );
  await assertLedgerSound(service);
});

const endings = {
  never_initiates: { seconds: 70, status: "failed", reason: "timeout", failed_step: "initiate" },
  never_accepts: { seconds: 110, status: "failed", reason: "timeout", failed_step: "accept" },
  accepts_late: { seconds: 75, status: "settled", reason: null, failed_step: null },
  wrong_iec: { seconds: 5, status: "failed", reason: "refused", failed_step: "customs" },
} as const;

test("each scenario ends where it says, with money and credit at one owner each", async (t) => {
  const service = await startService(t);
  for (const [scenario, { seconds, ...end }] of Object.entries(endings)) {
    const made = await playScenario(service, scenario);
    await pass(service, seconds);
    const { status, reason, failed_step } = await readSettlement(
      service,
      made.buyer,
      made.settlementId,
    );
    assert.deepEqual({ status, reason, failed_step }, end, scenario);
    const hasCredit = status === "settled";
    const { available_paise } = await readBalance(service, made.buyer);
    const kept = scenario === "never_accepts" ? defaultPaise : 0;
    assert.equal(available_paise, hasCredit ? 0 : buyerPaise - kept, scenario);
    const [holding] = await listHoldings(service, made.scripNo);
    assert.equal(holding?.firm_id, (hasCredit ? made.buyer : made.seller).firmId, scenario);
    await payIn(service, made.buyer.firmId, defaultPaise, "sandbox");
    const once = await dealBetween(service, made);
    await pass(service, 5);
    assert.equal(
      (await readSettlement(service, made.buyer, once.settlementId)).status,
      "settled",
      `${scenario} applies once`,
    );
  }
  await assertLedgerSound(service);
});

test("a desk of the sandbox that does its tasks itself is waited for until it does, until its reset", async (t) => {
  const service = await startService(t);
  const parties = await openParties(service, "sandbox");
  for (const { key } of [parties.seller, parties.buyer]) {
    const body = { scenario: "tasks_manual" };
    await service.send("POST", "/v1/sandbox/scenarios", { key, body, expect: 200 });
  }
  const made = await dealBetween(service, parties, false);
  const { seller, buyer, settlementId } = made;
  await pass(service, 10);
  assert.equal((await readSettlement(service, buyer, settlementId)).waiting_on, "buyer");
  await say(service, buyer, made, { kind: "pay", body: { reference: "UTR-9" } });
  await pass(service, 5);
  assert.deepEqual(stand(await readSettlement(service, seller, settlementId)), [
    "funded",
    "seller",
    ["waiting"],
  ]);
  await say(service, seller, made, { kind: "initiate" });
  await pass(service, 5);
  assert.equal((await readSettlement(service, buyer, settlementId)).waiting_on, "buyer");
  await say(service, buyer, made, { kind: "accept" });
  await pass(service, 5);
  assert.equal((await readSettlement(service, buyer, settlementId)).status, "settled");
  for (const { key } of [seller, buyer]) {
    await service.send("POST", "/v1/sandbox/reset", { key, body: {}, expect: 200 });
  }
  const next = await dealBetween(service, await openParties(service, "sandbox"));
  await pass(service, 5);
  assert.equal((await readSettlement(service, next.buyer, next.settlementId)).status, "settled");
});

test("what is done is listed of deals of the last 92 days, and what is open however old", async (t) => {
  const service = await startService(t);
  const made = await dealBetween(service, await openParties(service));
  const { seller, buyer } = made;
  await say(service, seller, made, { kind: "initiate" });
  const list = async (desk: TestDesk, status: string) =>
    (await service.send("GET", `/v1/tasks?status=${status}`, { key: desk.key, expect: 200 })).body;
  assert.deepEqual(
    [(await list(seller, "done")).tasks.length, (await list(buyer, "done")).tasks.length],
    [1, 1],
  );
  service.clock.advance({ days: 93 });
  assert.deepEqual(
    [(await list(seller, "done")).tasks.length, (await list(buyer, "done")).tasks.length],
    [0, 0],
  );
  const late = await list(buyer, "late");
  assert.deepEqual([late.tasks.length, late.tasks[0].kind], [1, "accept"]);
});

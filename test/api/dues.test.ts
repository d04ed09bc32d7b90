// What a firm owes the house is paid before anything else is done with its money: before a payout, a
// buy, a withdrawal or a cross, on the firm's own money only, and never on money of a deal agreed.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { istDay } from "../../src/kernel/time.ts";
import { collectDues } from "../../src/payouts/collect-dues.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { resendPayout } from "../../src/payouts/send-payout.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { asOwner } from "../support/database.ts";
import { addFirm } from "../support/holdings.ts";
import { assertLedgerSound, payIn, payInMany, raiseDues } from "../support/ledger.ts";
import { holdRow } from "../support/locks.ts";
import { recordDeadlocks } from "../support/lock-record.ts";
import { parsePdfPages } from "../support/pdf.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  face,
  house,
  letSettle,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
  sellerPaise,
  type TestDesk,
  type TestParty,
} from "../support/settlements.ts";
import { readXlsx } from "../support/xlsx.ts";

async function sell(
  service: Service,
  seller: TestParty,
  { scripNo, buyer = house() }: { readonly scripNo?: string; readonly buyer?: TestParty } = {},
) {
  const sold = scripNo ?? (await addCredit(service, seller));
  const settlementId = await makeDeal(service, { buyer, legs: [{ seller, scripNo: sold }] });
  return { scripNo: sold, settlementId };
}

async function reverse({ ctx }: Service, settlementId: string): Promise<void> {
  for (const name of ["asha", "ravi"]) {
    await reverseSettlement(ctx, namedOperator(name), { settlementId, reason: "forged mandate" });
  }
}

/** A firm that was paid for a sale that was reversed: it holds the credit again and owes its price. */
async function owing(service: Service) {
  const desk = await openTestDesk(service);
  const { scripNo, settlementId } = await sell(service, desk);
  await letSettle(service);
  await reverse(service, settlementId);
  assert.equal((await readBalance(service, desk)).dues_paise, sellerPaise);
  return { desk, scripNo, settlementId };
}

async function holdPayouts(
  { ctx }: Service,
  { firmId }: TestDesk,
  until: string | null = "2030-01-01",
) {
  await ctx.db.pool.query("update firms set hold_reason = $3, hold_until = $2 where firm_id = $1", [
    firmId,
    until,
    until && "beneficiary_change",
  ]);
}

async function readStatement(service: Service, { key, firmId }: TestDesk, as = "") {
  const path = `/v1/statements/2026-11?firm_id=${firmId}${as}`;
  return await service.send("GET", path, { key, expect: 200 });
}

async function listDues(service: Service, { key }: TestDesk) {
  const { body } = await service.send("GET", "/v1/events?limit=500", { key, expect: 200 });
  return body.events
    .filter(({ event }: Answer["body"]) => event.startsWith("dues."))
    .map(({ event, data }: Answer["body"]) => [
      event,
      data.reference,
      data.amount_paise,
      data.dues_paise,
    ]);
}

/** Puts firms of one desk into a group, and answers with the desk's POST. */
async function openGroup(service: Service, firms: readonly [TestDesk, ...TestDesk[]]) {
  const [{ key }] = firms;
  const post = async (path: string, body: object, expect = 200) =>
    (await service.send("POST", path, { key, body, expect })).body;
  const { group_id } = await post("/v1/groups", { name: "Sahyadri" }, 201);
  for (const { firmId } of firms) {
    const member = `/v1/groups/${group_id}/members/${firmId}`;
    await service.send("PUT", member, { key, expect: 200 });
  }
  return post;
}

test("the second sale of a credit whose first sale was reversed pays the dues first, and nothing else leaves", async (t) => {
  const service = await startService(t);
  const { desk, scripNo, settlementId: first } = await owing(service);
  const { settlementId: second } = await sell(service, desk, { scripNo });
  await letSettle(service);
  const payouts = await listPayouts(service, desk);
  assert.deepEqual(
    payouts.map(({ settlement_id, status }) => [settlement_id, status]),
    [[first, "paid"]],
    "the second sale is owed as a whole, so no money leaves",
  );
  const { posted_paise, dues_paise } = await readBalance(service, desk);
  assert.deepEqual([posted_paise, dues_paise], [0, 0]);
  assert.deepEqual(await listDues(service, desk), [
    ["dues.raised", first, sellerPaise, sellerPaise],
    ["dues.set_off", second, sellerPaise, 0],
  ]);
  const { body: statement } = await readStatement(service, desk);
  const lines = statement.lines.map(({ kind, reference, amount_paise }: Answer["body"]) => [
    kind,
    reference,
    amount_paise,
  ]);
  assert.deepEqual(lines.slice(-2), [
    ["sale", second, sellerPaise],
    ["dues", second, -sellerPaise],
  ]);
  assert.deepEqual([statement.closing_paise, statement.dues_paise], [0, 0]);
  await assertLedgerSound(service);
});

test("a payout is what is left of the proceeds after TDS and dues, and its lines say what they come from", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await setTax(service.ctx, namedOperator("asha"), {
    environment: "sandbox",
    line: "tds",
    from: istDay(service.ctx.now()),
    rate: { section: "194Q", rate_bps: 100, threshold_paise: 0, with_crosses: false },
  });
  await raiseDues(service, desk.firmId, 1_000_001);
  const { settlementId } = await sell(service, desk);
  await letSettle(service);
  const [payout] = await listPayouts(service, desk);
  const withheld = sellerPaise / 100;
  assert.deepEqual(
    [payout.amount_paise, payout.set_off_paise, payout.lines[0].amount_paise, payout.status],
    [sellerPaise - withheld - 1_000_001, 1_000_001, sellerPaise - withheld, "paid"],
  );
  const { body: statement } = await readStatement(service, desk);
  assert.deepEqual(
    statement.lines.slice(2).map(({ kind, amount_paise }: Answer["body"]) => [kind, amount_paise]),
    [
      ["sale", sellerPaise],
      ["tds", -withheld],
      ["dues", -1_000_001],
      ["payout", -payout.amount_paise],
    ],
  );
  assert.equal(statement.lines.at(-2).reference, settlementId);
  for (const [format, shown] of [
    ["csv", "Dues settled"],
    ["csv", "-10000.01"],
  ] as const) {
    const { text } = await readStatement(service, desk, `&format=${format}`);
    assert.ok(text.includes(shown), shown);
  }
  await assertLedgerSound(service);
});

test("several sales of one set pay the dues in their order, and every paisa is told by its settlement", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await raiseDues(service, desk.firmId, sellerPaise + 7);
  const made = [await sell(service, desk), await sell(service, desk), await sell(service, desk)];
  await letSettle(service);
  const payouts = await listPayouts(service, desk);
  assert.equal(
    payouts.reduce((sum, { amount_paise }) => sum + amount_paise, 0),
    2 * sellerPaise - 7,
  );
  const told = (await listDues(service, desk)).slice(1);
  assert.equal(
    told.reduce((sum: number, [, , paise]: [string, string, number]) => sum + paise, 0),
    sellerPaise + 7,
  );
  for (const [, reference, paise] of told) {
    const payout = payouts.find(({ settlement_id }) => settlement_id === reference);
    assert.ok(made.some(({ settlementId }) => settlementId === reference));
    assert.equal((payout?.amount_paise ?? 0) + paise, sellerPaise, "paid and set off are the sale");
    if (payout) assert.equal(payout.set_off_paise, paise);
  }
  await assertLedgerSound(service);
});

test("money that comes in pays the dues before it can be withdrawn or buy", async (t) => {
  const service = await startService(t);
  const { desk } = await owing(service);
  await addDeposit(service.ctx, namedOperator("asha"), {
    environment: "sandbox",
    firmId: desk.firmId,
    paise: sellerPaise - 100,
    reference: "HDFCR52026111500009",
  });
  const { available_paise, dues_paise } = await readBalance(service, desk);
  assert.deepEqual([available_paise, dues_paise], [0, 100]);
  const { body } = await service.send("POST", `/v1/firms/${desk.firmId}/withdrawals`, {
    key: desk.key,
    body: { amount_paise: 1 },
    expect: 409,
  });
  assert.deepEqual(body.detail, {
    reason: "dues_outstanding",
    available_paise: 0,
    dues_paise: 100,
  });
  await payIn(service, desk.firmId, 150);
  assert.equal((await readBalance(service, desk)).available_paise, 50);
  const { body: positions } = await service.send("GET", `/v1/positions?firm_id=${desk.firmId}`, {
    key: desk.key,
    expect: 200,
  });
  assert.deepEqual([positions.cash.available_paise, positions.cash.dues_paise], [50, 0]);
  await assertLedgerSound(service);
});

test("a buy is not paid with owed money, and what is paid for a deal already made is not set off", async (t) => {
  const service = await startService(t);
  const { desk } = await owing(service);
  await payIn(service, desk.firmId, buyerPaise);
  const { settlementId } = await sell(service, house(), { buyer: desk });
  const waiting = await service.send("GET", `/v1/settlements/${settlementId}`, { key: desk.key });
  assert.equal(waiting.body.status, "pending", "the balance went to the dues");
  await letSettle(service);
  const settled = await service.send("GET", `/v1/settlements/${settlementId}`, { key: desk.key });
  assert.equal(settled.body.status, "settled", "the simulated bank paid for this deal");
  const { dues_paise } = await readBalance(service, desk);
  assert.equal(dues_paise, 0);
  await assertLedgerSound(service);
});

test("money held for a deal stays when dues arise, and pays them when the deal fails", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await payIn(service, desk.firmId, buyerPaise);
  const refused = await addCredit(service, house(), "0409");
  const { settlementId } = await sell(service, house(), { buyer: desk, scripNo: refused });
  await raiseDues(service, desk.firmId, 1_000);
  const held = await readBalance(service, desk);
  assert.deepEqual([held.escrow_paise, held.dues_paise], [buyerPaise, 1_000]);
  await letSettle(service);
  const failed = await service.send("GET", `/v1/settlements/${settlementId}`, { key: desk.key });
  assert.equal(failed.body.status, "failed");
  const back = await readBalance(service, desk);
  assert.deepEqual([back.available_paise, back.dues_paise], [buyerPaise - 1_000, 0]);
  assert.deepEqual((await listDues(service, desk)).at(-1), [
    "dues.set_off",
    settlementId,
    1_000,
    0,
  ]);
  await assertLedgerSound(service);
});

test("dues come out of a payout that was held when they arose, before it leaves", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const paid = await sell(service, desk);
  await letSettle(service);
  await holdPayouts(service, desk);
  const other = await openTestDesk(service);
  const kept = [await sell(service, desk), await sell(service, desk)];
  await letSettle(service);
  await sell(service, other);
  await letSettle(service);
  assert.equal(
    (await listPayouts(service, other))[0].status,
    "paid",
    "a sibling's money is its own",
  );
  await raiseDues(service, other.firmId, 1);
  await reverse(service, paid.settlementId);
  const payouts = await listPayouts(service, desk);
  const unsent = payouts.filter(({ status }) => status === "held" || status === "scheduled");
  assert.deepEqual(
    unsent.map(({ settlement_id, amount_paise }) => [settlement_id, amount_paise]),
    [[kept[1]?.settlementId, sellerPaise]],
    "the older of the two paid the debt",
  );
  assert.deepEqual(
    payouts
      .filter(({ status }) => status === "returned")
      .map(({ settlement_id, reason }) => [settlement_id, reason]),
    [[kept[0]?.settlementId, "dues_set_off"]],
  );
  assert.equal((await readBalance(service, desk)).dues_paise, 0);
  await holdPayouts(service, desk, null);
  await letSettle(service);
  assert.equal(
    (await listPayouts(service, desk))
      .filter(({ status }) => status === "paid")
      .reduce((sum, { amount_paise }) => sum + amount_paise, 0),
    2 * sellerPaise,
    "two of three sales stand, and two are paid",
  );
  await assertLedgerSound(service);
});

test("a held payout that is more than the dues goes on with the rest, once", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await holdPayouts(service, desk);
  const { settlementId } = await sell(service, desk);
  await letSettle(service);
  await raiseDues(service, desk.firmId, 400);
  const { firstBreak } = await checkLedger(service.ctx);
  assert.equal(firstBreak?.check, "dues_come_first", "the control: the check finds such a payout");
  await collectDues(service.ctx);
  const [rest, before] = await listPayouts(service, desk);
  assert.deepEqual(
    [rest.amount_paise, rest.set_off_paise, rest.resend_of, rest.status],
    [sellerPaise - 400, 400, before.payout_id, "held"],
  );
  assert.deepEqual(rest.lines, before.lines);
  await raiseDues(service, desk.firmId, 100);
  await collectDues(service.ctx);
  const [again] = await listPayouts(service, desk);
  assert.deepEqual([again.amount_paise, again.set_off_paise], [sellerPaise - 500, 500]);
  for (const each of [before, rest]) {
    await assert.rejects(
      resendPayout(service.ctx, namedOperator("asha"), each.payout_id),
      (error: { detail?: { reason?: string } }) =>
        error.detail?.reason === "insufficient_funds" || error.detail?.reason === "already_resent",
    );
  }
  await reverse(service, settlementId);
  const { dues_paise, posted_paise } = await readBalance(service, desk);
  assert.deepEqual([posted_paise, dues_paise], [0, 500], "what paid dues is owed again");
  await assertLedgerSound(service);
});

test("a desk's commission pays what the desk owes, and a sibling's money never does", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const own = { ...desk, firmId: desk.deskId };
  const sibling = await addFirm(service, { deskId: desk.deskId });
  await payIn(service, sibling, 5_000);
  await raiseDues(service, own.firmId, face);
  await sell(service, desk);
  await letSettle(service);
  const { commission_paise, dues_paise } = await readBalance(service, own);
  assert.deepEqual([commission_paise, dues_paise], [0, face - face / 2_000]);
  assert.equal((await readBalance(service, { firmId: sibling })).available_paise, 5_000);
  assert.equal((await listPayouts(service, desk))[0].amount_paise, sellerPaise);
  await assertLedgerSound(service);
});

test("a firm that owes hands no credit to a sibling, whatever the price, and sells it to the market", async (t) => {
  const service = await startService(t);
  const { desk, scripNo } = await owing(service);
  const sibling = { ...desk, firmId: await addFirm(service, { deskId: desk.deskId }) };
  const post = await openGroup(service, [desk, sibling]);
  for (const price_bps of [1, 9_700]) {
    const { cross_quote_ref } = await post("/v1/cross/quote", {
      kind: "intra_group",
      side: "sell",
      firm_id: desk.firmId,
      counterparty_firm_id: sibling.firmId,
      scrip_nos: [scripNo],
      price_bps,
    });
    const { detail } = await post("/v1/cross", { cross_quote_ref }, 409);
    assert.deepEqual(detail, {
      reason: "dues_outstanding",
      available_paise: 0,
      dues_paise: sellerPaise,
    });
  }
  await sell(service, desk, { scripNo });
  await letSettle(service);
  assert.equal((await readBalance(service, desk)).dues_paise, 0);
  await assertLedgerSound(service);
});

test("a firm that owes funds no cross out of its balance, and money of a cross that ends pays its dues", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  const sibling = { ...desk, firmId: await addFirm(service, { deskId: desk.deskId }) };
  const post = await openGroup(service, [desk, sibling]);
  const scripNo = await addCredit(service, sibling);
  const { cross_quote_ref } = await post("/v1/cross/quote", {
    kind: "intra_group",
    side: "buy",
    firm_id: desk.firmId,
    counterparty_firm_id: sibling.firmId,
    scrip_nos: [scripNo],
    price_bps: 10_000,
  });
  const cross = await post("/v1/cross", { cross_quote_ref }, 201);
  await payIn(service, desk.firmId, face);
  await raiseDues(service, desk.firmId, face - 1_000);
  assert.equal((await readBalance(service, desk)).available_paise, 1_000);
  await raiseDues(service, desk.firmId, 1_000);
  const path = `/v1/cross/${cross.cross_id}`;
  await post(`${path}/fund`, { payment_ref: "PAY-1" });
  const funded = await readBalance(service, desk);
  assert.equal(funded.escrow_paise, face, "the simulated bank brought all of it");
  await raiseDues(service, desk.firmId, 77);
  await post(`${path}/cancel`, {});
  const { available_paise, dues_paise } = await readBalance(service, desk);
  assert.deepEqual([available_paise, dues_paise], [face - 77, 0]);
  await assertLedgerSound(service);
});

test("the database refuses money beside dues, and the check finds it where the guard is gone", async (t) => {
  const service = await startService(t);
  const { desk } = await owing(service);
  const { pool } = service.ctx.db;
  await assert.rejects(
    pool.query("update ledger_balances set posted_paise = 6 where balance = $1", [
      `firm_cash:${desk.firmId}`,
    ]),
    (error: { constraint?: string }) => error.constraint === "ledger_balances_no_money_beside_dues",
  );
  const guard = async (what: "disable" | "enable") =>
    await asOwner(service.ctx.db, async (owner) => {
      await owner.query(`alter table ledger_balances ${what} trigger no_money_beside_dues`);
    });
  await guard("disable");
  await payInMany(service, desk.firmId, 3);
  await guard("enable");
  const { firstBreak } = await checkLedger(service.ctx);
  assert.deepEqual(
    [firstBreak?.check, firstBreak?.found],
    ["dues_come_first", "6 paise available as firm_cash"],
  );
  await collectDues(service.ctx);
  assert.equal((await readBalance(service, desk)).dues_paise, sellerPaise - 6);
  await assertLedgerSound(service);
});

test("PDF and workbook of a statement show dues and what was set off", async (t) => {
  const service = await startService(t);
  const { desk } = await owing(service);
  await payIn(service, desk.firmId, 100);
  const url = `${service.url}/v1/statements/2026-11?firm_id=${desk.firmId}&format=`;
  const headers = { "x-service-key": desk.key };
  const pdf = await (await fetch(`${url}pdf`, { headers })).arrayBuffer();
  const text = (await parsePdfPages(new Uint8Array(pdf))).map((page) => page.text).join(" ");
  for (const shown of ["Dues settled", "Carried to your dues", "Owed to us"]) {
    assert.ok(text.includes(shown), shown);
  }
  const xlsx = await (await fetch(`${url}xlsx`, { headers })).arrayBuffer();
  const { rows } = readXlsx(new Uint8Array(xlsx));
  assert.ok(rows.some(({ description }) => description?.value === "Dues settled"));
});

async function holdCash(t: TestContext, service: Service, { firmId }: TestDesk) {
  const where = `balance = 'firm_cash:${firmId}'`;
  return await holdRow(t, service, { table: "ledger_balances", where });
}

/** A service on which no deadlock may occur, even one that a retry repairs. */
async function startWithoutDeadlocks(t: TestContext): Promise<Service> {
  const deadlocks = recordDeadlocks(t); // Before a connection is opened.
  const service = await startService(t);
  t.after(() => assert.deepEqual(deadlocks, []));
  return service;
}

test("two reversals of one seller at once take each other's payouts back in one order", async (t) => {
  const service = await startWithoutDeadlocks(t);
  const desk = await openTestDesk(service);
  await holdPayouts(service, desk);
  const sold = [await sell(service, desk), await sell(service, desk), await sell(service, desk)];
  await letSettle(service);
  await raiseDues(service, desk.firmId, 400);
  const held = await holdCash(t, service, desk);
  const reversing = Promise.all(
    sold.slice(0, 2).map(({ settlementId }) => reverse(service, settlementId)),
  );
  await held.whenWaiting(2);
  await held.release();
  await reversing;
  const payouts = await listPayouts(service, desk);
  assert.deepEqual(
    payouts.filter(({ status }) => status === "held").map((payout) => payout.amount_paise),
    [sellerPaise - 400],
  );
  assert.equal((await readBalance(service, desk)).dues_paise, 0);
  await assertLedgerSound(service);
});

/** Until no deal is open: one that met a moved balance is set aside for a second. */
async function settleAll(service: Service): Promise<void> {
  for (let looks = 0; looks < 100; looks++) {
    await letSettle(service);
    const open = await service.ctx.db.pool.query(
      "select from settlements where state in ('funded', 'transfer_initiated', 'transfer_confirmed')",
    );
    if (open.rowCount === 0) return;
    await sleep(50);
  }
  assert.fail("a deal stays open");
}

for (const first of ["reversal", "settlement"] as const) {
  test(`of a reversal and a sale that settles at once, the ${first} first, no owed money is paid out`, async (t) => {
    const service = await startWithoutDeadlocks(t);
    const desk = await openTestDesk(service);
    const { settlementId } = await sell(service, desk);
    await letSettle(service);
    await holdPayouts(service, desk);
    await sell(service, desk);
    const held = await holdCash(t, service, desk);
    const acts = {
      reversal: () => reverse(service, settlementId),
      settlement: () => letSettle(service),
    };
    const one = acts[first]();
    await held.whenWaiting(1);
    const other = acts[first === "reversal" ? "settlement" : "reversal"]();
    await held.whenWaiting(2);
    await held.release();
    await Promise.all([one, other]);
    await settleAll(service);
    const paid = (await listPayouts(service, desk)).filter(({ status }) => status === "paid");
    assert.deepEqual(
      paid.map((payout) => payout.settlement_id),
      [settlementId],
    );
    const { posted_paise, dues_paise } = await readBalance(service, desk);
    assert.deepEqual([posted_paise, dues_paise], [0, 0], "one of two sales stands, and is paid");
    await assertLedgerSound(service);
  });
}

test("a list of payouts as a file says what was set off", async (t) => {
  const service = await startService(t);
  const desk = await openTestDesk(service);
  await raiseDues(service, desk.firmId, 1_234);
  await sell(service, desk);
  await letSettle(service);
  const headers = { "x-service-key": desk.key };
  const csv = await (await fetch(`${service.url}/v1/payouts?format=csv`, { headers })).text();
  const [names = "", values = ""] = csv.split("\n").map((line) => line.trim());
  assert.equal(values.split(",")[names.split(",").indexOf("set_off_rupees")], "12.34");
});

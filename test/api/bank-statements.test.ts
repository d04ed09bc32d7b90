// The bank's own statement: what it explains counts once, what it does not waits for a person, and
// the books come to what the bank says is on the account.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal, rejectProposal } from "../../src/operators/decide-approval.ts";
import { assignLine, sendLineBack } from "../../src/bankbook/decide-line.ts";
import { fundDeal } from "../../src/bankbook/fund-deal.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { receiveStatement } from "../../src/bankbook/receive-statement.ts";
import { listQueue } from "../../src/bankbook/list-queue.ts";
import { genericStatement } from "../../src/bankbook/read-statement.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { showFile } from "../../src/payouts/read-files.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import { resendPayout, sendPayout } from "../../src/payouts/send-payout.ts";
import { squeezed, statement } from "../support/bank.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type LiveSeller, liveSeller, sellLive } from "../support/live-sales.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  listPayouts,
  makeDeal,
  readBalance,
  readSettlement,
} from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;

const refusedFor = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

let references = 0;
const nextUtr = () => `HDFCR52026${String(++references).padStart(9, "0")}`;

async function read(service: Service, text: string, by = asha, twoFromPaise?: number) {
  return await importStatement(service.ctx, by, { ...live, text, twoFromPaise });
}

/** What is due to the seller, in a file, and the reference that the bank repeats. */
async function filed(service: Service, seller: LiveSeller, ...paises: readonly number[]) {
  await sellLive(service, seller, ...paises);
  const [made = assert.fail("nothing was due")] = await makeFiles(service.ctx, asha, live);
  const [line = assert.fail()] = (await showFile(service.ctx, made.file_id ?? "")).lines;
  return { fileId: made.file_id ?? "", reference: line.reference, paise: line.paise };
}

async function buying(service: Service, buyer: LiveSeller): Promise<string> {
  const seller = await liveSeller(service);
  const scripNo = await addCredit(service, seller);
  return await makeDeal(service, { ...live, buyer, legs: [{ seller, scripNo }] });
}

async function assertReconciled(service: Service) {
  const { unexplained_paise, ...rest } = await reconcileBank(service.ctx, "live");
  assert.equal(Number(unexplained_paise), 0, JSON.stringify(rest));
  await assertLedgerSound(service);
  return rest;
}

test("a statement confirms or returns the lines of a payout file, and a returned one is paid once", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  const first = await filed(service, seller, 4_000_000, 9_000_000);
  const utr = nextUtr();
  const debit = { utr, text: `NEFT ${first.reference} ${seller.name}`, paise: -13_000_000 };
  const imported = await read(service, statement(50_000_000, [debit]));
  assert.deepEqual([imported.outcome, imported.matched, imported.queued], ["applied", 1, 0]);
  for (const payout of await listPayouts(service, seller)) {
    assert.deepEqual([payout.status, payout.utr], ["paid", utr]);
  }
  assert.equal((await showFile(service.ctx, first.fileId)).state, "answered");
  assert.equal((await readBalance(service, seller, "live")).posted_paise, 0);

  const back = { utr: nextUtr(), text: `RTN ${first.reference} A/C CLOSED`, paise: 13_000_000 };
  await read(service, statement(37_000_000, [back], "16/11/2026"));
  const returned = await listPayouts(service, seller);
  for (const { status, reason } of returned) {
    assert.deepEqual([status, reason], ["returned", "returned_by_bank"]);
  }
  assert.equal((await readBalance(service, seller, "live")).available_paise, 13_000_000);
  for (const { payout_id } of returned) await resendPayout(service.ctx, asha, payout_id);
  const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
  const [line = assert.fail()] = (await showFile(service.ctx, made.file_id ?? "")).lines;
  assert.equal(line.paise, 13_000_000);
  const again = { utr: nextUtr(), text: line.reference, paise: -13_000_000 };
  await read(service, statement(50_000_000, [again], "17/11/2026"));
  const states = (await listPayouts(service, seller)).map(({ status }) => status as string);
  assert.deepEqual(states.toSorted(), ["paid", "paid", "returned", "returned"]);
  assert.equal((await readBalance(service, seller, "live")).posted_paise, 0);
  const { bank_paise, differences } = await assertReconciled(service);
  assert.equal(bank_paise, 37_000_000);
  assert.deepEqual(differences, [
    { what: "on the account before the first statement", amount_paise: 50_000_000 },
  ]);
});

test("a debit and its return in one file are booked in order, in whichever order the bank lists them", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  const { reference } = await filed(service, seller, 4_000_000);
  const lines = [
    { utr: nextUtr(), text: `RTN ${reference}`, paise: 4_000_000 },
    { utr: nextUtr(), text: reference, paise: -4_000_000 },
  ];
  await read(service, statement(10_000_000, lines));
  const [payout] = await listPayouts(service, seller);
  assert.deepEqual(
    payout.history.map(({ status }: { status: string }) => status),
    ["scheduled", "instructed", "paid", "returned"],
  );
  assert.equal((await readBalance(service, seller, "live")).available_paise, 4_000_000);
  await assertReconciled(service);
});

test("the same file twice, and the same line in two files, count once", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const paid = {
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise: 7_000_000,
    account: buyer.accountNo,
  };
  const text = statement(0, [paid]);
  assert.equal((await read(service, text)).outcome, "applied");
  assert.equal((await read(service, text, ravi)).outcome, "known");
  const other = {
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise: 1_000_000,
    account: buyer.accountNo,
  };
  const longer = await read(service, statement(0, [paid, other]));
  assert.deepEqual([longer.lines, longer.new_lines, longer.matched], [2, 1, 1]);
  assert.equal((await readBalance(service, buyer, "live")).available_paise, 8_000_000);
  const twins = await Promise.all(
    [asha, ravi].map((by) => read(service, statement(0, [paid, other, other]), by)),
  );
  assert.deepEqual(twins.map(({ outcome }) => outcome).toSorted(), ["applied", "known"]);
  assert.equal((await readBalance(service, buyer, "live")).available_paise, 8_000_000);
  const [queued] = await listQueue(service.ctx, { ...live, limit: 10 });
  assert.equal(queued?.reason, "reference_used", "one reference is one deposit");
  await assertReconciled(service);
});

test("a buyer's payment funds the deal it names: exact, in parts, and with a surplus", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const dealId = await buying(service, buyer);
  const paying = (paise: number) => ({
    utr: nextUtr(),
    text: `RTGS CR ${squeezed(dealId)}`,
    paise,
    account: `${buyer.accountNo.slice(0, 4)} ${buyer.accountNo.slice(4)}`,
  });
  const part = paying(buyerPaise - 100);
  await read(service, statement(0, [part]));
  assert.equal((await readSettlement(service, buyer, dealId)).status, "pending", "partly funded");
  assert.equal((await readBalance(service, buyer, "live")).available_paise, buyerPaise - 100);
  await read(service, statement(buyerPaise - 100, [paying(350)]));
  const { status } = await readSettlement(service, buyer, dealId);
  assert.notEqual(status, "pending");
  const { available_paise, escrow_paise } = await readBalance(service, buyer, "live");
  assert.deepEqual([available_paise, escrow_paise], [250, buyerPaise]);
  await assertReconciled(service);

  const second = await buying(service, buyer);
  const fund = async (paise: number, reference: string) =>
    await fundDeal(service.ctx, asha, { dealId: second, paise, reference });
  const utr = nextUtr();
  assert.equal((await fund(1_000, utr)).outcome, "received");
  assert.equal((await fund(1_000, utr)).outcome, "known");
  const brought = { reference: utr, firm_id: buyer.firmId, paise: 1_000 };
  await assert.rejects(fund(2_000, utr), { detail: { reason: "reference_used", ...brought } });
  assert.equal((await fund(buyerPaise, nextUtr())).outcome, "funded");
  await assert.rejects(fund(1_000, nextUtr()), refusedFor("wrong_state"));
  assert.equal((await readBalance(service, buyer, "live")).available_paise, 250 + 1_000);
  const { differences } = await assertReconciled(service);
  assert.equal(differences.length, 2, "what was written by hand is in no statement yet");
});

test("a third party's payment waits in the queue until an operator assigns it", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const dealId = await buying(service, buyer);
  const stranger = { name: "Somebody Else LLP", account: "999000111222" };
  const lines = [
    { utr: nextUtr(), text: squeezed(dealId), paise: buyerPaise, ...stranger },
    { utr: nextUtr(), text: squeezed(dealId), paise: buyerPaise, account: "1" },
    { utr: nextUtr(), text: "NO REFERENCE AT ALL", paise: 5_000, account: buyer.accountNo },
    { utr: nextUtr(), text: "CHARGES", paise: -1_180 },
  ];
  const { queued } = await read(service, statement(0, lines));
  assert.equal(queued, 4);
  const waiting = await listQueue(service.ctx, { ...live, limit: 10 });
  assert.deepEqual(waiting.map(({ reason }) => reason ?? "").toSorted(), [
    "no_reference",
    "third_party",
    "third_party",
    "unknown_reference",
  ]);
  assert.equal((await readSettlement(service, buyer, dealId)).status, "pending");
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 0);
  await assertReconciled(service);

  const [first = assert.fail(), second = assert.fail()] = waiting.filter(
    ({ reason }) => reason === "third_party",
  );
  const lineId = first.line_id;
  const assigning = { lineId, to: dealId, reason: "letter of the buyer", twoFromPaise: buyerPaise };
  assert.equal((await assignLine(service.ctx, asha, assigning)).outcome, "proposed");
  assert.equal(
    (await assignLine(service.ctx, asha, assigning)).outcome,
    "proposed",
    "one person is not two",
  );
  assert.equal(
    (await readBalance(service, buyer, "live")).posted_paise,
    0,
    "nothing counts before",
  );
  assert.equal((await assignLine(service.ctx, ravi, assigning)).outcome, "assigned");
  assert.notEqual((await readSettlement(service, buyer, dealId)).status, "pending");
  await assert.rejects(assignLine(service.ctx, ravi, assigning), refusedFor("wrong_state"));

  const utr = nextUtr();
  const back = { lineId: second.line_id, utr, reason: "unknown remitter" };
  assert.equal((await sendLineBack(service.ctx, asha, back)).outcome, "returning");
  const charge = waiting.find(({ direction }) => direction === "debit") ?? assert.fail();
  await assignLine(service.ctx, asha, { lineId: charge.line_id, to: null, reason: "charges" });
  const left = { utr, text: "BACK", paise: -buyerPaise };
  const after = await read(
    service,
    statement(2 * buyerPaise + 5_000 - 1_180, [left], "16/11/2026"),
  );
  assert.equal(after.matched, 1);
  const rest = await listQueue(service.ctx, { ...live, limit: 10 });
  assert.deepEqual(
    rest.map(({ reason }) => reason),
    ["no_reference"],
  );
  await assertReconciled(service);
});

test("a remitter is identified by its confirmed account, and not by an unconfirmed one", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const line = () => ({
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise: 1_000,
    name: buyer.name,
    account: buyer.accountNo,
  });
  const { pool } = service.ctx.db;
  const { rows } = await pool.query("select checks from firms where firm_id = $1", [buyer.firmId]);
  const setChecks = async (checks: object) => {
    const json = JSON.stringify(checks);
    await pool.query("update firms set checks = $2 where firm_id = $1", [buyer.firmId, json]);
  };
  await setChecks([]);
  assert.equal((await read(service, statement(0, [line()]))).queued, 1);
  await setChecks(rows[0].checks);
  assert.equal((await read(service, statement(1_000, [line()]))).matched, 1);
  assert.equal((await readBalance(service, buyer, "live")).available_paise, 1_000);
  await assertReconciled(service);
});

test("a statement with large credits takes two people before it is applied", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const text = statement(0, [
    { utr: nextUtr(), text: squeezed(buyer.firmId), paise: 9_000_000, account: buyer.accountNo },
  ]);
  const proposed = await read(service, text, asha, 9_000_000);
  assert.equal(proposed.outcome, "proposed");
  assert.equal((await read(service, text, asha, 9_000_000)).outcome, "proposed");
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 0);
  const approvalId = proposed.approval_id ?? "";
  await assert.rejects(approveProposal(service.ctx, asha, { approvalId, kinds: approvalKinds }));
  await approveProposal(service.ctx, ravi, { approvalId, kinds: approvalKinds });
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 9_000_000);
  assert.equal((await read(service, text, asha, 9_000_000)).outcome, "known");
  await assertReconciled(service);
});

test("an unapproved statement, or one read in the wrong format, blocks no later import", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const line = {
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise: 9_000,
    account: buyer.accountNo,
  };
  const forged = { ...line, utr: nextUtr(), paise: 900_000_000 };
  const proposed = await read(service, statement(0, [line, forged]), asha, 1_000_000);
  assert.equal(proposed.outcome, "proposed");
  const approvalId = proposed.approval_id ?? "";
  const reason = "this is not what the bank sent";
  await rejectProposal(service.ctx, ravi, { approvalId, reason, kinds: approvalKinds });
  const text = statement(0, [line]);
  const { remitter_name: _name, ...nameless } = genericStatement;
  const format = { ...nameless, name: "wrong" };
  await receiveStatement(service.ctx, asha, { ...live, text, format });
  const imported = await read(service, text, asha, 1_000_000);
  assert.deepEqual([imported.outcome, imported.matched], ["applied", 1]);
  const again = await importStatement(service.ctx, asha, { ...live, text, format });
  assert.equal(again.outcome, "known");
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 9_000);
  await assertReconciled(service);
});

test("a debit with one reference for a batch pays every line of the batch once", async (t) => {
  const service = await startService(t);
  const sellers = [await liveSeller(service), await liveSeller(service)];
  for (const seller of sellers) await sellLive(service, seller, 4_000_000);
  const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
  const utr = nextUtr();
  const { lines } = await showFile(service.ctx, made.file_id ?? "");
  const debits = lines.map(({ reference }) => ({ utr, text: reference, paise: -4_000_000 }));
  assert.equal((await read(service, statement(50_000_000, debits))).matched, 2);
  const utrs: string[] = [];
  for (const seller of sellers) {
    const [payout] = await listPayouts(service, seller);
    assert.equal(payout.status, "paid");
    utrs.push(payout.utr);
  }
  assert.equal(new Set(utrs).size, 2);
  assert.ok(utrs.includes(utr));
  await assertReconciled(service);
});

test("a debit of a voided file, of another amount or already answered goes to the queue", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  const voided = await filed(service, seller, 4_000_000);
  for (const by of [asha, ravi]) {
    await voidFile(service.ctx, by, { fileId: voided.fileId, reason: "upload refused" });
  }
  const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
  const [line = assert.fail()] = (await showFile(service.ctx, made.file_id ?? "")).lines;
  const lines = [
    { utr: nextUtr(), text: voided.reference, paise: -4_000_000 },
    { utr: nextUtr(), text: line.reference, paise: -3_999_999 },
    { utr: nextUtr(), text: line.reference, paise: -4_000_000 },
    { utr: nextUtr(), text: line.reference, paise: -4_000_000 },
  ];
  const { matched, queued } = await read(service, statement(50_000_000, lines));
  assert.deepEqual([matched, queued], [1, 3]);
  const waiting = await listQueue(service.ctx, { ...live, limit: 10 });
  assert.deepEqual(waiting.map(({ reason }) => reason ?? "").toSorted(), [
    "already_answered",
    "amount_differs",
    "voided_file",
  ]);
  const [payout] = await listPayouts(service, seller);
  assert.deepEqual([payout.status, payout.utr], ["paid", lines[2]?.utr]);
  assert.equal((await readBalance(service, seller, "live")).posted_paise, 0);
  await assertReconciled(service);
});

test("a debit of a file voided meanwhile does not pay the next file", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  const first = await filed(service, seller, 4_000_000);
  const late = statement(50_000_000, [
    { utr: nextUtr(), text: first.reference, paise: -4_000_000 },
  ]);
  await receiveStatement(service.ctx, asha, { ...live, text: late, format: genericStatement });
  for (const by of [asha, ravi]) {
    await voidFile(service.ctx, by, { fileId: first.fileId, reason: "upload refused" });
  }
  const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
  assert.equal((await read(service, late)).queued, 1);
  const [queued] = await listQueue(service.ctx, { ...live, limit: 10 });
  assert.equal(queued?.reason, "voided_file");
  assert.equal((await listPayouts(service, seller))[0].status, "instructed");

  const [line = assert.fail()] = (await showFile(service.ctx, made.file_id ?? "")).lines;
  const utr = nextUtr();
  const paid = { utr, text: line.reference, paise: -4_000_000 };
  await read(service, statement(46_000_000, [paid]));
  const back = { utr: nextUtr(), text: `RETURN OF ${utr}`, paise: 4_000_000 };
  await read(service, statement(42_000_000, [back]));
  assert.equal((await listPayouts(service, seller))[0].status, "returned");
  assert.equal((await showFile(service.ctx, made.file_id ?? "")).lines[0]?.state, "returned");
  await assertReconciled(service);
});

test("a deposit entered by hand is matched by its bank line and counts once", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000);
  const [{ payout_id: payoutId }] = await listPayouts(service, seller);
  const sent = nextUtr();
  await sendPayout(service.ctx, asha, { payoutId, utr: sent });
  const reference = nextUtr();
  const deposit = { ...live, firmId: seller.firmId, paise: 6_000, reference };
  await addDeposit(service.ctx, asha, deposit);
  const lines = [
    { utr: sent, text: "RTGS DR", paise: -4_000_000 },
    { utr: reference, text: squeezed(seller.firmId), paise: 6_000, account: seller.accountNo },
  ];
  const { matched, reconciled } = await read(service, statement(9_000_000, lines));
  assert.equal(matched, 2);
  assert.deepEqual(reconciled.differences, [
    { what: "on the account before the first statement", amount_paise: 9_000_000 },
  ]);
  assert.equal((await listPayouts(service, seller))[0].status, "paid");
  assert.equal((await readBalance(service, seller, "live")).available_paise, 6_000);
  await assertReconciled(service);
});

test("a statement that was stored but not applied can be imported again", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const text = statement(0, [
    { utr: nextUtr(), text: squeezed(buyer.firmId), paise: 9_000, account: buyer.accountNo },
  ]);
  await receiveStatement(service.ctx, asha, { ...live, text, format: genericStatement });
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 0);
  assert.equal((await read(service, text)).outcome, "applied");
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 9_000);
  await assertReconciled(service);
});

test("a statement whose lines do not sum to its balances is refused whole", async (t) => {
  const service = await startService(t);
  const buyer = await liveSeller(service);
  const line = { text: squeezed(buyer.firmId), paise: 9_000, account: buyer.accountNo };
  const text = statement(0, [
    { ...line, utr: nextUtr() },
    { ...line, utr: nextUtr() },
  ]);
  await assert.rejects(read(service, text.replace("90.00,90.00", "90.00,91.00")), Failure);
  await assert.rejects(read(service, text.replace("15/11/2026", "11/15/2026")), Failure);
  await assert.rejects(read(service, text.replace(",credit,", ",cr,")), Failure);
  assert.equal((await readBalance(service, buyer, "live")).posted_paise, 0);
  const { rows } = await service.ctx.db.pool.query("select 1 from bank_lines");
  assert.equal(rows.length, 0);
});

// Attacks on money that comes in: whoever copies an id, a name or a payment's name gets nothing that is
// not his, and nobody else's line waits because of it. People import the statements through /ops.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addPayingAccount,
  removePayingAccount,
  showPayingAccount,
} from "../../src/bankbook/paying-account.ts";
import { firmStates } from "../../src/firms/rules.ts";
import { reviewMoney } from "../../src/money-review.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { type BankLine, squeezed, statement } from "../support/bank.ts";
import { listReasons, nameFormat, nextUtr, openBankOffice } from "../support/bank-office.ts";
import { act, crores, crossThatIs, read as readCross, sums } from "../support/crosses.ts";
import { putCard } from "../support/dealing-house.ts";
import { askJournal } from "../support/journal.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { giveAccount, type LiveSeller, liveSeller, sellLive } from "../support/live-sales.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  listPayouts,
  makeDeal,
  readBalance,
  readSettlement,
} from "../support/settlements.ts";

const live = { environment: "live" } as const;

async function readAvailable(service: Service, firm: Pick<LiveSeller, "firmId">): Promise<number> {
  return Number((await readBalance(service, firm, "live")).available_paise);
}

async function buying(service: Service, buyer: LiveSeller): Promise<string> {
  const seller = await liveSeller(service);
  const scripNo = await addCredit(service, seller);
  return await makeDeal(service, { ...live, buyer, legs: [{ seller, scripNo }] });
}

/** A cross between two desks of a thief, whose buyer named its payment so. */
async function namedCross(service: Service, paymentRef: string) {
  await putCard(service, live);
  const seller = await dealer(service, crores(1), live);
  const buyer = await dealer(service, [], live);
  const account = await giveAccount(service, { ...buyer, ...live }, "70001000020001");
  const cross = await crossThatIs({ seller, buyer }, "agreed");
  await act(buyer, cross, "fund", { body: { payment_ref: paymentRef } });
  return { buyer, seller, cross, account };
}

test("a victim's payment without an id funds no cross of a thief that took its name", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const victim = await liveSeller(service);
  const { buyer, cross } = await namedCross(service, "A-----");
  const path = `/v1/firms/${buyer.firmId}`;
  await service.send("PATCH", path, { key: buyer.key, body: { legal_name: "The Victim Ltd" } });
  const paid = { paise: sums.buyer, name: "The Victim Ltd", text: "RTGS FROM A BUYER A" };
  const withAccount = { ...paid, utr: nextUtr(), account: victim.accountNo };
  assert.deepEqual(listReasons(await bring([withAccount])), ["no_reference"]);
  const named = { ...paid, utr: nextUtr() };
  assert.deepEqual(listReasons(await bring([named], { format: nameFormat })), ["no_reference"]);
  assert.equal((await readCross(buyer, cross)).status, "agreed");
  assert.equal(await readAvailable(service, buyer), 0);
  await assertLedgerSound(service);
});

test("a payment's name finds its cross from the buyer's own account, and keeps no line of others waiting", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const { buyer, cross, account } = await namedCross(service, "RTGS-2026");
  const other = await liveSeller(service);
  const dealId = await buying(service, other);
  const perfect = {
    utr: nextUtr(),
    text: `RTGS 2026 ${squeezed(dealId)}`,
    paise: buyerPaise,
    account: other.accountNo,
  };
  const own = { utr: nextUtr(), text: "RTGS 2026 OURS", account: account.accountNo };
  const said = await bring([
    perfect,
    { ...own, paise: sums.buyer - 1 },
    { ...own, utr: nextUtr(), paise: sums.buyer, account: other.accountNo },
    { ...own, utr: nextUtr(), paise: sums.buyer },
  ]);
  assert.deepEqual(listReasons(said), ["deal", "no_reference", "no_reference", "payment_ref"]);
  assert.notEqual((await readSettlement(service, other, dealId)).status, "pending");
  assert.equal((await readCross(buyer, cross)).status, "funded");
  await assertLedgerSound(service);
});

test("two crosses of one buyer never wait under one name that is looked for", async (t) => {
  const service = await startService(t);
  await putCard(service, live);
  const seller = await dealer(service, crores(2), live);
  const buyer = await dealer(service, [], live);
  const one = await crossThatIs({ seller, buyer }, "agreed");
  const other = await crossThatIs({ seller, buyer }, "agreed", { scrip_nos: [seller.scripNos[1]] });
  await act(buyer, one, "fund", { body: { payment_ref: "Pay-2026/0042" } });
  const again = { body: { payment_ref: "PAY.20260042" }, expect: 409 };
  assert.equal((await act(buyer, other, "fund", again)).detail.reason, "payment_ref_used");
  await act(buyer, other, "fund", { body: { payment_ref: "PAY-2026-0043" } });
});

test("a stranger's money stays the stranger's, whatever a firm calls itself afterwards", async (t) => {
  const { service, bring, queue } = await openBankOffice(t);
  const firm = await liveSeller(service);
  const stranger = { name: "Somebody Else LLP", account: "999000111222", paise: 500_000 };
  const line = () => ({ ...stranger, utr: nextUtr(), text: squeezed(firm.firmId) });
  assert.deepEqual(listReasons(await bring([line()])), ["third_party"]);
  const path = `/v1/firms/${firm.firmId}`;
  const body = { legal_name: stranger.name };
  await service.send("PATCH", path, { key: firm.key, body, expect: 200 });
  assert.deepEqual(listReasons(await bring([line()])), ["third_party"]);
  assert.deepEqual(listReasons(await bring([line()], { format: nameFormat })), ["third_party"]);
  assert.equal((await queue()).length, 3);
  assert.equal(await readAvailable(service, firm), 0);
  await assertLedgerSound(service);
});

test("a returned payout is its UTR and exact amount, once, and never a stranger's money", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000);
  const [made = assert.fail()] = await makeFiles(service.ctx, namedOperator("asha"), live);
  assert.equal(made.outcome, "made");
  const { rows } = await service.ctx.db.pool.query("select reference from payout_file_lines");
  const utr = nextUtr();
  await bring([{ utr, text: rows[0].reference, paise: -4_000_000 }]);
  const back = (line: object) => ({
    utr: nextUtr(),
    text: `RTN ${utr}`,
    paise: 4_000_000,
    ...line,
  });
  const said = await bring([
    back({ account: "999000111222" }),
    back({ paise: 3_999_999 }),
    back({ name: "Anybody" }),
    back({}),
  ]);
  const told = ["third_party", "amount_differs", "returned", "already_answered"];
  assert.deepEqual(listReasons(said), told);
  assert.equal((await listPayouts(service, seller))[0].status, "returned");
  assert.equal(await readAvailable(service, seller), 4_000_000);
  await assertLedgerSound(service);
});

test("a line in another export counts once in any spelling, and two equal payments count twice", async (t) => {
  const { service, importText } = await openBankOffice(t);
  const firm = await liveSeller(service);
  const paid = { utr: "", text: `NEFT ${firm.firmId}`, paise: 6_000, account: firm.accountNo };
  const one = statement(0, [paid]);
  await importText(one);
  const shouted = await importText(one.replace(`NEFT ${firm.firmId}`, `neft  ${firm.firmId}`));
  assert.deepEqual(listReasons(shouted), ["counted_before"]);
  assert.equal(shouted.results[0].status, "repeated");
  assert.equal(await readAvailable(service, firm), 6_000);
  const two = await importText(statement(0, [paid, paid]));
  assert.deepEqual(listReasons(two), ["counted_before", "firm"]);
  const afterwards = await importText(statement(12_000, [paid]));
  assert.deepEqual(listReasons(afterwards), ["firm"], "its balance says that it is another");
  assert.equal(await readAvailable(service, firm), 18_000);
  await assertLedgerSound(service);
});

test("without balances a line's place in its day tells, and what cannot be told waits for a person", async (t) => {
  const { service, importText, queue, decide } = await openBankOffice(t);
  const firm = await liveSeller(service);
  const format = { ...nameFormat, name: "bare", remitter_account: "remitter_account" };
  const { balance: _balance, ...bare } = format;
  const paid = { utr: "", text: `NEFT ${firm.firmId}`, paise: 6_000, account: firm.accountNo };
  const other = { ...paid, paise: 1_000 };
  const bring = async (lines: readonly BankLine[]) =>
    listReasons(await importText(statement(0, lines), bare));
  assert.deepEqual(await bring([paid, other]), ["firm", "firm"]);
  const shouted = { ...paid, text: `neft  ${firm.firmId.toUpperCase()}` };
  assert.deepEqual(await bring([shouted, other]), ["counted_before", "counted_before"]);
  assert.deepEqual(await bring([paid, other, paid]), ["counted_before", "counted_before", "firm"]);
  assert.deepEqual(await bring([paid]), ["perhaps_counted"], "the third, or the first again");
  assert.equal(await readAvailable(service, firm), 13_000);
  const [line] = await queue();
  assert.ok(line.repeats_line_id);
  const reason = "the bank's page shows two";
  assert.equal((await decide(line.line_id, "repeat", { reason })).outcome, "repeated");
  assert.deepEqual(await queue(), []);
  assert.equal(await readAvailable(service, firm), 13_000);
  await assertLedgerSound(service);
});

test("a deal's exact money is taken in every state of its firm but two, and free money only while it may trade", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const { pool } = service.ctx.db;
  const taken: string[][] = [];
  for (const state of firmStates) {
    const firm = await liveSeller(service);
    const dealId = await buying(service, firm);
    await pool.query(
      `update firms set connection_state = $2,
        suspended_by = case when $2 = 'suspended' then 'desk' end,
        suspension_reason = case when $2 = 'suspended' then 'a test' end,
        authorized_at = case when $2 in ('authorized', 'suspended') then created_at end,
        bank_sealed = case when $2 <> 'offboarded' then bank_sealed end,
        account_id = case when $2 <> 'offboarded' then account_id end,
        account_confirmed_at = case when $2 <> 'offboarded' then account_confirmed_at end
      where firm_id = $1`,
      [firm.firmId, state],
    );
    const line = (text: string, paise: number) => ({
      utr: nextUtr(),
      text,
      paise,
      account: firm.accountNo,
    });
    const said = await bring([
      line(squeezed(firm.firmId), 1_000),
      line(squeezed(dealId), buyerPaise - 1),
      line(squeezed(dealId), buyerPaise),
      line(squeezed(dealId), buyerPaise),
    ]);
    taken.push([state, ...listReasons(said)]);
  }
  const waits = "firm_may_not_trade";
  assert.deepEqual(
    taken,
    firmStates.map((state) => {
      if (state === "authorized") return [state, "firm", "deal", "deal", "deal"];
      if (state === "rejected") return [state, ...Array<string>(4).fill("firm_rejected")];
      if (state === "offboarded") return [state, ...Array<string>(4).fill("third_party")];
      return [state, waits, waits, "deal", waits];
    }),
  );
  await assertLedgerSound(service);
});

test("a second account of a firm proves its money once two people have confirmed it", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const { ctx } = service;
  const [firm, other] = [await liveSeller(service), await liveSeller(service)];
  const { firmId } = firm;
  const given = { firmId, ifsc: "utib0000001", name: "Firm OD", reason: "letter of its bank" };
  const add = async (by: string, accountNo = "9110 1000 2000 30") =>
    (await addPayingAccount(ctx, namedOperator(by), { ...given, accountNo })).outcome;
  const line = (text: string, account = "91101000200030") => ({
    utr: nextUtr(),
    text,
    paise: 5_000,
    account,
  });
  assert.equal(await add("asha"), "proposed");
  assert.equal(await add("Asha "), "proposed", "one person is not two");
  assert.deepEqual(listReasons(await bring([line(firmId)])), ["third_party"]);
  assert.equal(await add("ravi"), "added");
  const said = await bring([line(firmId), line(other.firmId), line(firmId, "91101000200031")]);
  assert.deepEqual(listReasons(said), ["firm", "third_party", "third_party"]);
  const shown = await showPayingAccount(ctx, firmId);
  assert.deepEqual([shown.account_no_masked, shown.confirmed_by], ["XXXXXX0030", "ravi"]);
  const another = { code: "conflict", detail: { reason: "has_paying_account" } };
  await assert.rejects(add("asha", "911010002000"), another);
  await removePayingAccount(ctx, namedOperator("asha"), { firmId, reason: "closed" });
  assert.deepEqual(listReasons(await bring([line(firmId)])), ["third_party"]);
  const { rows } = await askJournal(
    ctx.db.pool,
    "select action, actor_id from audit_records where action like 'firm.%paying_account' order by seq",
  );
  assert.deepEqual(rows, [
    { action: "firm.add_paying_account", actor_id: "ravi" },
    { action: "firm.remove_paying_account", actor_id: "asha" },
  ]);
  await assertLedgerSound(service);
});

test("a second account proves nothing for a firm that has become another since it was confirmed", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const { ctx } = service;
  const firm = await liveSeller(service);
  const { firmId, key } = firm;
  const accountNo = "91101000200040";
  const given = { firmId, accountNo, ifsc: "UTIB0000001", name: "Firm OD", reason: "its letter" };
  const add = async (by: string) => (await addPayingAccount(ctx, namedOperator(by), given)).outcome;
  const line = () => ({ utr: nextUtr(), text: firmId, paise: 5_000, account: accountNo });
  const rename = async (legal_name: string) =>
    await service.send("PATCH", `/v1/firms/${firmId}`, { key, body: { legal_name }, expect: 200 });
  assert.deepEqual([await add("asha"), await add("ravi")], ["proposed", "added"]);
  await rename("Somebody Else Limited");
  assert.equal((await showPayingAccount(ctx, firmId)).confirmed_at, null);
  assert.deepEqual(listReasons(await bring([line()])), ["third_party"]);
  assert.equal(await add("asha"), "proposed");
  await rename("Yet Somebody Else Limited");
  assert.equal(await add("ravi"), "proposed", "what asha has seen is not so any more");
  assert.equal(await add("asha"), "added");
  await ctx.db.pool.query(
    `update firms set connection_state = 'authorized', authorized_at = created_at
    where firm_id = $1`,
    [firmId],
  );
  assert.deepEqual(listReasons(await bring([line()])), ["firm"]);
});

test("the review lists deposits that today's rules would have queued, or counted once", async (t) => {
  const { service, importText } = await openBankOffice(t);
  const [proved, unproved] = [await liveSeller(service), await liveSeller(service)];
  const line = ({ firmId, accountNo }: LiveSeller) => ({
    utr: nextUtr(),
    text: firmId,
    paise: 5_000,
    account: accountNo,
  });
  await importText(statement(0, [line(proved), line(unproved)]));
  const { results } = await importText(statement(10_000, [line(proved)]));
  const { pool } = service.ctx.db;
  const review = async () =>
    (await reviewMoney(service.ctx, 10)).map(({ check, firm_id }) => [check, firm_id]);
  // As lines are that were matched before plans told of a proof, one of them twice.
  await pool.query("update bank_lines set plan = plan - 'proved_by' - 'found_by'");
  assert.deepEqual(await review(), []);
  const close = "update firms set account_confirmed_at = null, checks = '[]' where firm_id = $1";
  await pool.query(close, [unproved.firmId]);
  const twin = "update bank_lines set balance_paise = 5000 where line_id = $1";
  await pool.query(twin, [results[0].line_id]);
  assert.deepEqual(await review(), [
    ["deposit_unproved", unproved.firmId],
    ["deposit_counted_twice", proved.firmId],
  ]);
});

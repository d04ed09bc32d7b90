// Payouts that two operators, or an operator and a worker, act on at once. The interleaving is made by
// real locks: a third connection holds what the first of two needs last, until the second waits too.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { toOperatorRequester } from "../../src/firms/find-firms.ts";
import { suspendFirm } from "../../src/firms/change-firm.ts";
import { setOutage } from "../../src/outside/ask.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { resendPayout } from "../../src/payouts/send-payout.ts";
import { sendDuePayouts } from "../../src/payouts/schedule-payouts.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { assertLedgerSound, payIn } from "../support/ledger.ts";
import { holdRow, holdTable } from "../support/locks.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  listPayouts,
  makeDeal,
  openTestDesk,
  readBalance,
  sellerPaise,
  type TestDesk,
} from "../support/settlements.ts";

/** A sale whose money was sent and came back. */
async function returnedSale(service: Service) {
  const seller = await openTestDesk(service);
  await service.send("POST", "/v1/sandbox/scenarios", {
    key: seller.key,
    body: { scenario: "payout_returned" },
    expect: 200,
  });
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo, buyerPaise: sellerPaise }];
  const settlementId = await makeDeal(service, { buyer: house(), legs });
  await letSettle(service);
  const [returned] = await listPayouts(service, seller);
  assert.equal(returned.status, "returned");
  return { seller, settlementId, payoutId: returned.payout_id as string };
}

async function reverse(service: Service, settlementId: string, name: string) {
  const command = { settlementId, reason: "forged mandate" };
  return await reverseSettlement(service.ctx, namedOperator(name), command);
}

const toReason = (error: unknown) =>
  error instanceof Failure ? error.detail?.["reason"] : String(error);

async function balanceRow(t: TestContext, service: Service, { firmId }: TestDesk) {
  return await holdRow(t, service, {
    table: "ledger_balances",
    where: `balance = 'firm_cash:${firmId}'`,
  });
}

test("a reversal recalls a resend in progress, and nothing is paid twice", async (t) => {
  const service = await startService(t);
  const { seller, settlementId, payoutId } = await returnedSale(service);
  const balance = await balanceRow(t, service, seller);
  const resending = resendPayout(service.ctx, operator, payoutId);
  await balance.whenWaiting(1);
  const reversing = reverse(service, settlementId, "ravi");
  await balance.whenWaiting(2);
  await balance.release();
  const [resent, reversed] = await Promise.allSettled([resending, reversing]);
  assert.deepEqual([resent.status, reversed.status], ["fulfilled", "fulfilled"]);
  await letSettle(service);

  const payouts = await listPayouts(service, seller);
  assert.deepEqual(
    payouts.map(({ status }) => status),
    ["returned", "returned"],
  );
  assert.equal(payouts[0].reason, "reversed");
  const { posted_paise, dues_paise } = await readBalance(service, seller);
  assert.deepEqual({ posted_paise, dues_paise }, { posted_paise: 0, dues_paise: 0 });
  await assertLedgerSound(service);
});

test("a reversal waits for a resend that started before it", async (t) => {
  const service = await startService(t);
  const { seller, settlementId, payoutId } = await returnedSale(service);
  const lines = await holdTable(t, service, "payout_lines");
  const resending = resendPayout(service.ctx, operator, payoutId);
  await lines.whenWaiting(1);
  const reversing = reverse(service, settlementId, "ravi");
  await lines.whenWaiting(2);
  await lines.release();
  const [resent, reversed] = await Promise.allSettled([resending, reversing]);
  assert.deepEqual([resent.status, reversed.status], ["fulfilled", "fulfilled"]);
  await letSettle(service);
  const [again] = await listPayouts(service, seller);
  assert.deepEqual([again.status, again.reason], ["returned", "reversed"]);
  assert.equal((await readBalance(service, seller)).dues_paise, 0);
  await assertLedgerSound(service);
});

test("a resend during a reversal finds the deal reversed", async (t) => {
  const service = await startService(t);
  const { seller, settlementId, payoutId } = await returnedSale(service);
  const balance = await balanceRow(t, service, seller);
  const reversing = reverse(service, settlementId, "ravi");
  await balance.whenWaiting(1);
  const resending = resendPayout(service.ctx, operator, payoutId);
  await balance.whenWaiting(2);
  await balance.release();
  const [reversed, resent] = await Promise.allSettled([reversing, resending]);
  assert.equal(reversed.status, "fulfilled");
  assert.equal(resent.status === "rejected" && toReason(resent.reason), "settlement_reversed");
  // With money of its own again, the firm would be paid by a resend that got through.
  await payIn(service, seller.firmId, sellerPaise);
  await letSettle(service);
  assert.equal((await listPayouts(service, seller)).length, 1);
  assert.equal((await readBalance(service, seller)).available_paise, sellerPaise);
  await assertLedgerSound(service);
});

test("no money leaves for a firm whose suspension is uncommitted", async (t) => {
  const service = await startService(t);
  const seller = await openTestDesk(service);
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo, buyerPaise: sellerPaise }];
  await makeDeal(service, { buyer: house(), legs });
  const port = { environment: "sandbox", port: "bank" } as const;
  await setOutage(service.ctx, port, "no bank today");
  await letSettle(service);
  const [due] = await listPayouts(service, seller);
  assert.equal(due.status, "scheduled");
  await setOutage(service.ctx, port, undefined);

  service.clock.advance({ seconds: 1 });
  const sequence = await holdRow(t, service, {
    table: "desk_sequences",
    where: `desk_id = '${seller.deskId}'`,
  });
  const requester = await toOperatorRequester(service.ctx, seller.firmId);
  const suspending = suspendFirm(service.ctx, requester, {
    firmId: seller.firmId,
    reason: "fraud",
  });
  await sequence.whenWaiting(1);
  const sending = sendDuePayouts(service.ctx);
  await sequence.whenWaiting(2);
  await sequence.release();
  await Promise.all([suspending, sending]);
  const [held] = await listPayouts(service, seller);
  assert.deepEqual([held.status, held.reason], ["held", "firm_suspended"]);
});

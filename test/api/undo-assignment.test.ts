// An assignment that was wrong is taken back: the money waits again, and goes to whom it belongs, once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assignLine, sendLineBack } from "../../src/bankbook/decide-line.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { listQueue } from "../../src/bankbook/list-queue.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { undoAssignment } from "../../src/bankbook/undo-assignment.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { statement } from "../support/bank.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller } from "../support/live-sales.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  makeDeal,
  readBalance,
  readSettlement,
} from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;
const utr = "HDFCR52026111500001";

const refusedFor = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

async function queueLine(service: Service, paise: number, reference = utr): Promise<string> {
  const text = statement(0, [{ utr: reference, text: "NOTHING KNOWN", paise, account: "1" }]);
  assert.equal((await importStatement(service.ctx, asha, { ...live, text })).queued, 1);
  const [line = assert.fail()] = await listQueue(service.ctx, { ...live, limit: 10 });
  return line.line_id;
}

async function assertReconciled(service: Service) {
  assert.equal(Number((await reconcileBank(service.ctx, "live")).unexplained_paise), 0);
  await assertLedgerSound(service);
}

test("money that was assigned wrongly goes back to the queue, as often as it is, and counts once", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const [wrong, right] = [await liveSeller(service), await liveSeller(service)];
  const lineId = await queueLine(service, 70_000);
  const assign = async (to: string) =>
    (await assignLine(ctx, asha, { lineId, to, reason: "a call" })).outcome;
  const undo = async () => (await undoAssignment(ctx, asha, { lineId, reason: "a slip" })).outcome;
  const available = async (firm: typeof wrong) =>
    Number((await readBalance(service, firm, "live")).available_paise);
  for (let round = 0; round < 3; round++) {
    assert.equal(await assign(wrong.firmId), "assigned");
    assert.equal(await available(wrong), 70_000);
    assert.equal(await undo(), "queued");
    assert.equal(await available(wrong), 0);
    const [line] = await listQueue(ctx, { ...live, limit: 10 });
    assert.deepEqual([line?.line_id, line?.state, line?.reason], [lineId, "queued", "a slip"]);
    await assertReconciled(service);
    await assert.rejects(undo(), refusedFor("wrong_state"));
  }
  const byHand = { ...live, firmId: right.firmId, paise: 70_000, reference: utr };
  await assert.rejects(addDeposit(ctx, asha, byHand), refusedFor("reference_used"));
  await assign(right.firmId);
  assert.deepEqual([await available(wrong), await available(right)], [0, 70_000]);
  const { body } = await service.send("GET", `/v1/deposits?firm_id=${wrong.firmId}`, {
    key: wrong.key,
    expect: 200,
  });
  assert.deepEqual(
    body.deposits.map(({ status }: { status: string }) => status),
    ["returned", "returned", "returned"],
  );
  const events = await service.send("GET", "/v1/events?event=deposit.returned", {
    key: wrong.key,
    expect: 200,
  });
  assert.equal(events.body.events.length, 3, "the desk is told each time");
  await assertReconciled(service);
});

test("what is the house's by mistake goes back too, on either side of the account", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const text = statement(0, [
    { utr: "HDFCR52026111500011", text: "NOTHING KNOWN", paise: 5_000, account: "1" },
    { utr: "HDFCR52026111500012", text: "CHARGES", paise: -1_180 },
  ]);
  await importStatement(ctx, asha, { ...live, text });
  for (const { line_id: lineId } of await listQueue(ctx, { ...live, limit: 10 })) {
    for (let round = 0; round < 2; round++) {
      await assignLine(ctx, asha, { lineId, to: null, reason: "ours" });
      await assertReconciled(service);
      await undoAssignment(ctx, asha, { lineId, reason: "not ours" });
      await assertReconciled(service);
    }
  }
  assert.equal((await reconcileBank(ctx, "live")).queued, 2);
});

test("what a deal has taken is not taken from it, and what nobody assigned has no assignment", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const [seller, buyer] = [await liveSeller(service), await liveSeller(service)];
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  const dealId = await makeDeal(service, { ...live, buyer, legs });
  const lineId = await queueLine(service, buyerPaise);
  const undoing = { lineId, reason: "not theirs" };
  await assert.rejects(undoAssignment(ctx, asha, undoing), refusedFor("wrong_state"));
  await assignLine(ctx, asha, { lineId, to: dealId, reason: "letter of the buyer" });
  assert.notEqual((await readSettlement(service, buyer, dealId)).status, "pending");
  await assert.rejects(undoAssignment(ctx, asha, undoing), refusedFor("insufficient_funds"));
  assert.notEqual((await readSettlement(service, buyer, dealId)).status, "pending");
  await assertReconciled(service);
});

test("a large sum is taken back by two, and not once the first has decided otherwise", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const firm = await liveSeller(service);
  const lineId = await queueLine(service, 90_000);
  const limit = { twoFromPaise: 90_000 };
  const assigning = { lineId, to: firm.firmId, reason: "a call", ...limit };
  await assignLine(ctx, asha, assigning);
  await assignLine(ctx, ravi, assigning);
  const undoing = { lineId, reason: "a slip", ...limit };
  assert.equal((await undoAssignment(ctx, asha, undoing)).outcome, "proposed");
  assert.equal((await undoAssignment(ctx, asha, undoing)).outcome, "proposed");
  assert.equal((await readBalance(service, firm, "live")).available_paise, 90_000);
  assert.equal((await undoAssignment(ctx, ravi, undoing)).outcome, "queued");
  assert.equal((await readBalance(service, firm, "live")).available_paise, 0);
  await sendLineBack(ctx, asha, { lineId, utr: "HDFCR52026111500099", reason: "a stranger's" });
  await assert.rejects(undoAssignment(ctx, asha, undoing), refusedFor("wrong_state"));
});

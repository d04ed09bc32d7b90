// A payment counts once, whoever is first to tell of it: a person by its UTR, or the bank by a line.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds, attesting } from "../../src/approval-kinds.ts";
import { assignLine, sendLineBack } from "../../src/bankbook/decide-line.ts";
import { fundDeal } from "../../src/bankbook/fund-deal.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { receiveStatement } from "../../src/bankbook/receive-statement.ts";
import { listQueue } from "../../src/bankbook/list-queue.ts";
import { genericStatement } from "../../src/bankbook/read-statement.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { reverseDeposit } from "../../src/bankbook/reverse-deposit.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { attestWithApproval, findAttestations } from "../../src/outside/attest.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { type BankLine, squeezed, statement } from "../support/bank.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type LiveSeller, liveSeller } from "../support/live-sales.ts";
import { holdRow } from "../support/locks.ts";
import { type Service, startService } from "../support/service.ts";
import { addCredit, buyerPaise, makeDeal, readBalance } from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;
const paise = 6_000;

let references = 0;
/** As NEFT writes them: sixteen characters. */
const nextUtr = () => `HDFCN2026${String(++references).padStart(7, "0")}`;

async function read(service: Service, lines: readonly BankLine[], day?: string) {
  return await importStatement(service.ctx, asha, { ...live, text: statement(0, lines, day) });
}

async function addByHand(service: Service, firmId: string, reference: string, amount = paise) {
  return await addDeposit(service.ctx, asha, { ...live, firmId, paise: amount, reference });
}

async function reverse(service: Service, reference: string, by = asha, twoFromPaise?: number) {
  const asked = { ...live, reference, reason: "wrong firm" };
  return await reverseDeposit(service.ctx, by, { ...asked, twoFromPaise });
}

async function readQueue(service: Service) {
  return await listQueue(service.ctx, { ...live, limit: 100 });
}

async function available(service: Service, firm: Pick<LiveSeller, "firmId">): Promise<number> {
  return Number((await readBalance(service, firm, "live")).available_paise);
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

const refusedFor =
  (reason: string, more: object = {}) =>
  (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.equal(error.code, "conflict");
    const told = Object.keys(more).map((name) => [name, error.detail?.[name]]);
    assert.deepEqual(
      { reason: error.detail?.["reason"], ...Object.fromEntries(told) },
      { reason, ...more },
    );
    return true;
  };

test("a line that does not name its firm is matched to the deposit entered by hand under its UTR", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const other = await liveSeller(service);
  const stranger = { name: "Somebody Else LLP", account: "999000111222" };
  const lines = [
    { utr: nextUtr(), text: "NEFT CR", paise },
    { utr: nextUtr(), text: squeezed(firm.firmId), paise, ...stranger },
    { utr: nextUtr(), text: squeezed(other.firmId), paise, ...stranger },
    { utr: nextUtr(), text: `${squeezed(firm.firmId)} ${squeezed(other.firmId)}`, paise },
  ];
  for (const { utr } of lines) await addByHand(service, firm.firmId, utr);
  // The bank's own reference may be anywhere in the line.
  const hidden = [nextUtr(), "HDFCR52026000000001"];
  for (const utr of hidden) await addByHand(service, firm.firmId, utr);
  const more = [
    { utr: "12345", text: `NEFT-${hidden[0]}-ACME`, paise },
    { utr: "S20261115000099", text: `BY TRANSFER ${hidden[1]?.toLowerCase()} ACME`, paise },
  ];
  const { matched, queued } = await read(service, [...lines, ...more]);
  assert.deepEqual([matched, queued], [6, 0], JSON.stringify(await readQueue(service)));
  assert.equal(await available(service, firm), 6 * paise);
  assert.equal(await available(service, other), 0);
  const { differences } = await assertReconciled(service);
  assert.deepEqual(differences, []);
  const again = await read(service, lines);
  assert.equal(again.new_lines, 0, "the lines are the same as before");
});

test("a line of another amount than the deposit by hand, or proven to be another firm's, is queued", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const other = await liveSeller(service);
  const [less, named, proven] = [nextUtr(), nextUtr(), nextUtr()];
  for (const utr of [less, named, proven]) await addByHand(service, firm.firmId, utr);
  await read(service, [
    { utr: less, text: "NEFT CR", paise: paise - 1 },
    { utr: named, text: squeezed(firm.firmId), paise: paise + 1, account: firm.accountNo },
    { utr: proven, text: squeezed(other.firmId), paise, account: other.accountNo },
  ]);
  const queue = await readQueue(service);
  const reasons = new Map(queue.map(({ utr, reason }) => [utr, reason]));
  assert.deepEqual(
    [less, named, proven].map((utr) => reasons.get(utr)),
    ["amount_differs", "amount_differs", "reference_used"],
  );
  assert.equal(await available(service, firm), 3 * paise);
  assert.equal(await available(service, other), 0);
  await assertReconciled(service);
});

test("money entered by hand between receiving a statement and applying it counts once", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const [plain, hidden, short] = [nextUtr(), nextUtr(), nextUtr()];
  const lines = [
    { utr: plain, text: "NEFT CR", paise },
    { utr: "S20261115000077", text: `NEFT CR-${hidden}-ACME`, paise },
    { utr: short, text: "NEFT CR", paise: paise - 1 },
  ];
  const text = statement(0, lines);
  await receiveStatement(service.ctx, asha, { ...live, text, format: genericStatement });
  for (const utr of [plain, hidden, short]) await addByHand(service, firm.firmId, utr);
  const { matched, queued } = await read(service, lines);
  assert.deepEqual([matched, queued], [2, 1]);
  assert.equal((await readQueue(service))[0]?.reason, "amount_differs");
  assert.equal(await available(service, firm), 3 * paise);
  await assertReconciled(service);
});

test("two lines of one UTR explain one deposit by hand, and the second waits", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const utr = nextUtr();
  await addByHand(service, firm.firmId, utr);
  const line = { utr, text: "NEFT CR", paise };
  const { matched, queued } = await read(service, [line, line]);
  assert.deepEqual([matched, queued], [1, 1]);
  const [waiting = assert.fail()] = await readQueue(service);
  // A bank may give two payments one UTR, so a person may say whose the second is.
  const lineId = waiting.line_id;
  await assignLine(service.ctx, asha, { lineId, to: firm.firmId, reason: "paid twice" });
  assert.equal(await available(service, firm), 2 * paise);
  const third = await read(service, [line, line, line], "16/11/2026");
  assert.deepEqual(
    [third.matched, third.queued],
    [0, 3],
    "an assigned line's deposit is explained",
  );
  await assertReconciled(service);
});

test("a deposit that an assigned line brought is explained: no other line matches it, and nobody reverses it", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const utr = nextUtr();
  await read(service, [{ utr, text: "NEFT CR", paise }]);
  const [{ line_id: lineId } = assert.fail()] = await readQueue(service);
  await assignLine(service.ctx, asha, { lineId, to: firm.firmId, reason: "their letter" });
  const twin = { utr, text: squeezed(firm.firmId), paise, account: firm.accountNo };
  const text = statement(paise, [twin], "16/11/2026");
  const { matched } = await importStatement(service.ctx, asha, { ...live, text });
  assert.equal(matched, 0);
  assert.equal((await readQueue(service))[0]?.reason, "reference_used");
  await assert.rejects(reverse(service, utr), refusedFor("explained", { line_id: lineId }));
  assert.equal(await available(service, firm), paise);
  assert.deepEqual((await assertReconciled(service)).differences, []);
});

test("a queued line cannot be assigned or sent back while a deposit by hand has its UTR", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const other = await liveSeller(service);
  const utr = nextUtr();
  await addByHand(service, firm.firmId, utr);
  await read(service, [{ utr, text: "NEFT CR", paise: paise - 1 }]);
  const [{ line_id: lineId } = assert.fail()] = await readQueue(service);
  const used = { reference: utr, firm_id: firm.firmId, paise };
  for (const to of [firm.firmId, other.firmId, null]) {
    const assigning = assignLine(service.ctx, asha, { lineId, to, reason: "their letter" });
    await assert.rejects(assigning, refusedFor("reference_used", used));
  }
  const back = { lineId, utr: nextUtr(), reason: "not ours" };
  await assert.rejects(sendLineBack(service.ctx, asha, back), refusedFor("reference_used", used));
  assert.equal(await available(service, firm), paise);
  await assertReconciled(service);
});

test("money of a bank line cannot be entered by hand under its UTR, in whichever state the line is", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const dealId = await buying(service, firm);
  const [queued, returning, assigned, hidden] = [nextUtr(), nextUtr(), nextUtr(), nextUtr()];
  await read(service, [
    ...[queued, returning, assigned].map((utr) => ({ utr, text: "NEFT CR", paise })),
    { utr: "S20261115000055", text: `NEFT CR-${hidden}-ACME`, paise },
  ]);
  const lines = new Map((await readQueue(service)).map((line) => [line.utr, line.line_id]));
  const findLine = (utr: string) => lines.get(utr) ?? assert.fail(utr);
  const back = { lineId: findLine(returning), utr: nextUtr(), reason: "not ours" };
  await sendLineBack(service.ctx, asha, back);
  const to = { lineId: findLine(assigned), to: firm.firmId, reason: "their letter" };
  await assignLine(service.ctx, asha, to);
  const tries: (readonly [string, string])[] = [
    [queued, findLine(queued)],
    [returning, findLine(returning)],
    [hidden, findLine("S20261115000055")],
  ];
  for (const [utr, line_id] of tries) {
    const refused = refusedFor("reference_used", { reference: utr, line_id });
    await assert.rejects(addByHand(service, firm.firmId, utr), refused);
    await assert.rejects(addByHand(service, firm.firmId, utr, paise + 1), refused);
    const funding = { dealId, paise: buyerPaise, reference: utr };
    await assert.rejects(fundDeal(service.ctx, asha, funding), refused);
    const answer = { arrived: true, reference: utr };
    const seen = [{ subjectId: dealId, answer, reference: utr }];
    const attestations = await findAttestations(service.ctx, { kind: "deal_funding", seen });
    const attested = attestWithApproval(service.ctx, asha, { attestations, kind: attesting });
    await assert.rejects(attested, refused);
  }
  assert.equal((await addByHand(service, firm.firmId, assigned)).outcome, "known");
  assert.equal(await available(service, firm), paise);
  await assertReconciled(service);
});

test("a proposal to enter money by hand is refused once the bank's line has come", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const dealId = await buying(service, firm);
  const utrs = [nextUtr(), nextUtr()] as const;
  const limit = { twoFromPaise: 1 };
  const proposed = [
    await addDeposit(service.ctx, asha, {
      ...live,
      ...limit,
      firmId: firm.firmId,
      paise,
      reference: utrs[0],
    }),
    await fundDeal(service.ctx, asha, { ...limit, dealId, paise, reference: utrs[1] }),
  ];
  await read(
    service,
    utrs.map((utr) => ({ utr, text: "NEFT CR", paise })),
  );
  for (const each of proposed) {
    const approvalId = "approval_id" in each ? each.approval_id : assert.fail();
    const approving = approveProposal(service.ctx, ravi, { approvalId, kinds: approvalKinds });
    await assert.rejects(approving, refusedFor("reference_used"));
  }
  assert.equal(await available(service, firm), 0);
  for (const { line_id: lineId } of await readQueue(service)) {
    await assignLine(service.ctx, asha, { lineId, to: firm.firmId, reason: "their letter" });
  }
  assert.equal(await available(service, firm), 2 * paise);
  await assertReconciled(service);
});

test("a deposit entered by mistake is reversed, and then the bank's line counts as any other", async (t) => {
  const service = await startService(t);
  const wrong = await liveSeller(service);
  const right = await liveSeller(service);
  const [later, named, waiting] = [nextUtr(), nextUtr(), nextUtr()];
  for (const utr of [later, named, waiting]) await addByHand(service, wrong.firmId, utr);
  await read(service, [{ utr: waiting, text: "NEFT CR", paise: paise + 1 }]);
  for (const utr of [later, named, waiting]) {
    assert.deepEqual(await reverse(service, utr), { outcome: "reversed" });
    assert.deepEqual(await reverse(service, utr), { outcome: "known" });
  }
  assert.equal(await available(service, wrong), 0);
  assert.deepEqual((await assertReconciled(service)).differences, []);
  const again = addByHand(service, wrong.firmId, later);
  await assert.rejects(again, refusedFor("deposit_reversed", { reference: later }));
  const other = addByHand(service, right.firmId, later);
  await assert.rejects(other, refusedFor("reference_used", { firm_id: wrong.firmId }));

  const lines = [
    { utr: later, text: "NEFT CR", paise },
    { utr: named, text: squeezed(right.firmId), paise, account: right.accountNo },
  ];
  const text = statement(paise + 1, lines, "16/11/2026");
  const { matched, queued } = await importStatement(service.ctx, asha, { ...live, text });
  assert.deepEqual([matched, queued], [1, 1]);
  assert.equal(await available(service, right), paise);
  for (const { line_id: lineId } of await readQueue(service)) {
    await assignLine(service.ctx, asha, { lineId, to: right.firmId, reason: "their letter" });
  }
  assert.equal(await available(service, right), 3 * paise + 1);
  assert.deepEqual((await assertReconciled(service)).differences, []);
  const path = `/v1/statements/2026-11?firm_id=${wrong.firmId}`;
  const { body } = await service.send("GET", path, { key: wrong.key, expect: 200 });
  const shown = body.lines
    .filter(({ utr }: { utr: string | null }) => utr === later)
    .map((line: { kind: string; amount_paise: number }) => [line.kind, line.amount_paise]);
  assert.deepEqual(shown, [
    ["deposit", paise],
    ["refund", -paise],
  ]);
});

test("a reversal is refused when a line explains the deposit or the free balance is short, and takes two people when it is large", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const [explained, spent, large] = [nextUtr(), nextUtr(), nextUtr()];
  await addByHand(service, firm.firmId, explained);
  await read(service, [{ utr: explained, text: "NEFT CR", paise }]);
  await assert.rejects(reverse(service, explained), refusedFor("explained"));
  await addByHand(service, firm.firmId, spent, 3 * paise);
  await service.send("POST", `/v1/firms/${firm.firmId}/withdrawals`, {
    key: firm.key,
    body: { amount_paise: 2 * paise },
    expect: 201,
  });
  const short = refusedFor("insufficient_funds", { available_paise: 2 * paise });
  await assert.rejects(reverse(service, spent), short);
  await assert.rejects(reverse(service, nextUtr()), { code: "not_found" });

  await addByHand(service, firm.firmId, large);
  const proposed = await reverse(service, large, asha, paise);
  const approvalId = "approval_id" in proposed ? proposed.approval_id : assert.fail();
  assert.equal((await reverse(service, large, asha, paise)).outcome, "proposed");
  assert.equal(await available(service, firm), 3 * paise, "nothing leaves before");
  await approveProposal(service.ctx, ravi, { approvalId, kinds: approvalKinds });
  assert.equal(await available(service, firm), 2 * paise);
  await assertReconciled(service);
});

test("a proposal to reverse a deposit is refused once a line has explained it", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const utr = nextUtr();
  await addByHand(service, firm.firmId, utr);
  const proposed = await reverse(service, utr, asha, 1);
  const approvalId = "approval_id" in proposed ? proposed.approval_id : assert.fail();
  await read(service, [{ utr, text: "NEFT CR", paise }]);
  const approving = approveProposal(service.ctx, ravi, { approvalId, kinds: approvalKinds });
  await assert.rejects(approving, refusedFor("explained"));
  assert.equal(await available(service, firm), paise);
  await assertReconciled(service);
});

test("money that is entered by hand while its line is imported counts once, in whichever order they commit", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  await addByHand(service, firm.firmId, nextUtr(), 1); // Its balance is a row to wait for.
  const line = (utr: string) => [{ utr, text: "NEFT CR", paise }];

  // The person has looked and found no line; the bank is first.
  for (const isSame of [true, false]) {
    const [entered, imported] = [nextUtr(), nextUtr()];
    const held = await holdRow(t, service, {
      table: "firms",
      where: `firm_id = '${firm.firmId}'`,
    });
    const before = await available(service, firm);
    const entering = addByHand(service, firm.firmId, entered).catch((error: unknown) => error);
    await held.whenWaiting(1);
    await read(service, line(isSame ? entered : imported));
    await held.release();
    const outcome = await entering;
    if (isSame) refusedFor("reference_used")(outcome);
    assert.equal((await available(service, firm)) - before, isSame ? 0 : paise);
  }

  // The import looks while the person's entry is not committed: it waits, and finds it.
  const utr = nextUtr();
  const held = await holdRow(t, service, {
    table: "ledger_balances",
    where: `account = 'firm_cash:${firm.firmId}'`,
  });
  const entering = addByHand(service, firm.firmId, utr);
  await held.whenWaiting(1);
  const importing = read(service, line(utr));
  await held.whenWaiting(2);
  await held.release();
  await entering;
  assert.equal((await importing).matched, 1);
  await assertReconciled(service);
});

test("a deposit is reversed or explained, never both", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  for (const isSame of [true, false]) {
    const [entered, imported] = [nextUtr(), nextUtr()];
    for (const utr of [entered, imported]) await addByHand(service, firm.firmId, utr);
    const before = await available(service, firm);
    const held = await holdRow(t, service, {
      table: "ledger_balances",
      where: `account = 'firm_cash:${firm.firmId}'`,
    });
    const reversing = reverse(service, entered).catch((error: unknown) => error);
    await held.whenWaiting(1);
    const utr = isSame ? entered : imported;
    assert.equal((await read(service, [{ utr, text: "NEFT CR", paise }])).matched, 1);
    await held.release();
    const outcome = await reversing;
    if (isSame) refusedFor("explained")(outcome);
    assert.equal(before - (await available(service, firm)), isSame ? 0 : paise);
  }
  await assertReconciled(service);
});

test("persons and the bank who tell of the same payments at once count each once", async (t) => {
  const service = await startService(t);
  const firm = await liveSeller(service);
  const rounds = 8;
  const outcomes = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const utr = nextUtr();
    const text = statement(round * paise, [{ utr, text: "NEFT CR", paise }]);
    const acts = [
      async () => await importStatement(service.ctx, asha, { ...live, text }),
      async () => await addByHand(service, firm.firmId, utr),
      async () => await addByHand(service, firm.firmId, utr),
    ];
    const started = (round % 2 === 0 ? acts : acts.toReversed()).map((act) => act());
    for (const done of await Promise.allSettled(started)) {
      if (done.status === "rejected")
        assert.ok(done.reason instanceof Failure, String(done.reason));
    }
    await importStatement(service.ctx, asha, { ...live, text });
    const [waiting] = await readQueue(service);
    outcomes.set(waiting ? "bank" : "hand", (outcomes.get(waiting ? "bank" : "hand") ?? 0) + 1);
    if (waiting) {
      const assigning = { lineId: waiting.line_id, to: firm.firmId, reason: "their letter" };
      const both = [
        assignLine(service.ctx, asha, assigning),
        addByHand(service, firm.firmId, utr),
        assignLine(service.ctx, ravi, assigning),
      ];
      await Promise.allSettled(both);
    }
    assert.equal(await available(service, firm), (round + 1) * paise);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
  assert.deepEqual((await assertReconciled(service)).differences, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal, rejectProposal } from "../../src/operators/decide-approval.ts";
import { listApprovals, showApproval } from "../../src/operators/list-approvals.ts";
import { operator, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { sendPayout } from "../../src/payouts/send-payout.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { giveAccount } from "../support/live-sales.ts";
import { settleLiveSale } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";
import { listPayouts, readSettlement } from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

const large = 1_000_000_000;
const small = 24_400_000;

const refusedFor = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

const open = { environment: null, kind: null, state: "proposed", limit: 100 } as const;

const approve = async ({ ctx }: Service, name: string, approvalId: string) =>
  await approveProposal(ctx, namedOperator(name), { approvalId, kinds: approvalKinds });

const reject = async ({ ctx }: Service, name: string, approvalId: string) =>
  await rejectProposal(ctx, namedOperator(name), {
    approvalId,
    reason: "not agreed",
    kinds: approvalKinds,
  });

/** A live deal whose reversal somebody has proposed. */
async function proposedReversal(service: Service, by = "asha") {
  const sale = await settleLiveSale(service, small);
  const command = { settlementId: sale.settlementId, reason: "forged mandate" };
  const told = await reverseSettlement(service.ctx, namedOperator(by), command);
  const waiting = await listApprovals(service.ctx, open);
  const mine = waiting.find(({ subject_id }) => subject_id === sale.settlementId);
  assert.ok(mine);
  assert.deepEqual(told, { outcome: "proposed", approval_id: mine.approval_id });
  return { ...sale, command, approval: mine, approvalId: mine.approval_id };
}

async function readStatus(service: Service, approvalId: string) {
  return (await showApproval(service.ctx, approvalId, approvalKinds)).status;
}

test("a proposal shows its proposer, act, value, age and effect", async (t) => {
  const service = await startService(t);
  const { approval, approvalId, settlementId, seller } = await proposedReversal(service);
  service.clock.advance({ seconds: 90 });
  const shown = await showApproval(service.ctx, approvalId, approvalKinds);
  assert.equal(shown.kind, "settlement.reverse");
  assert.equal(shown.proposed_by, "asha");
  assert.equal(shown.value_paise, small);
  assert.equal(shown.age_s, 90);
  assert.match(
    shown.summary,
    new RegExp(
      `1 credits go back.* [\\d,]+\\.\\d\\d rupees to the buyer of ${settlementId}: forged mandate`,
    ),
  );
  assert.deepEqual(shown.terms, { reason: "forged mandate" });
  assert.equal(approval.status, "proposed");
  assert.deepEqual([shown.changed, shown.hindrance], [false, null]);
  const [part] = shown.shown;
  assert.equal(part?.title, "Credits that go back");
  assert.equal(part?.rows[0]?.["seller_firm_id"], seller.firmId);
  assert.equal(part?.rows[0]?.["seller_paise"], small);
});

test("a proposal says what has changed since, and nothing once it is decided", async (t) => {
  const service = await startService(t);
  const { approvalId, settlementId } = await proposedReversal(service);
  const look = async () => await showApproval(service.ctx, approvalId, approvalKinds);
  const { pool } = service.ctx.db;
  await pool.query("update settlements set version = version + 1 where settlement_id = $1", [
    settlementId,
  ]);
  assert.deepEqual([(await look()).changed, (await look()).hindrance], [true, null]);
  await approve(service, "ravi", approvalId).catch(() => undefined); // Voids it.
  const { status, shown, changed } = await look();
  assert.deepEqual([status, shown, changed], ["voided", [], null]);
});

test("one person alone cannot reverse a settlement, under any spelling of their name", async (t) => {
  const service = await startService(t);
  const { approvalId, settlementId, seller, command } = await proposedReversal(service, "Asha Rao");
  for (const name of ["Asha Rao", "asha rao", "ASHARAO", " Asha  Rao "]) {
    await assert.rejects(approve(service, name, approvalId), refusedFor("own_proposal"));
    const again = await reverseSettlement(service.ctx, namedOperator(name), command);
    assert.deepEqual(again, { outcome: "proposed", approval_id: approvalId });
  }
  const nobody = approveProposal(service.ctx, operator, { approvalId, kinds: approvalKinds });
  await assert.rejects(nobody, refusedFor("operator_unnamed"));
  await assert.rejects(
    reverseSettlement(service.ctx, operator, command),
    refusedFor("operator_unnamed"),
  );
  assert.equal((await readSettlement(service, seller, settlementId)).status, "settled");
  const { approval } = await approve(service, "ravi", approvalId);
  assert.deepEqual([approval.state, approval.decided_by], ["approved", "ravi"]);
  assert.equal((await readSettlement(service, seller, settlementId)).status, "reversed");
  await assertLedgerSound(service);
});

test("the database itself refuses an approval by its proposer", async (t) => {
  const service = await startService(t);
  const { approvalId } = await proposedReversal(service, "Asha Rao");
  await assert.rejects(
    service.ctx.db.pool.query(
      `update approvals set state = 'approved', decided_by = 'asharao', decided_at = now()
      where approval_id = $1`,
      [approvalId],
    ),
    /approvals_two_people/,
  );
});

test("a second call of the same command by somebody else is an approval", async (t) => {
  const service = await startService(t);
  const { settlementId, command, approvalId } = await proposedReversal(service);
  const reverse = async (by: string, reason = command.reason) =>
    await reverseSettlement(service.ctx, namedOperator(by), { settlementId, reason });
  await assert.rejects(reverse("ravi", "another reason"), refusedFor("terms_differ"));
  assert.equal((await reverse("ravi")).outcome, "reversed");
  assert.equal(await readStatus(service, approvalId), "approved");
  const { rows } = await askJournal(
    service.ctx.db.pool,
    `select actor_id, action from audit_records
    where entity_id = any($1) and actor_kind = 'operator' order by desk_id, seq`,
    [[settlementId, approvalId]],
  );
  const told = rows.map(({ actor_id, action }) => `${actor_id} ${action}`);
  assert.ok(told.includes("asha settlement.propose_reversal"), String(told));
  assert.ok(told.includes("asha approval.propose"), String(told));
  assert.ok(told.includes("ravi settlement.reverse"), String(told));
  assert.ok(told.includes("ravi approval.approve"), String(told));
});

test("whom the directory signed in a while ago approves neither way", async (t) => {
  const service = await startService(t);
  const { command, approvalId, settlementId, seller } = await proposedReversal(service);
  const provedAt = new Date(service.clock.now().getTime() - 300_000);
  const lena = { ...namedOperator("lena"), role: "settlement", provedAt } as const;
  const stale = refusedFor("sign_in_again");
  const decide = { approvalId, kinds: approvalKinds };
  await assert.rejects(approveProposal(service.ctx, lena, decide), stale);
  await assert.rejects(reverseSettlement(service.ctx, lena, command), stale, "by the same command");
  assert.equal((await readSettlement(service, seller, settlementId)).status, "settled");
  const fresh = { ...lena, provedAt: service.clock.now() };
  assert.equal((await reverseSettlement(service.ctx, fresh, command)).outcome, "reversed");
});

test("a proposal that its proposer replaced cannot be approved", async (t) => {
  const service = await startService(t);
  const { settlementId, approvalId } = await proposedReversal(service);
  const changed = { settlementId, reason: "wrong buyer" };
  await reverseSettlement(service.ctx, namedOperator("asha"), changed);
  await assert.rejects(approve(service, "ravi", approvalId), refusedFor("wrong_state"));
  assert.equal(await readStatus(service, approvalId), "voided");
  const waiting = await listApprovals(service.ctx, open);
  assert.deepEqual(
    waiting.map(({ terms }) => terms),
    [{ reason: "wrong buyer" }],
  );
});

test("a fact that changed since the proposal voids it, and nothing happens", async (t) => {
  const service = await startService(t);
  const { seller, payoutId } = await settleLiveSale(service, large);
  const sending = { payoutId, utr: "HDFCR52026111500031" };
  assert.equal((await sendPayout(service.ctx, namedOperator("asha"), sending)).outcome, "proposed");
  const [approval] = await listApprovals(service.ctx, open);
  assert.ok(approval);
  await giveAccount(service, seller, "50200019999");
  await assert.rejects(approve(service, "ravi", approval.approval_id), refusedFor("voided"));
  assert.equal(await readStatus(service, approval.approval_id), "voided");
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled");
  // The same command again by another person is a proposal of theirs, not an approval.
  assert.equal((await sendPayout(service.ctx, namedOperator("ravi"), sending)).outcome, "proposed");
  assert.equal((await sendPayout(service.ctx, namedOperator("asha"), sending)).outcome, "sent");
});

test("a proposal expires, is rejected once, and can be withdrawn by its proposer", async (t) => {
  const service = await startService(t);
  const late = await proposedReversal(service);
  service.clock.advance({ days: 3 });
  assert.equal(await readStatus(service, late.approvalId), "expired");
  await assert.rejects(approve(service, "ravi", late.approvalId), refusedFor("expired"));
  await assert.rejects(reject(service, "ravi", late.approvalId), refusedFor("wrong_state"));
  assert.deepEqual(await listApprovals(service.ctx, open), []);

  const refused = await proposedReversal(service);
  const row = await reject(service, "ravi", refused.approvalId);
  assert.deepEqual([row.state, row.reason], ["rejected", "not agreed"]);
  await assert.rejects(approve(service, "mira", refused.approvalId), refusedFor("wrong_state"));

  const own = await proposedReversal(service);
  assert.equal((await reject(service, "Asha", own.approvalId)).state, "rejected");
  assert.equal((await readSettlement(service, own.seller, own.settlementId)).status, "settled");
});

test("concurrent approvals carry a proposal out once", async (t) => {
  const service = await startService(t);
  const { approvalId, settlementId, seller } = await proposedReversal(service);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => approve(service, `person${index}`, approvalId)),
  );
  const done = outcomes.filter(({ status }) => status === "fulfilled");
  assert.equal(done.length, 1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.ok(outcome.reason instanceof Failure);
  }
  assert.equal((await readSettlement(service, seller, settlementId)).status, "reversed");
  const { rows } = await service.ctx.db.pool.query(
    "select count(*)::int as count from ledger_entries where subject = $1 and kind = 'reversal'",
    [settlementId],
  );
  assert.equal(rows[0].count, 1);
  await assertLedgerSound(service);
});

test("an act that is refused leaves its proposal open for a later approval", async (t) => {
  const service = await startService(t);
  const { approvalId, payoutId } = await proposedReversal(service);
  await sendPayout(service.ctx, namedOperator("asha"), { payoutId, utr: "HDFCR52026111500099" });
  await assert.rejects(approve(service, "ravi", approvalId), refusedFor("payout_sent"));
  assert.equal(await readStatus(service, approvalId), "proposed");
});

test("an unknown proposal is not found", async (t) => {
  const service = await startService(t);
  await assert.rejects(
    approve(service, "ravi", "apr_none"),
    (error) => error instanceof Failure && error.code === "not_found",
  );
});

// Live money leaves in files: what is in one is with the bank, until the bank or two people say
// otherwise.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { toOperatorRequester } from "../../src/firms/find-firms.ts";
import { suspendFirm } from "../../src/firms/change-firm.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { makeFiles, previewFiles } from "../../src/payouts/make-files.ts";
import { readFile, showFile } from "../../src/payouts/read-files.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import { recallPayout } from "../../src/payouts/recall-payouts.ts";
import { sendPayout } from "../../src/payouts/send-payout.ts";
import { reverseSettlement } from "../../src/settlement/reverse-settlement.ts";
import { setTax } from "../../src/taxes/taxes.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { holdRow } from "../support/locks.ts";
import { type Service, startService } from "../support/service.ts";
import { listPayouts, readBalance } from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;

const refusedFor = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

async function oneFile(service: Service) {
  const [made, ...others] = await makeFiles(service.ctx, asha, live);
  assert.deepEqual([made?.outcome, others.length], ["made", 0]);
  return made?.file_id ?? "";
}

test("due payouts without holds become one file per rail, with a line for each payee", async (t) => {
  const service = await startService(t);
  const one = await liveSeller(service);
  const two = await liveSeller(service);
  const suspended = await liveSeller(service);
  await sellLive(service, one, 4_000_000, 9_000_000, 8_000_000);
  await sellLive(service, two, 3_000_000);
  await sellLive(service, suspended, 5_000_000);
  const requester = await toOperatorRequester(service.ctx, suspended.firmId);
  await suspendFirm(service.ctx, requester, { firmId: suspended.firmId, reason: "fraud" });

  const { files, kept } = await previewFiles(service.ctx, "live");
  assert.deepEqual(
    files.map(({ rail, paise, remittances }) => [rail, paise, remittances.length]),
    [
      ["RTGS", 21_000_000, 1],
      ["IMPS", 3_000_000, 1],
    ],
  );
  assert.deepEqual(
    kept.map(({ paise, reason }) => [paise, reason]),
    [[5_000_000, "firm_suspended"]],
  );
  const made = await makeFiles(service.ctx, asha, live);
  assert.deepEqual(
    made.map(({ rail, paise, outcome }) => [rail, paise, outcome]),
    [
      ["RTGS", 21_000_000, "made"],
      ["IMPS", 3_000_000, "made"],
    ],
  );
  const [rtgs = assert.fail(), imps = assert.fail()] = made;
  const shown = await showFile(service.ctx, rtgs.file_id ?? "");
  assert.equal(shown.lines.length, 1);
  assert.equal(shown.lines[0]?.payout_ids.length, 3);
  const explained = shown.lines[0]?.payouts.flatMap(({ lines }) => lines) ?? [];
  assert.equal(
    explained.reduce((sum, line) => sum + line.paise, 0),
    21_000_000,
    "every paisa is explained to its order",
  );
  assert.ok(explained.every(({ order_id }) => order_id.startsWith("ord_")));
  const reference = shown.lines[0]?.reference ?? "";
  const bytes = await readFile(service.ctx, asha, rtgs.file_id ?? "");
  assert.equal(
    bytes.text,
    "line,rail,account_no,ifsc,name,amount,reference\r\n" +
      `1,RTGS,${one.accountNo},HDFC0000001,${one.name},210000.00,${reference}\r\n`,
  );
  assert.equal(JSON.stringify(shown).includes(one.accountNo), false);
  for (const payout of await listPayouts(service, one)) {
    assert.deepEqual([payout.status, payout.rail], ["instructed", "RTGS"]);
    assert.equal(payout.remittance.amount_paise, 21_000_000);
  }
  const [ofTwo] = await listPayouts(service, two);
  assert.equal(ofTwo.status, "instructed");
  assert.match(
    (await readFile(service.ctx, asha, imps.file_id ?? "")).text,
    new RegExp(two.accountNo),
  );
  assert.deepEqual(await makeFiles(service.ctx, asha, live), [], "nothing is in two files");
  const { body } = await service.send("GET", "/v1/events", { key: two.key, expect: 200 });
  const told = body.events.map(({ event }: { event: string }) => event);
  assert.ok(told.includes("payout.instructed"));
  await assertLedgerSound(service);
});

test("new limits of rails count from their day on, also for what was due before", async (t) => {
  const service = await startService(t);
  await sellLive(service, await liveSeller(service), 3_000_000);
  const readRails = async () =>
    (await previewFiles(service.ctx, "live")).files.map(({ rail }) => rail);
  const line = { environment: "live", line: "rails", from: "2026-11-16" } as const;
  const rate = { rtgs_from_paise: 10_000_000, imps_to_paise: 2_500_000, citation: "RBI/1" };
  await setTax(service.ctx, asha, { ...line, rate });
  await assert.rejects(setTax(service.ctx, asha, { ...line, rate: null }), Failure);
  assert.deepEqual(await readRails(), ["IMPS"]);
  service.clock.advance({ days: 1 });
  await service.work();
  assert.deepEqual(await readRails(), ["NEFT"]);
  assert.equal((await service.send("GET", "/public/house")).body.rtgs_from_paise, 10_000_000);
});

test("the bytes of a file are the same at every read, sealed at rest, and each read is audited", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000);
  const fileId = await oneFile(service);
  const first = await readFile(service.ctx, asha, fileId);
  service.clock.advance({ days: 3 });
  await service.work();
  assert.deepEqual(await readFile(service.ctx, ravi, fileId), first);
  const { rows } = await askJournal(
    service.ctx.db.pool,
    "select actor_id, action from audit_records where entity_id = $1 order by desk_id, seq",
    [fileId],
  );
  assert.deepEqual(
    rows.map(({ actor_id, action }) => `${actor_id} ${action}`),
    ["asha payout_file.make", "asha payout_file.read", "ravi payout_file.read"],
  );
  const dump = await service.ctx.db.pool.query(
    "select to_jsonb(f)::text || to_jsonb(l)::text as text from payout_files as f join payout_file_lines as l using (file_id)",
  );
  assert.equal(JSON.stringify(dump.rows).includes(seller.accountNo), false);
});

test("an instructed payout is not sent, held, recalled or reversed before the bank answers", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  const [settlementId = ""] = await sellLive(service, seller, 4_000_000);
  await oneFile(service);
  const [{ payout_id: payoutId }] = await listPayouts(service, seller);
  const utr = "HDFCR52026111500011";
  await assert.rejects(sendPayout(service.ctx, asha, { payoutId, utr }), refusedFor("wrong_state"));
  await assert.rejects(
    recallPayout(service.ctx, asha, { payoutId, reason: "stop" }),
    refusedFor("wrong_state"),
  );
  const reversal = { settlementId, reason: "forged mandate" };
  await reverseSettlement(service.ctx, asha, reversal);
  await assert.rejects(
    reverseSettlement(service.ctx, ravi, reversal),
    refusedFor("payout_instructed"),
  );
  const requester = await toOperatorRequester(service.ctx, seller.firmId);
  await suspendFirm(service.ctx, requester, { firmId: seller.firmId, reason: "fraud" });
  service.clock.advance({ seconds: 7_200 });
  await service.work();
  const [payout] = await listPayouts(service, seller);
  assert.deepEqual([payout.status, payout.reason], ["instructed", null]);
  assert.equal((await readBalance(service, seller, "live")).pending_out_paise, 4_000_000);
  await assertLedgerSound(service);
});

test("a file over the limit takes a second person, and is voided when one of its payouts changes", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 30_000_000);
  const limited = { ...live, twoFromPaise: 30_000_000 };
  const [proposed = assert.fail()] = await makeFiles(service.ctx, asha, limited);
  assert.equal(proposed.outcome, "proposed");
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled", "nothing counts yet");
  const [again = assert.fail()] = await makeFiles(service.ctx, namedOperator("Asha"), limited);
  assert.deepEqual(again, proposed, "the same person twice is one person");
  const approve = async (approvalId: string, by = ravi) =>
    await approveProposal(service.ctx, by, { approvalId, kinds: approvalKinds });
  await assert.rejects(approve(proposed.approval_id ?? "", namedOperator("ASHA")), Failure);

  const [{ payout_id: payoutId }] = await listPayouts(service, seller);
  const utr = "HDFCR52026111500011";
  assert.equal((await sendPayout(service.ctx, asha, { payoutId, utr })).outcome, "sent");
  await assert.rejects(approve(proposed.approval_id ?? ""), Failure);
  assert.equal((await listPayouts(service, seller))[0].status, "sent");

  await sellLive(service, seller, 31_000_000);
  const [next = assert.fail()] = await makeFiles(service.ctx, asha, limited);
  assert.equal(next.outcome, "proposed");
  await approve(next.approval_id ?? "");
  const states = (await listPayouts(service, seller)).map(({ status }) => status);
  assert.deepEqual(new Set(states), new Set(["instructed", "sent"]));
  await assertLedgerSound(service);
});

test("two people void a file, and its payouts leave once under another reference", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000, 9_000_000);
  const first = await oneFile(service);
  const { lines } = await showFile(service.ctx, first);
  const voiding = { fileId: first, reason: "the bank refused the upload" };
  assert.equal((await voidFile(service.ctx, asha, voiding)).outcome, "proposed");
  assert.equal((await voidFile(service.ctx, asha, voiding)).outcome, "proposed");
  assert.equal((await listPayouts(service, seller))[0].status, "instructed");
  assert.equal((await voidFile(service.ctx, ravi, voiding)).outcome, "voided");
  for (const payout of await listPayouts(service, seller)) {
    assert.deepEqual([payout.status, payout.remittance], ["scheduled", null]);
  }
  const detail = { reason: "wrong_state", state: "voided", allowed_actions: [] };
  await assert.rejects(readFile(service.ctx, asha, first), { detail });
  const second = await oneFile(service);
  const again = (await showFile(service.ctx, second)).lines;
  assert.notEqual(again[0]?.reference, lines[0]?.reference);
  assert.deepEqual(again[0]?.payout_ids, lines[0]?.payout_ids);
  await assertLedgerSound(service);
});

test("a payout is in a file or sent by hand, never both", async (t) => {
  const service = await startService(t);
  const outcomes = new Set<string>();
  for (const first of ["file", "send"] as const) {
    const seller = await liveSeller(service);
    await sellLive(service, seller, 4_000_000);
    const [{ payout_id: payoutId }] = await listPayouts(service, seller);
    const utr = `HDFCR5202611150${first === "file" ? "7001" : "7002"}`;
    const row = await holdRow(t, service, { table: "payouts", where: `payout_id = '${payoutId}'` });
    const begin = {
      file: () => makeFiles(service.ctx, asha, live),
      send: () => sendPayout(service.ctx, ravi, { payoutId, utr }),
    };
    const one = begin[first]();
    await row.whenWaiting(1);
    const other = begin[first === "file" ? "send" : "file"]();
    const ending = Promise.allSettled([one, other]);
    await row.whenWaiting(2);
    await row.release();
    const [, late] = await ending;
    // Who files finds nothing left; who sends is refused.
    if (first === "send") assert.deepEqual(late, { status: "fulfilled", value: [] });
    else assert.equal(late.status, "rejected");
    const [payout] = await listPayouts(service, seller);
    const { rows } = await service.ctx.db.pool.query(
      "select count(*)::int as files from payout_file_items where payout_id = $1",
      [payoutId],
    );
    assert.equal(rows[0].files, payout.status === "instructed" ? 1 : 0);
    outcomes.add(payout.status);
  }
  assert.deepEqual(outcomes, new Set(["instructed", "sent"]));
  await assertLedgerSound(service);
});

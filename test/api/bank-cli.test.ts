// The day of payments as operators have it on the command line.

import assert from "node:assert/strict";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { rupeesPlain } from "../../src/kernel/money.ts";
import { commandLine } from "../support/cli.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { startService } from "../support/service.ts";
import {
  addCredit,
  buyerPaise,
  listPayouts,
  makeDeal,
  readBalance,
  readSettlement,
} from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

test("operators pay by file, approve, import a statement, work the queue and reconcile on the command line", async (t) => {
  const service = await startService(t);
  const settings = { TWO_OPERATORS_FROM_PAISE: "20000000" };
  const { run, dataDir } = await commandLine(t, service, settings);
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout);
  };
  const asha = ["--operator", "asha"];
  const ravi = ["--operator", "ravi"];
  const large = await liveSeller(service);
  const small = await liveSeller(service);
  const buyer = await liveSeller(service);
  await sellLive(service, large, 15_000_000, 15_000_000);
  await sellLive(service, small, 4_000_000);

  const preview = await ok("payouts", "file", "--preview");
  assert.deepEqual(
    preview.map(({ rail, firm_id, payouts, amount_paise }: Record<string, unknown>) => [
      rail,
      firm_id,
      payouts,
      amount_paise,
    ]),
    [
      ["RTGS", large.firmId, 2, 30_000_000],
      ["RTGS", "all", 2, 30_000_000],
      ["IMPS", small.firmId, 1, 4_000_000],
      ["IMPS", "all", 1, 4_000_000],
    ],
  );
  assert.equal((await run("payouts", "file", "--out", dataDir)).code, 2, "says who");
  const [rtgs, imps] = await ok("payouts", "file", "--out", dataDir, ...asha);
  assert.deepEqual([rtgs.outcome, imps.outcome], ["proposed", "made"]);
  const [waiting] = await ok("approvals", "list", "--kind", "payout_file.make");
  assert.equal(waiting.value_paise, 30_000_000);
  assert.equal(
    (await run("approvals", "approve", rtgs.approval_id, "--operator", "Asha ")).code,
    1,
  );
  const approved = await ok("approvals", "approve", rtgs.approval_id, ...ravi);
  const fileId = approved.file_id as string;
  const written = await ok("payouts", "file", "write", fileId, "--out", dataDir, ...asha);
  const text = await readFile(written.path, "utf8");
  assert.ok(text.includes(large.accountNo));
  assert.equal((await stat(written.path)).mode & 0o777, 0o600);
  await rm(written.path);
  const again = await ok("payouts", "file", "write", fileId, "--out", dataDir, ...ravi);
  assert.deepEqual(again, written, "the same bytes");
  const listed = await ok("payouts", "file", "list", "--status", "live");
  assert.equal(listed.length, 2);

  const reveal = ["firms", "account", large.firmId, "--reveal"];
  assert.equal((await run(...reveal, ...asha)).code, 1, "says why");
  const account = await ok(...reveal, "--reason", "the bank asks", ...asha);
  assert.equal(account.account_no, large.accountNo);
  const masked = await run("firms", "account", large.firmId);
  assert.ok(!masked.stdout.includes(large.accountNo));
  const { rows: looks } = await askJournal(
    service.ctx.db.pool,
    "select actor_id from audit_records where action = 'firm.reveal_account'",
  );
  assert.deepEqual(looks, [{ actor_id: "asha" }]);

  const scripNo = await addCredit(service, large);
  const dealId = await makeDeal(service, {
    environment: "live",
    buyer,
    legs: [{ seller: large, scripNo }],
  });
  const readReference = async (id: string) =>
    (await ok("payouts", "file", "show", id)).lines[0].reference as string;
  const lines: [string, string, number, string][] = [
    ["HDFCR52026900000001", await readReference(fileId), -30_000_000, ""],
    ["HDFCR52026900000002", await readReference(imps.file_id), -4_000_000, ""],
    ["HDFCR52026900000003", `RTN ${await readReference(imps.file_id)}`, 4_000_000, ""],
    ["HDFCR52026900000004", dealId, 10_000_000, buyer.accountNo],
    ["HDFCR52026900000005", dealId, 100, "99900011122"],
    ["HDFCR52026900000006", "CHARGES", -590, ""],
  ];
  let balance = 100_000_000;
  const heading = "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
  const csv = lines.map(([utr, words, paise, account]) => {
    balance += paise;
    const amount = rupeesPlain(Math.abs(paise));
    const sides = paise < 0 ? [amount, ""] : ["", amount];
    return ["15/11/2026", utr, words, ...sides, rupeesPlain(balance), "", account].join(",");
  });
  const path = join(dataDir, "statement.csv");
  await writeFile(path, `${[heading, ...csv].join("\n")}\n`);
  const imported = await ok("bank", "import", path, ...asha);
  assert.deepEqual(
    [imported.outcome, imported.lines, imported.matched, imported.queued],
    ["applied", 6, 4, 2],
  );
  assert.equal((await ok("bank", "import", path, ...ravi)).outcome, "known");
  for (const { status } of await listPayouts(service, large)) assert.equal(status, "paid");
  assert.equal((await listPayouts(service, small))[0].status, "returned");
  assert.equal((await readBalance(service, small, "live")).available_paise, 4_000_000);
  assert.equal((await readSettlement(service, buyer, dealId)).status, "pending", "partly funded");

  const queue = await ok("bank", "queue", "list");
  const byReason = (reason: string) =>
    queue.find((line: { reason: string }) => line.reason === reason).line_id as string;
  const assign = ["bank", "queue", "assign", byReason("unknown_reference")];
  await ok(...assign, "--to", "house", "--reason", "charges", ...asha);
  const back = ["bank", "queue", "return", byReason("third_party"), "--reason", "unknown"];
  const sent = await ok(...back, "--utr", "HDFCR52026900000009", ...asha);
  assert.equal(sent.outcome, "returning");

  const fund = ["settlements", "fund", dealId, "--paise"];
  const part = await ok(...fund, "1000", "--reference", "HDFCR52026900000010", ...asha);
  assert.equal(part.outcome, "received");
  const { deposits } = await ok("settlements", "show", dealId);
  assert.deepEqual(
    deposits.map(({ amount_paise: paise }: { amount_paise: number }) => paise),
    [10_000_000, 1_000],
    "what has come of it is shown",
  );
  const rest = String(buyerPaise - 10_000_000);
  const whole = await ok(...fund, rest, "--reference", "HDFCR52026900000011", ...asha);
  assert.equal(whole.outcome, "funded");
  assert.notEqual((await readSettlement(service, buyer, dealId)).status, "pending");

  const reconciled = await ok("bank", "reconcile");
  assert.equal(reconciled.bank_paise, balance);
  assert.equal(reconciled.unexplained_paise, 0);
  assert.equal(reconciled.differences.length, 3, "the opening, and two deposits by hand");

  const reference = "HDFCR52026900000012";
  const mistake = ["--env", "live", "--firm", small.firmId, "--paise", "700"];
  await ok("deposits", "add", ...mistake, "--reference", reference, ...asha);
  const undo = ["deposits", "reverse", "--reference", reference, "--reason", "wrong firm"];
  assert.equal((await ok(...undo, ...asha)).outcome, "reversed");
  assert.equal((await ok(...undo, ...ravi)).outcome, "known");
  assert.deepEqual((await ok("bank", "reconcile")).differences, reconciled.differences);
  await assertLedgerSound(service);
});

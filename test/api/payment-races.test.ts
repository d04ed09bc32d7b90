// Two people, or a person and the bank's answer, at the same moment on the same file.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { importStatement } from "../../src/bankbook/import-statement.ts";
import { receiveStatement } from "../../src/bankbook/receive-statement.ts";
import { listQueue } from "../../src/bankbook/list-queue.ts";
import { genericStatement } from "../../src/bankbook/read-statement.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { rupeesPlain } from "../../src/kernel/money.ts";
import { showFile } from "../../src/payouts/read-files.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { startService } from "../support/service.ts";
import { listPayouts, readBalance } from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;
const rounds = 6;

test("two concurrent makers of files make one", async (t) => {
  const service = await startService(t);
  for (let round = 0; round < rounds; round++) {
    const seller = await liveSeller(service);
    await sellLive(service, seller, 4_000_000);
    const made = await Promise.all(
      [asha, ravi, asha].map((by) => makeFiles(service.ctx, by, live)),
    );
    assert.equal(made.flat().length, 1);
    assert.equal((await listPayouts(service, seller))[0].status, "instructed");
  }
});

test("a file voided during the import of its debit is paid or due again, never both", async (t) => {
  const service = await startService(t);
  const outcomes = new Map<string, number>();
  let balance = 90_000_000;
  for (let round = 0; round < rounds; round++) {
    const seller = await liveSeller(service);
    await sellLive(service, seller, 4_000_000);
    const [made = assert.fail()] = await makeFiles(service.ctx, asha, live);
    // Payouts that an earlier round made due again are in this file too.
    const { lines } = await showFile(service.ctx, made.file_id ?? "");
    const line = lines.find(({ firm_id }) => firm_id === seller.firmId) ?? assert.fail();
    const voiding = { fileId: made.file_id ?? "", reason: "upload refused" };
    await voidFile(service.ctx, asha, voiding);
    balance -= 4_000_000;
    const utr = `HDFCR5204${String(round).padStart(10, "0")}`;
    const amounts = [rupeesPlain(4_000_000), "", rupeesPlain(balance)].join(",");
    const heading =
      "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
    const text = `${heading}\n16/11/2026,${utr},${line.reference},${amounts},,\n`;
    // Stored first, so that the import begins with its locks as the void does.
    await receiveStatement(service.ctx, asha, { ...live, text, format: genericStatement });
    await Promise.allSettled([
      importStatement(service.ctx, asha, { ...live, text }),
      // An import needs a few milliseconds more to reach its locks.
      sleep(round).then(async () => await voidFile(service.ctx, ravi, voiding)),
    ]);
    // An import that found its rows held for too long has done nothing, and is run again.
    await importStatement(service.ctx, asha, { ...live, text });
    const [payout] = await listPayouts(service, seller);
    const queue = await listQueue(service.ctx, { ...live, limit: 100 });
    const isQueued = queue.some((queued) => queued.utr === utr);
    assert.equal(isQueued, payout.status === "scheduled", "what is due again was not paid by us");
    const { posted_paise } = await readBalance(service, seller, "live");
    assert.equal(posted_paise, payout.status === "paid" ? 0 : 4_000_000);
    outcomes.set(payout.status, (outcomes.get(payout.status) ?? 0) + 1);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
  for (const status of outcomes.keys()) assert.ok(["paid", "scheduled"].includes(status), status);
  const { unexplained_paise } = await reconcileBank(service.ctx, "live");
  assert.equal(unexplained_paise, 0);
  await assertLedgerSound(service);
});

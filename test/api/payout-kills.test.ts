// Whoever makes a file or imports a statement dies between any two steps: before each statement, and
// after each commit. What was begun is either done or as it was, and doing it again does it once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { importStatement } from "../../src/bankbook/import-statement.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { rupeesPlain } from "../../src/kernel/money.ts";
import { listFiles, readFile, showFile } from "../../src/payouts/read-files.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { voidFile } from "../../src/payouts/answer-files.ts";
import type { Context } from "../../src/platform/context.ts";
import { Died, dieAtEveryStep } from "../support/dying.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { type Service, startService } from "../support/service.ts";
import { listPayouts, readBalance } from "../support/settlements.ts";

const asha = namedOperator("asha");
const ravi = namedOperator("ravi");
const live = { environment: "live" } as const;
/** A payout is instructed when it is in one file that counts, and in none otherwise. */
async function assertOneFile({ ctx }: Service): Promise<void> {
  const { rows } = await ctx.db.pool.query(
    `select p.payout_id, p.state, count(i.payout_id)::int as files
    from payouts as p left join payout_file_items as i on i.payout_id = p.payout_id and not i.is_void
    where p.environment = 'live'
    group by p.payout_id`,
  );
  for (const { payout_id, state, files } of rows) {
    assert.equal(files, state === "scheduled" ? 0 : 1, `${payout_id} is ${state}`);
  }
}

test("a kill between any two steps of making, reading and voiding a file puts no payout into two files", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000, 9_000_000);
  const making = async (ctx: Context) => await makeFiles(ctx, asha, live);
  const died = await dieAtEveryStep(service, making, () => assertOneFile(service));
  const files = await listFiles(service.ctx, { limit: 10 });
  const [file = assert.fail("no file was made"), ...others] = files;
  assert.deepEqual(others, [], `one file after ${died} deaths`);
  assert.equal(file.paise, 13_000_000);

  const texts = new Set<string>();
  const reading = async (ctx: Context) => texts.add((await readFile(ctx, asha, file.file_id)).text);
  await dieAtEveryStep(service, reading, async () => undefined);
  texts.add((await readFile(service.ctx, ravi, file.file_id)).text);
  assert.equal(texts.size, 1);

  const voiding = { fileId: file.file_id, reason: "upload refused" };
  await voidFile(service.ctx, asha, voiding);
  await dieAtEveryStep(
    service,
    async (ctx) => await voidFile(ctx, ravi, voiding).catch(ignoreVoided),
    () => assertOneFile(service),
  );
  const [payout] = await listPayouts(service, seller);
  assert.equal(payout.status, "scheduled");
  await makeFiles(service.ctx, asha, live);
  await assertOneFile(service);
  await assertLedgerSound(service);
  t.diagnostic(`died ${died} times while the file was made`);
});

/** Who died after the commit asks for what is done. */
function ignoreVoided(error: unknown): void {
  if (error instanceof Died) throw error;
  assert.match(String(error), /voided/);
}

test("a kill between any two steps of an import books nothing twice", async (t) => {
  const service = await startService(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 4_000_000, 9_000_000);
  await makeFiles(service.ctx, asha, live);
  const [file = assert.fail()] = await listFiles(service.ctx, { limit: 1 });
  const [line = assert.fail()] = (await showFile(service.ctx, file.file_id)).lines;
  const firm = seller.firmId.replace("_", "").toUpperCase();
  const rows = [
    ["HDFCR52026800000001", line.reference, -13_000_000, ""],
    ["HDFCR52026800000002", `RTN ${line.reference}`, 13_000_000, ""],
    ["HDFCR52026800000003", firm, 70_000, seller.accountNo],
    ["HDFCR52026800000004", "WHO IS THIS", 5_000, ""],
  ] as const;
  const text = [
    "date,reference,description,debit,credit,balance,remitter_name,remitter_account",
    ...rows.map(([utr, words, paise, account], at) => {
      const balance = rows.slice(0, at + 1).reduce((sum, [, , each]) => sum + each, 20_000_000);
      const [debit, credit] = paise < 0 ? [rupeesPlain(-paise), ""] : ["", rupeesPlain(paise)];
      return ["15-11-2026", utr, words, debit, credit, rupeesPlain(balance), "", account].join(",");
    }),
  ].join("\n");
  const died = await dieAtEveryStep(
    service,
    async (ctx) => await importStatement(ctx, asha, { ...live, text }),
    async () => {
      const { posted_paise } = await readBalance(service, seller, "live");
      assert.ok([13_000_000, 13_070_000].includes(Number(posted_paise)), `${posted_paise}`);
    },
  );
  const { available_paise } = await readBalance(service, seller, "live");
  assert.equal(available_paise, 13_070_000);
  for (const { status } of await listPayouts(service, seller)) assert.equal(status, "returned");
  await assertLedgerSound(service);
  t.diagnostic(`died ${died} times while the statement was imported`);
});

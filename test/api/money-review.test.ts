// What was done before today's rules held is listed for a person.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedOperator } from "../../src/kernel/actor.ts";
import { reviewMoney } from "../../src/money-review.ts";
import { makeFiles } from "../../src/payouts/make-files.ts";
import { readFile } from "../../src/payouts/read-files.ts";
import { commandLine } from "../support/cli.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { startService } from "../support/service.ts";
import { listPayouts } from "../support/settlements.ts";

const asha = namedOperator("asha");

test("the review lists what left to unconfirmed accounts, what waits, and files answered in part", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const [paid, waiting] = [await liveSeller(service), await liveSeller(service)];
  await sellLive(service, paid, 4_000_000);
  await sellLive(service, waiting, 4_000_000);
  const { pool } = service.ctx.db;
  assert.deepEqual(await reviewMoney(service.ctx, 10), []);

  await pool.query(
    "update firms set account_confirmed_at = null, checks = '[]' where firm_id = $1",
    [waiting.firmId],
  );
  const [made = assert.fail()] = await makeFiles(service.ctx, asha, { environment: "live" });
  const fileId = made.file_id ?? "";
  await readFile(service.ctx, asha, fileId);
  // As the migration leaves what left before accounts had ids.
  await pool.query(
    "update payouts set former_account = 'unconfirmed', account_id = null where firm_id = $1",
    [paid.firmId],
  );
  await pool.query("update payout_file_lines set state = 'paid' where file_id = $1", [fileId]);
  const [{ payout_id: left }] = await listPayouts(service, paid);
  const [{ payout_id: waits }] = await listPayouts(service, waiting);
  const { code, stdout } = await run("money", "review", "--json");
  assert.equal(code, 0);
  const found = JSON.parse(stdout).map(({ check, id, amount_paise }: Record<string, unknown>) => [
    check,
    id,
    amount_paise,
  ]);
  assert.deepEqual(found, [
    ["payout_to_unconfirmed_account", left, 4_000_000],
    ["payout_waits", waits, 4_000_000],
    ["file_answered_in_part", fileId, 4_000_000],
  ]);
  const doctor = await run("doctor", "--json");
  const line = JSON.parse(doctor.stdout).find(({ check }: { check: string }) => check === "money");
  assert.equal(line.found, "3 to review: money review");
  await assertLedgerSound(service);
});

// The end of a month: rehearsed with a sandbox desk's own clock, and filed as one archive.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { commandLine } from "../support/cli.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  sellerPaise,
  type TestDesk,
} from "../support/settlements.ts";
import { readXlsx } from "../support/xlsx.ts";

const dayS = 86_400;

async function sell(service: Service, seller: TestDesk): Promise<void> {
  const legs = [{ seller, scripNo: await addCredit(service, seller) }];
  await makeDeal(service, { buyer: house(), legs });
  await letSettle(service, 5);
}

async function advance({ send }: Service, { key }: TestDesk, days: number): Promise<void> {
  const body = { advance_s: days * dayS };
  await send("POST", "/v1/sandbox/clock", { key, body, expect: 200 });
}

async function readStatement({ send }: Service, { key, firmId }: TestDesk, period: string) {
  return (await send("GET", `/v1/statements/${period}?firm_id=${firmId}`, { key, expect: 200 }))
    .body;
}

test("a sandbox desk's clock past a month's end closes the month, and what comes later is on the next statement", async (t) => {
  const service = await startService(t);
  const [ahead, behind] = [await openTestDesk(service), await openTestDesk(service)];
  await sell(service, ahead);
  await sell(service, behind);
  assert.equal((await readStatement(service, ahead, "2026-11")).status, "running");

  await advance(service, ahead, 17);
  await service.work();
  const november = await readStatement(service, ahead, "2026-11");
  assert.equal(november.status, "final");
  assert.ok(november.lines.length > 0);
  assert.equal((await readStatement(service, behind, "2026-11")).status, "running");

  await sell(service, ahead);
  await service.work();
  assert.deepEqual(await readStatement(service, ahead, "2026-11"), november);
  const december = await readStatement(service, ahead, "2026-12");
  assert.equal(december.status, "running");
  assert.deepEqual(december.opening_paise, november.closing_paise);
  const sales = december.lines.filter((line: { amount_paise: number }) => line.amount_paise > 0);
  assert.deepEqual(
    sales.map((line: { amount_paise: number }) => line.amount_paise),
    [sellerPaise],
  );

  // Several months at once: nothing is left out between them.
  await advance(service, ahead, 70);
  await service.work();
  await sell(service, ahead);
  const { body } = await service.send("GET", `/v1/statements?firm_id=${ahead.firmId}`, {
    key: ahead.key,
    expect: 200,
  });
  const months = body.statements.toReversed();
  assert.deepEqual(
    months.map((row: { period: string; status: string }) => `${row.period} ${row.status}`),
    ["2026-11 final", "2026-12 final", "2027-01 final", "2027-02 running"],
  );
  for (const [at, month] of months.entries()) {
    if (at > 0) assert.equal(month.opening_paise, months[at - 1].closing_paise, month.period);
  }
  const february = await readStatement(service, ahead, "2027-02");
  assert.ok(
    february.lines.some((line: { amount_paise: number }) => line.amount_paise === sellerPaise),
  );
  await assertLedgerSound(service);
});

test("a month's statements, register and fee invoices are one archive", async (t) => {
  const service = await startService(t);
  const { run, dataDir } = await commandLine(t, service);
  const period = service.clock.now().toISOString().slice(0, 7);
  const desks = [await openTestDesk(service), await openTestDesk(service)];
  const early = await run("statements", "list", "--env", "sandbox", "--period", period, "--json");
  assert.deepEqual(JSON.parse(early.stdout), []);
  for (const desk of desks) {
    await sell(service, desk);
    await advance(service, desk, 31);
  }
  await service.work();

  const listed = await run("statements", "list", "--env", "sandbox", "--period", period, "--json");
  const register = JSON.parse(listed.stdout) as { firm_id: string; digest: string }[];
  // The desks' own firms earned commission.
  const firmIds = desks.flatMap(({ firmId, deskId }) => [firmId, deskId]);
  assert.deepEqual(
    register.map(({ firm_id }) => firm_id),
    firmIds.toSorted(),
  );
  const workbook = join(dataDir, "register.xlsx");
  const asked = ["statements", "list", "--env", "sandbox", "--period", period];
  const written = await run(...asked, "--out", workbook, "--format", "xlsx", "--json");
  assert.deepEqual([written.code, JSON.parse(written.stdout).statements], [0, 4], written.stderr);
  const { rows, title } = readXlsx(await readFile(workbook));
  assert.match(title, /^Register, \w+ 2026$/);
  assert.deepEqual(
    rows.map((row) => [row["firm_id"]?.value, row["sha256"]?.value, row["closing_rupees"]?.kind]),
    register.map(({ firm_id, digest }) => [firm_id, digest, "n"]),
  );
  const out = join(dataDir, "month.tar.gz");
  const words = ["statements", "archive", "--env", "sandbox", "--period", period, "--out", out];
  const made = await run(...words, "--json");
  assert.deepEqual([made.code, JSON.parse(made.stdout).statements], [0, 4], made.stderr);
  assert.equal((await run(...words)).code, 2, "a file that is there is not written over");

  await promisify(execFile)("tar", ["-xzf", out, "-C", dataDir]);
  const text = async (name: string) => await readFile(join(dataDir, name), "utf8");
  for (const firmId of firmIds) {
    assert.match(await text(`statements/${period}-${firmId}.csv`), /^line_no,at,kind/);
    assert.match(await text(`statements/${period}-${firmId}.pdf`), /^%PDF-/);
  }
  const lines = (await text("register.csv")).trim().split("\r\n");
  assert.equal(lines.length, 5);
  for (const { firm_id, digest } of register) {
    assert.ok(lines.some((line) => line.includes(firm_id) && line.includes(digest)));
  }
  assert.match(await text("fee-invoices.csv"), /^invoice_no,kind,firm_id/);
});

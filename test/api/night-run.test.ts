// A night in live that nobody is awake for: the bank's statement is dropped and imported, what is due is
// put into a file for the bank at its time, the bank's answer is dropped, and the month is archived. And
// what goes wrong in such a night waits for a person, who is told.

import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { disableMachine } from "../../src/operators/machines.ts";
import { createScheduler } from "../../src/unattended/run-schedules.ts";
import { findNextTime, listOutdated } from "../../src/unattended/schedule-rules.ts";
import { listSchedules } from "../../src/unattended/run-schedules.ts";
import { createDropTaker } from "../../src/unattended/take-dropped.ts";
import { squeezed, statement } from "../support/bank.ts";
import { askJournal } from "../support/journal.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller, sellLive } from "../support/live-sales.ts";
import { addTestMachine, addTwoAdmins, type MachineAsked } from "../support/machines.ts";
import { runAfter } from "../support/scope.ts";
import { letterhead, startService } from "../support/service.ts";
import { listPayouts } from "../support/settlements.ts";

let references = 0;
const nextUtr = () => `HDFCR52026${String(++references).padStart(9, "0")}`;
const crore = 1_000_000_000;

async function openNight(t: TestContext, asked: MachineAsked = {}) {
  const service = await startService(t);
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-night-"));
  runAfter(t, () => rm(folder, { recursive: true, force: true }));
  const admins = await addTwoAdmins(service);
  const permissions = ["bank.write", "payouts.write"] as const;
  await addTestMachine(service, admins, { permissions, dayLimitPaise: crore, ...asked });
  const [dir, outDir] = [join(folder, "drop"), join(folder, "out")];
  const drop = createDropTaker(service.ctx, {
    dir,
    machine: "night-run",
    form: undefined,
    twoFromPaise: crore,
    nowMs: () => Date.now() + 10_000,
  });
  const schedule = createScheduler(service.ctx, {
    machine: "night-run",
    times: { "payout-files": ["23:30"], archives: ["06:00"] },
    outDir,
    payoutForm: undefined,
    twoFromPaise: crore,
    letterhead,
    dataDir: folder,
  });
  const take = async () => {
    while ((await drop()) === "more") service.clock.advance({ seconds: 1 });
  };
  await take();
  await schedule();
  const put = async (name: string, text: string) => {
    await writeFile(join(dir, "statements", name), text, { mode: 0o600 });
    await take();
  };
  /** Turns the clock to what is next, and lets it run. */
  const runNext = async (name: string) => {
    const found = (await listSchedules(service.ctx)).find((one) => one.name === name);
    const wait = new Date(found?.next_at ?? "").getTime() - service.clock.now().getTime();
    service.clock.advance({ seconds: Math.max(0, Math.ceil(wait / 1_000)) });
    // The books are proved anew, as the service does all the time.
    await service.workOn(["ledger-check", "payouts"]);
    await schedule();
    return (await listSchedules(service.ctx)).find((one) => one.name === name);
  };
  const listOut = async (name: string) => await readdir(join(outDir, name)).catch(() => []);
  return { service, admins, folder, outDir, put, runNext, schedule, listOut };
}

test("a night runs end to end by a machine, and the books come to what the bank says", async (t) => {
  const { service, admins, outDir, put, runNext, listOut } = await openNight(t);
  const { ctx } = service;
  const buyer = await liveSeller(service);
  const pay = (paise: number) => ({
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise,
    account: buyer.accountNo,
  });
  const first = statement(0, [pay(100_000_000)], "14/11/2026");
  await importStatement(ctx, admins[0].actor, { environment: "live", text: first });
  await put("2026-11-15.csv", statement(100_000_000, [pay(20_000_000)]));

  const seller = await liveSeller(service);
  await sellLive(service, seller, 24_000_000);
  const files = await runNext("payout-files");
  assert.equal(files?.outcome, "done", files?.said ?? "");
  assert.ok(files?.next_at && files.last_at && files.next_at > files.last_at);
  const [name = ""] = await listOut("payout-files");
  const path = join(outDir, "payout-files", name);
  const text = await readFile(path, "utf8");
  assert.ok(text.includes(seller.accountNo), "the bank gets the whole account number");
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const [, line = ""] = text.trim().split(/\r?\n/);
  const [reference = ""] = /[A-Z0-9]{16,}/.exec(line) ?? [];
  const answer = statement(120_000_000, [{ utr: nextUtr(), text: reference, paise: -24_000_000 }]);
  await put("2026-11-15-late.csv", answer);
  await service.work();
  const [payout] = await listPayouts(service, seller);
  assert.equal(payout.status, "paid", JSON.stringify(payout));
  assert.equal(Number((await reconcileBank(ctx, "live")).unexplained_paise), 0);
  await assertLedgerSound(service);

  service.clock.advance({ days: 18 });
  await service.work();
  const archived = await runNext("archives");
  assert.equal(archived?.outcome, "done", archived?.said ?? "");
  assert.deepEqual(await listOut("archives"), ["statements-live-2026-11.tar.gz"]);
  const again = await runNext("archives");
  assert.equal(again?.outcome, "nothing", "once a month");
  const statements = (await listSchedules(ctx)).find((one) => one.name === "statements");
  assert.ok(statements?.last_at);
  assert.match(statements.next_at ?? "", /^2027-01-01T/);

  const { rows } = await askJournal<{ action: string }>(
    ctx.db.pool,
    "select distinct action from audit_records where actor_id = 'machine:night-run' order by action",
  );
  const actions = rows.map(({ action }) => action);
  for (const action of ["bank_statement.apply", "payout_file.make", "payout_file.read"]) {
    assert.ok(actions.includes(action), `${action}: ${actions.join(" ")}`);
  }
});

test("a file beyond the machine's day waits for a person, and its bytes are put out for nobody", async (t) => {
  const { service, admins, runNext, listOut } = await openNight(t, { dayLimitPaise: 24_000_000 });
  const seller = await liveSeller(service);
  await sellLive(service, seller, 24_000_000);
  const files = await runNext("payout-files");
  const [, approvalId = ""] = /waits for a person: (apr_\w+)/.exec(files?.said ?? "") ?? [];
  assert.deepEqual(await listOut("payout-files"), []);
  await approveProposal(service.ctx, admins[0].actor, { approvalId, kinds: approvalKinds });
});

test("what fails is told once and tried again, and other times are taken up", async (t) => {
  const { service, admins, runNext } = await openNight(t);
  await disableMachine(service.ctx, admins[0].actor, "night-run");
  const failed = await runNext("payout-files");
  assert.deepEqual(
    [failed?.outcome, failed?.said],
    ["failed", "the machine night-run is disabled"],
  );
  const gap = new Date(failed?.next_at ?? "").getTime() - new Date(failed?.last_at ?? "").getTime();
  assert.equal(gap, 15 * 60_000);
  await runNext("payout-files");
  const { rows } = await askJournal(
    service.ctx.db.pool,
    "select record_id from audit_records where action = 'schedule.fail'",
  );
  assert.equal(rows.length, 1);
  await addTestMachine(service, admins, { permissions: ["payouts.write"] });
  const mended = await runNext("payout-files");
  assert.deepEqual([mended?.outcome, mended?.said], ["nothing", "nothing is due"]);
  const other = createScheduler(service.ctx, {
    machine: "night-run",
    times: { archives: ["05:00", "07:00"] },
    outDir: "/nonexistent",
    payoutForm: undefined,
    twoFromPaise: crore,
    letterhead,
    dataDir: "/nonexistent",
  });
  await other();
  const planned = await listSchedules(service.ctx);
  const times = Object.fromEntries(planned.map((one) => [one.name, [one.times, one.next_at]]));
  assert.equal(times["payout-files"]?.[1], null, "not set any more");
  assert.equal(times["archives"]?.[0], "05:00, 07:00");
});

test("a form of payout files that others may write is not read, and none is made by it", async (t) => {
  const { service, folder } = await openNight(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 24_000_000);
  const payoutForm = join(folder, "form.json");
  const form = {
    name: "bank",
    columns: [
      { header: "account", text: "50200099999999" },
      { header: "amount", field: "amount" },
    ],
  };
  await writeFile(payoutForm, JSON.stringify(form));
  await chmod(payoutForm, 0o666);
  const schedule = createScheduler(service.ctx, {
    machine: "night-run",
    times: { "payout-files": ["23:00"] },
    outDir: join(folder, "out"),
    payoutForm,
    twoFromPaise: crore,
    letterhead,
    dataDir: folder,
  });
  await schedule();
  service.clock.advance({ days: 1 });
  await service.workOn(["ledger-check", "payouts"]);
  await schedule();
  const files = (await listSchedules(service.ctx)).find((one) => one.name === "payout-files");
  assert.equal(files?.outcome, "failed");
  assert.match(files?.said ?? "", /form.json can be written by others$/);
  const { rows } = await service.ctx.db.pool.query("select file_id from payout_files");
  assert.deepEqual(rows, []);
});

test("one of several processes runs a time", async (t) => {
  const { service, schedule, runNext } = await openNight(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 24_000_000);
  await Promise.all([runNext("payout-files"), schedule()]);
  const { rows } = await service.ctx.db.pool.query("select file_id from payout_files");
  assert.equal(rows.length, 1);
});

test("times of the day are in IST, and the newest seven backups are kept", () => {
  const at = (text: string) => new Date(text);
  const times = ["02:00", "16:30"];
  const next = (text: string) => findNextTime(times, at(text)).toISOString();
  assert.equal(next("2026-11-15T01:59:59+05:30"), "2026-11-14T20:30:00.000Z");
  assert.equal(next("2026-11-15T02:00:00+05:30"), "2026-11-15T11:00:00.000Z");
  assert.equal(next("2026-11-15T23:00:00+05:30"), "2026-11-15T20:30:00.000Z");
  const days = Array.from({ length: 9 }, (_, day) => `scripdesk-2026110${day + 1}T020000`);
  assert.deepEqual(listOutdated(["other", ...days.toReversed()]), days.slice(0, 2));
});

// Files in the drop folder are imported by a machine, once each by their bytes, and moved. What is not
// certainly the owner's is not read.

import assert from "node:assert/strict";
import { chmod, link, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { approveProposal, rejectProposal } from "../../src/operators/decide-approval.ts";
import { disableMachine } from "../../src/operators/machines.ts";
import { listDroppedFiles, listSchedules } from "../../src/unattended/run-schedules.ts";
import { createDropTaker } from "../../src/unattended/take-dropped.ts";
import { squeezed, statement } from "../support/bank.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller } from "../support/live-sales.ts";
import { addTestMachine, addTwoAdmins, type MachineAsked } from "../support/machines.ts";
import { runAfter } from "../support/scope.ts";
import { startService } from "../support/service.ts";

let references = 0;
const nextUtr = () => `HDFCR52026${String(++references).padStart(9, "0")}`;
const crore = 1_000_000_000;

async function openFolder(t: TestContext, asked: MachineAsked = {}) {
  const service = await startService(t);
  const dir = await mkdtemp(join(tmpdir(), "scripdesk-drop-"));
  runAfter(t, () => rm(dir, { recursive: true, force: true }));
  const admins = await addTwoAdmins(service);
  await addTestMachine(service, admins, { permissions: ["bank.write", "credits.write"], ...asked });
  const buyer = await liveSeller(service);
  const pay = (paise: number) => ({
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise,
    account: buyer.accountNo,
  });
  const text = statement(0, [pay(1_000_000)], "13/11/2026");
  await importStatement(service.ctx, admins[0].actor, { environment: "live", text });
  const options = { dir, machine: "night-run", form: undefined, twoFromPaise: crore };
  const waited = { ms: 10_000 };
  const nowMs = () => Date.now() + waited.ms;
  const take = createDropTaker(service.ctx, { ...options, nowMs });
  const run = async () => {
    while ((await take()) === "more") service.clock.advance({ seconds: 1 });
  };
  await run();
  const put = async (name: string, content: string, mode = 0o600) => {
    await writeFile(join(dir, name), content);
    await chmod(join(dir, name), mode);
  };
  const listFiles = async () => {
    const rows = await listDroppedFiles(service.ctx, {
      before: undefined,
      outcome: undefined,
      limit: 50,
    });
    return rows.map(({ name, outcome, said }) => `${name} ${outcome}: ${said}`).toReversed();
  };
  const count = async (folder: string) => (await readdir(join(dir, folder))).length;
  return { service, admins, dir, buyer, pay, take, run, put, listFiles, count, waited };
}

test("a statement is imported by the machine once, and moved", async (t) => {
  const { service, pay, run, put, listFiles, count } = await openFolder(t);
  const text = statement(1_000_000, [pay(2_000_000)], "14/11/2026");
  await put("statements/2026-11-14.csv", text);
  await run();
  await put("statements/again.csv", text);
  await run();
  assert.deepEqual(await listFiles(), [
    "2026-11-14.csv done: 1 lines: 1 matched, 0 queued",
    "again.csv known: was imported before",
  ]);
  assert.deepEqual(
    [await count("statements"), await count("done"), await count("failed")],
    [0, 2, 0],
  );
  const [schedule] = await listSchedules(service.ctx);
  assert.equal(schedule?.name, "drop-folder");
  assert.ok(schedule?.last_at && schedule.next_at);
  assert.equal(Number((await reconcileBank(service.ctx, "live")).unexplained_paise), 0);
  await assertLedgerSound(service);
});

test("what goes beyond the machine's day waits, and a statement after a gap fails and is put back", async (t) => {
  const { pay, run, put, listFiles, count } = await openFolder(t);
  const late = statement(4_000_000, [pay(10)], "15/11/2026");
  await put("statements/b.csv", late);
  await run();
  await put("statements/a.csv", statement(1_000_000, [pay(3_000_000)], "14/11/2026"));
  await run();
  await put("statements/b.csv", late);
  await put("statements/c.csv", statement(4_000_010, [pay(9_000_000)], "15/11/2026"));
  await run();
  const files = await listFiles();
  assert.match(files[0] ?? "", /^b.csv failed: the statement does not go on/);
  assert.match(files[1] ?? "", /^a.csv done/);
  assert.match(files[2] ?? "", /^b.csv done/);
  assert.match(files[3] ?? "", /^c.csv proposed: 1 lines wait for a person: apr_/);
  assert.deepEqual([await count("done"), await count("failed")], [3, 1]);
});

test("a file whose proposal was rejected or never decided is put back and taken anew", async (t) => {
  const { service, admins, pay, run, put, listFiles } = await openFolder(t);
  const text = statement(1_000_000, [pay(12_000_000)], "14/11/2026");
  const drop = async () => {
    await put("statements/a.csv", text);
    await run();
    const told = (await listFiles()).at(-1) ?? "";
    return [/a.csv (\w+)/.exec(told)?.[1], /apr_\w+/.exec(told)?.[0] ?? ""] as const;
  };
  const [first, approvalId] = await drop();
  assert.deepEqual(await drop(), [first, approvalId], "the proposal that waits");
  const kinds = approvalKinds;
  await rejectProposal(service.ctx, admins[0].actor, { approvalId, reason: "wait", kinds });
  const [second, again] = await drop();
  assert.deepEqual([first, second], ["proposed", "proposed"]);
  assert.notEqual(again, approvalId);
  await approveProposal(service.ctx, admins[0].actor, { approvalId: again, kinds });
  assert.deepEqual(await drop(), ["known", ""]);
  await assertLedgerSound(service);
});

test("a file with a name as long as names can be is taken, and holds up none behind it", async (t) => {
  const { pay, run, put, listFiles, count } = await openFolder(t);
  const name = `2026-11-14-${"स".repeat(80)}.csv`;
  await put(`statements/${name}`, statement(1_000_000, [pay(2_000_000)], "14/11/2026"));
  await put("statements/2026-11-15.csv", statement(3_000_000, [pay(1)], "15/11/2026"));
  await run();
  assert.deepEqual(await listFiles(), [
    `${name} done: 1 lines: 1 matched, 0 queued`,
    "2026-11-15.csv done: 1 lines: 1 matched, 0 queued",
  ]);
  assert.equal(await count("done"), 2);
});

test("a firm's balances go by the id that the name begins with, and lower what is there", async (t) => {
  const { service, buyer, run, put, listFiles } = await openFolder(t);
  const csv =
    "scrip_no,scheme,face,issued_on,expires_on\n0123/RODTEP/9001,RODTEP,5000.00,2026-10-01,2028-09-30\n";
  await put(`credits/${buyer.firmId}-november.csv`, csv);
  await put("credits/whose.csv", csv.replace("9001", "9002"));
  await put("credits/frm_00000000000000000000000000.csv", csv.replace("9001", "9003"));
  await run();
  const files = await listFiles();
  assert.match(files[0] ?? "", /^frm_0+.csv failed: no firm/);
  assert.match(files[1] ?? "", /november.csv done: 1 credits, 0 refused; 0 rows skipped$/);
  assert.match(files[2] ?? "", /^whose.csv failed: the name does not begin/);
  const { rows } = await service.ctx.db.pool.query(
    "select balance_shown_on from credits where scrip_no = '0123/RODTEP/9001'",
  );
  assert.deepEqual(rows, [{ balance_shown_on: null }], "a machine vouches for nothing");
});

test("links, files that others may write and files of two names are put aside unread", async (t) => {
  const { dir, pay, run, put, listFiles, count } = await openFolder(t);
  const text = statement(1_000_000, [pay(2_000_000)], "14/11/2026");
  await put("elsewhere.csv", text);
  await symlink(join(dir, "elsewhere.csv"), join(dir, "statements/link.csv"));
  await link(join(dir, "elsewhere.csv"), join(dir, "statements/second.csv"));
  await put("statements/open.csv", text, 0o666);
  await put("statements/written.csv.part", text);
  await run();
  assert.deepEqual((await listFiles()).toSorted(), [
    "link.csv failed: is a link",
    "open.csv failed: can be written by others",
    "second.csv failed: has another name, too",
  ]);
  assert.deepEqual([await count("statements"), await count("failed")], [1, 3]);
  await chmod(join(dir, "statements"), 0o777);
  await put("statements/good.csv", text);
  await run();
  assert.equal(await count("statements"), 2, "a folder that others may write is not read");
});

test("a file that is being written waits, and a machine that may not act leaves all where it is", async (t) => {
  const { service, admins, dir, pay, run, put, listFiles, count, waited } = await openFolder(t);
  const text = statement(1_000_000, [pay(2_000_000)], "14/11/2026");
  await put("statements/a.csv", text);
  // What whoever wrote it says about the time is neither believed nor waited for.
  const before = new Date(Date.now() - 60_000);
  await utimes(join(dir, "statements/a.csv"), before, before);
  waited.ms = 0;
  await run();
  assert.deepEqual(await listFiles(), []);
  waited.ms = 10_000;
  await disableMachine(service.ctx, admins[0].actor, "night-run");
  const later = new Date(Date.now() + 19_800_000);
  await utimes(join(dir, "statements/a.csv"), later, later);
  await run();
  assert.equal(await count("statements"), 1);
  const [schedule] = await listSchedules(service.ctx);
  assert.deepEqual(
    [schedule?.outcome, schedule?.said],
    ["failed", "the machine night-run is disabled"],
  );
  await addTestMachine(service, admins, { networks: ["10.0.0.5/32"] });
  await run();
  assert.match((await listSchedules(service.ctx))[0]?.said ?? "", /may not call from 127.0.0.1/);
  await addTestMachine(service, admins);
  await run();
  assert.equal(await count("done"), 1);
});

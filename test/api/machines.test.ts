// Machines act with a token, from their networks, until it expires; what they may do alone in a day is
// limited, a statement that they import goes on from the last one, and they approve nothing.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { importStatement } from "../../src/bankbook/import-statement.ts";
import { genericStatement } from "../../src/bankbook/read-statement.ts";
import { reconcileBank } from "../../src/bankbook/reconcile-bank.ts";
import { saveStatementForm } from "../../src/bankforms/forms.ts";
import type { Failure } from "../../src/kernel/failure.ts";
import { concernsPerson } from "../../src/notices/rules.ts";
import { addMachine, disableMachine, listMachines } from "../../src/operators/machines.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { squeezed, statement } from "../support/bank.ts";
import { askJournal } from "../support/journal.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { liveSeller } from "../support/live-sales.ts";
import { addTestMachine, addTwoAdmins, type MachineAsked } from "../support/machines.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";

let references = 0;
const nextUtr = () => `HDFCR52026${String(++references).padStart(9, "0")}`;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const refusedFor = (reason: string) => (error: unknown) =>
  (error as Failure).detail?.["reason"] === reason;

async function openOffice(t: TestContext, asked: MachineAsked = {}) {
  const service = await startService(t);
  const ops = await startOps(t, service, { trustProxy: ["127.0.0.1"] });
  const admins = await addTwoAdmins(service);
  const token = await addTestMachine(service, admins, asked);
  const call = async (
    method: string,
    path: string,
    { body, from, as = token }: { body?: object; from?: string; as?: string } = {},
  ) =>
    await ops.send(method, path, {
      headers: {
        ...asBearer(as),
        ...(from !== undefined && { "x-forwarded-for": from, "x-forwarded-proto": "https" }),
      },
      ...(body && { body }),
    });
  const importFile = async (text: string, more: object = {}) =>
    await call("POST", "/ops/bank/statements", { body: { content_base64: base64(text), ...more } });
  return { service, ops, admins, token, call, importFile };
}

/** The first statement, which a person imports, and a firm that pays from its account. */
async function openAccount(service: Service, admins: Awaited<ReturnType<typeof addTwoAdmins>>) {
  const buyer = await liveSeller(service);
  const pay = (paise: number) => ({
    utr: nextUtr(),
    text: squeezed(buyer.firmId),
    paise,
    account: buyer.accountNo,
  });
  const text = statement(0, [pay(1_000_000)], "13/11/2026");
  await importStatement(service.ctx, admins[0].actor, { environment: "live", text });
  return { buyer, pay, openingPaise: 1_000_000 };
}

async function listActions(service: Service, actorId: string): Promise<string[]> {
  const { rows } = await askJournal<{ action: string }>(
    service.ctx.db.pool,
    "select action from audit_records where actor_id = $1 order by record_id",
    [actorId],
  );
  return rows.map(({ action }) => action);
}

test("a machine is added by two admins, imports what goes on from the last statement, and is named", async (t) => {
  const { service, admins, call, importFile } = await openOffice(t);
  const { pay, openingPaise } = await openAccount(service, admins);
  const { body: imported } = await importFile(
    statement(openingPaise, [pay(2_000_000)], "14/11/2026"),
  );
  assert.deepEqual([imported.outcome, imported.matched], ["applied", 1]);
  const { body: who } = await call("GET", "/ops/whoami");
  assert.equal(who.name, "machine:night-run");
  assert.deepEqual(who.permissions, ["bank.write", "read"]);
  assert.ok((await listActions(service, "machine:night-run")).includes("bank_statement.apply"));
  const [machine] = await listMachines(service.ctx);
  assert.equal(machine?.status, "active");
  assert.equal(machine?.held_by, "ravi");
  assert.ok(machine?.last_used_at);
  assert.equal(JSON.stringify(machine).includes("hash"), false);
  assert.equal(Number((await reconcileBank(service.ctx, "live")).unexplained_paise), 0);
  await assertLedgerSound(service);
});

test("a statement after a gap, without balances or with a made-up one is a person's to import", async (t) => {
  const { service, admins, importFile } = await openOffice(t);
  const early = statement(0, [{ utr: nextUtr(), paise: 1_000 }], "13/11/2026");
  assert.equal((await importFile(early)).body.detail.reason, "balance_gap", "the first one");
  const { pay, openingPaise } = await openAccount(service, admins);
  const paid = pay(2_000_000);
  for (const [what, text] of Object.entries({
    "a gap": statement(openingPaise + 5, [paid], "14/11/2026"),
    "what was there, and more": statement(0, [pay(7)], "13/11/2026"),
  })) {
    const { status, body } = await importFile(text);
    assert.deepEqual([status, body.detail.reason], [409, "balance_gap"], what);
  }
  const [asha] = admins;
  const { balance: _balance, ...form } = { ...genericStatement, name: "bare" };
  await saveStatementForm(service.ctx, asha.actor, form);
  const bare = await importFile(statement(openingPaise, [paid], "14/11/2026"), { form: "bare" });
  assert.deepEqual([bare.status, bare.body.detail.reason], [409, "balance_gap"]);
  const text = statement(openingPaise + 5, [paid], "14/11/2026");
  const byPerson = await importStatement(service.ctx, asha.actor, { environment: "live", text });
  assert.equal(byPerson.outcome, "applied");
  const next = statement(openingPaise + 5 + paid.paise, [pay(3)], "14/11/2026");
  assert.equal((await importFile(next)).body.outcome, "applied", "it goes on from there");
});

test("what goes beyond the machine's day waits for a person who does not hold its token", async (t) => {
  const { service, admins, importFile, call } = await openOffice(t);
  const [asha, ravi] = admins;
  const { pay, openingPaise } = await openAccount(service, admins);
  const first = await importFile(statement(openingPaise, [pay(9_999_999)], "14/11/2026"));
  assert.equal(first.body.outcome, "applied");
  const text = statement(openingPaise + 9_999_999, [pay(1)], "14/11/2026");
  const { body: second } = await importFile(text);
  assert.equal(second.outcome, "proposed");
  const approvalId = second.approval_id as string;
  assert.equal(
    (await importFile(text)).body.approval_id,
    approvalId,
    "asking again changes nothing",
  );

  const own = await call("POST", `/ops/approvals/${approvalId}/approve`, { body: {} });
  assert.deepEqual([own.status, own.body.detail.reason], [403, "machine"]);
  const approve = async (by: typeof asha) =>
    await approveProposal(service.ctx, by.actor, { approvalId, kinds: approvalKinds });
  await assert.rejects(approve(ravi), refusedFor("own_machine"), "whoever holds the token");
  await assert.rejects(
    service.ctx.db.pool.query(
      "update approvals set state = 'approved', decided_by = 'Ravi', decided_at = now() where approval_id = $1",
      [approvalId],
    ),
    /approvals_two_holders/,
  );
  await approve(asha);
  service.clock.advance({ seconds: 24 * 3_600 + 1 });
  const { body: next } = await importFile(
    statement(openingPaise + 10_000_000, [pay(2)], "15/11/2026"),
  );
  assert.equal(next.outcome, "applied", "the day is over");
  await assertLedgerSound(service);
});

test("a machine does not approve what a person proposed by asking for the same", async (t) => {
  const { service, admins, importFile } = await openOffice(t);
  const { pay, openingPaise } = await openAccount(service, admins);
  const lia = await addPerson(service, { name: "lia", role: "settlement", by: admins });
  const text = statement(openingPaise, [pay(2_000_000_000)], "14/11/2026");
  const asked = { environment: "live", text } as const;
  const { outcome } = await importStatement(service.ctx, lia.actor, asked);
  assert.equal(outcome, "proposed");
  const { status, body } = await importFile(text);
  assert.deepEqual([status, body.detail.reason], [403, "role"]);
});

test("a stolen, expired or ended token is refused, kept and told; a token that was never one is not", async (t) => {
  const { service, admins, call, token } = await openOffice(t, { days: 1 });
  /** How often the admins were told, and why the last call was refused. */
  const told = async () => {
    const { rows } = await askJournal(
      service.ctx.db.pool,
      "select record_id from audit_records where action = 'machine.refuse'",
    );
    const [machine] = await listMachines(service.ctx);
    return [rows.length, machine?.refusal];
  };
  assert.equal((await call("GET", "/ops/bank/queue")).status, 200);
  const stolen = await call("GET", "/ops/bank/queue", { from: "198.51.100.7" });
  assert.deepEqual([stolen.status, stolen.body.detail.reason], [403, "machine_address"]);
  assert.deepEqual(await told(), [1, "address"]);
  await call("GET", "/ops/bank/queue", { from: "198.51.100.8" });
  assert.deepEqual(await told(), [1, "address"], "told once an hour");
  const [refused] = await listMachines(service.ctx);
  assert.deepEqual([refused?.refused_from, refused?.refusal], ["198.51.100.8", "address"]);

  service.clock.advance({ seconds: 86_400 });
  assert.equal((await call("GET", "/ops/bank/queue")).status, 401);
  assert.deepEqual(await told(), [2, "expired"]);
  const again = await addTestMachine(service, admins);
  assert.equal((await call("GET", "/ops/bank/queue")).status, 401, "the former token is none");
  assert.equal((await call("GET", "/ops/bank/queue", { as: again })).status, 200);
  service.clock.advance({ seconds: 3_601 });
  await disableMachine(service.ctx, admins[0].actor, "night-run");
  assert.equal((await call("GET", "/ops/bank/queue", { as: again })).status, 401);
  assert.deepEqual(await told(), [3, "disabled"]);
  const forged = `machine_${"A".repeat(43)}`;
  assert.equal((await call("GET", "/ops/bank/queue", { as: forged })).status, 401);
  assert.deepEqual(await told(), [3, "disabled"]);
  const data = { name: "night-run", refusal: "address" };
  const person = { name: "asha", role: "admin", status: "enrolled" } as const;
  assert.equal(concernsPerson(person, "machine.refused", data), true);
  const { rows } = await service.ctx.db.pool.query("select * from machines");
  assert.equal(JSON.stringify(rows).includes(token.slice(8)), false, "only a hash is stored");
});

test("a machine has no more than it was given, and changes neither itself nor what a file means", async (t) => {
  const { service, admins, call, importFile } = await openOffice(t);
  const refusal = async (method: string, path: string, body?: object) => {
    const answer = await call(method, path, body && { body });
    assert.equal(answer.status, 403, `${path}: ${answer.text}`);
    return answer.body.detail.reason as string;
  };
  const raise = {
    name: "night-run",
    permissions: ["payouts.write"],
    networks: ["0.0.0.0/1"],
    day_limit_paise: 1_000_000_000,
    expires_at: "2026-12-31T00:00:00+05:30",
  };
  assert.equal(await refusal("POST", "/ops/machines", raise), "machine");
  assert.equal(await refusal("POST", "/ops/operators/disable", { name: "asha" }), "machine");
  const files = { environment: "live" };
  assert.equal(await refusal("POST", "/ops/payout-files", files), "machine_permission");
  assert.equal(await refusal("GET", "/ops/board/stream?environment=live"), "machine");
  assert.equal(
    await refusal("POST", "/ops/bank/queue/bln_1/assign", { to: "house", reason: "x" }),
    "machine",
  );
  const format = {
    name: "turned",
    day: "date",
    reference: "reference",
    narration: "description",
    debit: "credit",
    credit: "debit",
  };
  const turned = await importFile(statement(0, [{ utr: nextUtr(), paise: -5 }]), { format });
  assert.deepEqual([turned.status, turned.body.detail.reason], [403, "machine"]);

  const [asha] = admins;
  const asked = {
    name: "other",
    permissions: ["read"],
    networks: ["10.0.0.5/32"],
    day_limit_paise: 1,
    expires_at: new Date(service.clock.now().getTime() + 86_400_000),
  } as const;
  for (const [field, wrong] of Object.entries({
    name: { name: "Night Run" },
    networks: { networks: ["0.0.0.0/0"] },
    permissions: { permissions: [] },
    expires_at: { expires_at: new Date(service.clock.now().getTime() + 400 * 86_400_000) },
  })) {
    await assert.rejects(
      addMachine(service.ctx, asha.actor, { ...asked, ...wrong }),
      (error: unknown) => JSON.stringify((error as Failure).detail).includes(field),
      field,
    );
  }
});

test("before there are people there are no machines, and one admin adds them alone", async (t) => {
  const service = await startService(t);
  const asked = {
    name: "night-run",
    permissions: ["read"],
    networks: ["127.0.0.1"],
    day_limit_paise: 0,
    expires_at: new Date(service.clock.now().getTime() + 86_400_000),
  } as const;
  const nobody = { kind: "operator", id: "cli", requestId: null } as const;
  await assert.rejects(addMachine(service.ctx, nobody, asked), refusedFor("first_is_admin"));
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const added = await addMachine(service.ctx, asha.actor, asked);
  assert.equal(added.outcome, "added");
  assert.match(added.token ?? "", /^machine_/);
});

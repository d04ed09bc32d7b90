import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { operator } from "../../src/kernel/actor.ts";
import { Failure, type FailureCode } from "../../src/kernel/failure.ts";
import {
  addOperator,
  disableOperator,
  listOperators,
  operatorAddition,
  resetOperator,
} from "../../src/operators/manage-operators.ts";
import { beginEnrolment } from "../../src/operators/enrol.ts";
import { findSignedIn, signIn, signOut } from "../../src/operators/sign-in.ts";
import { computeCode } from "../../src/operators/credentials.ts";
import { addPerson, enrolPerson, password, type TestPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const hasCode = (code: FailureCode) => (error: unknown) =>
  error instanceof Failure && error.code === code;
const hasReason = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

/** Where these attempts come from; `sign-in-attempts.test.ts` has many places. */
const from = "203.0.113.7";

/** Two admins, as a service has them after its first day. */
async function twoAdmins(service: Service): Promise<readonly [TestPerson, TestPerson]> {
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
  return [asha, ravi];
}

test("a person signs in with password and code, and a code is used once", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const code = asha.code();
  const { token, role, name } = await signIn(service.ctx, {
    name: "asha rao",
    password,
    code,
    from,
  });
  assert.deepEqual([name, role], ["Asha Rao", "admin"]);
  assert.match(token, /^operator_[A-Za-z0-9_-]{43}$/);
  const actor = await findSignedIn(service.ctx, token);
  assert.deepEqual([actor.kind, actor.id, actor.role], ["operator", "Asha Rao", "admin"]);
  await assert.rejects(
    signIn(service.ctx, { name: "Asha Rao", password, code, from }),
    hasCode("unauthorized"),
  );
  const { rows } = await service.ctx.db.pool.query(
    "select encode(token_hash, 'hex') as hash from operator_sessions",
  );
  assert.equal(rows.length, 1);
  assert.equal(JSON.stringify(rows).includes(token), false);
});

test("one code used concurrently signs in once", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const code = asha.code();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 3 }, () => signIn(service.ctx, { name: "Asha", password, code, from })),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
});

test("every failed sign-in gets the same answer", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const answers = new Set<string>();
  for (const attempt of [
    { name: "Asha", password: "wrong password 1", code: asha.code() },
    { name: "Asha", password, code: "000000" },
    { name: "nobody", password, code: asha.code() },
  ]) {
    const error = await signIn(service.ctx, { ...attempt, from }).catch(
      (failure: unknown) => failure,
    );
    assert.ok(error instanceof Failure);
    answers.add(`${error.code} ${error.message}`);
  }
  assert.equal(answers.size, 1);
});

test("sign-in attempts are throttled by name, concurrent and in sequence", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const guess = async (name: string) =>
    await signIn(service.ctx, {
      name,
      password: "not the password",
      code: "123456",
      from,
    }).catch((error: unknown) => (error instanceof Failure ? error.code : String(error)));
  for (const name of ["Asha", "nobody"]) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => guess(name)));
    assert.equal(answers.filter((code) => code === "unauthorized").length, 4, name);
    assert.equal(answers.filter((code) => code === "rate_limited").length, 6, name);
  }
  // The right password waits as well, and the wait grows with each failure.
  await assert.rejects(
    signIn(service.ctx, { name: "ASHA", password, code: computeCode(asha.secret, 1), from }),
    hasCode("rate_limited"),
  );
  let tried = 0;
  for (let second = 0; second < 3_600; second += 10) {
    service.clock.advance({ seconds: 10 });
    if ((await guess("Asha")) === "unauthorized") tried++;
  }
  assert.ok(tried <= 12, `${tried} guesses in an hour`);
  service.clock.advance({ seconds: 900 });
  const code = asha.code();
  const { name } = await signIn(service.ctx, { name: "Asha", password, code, from });
  assert.equal(name, "Asha");
  assert.equal(await guess("Asha"), "unauthorized", "success ends the count");
});

test("a session ends by time, by signing out and when its person is disabled", async (t) => {
  const service = await startService(t);
  const [asha, ravi] = await twoAdmins(service);
  const expired = await asha.signIn();
  service.clock.advance({ seconds: 12 * 3_600 });
  await assert.rejects(findSignedIn(service.ctx, expired.token), hasCode("unauthorized"));

  const left = await asha.signIn();
  await signOut(service.ctx, left.token);
  await assert.rejects(findSignedIn(service.ctx, left.token), hasCode("unauthorized"));

  const shut = await ravi.signIn();
  await disableOperator(service.ctx, asha.actor, "RAVI");
  await assert.rejects(findSignedIn(service.ctx, shut.token), hasCode("unauthorized"));
  await assert.rejects(ravi.signIn(), hasCode("unauthorized"));
  const last = disableOperator(service.ctx, asha.actor, "asharao");
  await assert.rejects(last, hasReason("last_admin"));
  for (const token of ["", "operator_", "service_live_x", "operator_'; drop table operators;--"]) {
    await assert.rejects(findSignedIn(service.ctx, token), hasCode("unauthorized"));
  }
});

test("two spellings of a name are one person", async (t) => {
  const service = await startService(t);
  await addPerson(service, { name: "Asha Rao", role: "admin" });
  for (const name of ["asha rao", "AshaRao", " ASHA RAO "]) {
    await assert.rejects(
      addOperator(service.ctx, operator, { name, role: "viewer" }),
      hasReason("name_taken"),
    );
  }
  for (const name of ["", "cli", "C L I", "аsha", "x".repeat(65), "a\u0000b"]) {
    await assert.rejects(
      addOperator(service.ctx, operator, { name, role: "viewer" }),
      hasCode("unprocessable"),
    );
  }
});

test("the first person is an admin, and weak passwords are refused", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  await assert.rejects(
    addOperator(ctx, operator, { name: "asha", role: "dealer" }),
    hasReason("first_is_admin"),
  );
  const { code } = await addOperator(ctx, operator, { name: "asha", role: "admin" });
  for (const weak of ["short", "aaaaaaaaaaaaaaaa", "asha-asha-asha"]) {
    const enrolling = beginEnrolment(ctx, { name: "asha", codes: [code], password: weak, from });
    await assert.rejects(enrolling, hasCode("unprocessable"));
  }
  await assert.rejects(
    beginEnrolment(ctx, { name: "asha", codes: ["1-2"], password, from }),
    hasCode("unauthorized"),
  );
  await enrolPerson(service, { name: "asha", codes: [code] });
  await assert.rejects(
    beginEnrolment(ctx, { name: "asha", codes: [code], password, from }),
    hasCode("unauthorized"),
    "a code enrols once",
  );
});

test("adding an operator takes two admins, and neither can enrol as that person", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const [asha, ravi] = await twoAdmins(service);
  const puppet = await addOperator(ctx, asha.actor, { name: "mira", role: "settlement" });
  assert.equal(puppet.outcome, "proposed");
  assert.equal((await listOperators(ctx)).length, 2);
  const decide = { approvalId: puppet.approval_id ?? "", kinds: approvalKinds };
  await assert.rejects(approveProposal(ctx, asha.actor, decide), hasReason("own_proposal"));
  const viewer = { ...ravi.actor, role: "settlement" as const };
  await assert.rejects(approveProposal(ctx, viewer, decide), hasReason("role"));
  const { answer } = await approveProposal(ctx, ravi.actor, decide);
  const { code: second } = answer as { readonly code: string };
  for (const codes of [[puppet.code], [second], [second, second], [puppet.code, "0"]]) {
    const enrolling = beginEnrolment(ctx, { name: "mira", codes, password, from });
    await assert.rejects(enrolling, hasCode("unauthorized"));
    service.clock.advance({ seconds: 60 });
  }
  const codes = [second, puppet.code.toUpperCase()];
  assert.equal((await enrolPerson(service, { name: "mira", codes })).operator.name, "mira");
});

test("an addition that one admin began is refused once there are two", async (t) => {
  const service = await startService(t);
  await twoAdmins(service);
  const terms = { name: "mira", role: "viewer", code_hash: "", people: 1 } as const;
  const asked = { environment: "live", subjectId: "mira", terms } as const;
  const begun = service.ctx.db.transaction(
    async (tx) => await operatorAddition.prepare(tx, asked, service.clock.now()),
  );
  await assert.rejects(begun, { detail: { reason: "approval_required", kind: "operator.add" } });
});

test("disabling the other admin does not let one admin act alone", async (t) => {
  const service = await startService(t);
  const [asha] = await twoAdmins(service);
  await disableOperator(service.ctx, asha.actor, "ravi");
  const added = await addOperator(service.ctx, asha.actor, { name: "puppet", role: "admin" });
  assert.equal(added.outcome, "proposed");
  const back = await resetOperator(service.ctx, asha.actor, { name: "ravi" });
  assert.equal(back.outcome, "proposed");
});

test("a reset takes two admins and ends password, authenticator and sessions", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const [asha, ravi] = await twoAdmins(service);
  const mira = await addPerson(service, { name: "mira", role: "dealer", by: [asha, ravi] });
  const { token } = await mira.signIn();
  const reset = await resetOperator(ctx, asha.actor, { name: "MIRA", role: "settlement" });
  await findSignedIn(ctx, token);
  const decide = { approvalId: reset.approval_id ?? "", kinds: approvalKinds };
  const { answer } = await approveProposal(ctx, ravi.actor, decide);
  await assert.rejects(findSignedIn(ctx, token), hasCode("unauthorized"));
  await assert.rejects(mira.signIn(), hasCode("unauthorized"));
  const codes = [reset.code, (answer as { readonly code: string }).code];
  const { operator: person } = await enrolPerson(service, { name: "mira", codes });
  assert.deepEqual([person.role, person.status], ["settlement", "enrolled"]);
});

test("every act on operators is audited with its actor and without secrets", async (t) => {
  const service = await startService(t);
  const [asha, ravi] = await twoAdmins(service);
  await asha.signIn();
  await disableOperator(service.ctx, asha.actor, "ravi");
  const { rows } = await askJournal(
    service.ctx.db.pool,
    `select actor_id, action from audit_records
    where entity_type = 'operator' order by seq`,
  );
  assert.deepEqual(
    rows.map(({ actor_id, action }) => `${actor_id} ${action}`),
    [
      "cli operator.add",
      "Asha Rao operator.enrol",
      "Asha Rao operator.add",
      "ravi operator.enrol",
      "Asha Rao operator.sign_in",
      "Asha Rao operator.disable",
    ],
  );
  const dump = JSON.stringify((await service.ctx.db.pool.query("select * from operators")).rows);
  for (const secret of [password, asha.secret.toString("latin1"), ravi.secret.toString("hex")]) {
    assert.equal(dump.includes(secret), false);
  }
});

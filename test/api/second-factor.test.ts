// How people get a second factor, lose it and get in without it, and what whoever misuses that is told.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Failure } from "../../src/kernel/failure.ts";
import { concernsPerson } from "../../src/notices/rules.ts";
import { operator } from "../../src/kernel/actor.ts";
import { computeCode, computeStep, fromBase32 } from "../../src/operators/credentials.ts";
import {
  beginAuthenticator,
  beginEnrolment,
  confirmAuthenticator,
  confirmEnrolment,
  type OfferedAuthenticator,
  renewRecoveryCodes,
} from "../../src/operators/enrol.ts";
import {
  addOperator,
  disableOperator,
  listOperators,
  resetOperator,
} from "../../src/operators/manage-operators.ts";
import { enterByDirectory } from "../../src/operators/directory.ts";
import { recoverAdmin } from "../../src/operators/recover.ts";
import { findSignedIn, signIn } from "../../src/operators/sign-in.ts";
import { askJournal } from "../support/journal.ts";
import { addPerson, enrolPerson, password } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";

const from = "203.0.113.7";
const hours = 3_600;

/** What a refused attempt is told; waits of the limits are passed over. */
async function findRefusal(service: Service, attempt: () => Promise<unknown>): Promise<string> {
  service.clock.advance({ seconds: 900 });
  try {
    await attempt();
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "taken";
}

const wrongEnrolment = "unauthorized: name or codes are wrong, too old or used";
const wrongSignIn = "unauthorized: name, password or code is wrong";
const otherCode = "unprocessable: the authenticator shows another code";

function showCode({ clock }: Service, { totp_secret }: Pick<OfferedAuthenticator, "totp_secret">) {
  clock.advance({ seconds: 30 });
  return computeCode(fromBase32(totp_secret), computeStep(clock.now()));
}

async function invite(service: Service) {
  const { code } = await addOperator(service.ctx, operator, { name: "asha", role: "admin" });
  return { name: "asha", codes: [code], from };
}

test("nothing of an enrolment counts before a code confirms it, and it confirms once", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const who = await invite(service);
  const offered = await beginEnrolment(ctx, { ...who, password });
  assert.equal(
    offered.totp_uri,
    `otpauth://totp/Scripdesk%3Aasha?secret=${offered.totp_secret}&issuer=Scripdesk`,
  );
  const early = { name: "asha", password, code: showCode(service, offered), from };
  assert.equal(await findRefusal(service, () => signIn(ctx, early)), wrongSignIn);
  assert.deepEqual(
    (await listOperators(ctx)).map(({ status }) => status),
    ["enrolling"],
  );

  const fresh = await beginEnrolment(ctx, { ...who, password });
  const confirm = async (with_: object) =>
    await findRefusal(service, async () => {
      const again = await beginEnrolment(ctx, { ...who, password });
      const code = showCode(service, again);
      await confirmEnrolment(ctx, { ...who, ticket: again.ticket, code, ...with_ });
    });
  assert.equal(await confirm({ code: "000000" }), otherCode, "a wrong code");
  assert.equal(await confirm({ code: showCode(service, fresh) }), otherCode, "of another secret");
  assert.equal(await confirm({ codes: ["1-2"] }), wrongEnrolment, "a ticket without the codes");
  assert.equal(await confirm({ ticket: "AAAA" }), wrongEnrolment, "a forged ticket");
  assert.equal(
    await confirm({ ticket: fresh.ticket }),
    "conflict: this took too long: begin again",
    "a ticket of a quarter of an hour ago",
  );
  const last = await beginEnrolment(ctx, { ...who, password });
  const code = showCode(service, last);
  const { operator: person, recovery_codes } = await confirmEnrolment(ctx, {
    ...who,
    ticket: last.ticket,
    code,
  });
  assert.equal(person.status, "enrolled");
  assert.equal(new Set(recovery_codes).size, 10);
  for (const one of recovery_codes) assert.match(one, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  const again = { ...who, ticket: last.ticket, code: showCode(service, last) };
  assert.equal(await findRefusal(service, () => confirmEnrolment(ctx, again)), wrongEnrolment);
  assert.equal(
    await findRefusal(service, () => beginEnrolment(ctx, { ...who, password: "another password" })),
    wrongEnrolment,
    "the link a second time",
  );
  await signIn(ctx, { name: "asha", password, code: showCode(service, last), from });
});

test("the code that confirms does not sign in", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const who = await invite(service);
  const { ticket, ...offered } = await beginEnrolment(ctx, { ...who, password });
  const code = showCode(service, offered);
  await confirmEnrolment(ctx, { ...who, ticket, code });
  await assert.rejects(signIn(ctx, { name: "asha", password, code, from }), {
    code: "unauthorized",
  });
});

test("a link ends after a week", async (t) => {
  const service = await startService(t);
  const who = await invite(service);
  service.clock.advance({ seconds: 168 * hours });
  const late = () => beginEnrolment(service.ctx, { ...who, password });
  assert.equal(await findRefusal(service, late), wrongEnrolment);
});

test("a ticket is worth nothing once its person is reset", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const { code } = await addOperator(ctx, asha.actor, { name: "mira", role: "dealer" });
  const { ticket, ...offered } = await beginEnrolment(ctx, {
    name: "mira",
    codes: [code],
    password,
    from,
  });
  const reset = await resetOperator(ctx, asha.actor, { name: "mira" });
  const confirmed = { name: "mira", codes: [reset.code], ticket, from };
  const shown = showCode(service, offered);
  await assert.rejects(confirmEnrolment(ctx, { ...confirmed, code: shown }), {
    code: "unauthorized",
  });
});

test("a recovery code signs in once, in any spelling, with the password only, and the trail says so", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const [code = "", other = ""] = asha.recoveryCodes;
  const attempt = { name: "asha", password, from };
  const guess = { ...attempt, password: "not the password", code };
  assert.equal(await findRefusal(service, () => signIn(ctx, guess)), wrongSignIn);
  const twins = await Promise.allSettled(
    [code, code.toUpperCase()].map((one) => signIn(ctx, { ...attempt, code: one })),
  );
  const taken = twins.flatMap((twin) => (twin.status === "fulfilled" ? [twin.value] : []));
  assert.deepEqual(
    taken.map(({ recovery_codes_left }) => recovery_codes_left),
    [9],
  );
  assert.equal(await findRefusal(service, () => signIn(ctx, { ...attempt, code })), wrongSignIn);
  const spelt = other.replaceAll("-", " ").toUpperCase();
  assert.equal((await signIn(ctx, { ...attempt, code: spelt })).recovery_codes_left, 8);
  const { rows } = await askJournal(
    ctx.db.pool,
    "select actor_id from audit_records where action = 'operator.use_recovery_code'",
  );
  assert.deepEqual(rows, [{ actor_id: "asha" }, { actor_id: "asha" }]);
  const dump = JSON.stringify((await ctx.db.pool.query("select * from operators")).rows);
  for (const one of asha.recoveryCodes) assert.equal(dump.includes(one), false);
});

test("new recovery codes take password and code, and end the former ones", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const [former = ""] = asha.recoveryCodes;
  const renew = async (given: object) =>
    await renewRecoveryCodes(ctx, asha.actor, { password, code: asha.code(), from, ...given });
  for (const given of [{ password: "not the password" }, { code: "000000" }]) {
    assert.equal(await findRefusal(service, () => renew(given)), wrongSignIn);
  }
  const { recovery_codes } = await renew({});
  const [code = ""] = recovery_codes;
  const attempt = { name: "asha", password, from };
  assert.equal(
    await findRefusal(service, () => signIn(ctx, { ...attempt, code: former })),
    wrongSignIn,
  );
  assert.equal((await signIn(ctx, { ...attempt, code })).recovery_codes_left, 9);
});

test("whoever lost the phone takes another one with recovery codes, and the lost one ends", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const elsewhere = await asha.signIn();
  const [first = "", second = ""] = asha.recoveryCodes;
  const { token } = await signIn(ctx, { name: "asha", password, code: first, from });
  const { ticket, ...offered } = await beginAuthenticator(ctx, asha.actor, {
    password,
    code: second,
    from,
  });
  await asha.signIn();
  const wrong = () =>
    confirmAuthenticator(ctx, asha.actor, { ticket, code: "000000", from, token });
  await assert.rejects(wrong(), { code: "unprocessable" });
  const code = showCode(service, offered);
  const { recovery_codes } = await confirmAuthenticator(ctx, asha.actor, {
    ticket,
    code,
    from,
    token,
  });
  assert.equal(recovery_codes.length, 10);
  await findSignedIn(ctx, token);
  await assert.rejects(findSignedIn(ctx, elsewhere.token), { code: "unauthorized" });
  assert.equal(await findRefusal(service, () => asha.signIn()), wrongSignIn, "the lost phone");
  await signIn(ctx, { name: "asha", password, code: showCode(service, offered), from });
});

test("somebody else's ticket is no ticket", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const mira = await addPerson(service, { name: "mira", role: "viewer", by: [asha] });
  const { token } = await asha.signIn();
  const { ticket, ...offered } = await beginAuthenticator(ctx, mira.actor, {
    password,
    code: mira.code(),
    from,
  });
  const code = showCode(service, offered);
  const taking = () => confirmAuthenticator(ctx, asha.actor, { ticket, code, from, token });
  assert.equal(await findRefusal(service, taking), wrongEnrolment);
});

test("nobody resets themselves", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  await assert.rejects(resetOperator(service.ctx, asha.actor, { name: "asharao" }), {
    code: "forbidden",
    detail: { reason: "own_sign_in" },
  });
});

const recovering = { reason: "phone lost", by: "root@desk-1" };

test("the machine lets an admin in again, once, and tells every admin", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const { token } = await asha.signIn();
  const { operator: person, code } = await recoverAdmin(ctx, { ...recovering, name: "asharao" });
  assert.deepEqual([person.status, person.role], ["enrolling", "admin"]);
  await assert.rejects(findSignedIn(ctx, token), { code: "unauthorized" });
  const [recoveryCode = ""] = asha.recoveryCodes;
  const back = () => signIn(ctx, { name: "Asha Rao", password, code: recoveryCode, from });
  assert.equal(await findRefusal(service, back), wrongSignIn);
  const again = await enrolPerson(service, { name: "Asha Rao", codes: [code] });
  assert.equal(again.operator.status, "enrolled");
  const used = () => beginEnrolment(ctx, { name: "Asha Rao", codes: [code], password, from });
  assert.equal(await findRefusal(service, used), wrongEnrolment);
  const { rows } = await askJournal(
    ctx.db.pool,
    "select actor_id from audit_records where action = 'operator.recover'",
  );
  assert.deepEqual(rows, [{ actor_id: "cli" }]);
  const told = { name: "Asha Rao", by: "root@desk-1", reason: "phone lost" };
  const admin = { name: "ravi", role: "admin", status: "enrolled" } as const;
  assert.equal(concernsPerson(admin, "operator.recovered", told), true);
  assert.equal(concernsPerson({ ...admin, role: "settlement" }, "operator.recovered", told), false);
});

test("the machine's code ends after a day", async (t) => {
  const service = await startService(t);
  await addPerson(service, { name: "asha", role: "admin" });
  const { code } = await recoverAdmin(service.ctx, { ...recovering, name: "asha" });
  service.clock.advance({ seconds: 24 * hours });
  const late = () => beginEnrolment(service.ctx, { name: "asha", codes: [code], password, from });
  assert.equal(await findRefusal(service, late), wrongEnrolment);
});

test("with one admin left the machine lets another one in, and with two it does not", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "admin", by: [asha] });
  await addPerson(service, { name: "mira", role: "dealer", by: [asha, ravi] });
  const recover = async (name: string) => await recoverAdmin(ctx, { ...recovering, name });
  const hasReason = (reason: string) => ({ code: "conflict", detail: { reason, admins: 2 } });
  await assert.rejects(recover("puppet"), hasReason("admins_left"));
  await assert.rejects(recover("mira"), {
    detail: { reason: "not_admin", role: "dealer" },
  });
  await assert.rejects(recoverAdmin(ctx, { ...recovering, name: "asha", reason: " " }), {
    code: "unprocessable",
  });
  await disableOperator(ctx, asha.actor, "ravi");
  const { operator: back, code } = await recover("ravi");
  assert.equal(back.status, "enrolling");
  await enrolPerson(service, { name: "ravi", codes: [code] });
  await disableOperator(ctx, asha.actor, "ravi");
  const { code: other } = await recover("Lena");
  const { operator: lena } = await enrolPerson(service, { name: "Lena", codes: [other] });
  assert.deepEqual([lena.name, lena.role, lena.status], ["Lena", "admin", "enrolled"]);
  await assert.rejects(recover("ravi"), hasReason("admins_left"));
});

test("admins of a directory, who are lost with it, keep nobody from being let in", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  for (const name of ["lena", "mira"]) {
    const person = { issuer: "https://directory.example", subject: name, names: [name] };
    const how = { isFresh: true, requestId: "directory" };
    await enterByDirectory(ctx, { ...person, authAt: undefined }, how);
    await ctx.db.pool.query("update operators set role = 'admin' where name = $1", [name]);
  }
  await disableOperator(ctx, asha.actor, "asha");
  const { code } = await recoverAdmin(ctx, { ...recovering, name: "asha" });
  const { operator: back } = await enrolPerson(service, { name: "asha", codes: [code] });
  assert.deepEqual([back.role, back.status], ["admin", "enrolled"]);
});

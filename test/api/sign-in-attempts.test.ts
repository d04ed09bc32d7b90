// Wrong attempts to sign in make those wait who made them, and nobody else.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { operator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { signIn } from "../../src/operators/sign-in.ts";
import { addNoticeAddress } from "../../src/notices/manage-addresses.ts";
import { askJournal } from "../support/journal.ts";
import { startMailServer, subjectsTo, workNotices } from "../support/mail.ts";
import { startOps } from "../support/ops.ts";
import { addPerson, password, type TestPerson } from "../support/people.ts";
import { type Service, startService } from "../support/service.ts";

const home = "198.51.100.9";
const longestWaitS = 900;

async function guess({ ctx }: Service, { name }: { name: string }, from: string): Promise<string> {
  const wrong = { name, password: "not the password", code: "123456", from };
  return await signIn(ctx, wrong).then(
    () => "signed in",
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );
}

async function enter({ ctx }: Service, { name, code }: TestPerson, from: string) {
  return await signIn(ctx, { name, password, code: code(), from });
}

test("no sequence of wrong attempts from other networks makes the right one fail", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const elsewhere = fc.oneof(
    fc.constantFrom("203.0.113.7", "command line", "unknown", "2001:db8:1::1"),
    fc.nat({ max: 255 }).map((last) => `203.0.113.${last}`),
    fc.nat({ max: 65_535 }).map((group) => `2001:db8:1:${group.toString(16)}::1`),
  );
  const attempt = fc.record({ from: elsewhere, pauseS: fc.constantFrom(0, 1, 60, longestWaitS) });
  let refused = 0;
  const guessAfter = async (pauseS: number, from: string) => {
    service.clock.advance({ seconds: pauseS });
    if ((await guess(service, asha, from)) === "rate_limited") refused += 1;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { maxLength: 15 }), async (attempts) => {
      // Somebody has tried for hours, so that whoever waits with them would wait for long.
      for (let time = 0; time < 14; time++) await guessAfter(longestWaitS, "203.0.113.7");
      for (const { from, pauseS } of attempts) await guessAfter(pauseS, from);
      assert.equal((await enter(service, asha, home)).name, "Asha");
    }),
    { numRuns: 10 },
  );
  assert.ok(refused > 0, "some of the wrong ones had to wait");
});

test("a neighbourhood has sixteen times the attempts of a network, however many addresses it has", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const count = async (address: (at: number) => string) => {
    let tried = 0;
    for (let at = 0; at < 60; at++) {
      if ((await guess(service, asha, address(at))) === "unauthorized") tried += 1;
    }
    return tried;
  };
  assert.equal(await count((at) => `2001:db8:1:${at.toString(16)}::1`), 49);
  assert.equal(await count((at) => `203.0.113.${at}`), 49);
  assert.equal(await count(() => "192.0.2.1"), 4, "one address of another neighbourhood");
  await enter(service, asha, home);
});

test("the right attempt gets in at the listener while another address is made to wait", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service, { trustProxy: ["127.0.0.1"] });
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const attempt = async (given: object, from: string) =>
    await send("POST", "/ops/sign-in", {
      body: { name: "Asha", ...given },
      headers: { "x-forwarded-for": from, "x-forwarded-proto": "https" },
    });
  const wrong = { password: "not the password", code: "123456" };
  const statuses: number[] = [];
  for (let time = 0; time < 8; time++) {
    statuses.push((await attempt(wrong, "203.0.113.7")).status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429, 429, 429]);
  for (let time = 0; time < 10; time++) {
    service.clock.advance({ seconds: longestWaitS });
    assert.equal((await attempt(wrong, "203.0.113.7")).status, 401);
  }
  assert.equal((await attempt({ password, code: asha.code() }, home)).status, 200);
});

test("admins are told of attempts that fail again and again, wherever they come from, and once an hour at most", async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, { mail });
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  await addPerson(service, { name: "Ravi", role: "admin", by: [asha] });
  for (const person of ["Asha", "Ravi"]) {
    await addNoticeAddress(service.ctx, operator, { person, email: `${person}@house.example` });
  }
  const countTold = async () => {
    const { rows } = await askJournal<{ actor_kind: string }>(
      service.ctx.db.pool,
      "select actor_kind from audit_records where action = 'operator.sign_in_failing'",
    );
    assert.ok(rows.every(({ actor_kind }) => actor_kind === "visitor"));
    return rows.length;
  };
  for (let at = 0; at < 9; at++) await guess(service, asha, `203.0.${at}.1`);
  assert.equal(await countTold(), 0);
  for (let at = 0; at < 40; at++) await guess(service, asha, `203.1.${at}.1`);
  assert.equal(await countTold(), 1);
  service.clock.advance({ seconds: 3_600 });
  for (let at = 0; at < 20; at++) await guess(service, asha, `203.2.${at}.1`);
  assert.equal(await countTold(), 2);
  await workNotices(service);
  assert.deepEqual(subjectsTo(mail, "ravi@house.example"), [
    "Attempts to sign in as Asha fail and 1 more",
  ]);
  for (let at = 0; at < 12; at++) await guess(service, { name: "nobody" }, `203.3.${at}.1`);
  assert.equal(await countTold(), 2, "of a name that nobody has, nobody is told");
});

test("the counts are bounded: the oldest are forgotten, and whoever waits is not", async (t) => {
  const service = await startService(t);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  for (let time = 0; time < 6; time++) await guess(service, asha, "203.0.113.7");
  await service.ctx.db.pool.query(
    `insert into operator_attempts (name_key, network, failures, next_at)
     select 'made-up-' || n, '192.0.2.1', 1, $1::timestamptz - interval '1 second' - n * interval '1 ms'
     from generate_series(1, 20500) as n`,
    [service.clock.now()],
  );
  await guess(service, { name: "nobody" }, "192.0.2.1");
  const { rows } = await service.ctx.db.pool.query<{ count: number }>(
    "select count(*)::int as count from operator_attempts",
  );
  assert.ok((rows[0]?.count ?? 0) <= 20_010, `${rows[0]?.count} counts`);
  assert.equal(await guess(service, asha, "203.0.113.7"), "rate_limited");
});

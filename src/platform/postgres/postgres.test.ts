import assert from "node:assert/strict";
import type { EventEmitter } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { asOwner, setReachable, testDatabase } from "../../../test/support/database.ts";
import { takePiece } from "../heavy/pace.ts";
import {
  command,
  type ConnectionOptions,
  type Database,
  type Db,
  known,
  meanwhile,
  openDatabase,
  query,
  sql,
  TransactionLost,
} from "./postgres.ts";
import { DatabaseSilent } from "./silence.ts";
import { wasRolledBack } from "./split.ts";

const looksMax = 2_000;

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < looksMax && !holds(); look++) await sleep(10);
  assert.ok(holds(), "it did not come");
}

/** Connections of the test's own, on its own terms. */
async function openOwn(
  t: TestContext,
  options: Partial<ConnectionOptions> = {},
): Promise<Database> {
  const { connection } = await testDatabase(t);
  const db = openDatabase({ connection, onIdleError() {}, ...options });
  t.after(() => db.close());
  return db;
}

test("a lost connection fails its transaction and no other", async (t) => {
  const { db } = await testDatabase(t);
  const lost = db.transaction(async (tx) => {
    await tx.rows(sql`select 1 as one`);
    await setReachable(db, false);
    await sleep(100); // Nothing is asked of the connection while it goes.
    await tx.rows(sql`select 1 as one`);
  });
  await assert.rejects(lost, /connection/i);
  await setReachable(db, true);
  assert.deepEqual(await db.rows(sql`select 1 as one`), [{ one: 1 }]);
});

const losses = {
  "that was idle": async (tx: Db) => {
    await tx.rows(sql`set local idle_in_transaction_session_timeout = 50`);
    await sleep(400);
  },
  "whose server process ended": async (tx: Db, db: Database) => {
    const [server] = await tx.rows<{ pid: number }>(whoServes);
    await asOwner(db, (owner) => owner.query("select pg_terminate_backend($1)", [server?.pid]));
    await sleep(100);
  },
} as const;

for (const [which, lose] of Object.entries(losses)) {
  test(`a transaction ${which} is repeated where it says so, and kept once`, async (t) => {
    const { db } = await testDatabase(t);
    let runs = 0;
    const run = async (repeatsLost: boolean) =>
      await db.transaction(
        async (tx) => {
          const name = `run-${++runs}`;
          await tx.rows(
            sql`insert into plans (name, per_minute, enforced) values (${name}, 1, false)`,
          );
          if (runs < 3) await lose(tx, db);
          return await tx.rows(sql`select name from plans where name like 'run-%'`);
        },
        { repeatsLost },
      );
    await assert.rejects(
      run(false),
      (error) => error instanceof TransactionLost && wasRolledBack(error),
    );
    assert.deepEqual(await run(true), [{ name: "run-3" }]);
  });
}

test("every connection has its role, its time limits and its ways to plan before its first statement", async (t) => {
  const { db } = await testDatabase(t);
  const expected = {
    role: "scripdesk_app",
    statement_timeout: "5s",
    lock_timeout: "2s",
    plan_cache_mode: "force_generic_plan",
    jit: "off",
    max_parallel_workers_per_gather: "0",
  };
  const read = async () =>
    await db.rows<{ name: string; value: string }>(
      sql`select name, current_setting(name) as value from unnest(${Object.keys(expected)}::text[]) as name`,
    );
  for (const rows of await Promise.all([read(), read(), read()])) {
    assert.deepEqual(Object.fromEntries(rows.map(({ name, value }) => [name, value])), expected);
  }
});

test("the loss of an idle connection is reported, unless the database is being closed", async () => {
  const told: Error[] = [];
  const db = openDatabase({ connection: {}, onIdleError: (error) => told.push(error) });
  const lost = new Error("terminating connection due to administrator command");
  db.pool.emit("error", lost);
  assert.deepEqual(told, [lost]);
  const closing = db.close();
  db.pool.emit("error", lost);
  await closing;
  assert.deepEqual(told, [lost]);
});

test("pipelined queries run in order, and each has its own answer", async (t) => {
  const { db } = await testDatabase(t);
  const seen = await db.transaction(async (tx) => {
    await tx.rows(sql`create temporary table marks (mark int) on commit drop`);
    const add = (mark: number) => command(sql`insert into marks values (${mark})`);
    const marks = query<{ mark: number }>(sql`select mark from marks order by mark`);
    const numbers = marks.map((rows) => rows.map(({ mark }) => mark));
    // The same statement several times: none is parsed twice, and each has its own answer.
    const [, one, nothing, , two] = await tx.pipeline([
      add(1),
      numbers,
      known("nothing"),
      add(2),
      numbers,
    ]);
    assert.equal(nothing, "nothing");
    return [one, two];
  });
  assert.deepEqual(seen, [[1], [1, 2]]);
});

test("the query that fails is reported, and its transaction rolls back", async (t) => {
  const { db } = await testDatabase(t);
  const plan = (name: string) =>
    sql`insert into plans (name, per_minute, enforced) values (${name}, 1, false)`;
  const failing = db.transaction(async (tx) => {
    await tx.pipeline([
      command(plan("first")),
      command(sql`select 1 / ${0}::int as never`),
      command(plan("second")),
    ]);
  });
  await assert.rejects(failing, /division by zero/);
  const kept = sql`select name from plans where name in ('first', 'second')`;
  assert.deepEqual(await db.rows(kept), []);
  const [one] = await db.rows<{ one: number }>(sql`select ${1}::int as one`);
  assert.equal(one?.one, 1, "its connection serves on");
});

test("what is deferred is seen by the next list and kept by the commit, or not at all", async (t) => {
  const { db } = await testDatabase(t);
  const plan = (name: string) =>
    command(sql`insert into plans (name, per_minute, enforced) values (${name}, 1, false)`);
  const kept = sql`select name from plans where name like 'deferred-%' order by name`;
  const run = async (name: string, options = {}) =>
    await db.transaction(async (tx) => {
      tx.defer(plan(`${name}-1`));
      const seen = await tx.rows(kept);
      tx.defer(plan(`${name}-2`));
      return seen;
    }, options);
  const both = [{ name: "deferred-1" }, { name: "deferred-2" }];
  assert.deepEqual(await run("deferred", { rollBack: true }), [{ name: "deferred-1" }]);
  assert.deepEqual(await db.rows(kept), [], "a dry run keeps nothing");
  await run("deferred");
  assert.deepEqual(await db.rows(kept), both);
  for (const options of [{}, { rollBack: true }]) {
    const twice = db.transaction(async (tx) => tx.defer(plan("deferred-1")), options);
    await assert.rejects(twice, (error) => wasRolledBack(error), "it is sent also at the end");
  }
  const broken = db.transaction(async (tx) => {
    tx.defer(plan("deferred-3"));
    assert.fail("a fault of ours");
  });
  await assert.rejects(broken, /a fault of ours/);
  assert.deepEqual(await db.rows(kept), both);
});

test("a transaction refuses a statement or a commit before its last answer", async (t) => {
  const { db } = await testDatabase(t);
  const one = sql`select 1 as one`;
  const unawaited = db.transaction(async (tx) => {
    const first = tx.rows(one);
    await assert.rejects(tx.rows(one), /before its last answer/);
    await first;
    void tx.rows(one).catch(() => {});
  });
  await assert.rejects(unawaited, /before its last answer/);
  const handedOn = db.transaction(async (tx) => await Promise.all([tx.rows(one), tx.rows(one)]));
  await assert.rejects(handedOn, /before its last answer/);
  assert.deepEqual(await db.rows(one), [{ one: 1 }]);
});

test("a statement after a lock runs when the lock is held", async (t) => {
  const { db } = await testDatabase(t);
  const lock = command(sql`select pg_advisory_xact_lock(17)`);
  const count = query<{ held: number }>(sql`
    select count(*)::int as held
    from pg_locks
    where locktype = 'advisory' and objid = 17 and pid = pg_backend_pid() and granted`);
  const held = await db.transaction(async (tx) => await tx.pipelineBehind(lock, [count, count]));
  assert.deepEqual(held, [undefined, [{ held: 1 }], [{ held: 1 }]]);
});

test("work beside a query runs while the server does, and its error ends the query", async (t) => {
  const { db } = await testDatabase(t);
  const one = query<{ one: number }>(sql`select 1 as one`);
  const [rows, sum] = await db.pipeline([one, meanwhile(() => 1 + 1)]);
  assert.deepEqual([rows, sum], [[{ one: 1 }], 2]);
  const broken = meanwhile(() => assert.fail("a fault of ours"));
  await assert.rejects(db.pipeline([one, broken]), /a fault of ours/);
  const unread = one.map(() => assert.fail("an answer that cannot be"));
  await assert.rejects(db.run(unread), /an answer that cannot be/);
  assert.deepEqual(await db.run(one), [{ one: 1 }]);
});

const whoServes = sql`select pg_backend_pid() as pid`;

test("an idle connection is kept, and a lost one is reported and not reused", async (t) => {
  const told = Promise.withResolvers<Error>();
  const db = await openOwn(t, { onIdleError: told.resolve });
  const [first] = await db.rows<{ pid: number }>(whoServes);
  assert.deepEqual(await db.rows(whoServes), [first]);
  assert.deepEqual(db.connections(), { idle: 1, busy: 0, waiting: 0 });
  await asOwner(db, (owner) => owner.query("select pg_terminate_backend($1)", [first?.pid]));
  assert.match((await told.promise).message, /terminat/);
  const [second] = await db.rows<{ pid: number }>(whoServes);
  assert.notEqual(second?.pid, first?.pid);
});

test("a released connection goes to the next waiting caller", async (t) => {
  const db = await openOwn(t, { connectionsMax: 1 });
  const [has, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = db.transaction(async (tx) => {
    await tx.rows(whoServes);
    has.resolve();
    await held.promise;
  });
  await has.promise;
  const waiter = db.rows(whoServes);
  await until(() => db.connections().waiting === 1);
  assert.deepEqual(db.connections(), { idle: 0, busy: 1, waiting: 1 });
  held.resolve();
  await holder;
  assert.equal((await waiter).length, 1);
});

test("statements sent together share a connection, and each has its own answer", async (t) => {
  const { db } = await testDatabase(t);
  const [one, two] = await db.pipeline([query(whoServes), query(whoServes)]);
  assert.deepEqual(one, two);
  const failing = db.pipeline([query(sql`select 1 / ${0}::int as never`), query(whoServes)]);
  await assert.rejects(failing, /division by zero/);
  assert.equal((await db.rows(whoServes)).length, 1);
});

test("a connection lost after its answer is not reused", async (t) => {
  const db = await openOwn(t);
  const clients: EventEmitter[] = [];
  db.pool.on("connect", (client) => clients.push(client));
  const answered = query<{ pid: number }>(whoServes).map((rows) => {
    for (const client of clients) client.emit("error", new Error("connection lost"));
    return rows;
  });
  const [first] = await db.run(answered);
  const [second] = await db.rows<{ pid: number }>(whoServes);
  assert.notEqual(second?.pid, first?.pid);
});

test("a statement can ask for a custom plan, and all other runs use the generic one", async (t) => {
  const db = await openOwn(t, { connectionsMax: 1 });
  const named = (name: string | null) => sql`
    select file
    from schema_migrations
    where (${name}::text is null or file = ${name})`;
  const plansMade = async () => {
    const [made] = await db.rows<{ generic_plans: number; custom_plans: number }>(sql`
      select generic_plans, custom_plans
      from pg_prepared_statements
      where name = ${named(null).name}`);
    return [made?.generic_plans, made?.custom_plans];
  };
  const all = await db.rows<{ file: string }>(named(null));
  assert.deepEqual(await plansMade(), [1, 0]);
  const [one] = all;
  assert.deepEqual(await db.planned.rows(named(one?.file ?? "")), [one]);
  assert.deepEqual(await plansMade(), [1, 1]);
  assert.deepEqual(await db.rows(named(null)), all);
  assert.deepEqual(await plansMade(), [2, 1]);
  await assert.rejects(db.planned.rows(sql`select 1 / ${0}::int as never`), /division by zero/);
  assert.deepEqual(await db.rows(named(null)), all);
  assert.deepEqual(await plansMade(), [1, 0], "on another connection");
});

test("a long answer is decoded in the queue of long work, a short one at once", async (t) => {
  const db = await openOwn(t, { connectionsMax: 2 });
  const list = (rows: number) =>
    db.planned.rows<{ at: number; text: string }>(sql`
      select at::int, repeat('x', 500) as text
      from generate_series(1, ${rows}::int) as at
      order by at`);
  await list(1); // Opens its connection.
  let begun = 0;
  const pieces = Array.from({ length: 5_000 }, () => takePiece().then(() => (begun += 1)));
  assert.equal((await list(100)).length, 100);
  assert.ok(begun < pieces.length, "the short one is there before the rest of what waits");
  const long = await list(3_000);
  assert.equal(begun, pieces.length);
  assert.deepEqual(
    long.map(({ at }) => at),
    Array.from({ length: 3_000 }, (_, at) => at + 1),
  );
  assert.deepEqual(new Set(long.map(({ text }) => text)), new Set(["x".repeat(500)]));
});

test("a connection whose long answer was aborted is not reused, and the next answer is complete", async (t) => {
  const db = await openOwn(t, { connectionsMax: 1 });
  const failing = sql`select 1 / (400 - at) as part from generate_series(1, 1000) as at`;
  await assert.rejects(db.planned.rows(failing), /division by zero/);
  const all = sql`select at::int from generate_series(1, 1000) as at`;
  const [one, two] = await Promise.all([db.planned.rows(all), db.planned.rows(all)]);
  assert.deepEqual([one.length, two.length], [1_000, 1_000]);
});

/** A server that is given up soon. */
const hasty = { statement_timeout: 500, connectionTimeoutMillis: 500 };

async function openHasty(
  t: TestContext,
  options: Partial<ConnectionOptions> = {},
): Promise<Database> {
  const { connection } = await testDatabase(t);
  return await openOwn(t, { connection: { ...connection, ...hasty }, ...options });
}

test("a commit without an answer times out as unknown, not as rolled back, and is found later", async (t) => {
  const db = await openHasty(t);
  const plan = sql`insert into plans (name, per_minute, enforced) values ('late', 1, false)`;
  const found = sql`select name from plans where name = 'late'`;
  let stopped = 0;
  try {
    const committing = db.transaction(async (tx) => {
      await tx.rows(plan);
      const [server] = await tx.rows<{ pid: number }>(whoServes);
      stopped = server?.pid ?? 0;
      process.kill(stopped, "SIGSTOP");
    });
    await assert.rejects(committing, (error) => {
      assert.ok(error instanceof DatabaseSilent);
      assert.equal(wasRolledBack(error), false);
      return true;
    });
    // The server answers everybody else, so nobody else is refused.
    assert.deepEqual([db.isStalled(), await db.rows(found)], [false, []]);
  } finally {
    process.kill(stopped, "SIGCONT");
  }
  for (let looks = 0; looks < 500 && (await db.rows(found)).length === 0; looks++) await sleep(10);
  assert.deepEqual(await db.rows(found), [{ name: "late" }]);
});

test("a list may take as long as its statements may, though nothing is heard before its end", async (t) => {
  const { connection } = await testDatabase(t);
  const db = await openOwn(t, { connection: { ...connection, statement_timeout: 2_000 } });
  const slow = query(sql`select pg_sleep(0.9)`);
  const answers = await db.transaction((tx) => tx.pipeline([slow, slow, slow, slow]));
  assert.equal(answers.length, 4);
});

test("a transaction may set a longer statement timeout, which ends with it", async (t) => {
  const db = await openHasty(t);
  const slow = (tx: Db) => tx.rows(sql`select pg_sleep(2)`);
  await assert.rejects(db.transaction(slow), /statement timeout/);
  await db.transaction(slow, { statementMs: 30_000 });
  await assert.rejects(db.transaction(slow), /statement timeout/);
});

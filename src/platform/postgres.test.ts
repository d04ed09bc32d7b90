import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { asOwner, setReachable, testDatabase } from "../../test/support/database.ts";
import { type ConnectionOptions, type Database, openDatabase, sql } from "./postgres.ts";

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

test("a connection that is lost within a transaction fails that transaction and nothing else", async (t) => {
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

test("an idle connection that is lost is told of, unless the database is being closed", async () => {
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

test("statements that are not waited for run in their order, each as if it had been", async (t) => {
  const { db } = await testDatabase(t);
  const seen = await db.transaction(async (tx) => {
    await tx.rows(sql`create temporary table marks (mark int) on commit drop`);
    const add = (mark: number) => tx.rows(sql`insert into marks values (${mark})`);
    const marks = () => tx.rows<{ mark: number }>(sql`select mark from marks order by mark`);
    // The same statement several times: none is parsed twice, and each has its own answer.
    const [, one, , two] = await Promise.all([add(1), marks(), add(2), marks()]);
    return [one, two].map((rows) => rows?.map(({ mark }) => mark));
  });
  assert.deepEqual(seen, [[1], [1, 2]]);
});

test("one that fails is the one that is told of, and nothing of its transaction is kept", async (t) => {
  const { db } = await testDatabase(t);
  const plan = (name: string) =>
    sql`insert into plans (name, per_minute, enforced) values (${name}, 1, false)`;
  const failing = db.transaction(async (tx) => {
    await Promise.all([
      tx.rows(plan("first")),
      tx.rows(sql`select 1 / ${0}::int as never`),
      tx.rows(plan("second")),
    ]);
  });
  await assert.rejects(failing, /division by zero/);
  const kept = sql`select name from plans where name in ('first', 'second')`;
  assert.deepEqual(await db.rows(kept), []);
  const [one] = await db.rows<{ one: number }>(sql`select ${1}::int as one`);
  assert.equal(one?.one, 1, "its connection serves on");
});

const whoServes = sql`select pg_backend_pid() as pid`;

test("a connection stays at hand, and one that is lost there is told of and not lent again", async (t) => {
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

test("a connection that is given back goes to whoever waits for one", async (t) => {
  const db = await openOwn(t, { connectionsMax: 1 });
  const held = Promise.withResolvers<void>();
  const holder = db.transaction(async (tx) => {
    await tx.rows(whoServes);
    await held.promise;
  });
  await sleep(20); // Until the holder has it.
  const waiter = db.rows(whoServes);
  await sleep(20);
  assert.deepEqual(db.connections(), { idle: 0, busy: 1, waiting: 1 });
  held.resolve();
  await holder;
  assert.equal((await waiter).length, 1);
});

test("statements that go together share a connection and are answered each by itself", async (t) => {
  const { db } = await testDatabase(t);
  const [one, two] = await db.together((shared) =>
    Promise.all([shared.rows(whoServes), shared.rows(whoServes)]),
  );
  assert.deepEqual(one, two);
  const failing = db.together((shared) =>
    Promise.all([shared.rows(sql`select 1 / ${0}::int as never`), shared.rows(whoServes)]),
  );
  await assert.rejects(failing, /division by zero/);
  assert.equal((await db.rows(whoServes)).length, 1);
});

test("a connection that is lost when its statement was answered already is not lent again", async (t) => {
  const db = await openOwn(t);
  const [first] = await db.together(async (shared) => {
    const rows = await shared.rows<{ pid: number }>(whoServes);
    await asOwner(db, (owner) => owner.query("select pg_terminate_backend($1)", [rows[0]?.pid]));
    await sleep(50); // Until the connection knows.
    return rows;
  });
  const [second] = await db.rows<{ pid: number }>(whoServes);
  assert.notEqual(second?.pid, first?.pid);
});

test("a statement of many filters can be planned for those that are given, and no other is", async (t) => {
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

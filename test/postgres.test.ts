import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { sql, type SqlStatement } from "../src/platform/postgres/postgres.ts";
import { runList } from "../src/platform/postgres/prepared.ts";
import { testDatabase } from "./support/database.ts";

async function asOwner(
  connection: pg.ClientConfig,
  work: (owner: pg.Client) => Promise<unknown>,
): Promise<void> {
  const owner = new pg.Client(connection);
  await owner.connect();
  await work(owner);
  await owner.end();
}

test("a connection lost between two statements fails its transaction and no other", async (t) => {
  const { db, connection } = await testDatabase(t);
  const lost = db.transaction(async (tx) => {
    const [row] = await tx.rows<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await asOwner(connection, (owner) =>
      owner.query("select pg_terminate_backend($1)", [row?.pid]),
    );
    // Nothing is under way on the connection when the news of its end arrives.
    await sleep(100);
    await tx.rows(sql`select 1`);
  });
  await assert.rejects(lost);
  assert.deepEqual(await db.rows(sql`select 1 as one`), [{ one: 1 }]);
});

test("a notification is heard after the commit, and not after a rollback", async (t) => {
  const { db } = await testDatabase(t);
  const heard: string[] = [];
  const stop = db.onAnnounced("news", () => heard.push("news"));
  await db.transaction(async (tx) => {
    tx.announce("news");
    tx.announce("news");
    tx.announce("other");
    await tx.rows(sql`select 1`);
    assert.deepEqual(heard, []);
  });
  assert.deepEqual(heard, ["news"], "once, however often it was announced");
  await db.transaction(async (tx) => tx.announce("news"), { rollBack: true });
  const failed = db.transaction(async (tx) => {
    tx.announce("news");
    throw new Error("no");
  });
  await assert.rejects(failed);
  assert.deepEqual(heard, ["news"]);
  stop();
  await db.transaction(async (tx) => tx.announce("news"));
  assert.deepEqual(heard, ["news"]);
});

test("a table with loaded rows is analyzed, and again when four times as many were loaded", async (t) => {
  const { db } = await testDatabase(t);
  const knownRows = async () => {
    const [row] = await db.rows<{ known: number }>(
      sql`select reltuples::int as known from pg_class where relname = 'plans'`,
    );
    return row?.known;
  };
  const load = async (rows: number, options?: { rollBack: boolean }) =>
    await db.transaction(async (tx) => {
      await tx.rows(sql`
        insert into plans (name, per_minute, enforced)
        select 'p' || md5(random()::text || n)::varchar(30), 1, false
        from generate_series(1, ${rows}::int) as n`);
      tx.added("plans", rows);
    }, options);
  await load(4_999);
  await load(1, { rollBack: true });
  assert.equal(await knownRows(), -1);
  await load(1);
  while ((await knownRows()) === -1) await sleep(10);
  const counted = (await knownRows()) ?? 0;
  assert.ok(counted >= 5_000, String(counted));
  const looked = await db.rows<{ attname: string }>(
    sql`select attname from pg_stats where tablename = 'plans'`,
  );
  assert.deepEqual(looked, [{ attname: "name" }], "the column that has an index");
  await load(14_999);
  assert.equal(await knownRows(), counted);
  await load(1);
  while ((await knownRows()) === counted) await sleep(10);
});

test("a prepared statement gives the same result on its first run, after a failure and later", async (t) => {
  const { connection } = await testDatabase(t);
  await asOwner(connection, async (owner) => {
    const run = async (...statements: SqlStatement[]) =>
      await runList(
        owner,
        statements.map((statement) => () => statement),
      );
    const divide = (by: number) => sql`select 6 / ${by}::int as six, ${null}::text as none`;
    await assert.rejects(run(divide(0)), { code: "22012" });
    for (const by of [1, 2, 3]) {
      assert.deepEqual(await run(divide(by)), [[{ six: 6 / by, none: null }]]);
    }
    await assert.rejects(run(divide(0)), { code: "22012" });
    assert.deepEqual(await run(divide(6)), [[{ six: 1, none: null }]]);

    const insert = (kept: number) => sql`insert into kept values (${kept})`;
    const all = sql`select number from kept order by number`;
    await owner.query("create temporary table kept (number int unique)");
    for (const kept of [1, 2]) assert.deepEqual(await run(insert(kept)), [[]]);
    await assert.rejects(run(insert(2)), { code: "23505" });
    assert.deepEqual(await run(insert(3)), [[]]);
    // What stands behind a failure is not run, and nothing of its list is kept.
    await assert.rejects(run(insert(4), divide(0), all), { code: "22012" });
    const three = [{ number: 1 }, { number: 2 }, { number: 3 }];
    assert.deepEqual(await run(all, divide(3), all), [three, [{ six: 2, none: null }], three]);
  });
});

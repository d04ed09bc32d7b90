// A database that one test hands to the next must be like a new one, or not be handed on.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { type Database, sql } from "../src/platform/postgres/postgres.ts";
import { asOwner, testDatabase } from "./support/database.ts";
import { startService } from "./support/service.ts";
import { addCredit, house, letSettle, makeDeal, openTestDesk } from "./support/settlements.ts";

/** A test that ends when it is told to. */
function scope() {
  const undo: (() => Promise<void>)[] = [];
  return {
    after: (work: () => Promise<void>) => void undo.push(work),
    async end() {
      for (const work of undo) await work();
    },
  };
}

/** Every row of every table, and where each sequence stands. */
async function readAll(db: Database): Promise<string[]> {
  return await asOwner(db, async (owner) => {
    const { rows: tables } = await owner.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by 1",
    );
    const all: string[] = [];
    for (const { name } of tables) {
      const { rows } = await owner.query<{ row: string }>(
        `select t::text as row from ${name} as t`,
      );
      all.push(...rows.map(({ row }) => `${name} ${row}`).toSorted());
    }
    const { rows } = await owner.query<{ at: string }>(
      "select concat_ws(' ', sequencename, last_value) as at from pg_sequences order by 1",
    );
    return [...all, ...rows.map(({ at }) => at)];
  });
}

const findName = ({ pool }: Database) => pool.options.database;

/** The database of a test that is over, after this was done in it. */
async function lendOnce(work: (db: Database, t: ReturnType<typeof scope>) => Promise<unknown>) {
  const t = scope();
  const { db } = await testDatabase(t);
  try {
    await work(db, t);
  } finally {
    await t.end();
  }
  return db;
}

test("a database that a test has written in is lent again, and is like a new one", async (t) => {
  const before = await lendOnce(async (db, inside) => {
    const service = await startService(inside, { db });
    const seller = await openTestDesk(service);
    const scripNo = await addCredit(service, seller);
    await makeDeal(service, { buyer: house(), legs: [{ seller, scripNo }] });
    await letSettle(service);
    await db.pool.query("update plans set per_minute = per_minute + 1");
    await db.pool.query("update match_locks set seen_before = '7'");
  });
  await assert.rejects(before.rows(sql`select 1`), /has ended/);
  const { db } = await testDatabase(t);
  assert.equal(findName(db), findName(before));
  const { db: fresh } = await testDatabase(t, { isNew: true });
  assert.deepEqual(await readAll(db), await readAll(fresh));
});

const spoiling: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  "was worked on by its owner": (db) => asOwner(db, (owner) => owner.query("select 1")),
  "lent a connection": async ({ pool }) => (await pool.connect()).release(),
  "changed a setting of a connection": ({ pool }) => pool.query("set work_mem = '1MB'"),
  "was analyzed": (db) =>
    db.transaction(async (tx) => {
      await tx.rows(sql`set local role none`);
      await tx.rows(sql`analyze plans`);
    }),
  "got a table": (db) =>
    db.transaction(async (tx) => {
      await tx.rows(sql`set local role none`);
      await tx.rows(sql`create table more ()`);
    }),
  "was closed": (db) => db.close(),
};

for (const [how, spoil] of Object.entries(spoiling)) {
  test(`a database that ${how} is not lent again`, async (t: TestContext) => {
    const before = await lendOnce(spoil);
    const { db } = await testDatabase(t);
    assert.notEqual(findName(db), findName(before));
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { sql } from "../src/platform/postgres.ts";
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

test("a connection that is lost between two statements fails its transaction and nothing else", async (t) => {
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

test("what a transaction announces is heard after its commit, and not when it rolls back", async (t) => {
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

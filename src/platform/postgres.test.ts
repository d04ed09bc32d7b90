import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { setReachable, testDatabase } from "../../test/support/database.ts";
import { openDatabase, sql } from "./postgres.ts";

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

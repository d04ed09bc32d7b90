import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { chainRecords } from "../../src/audit/chain-records.ts";
import { verifyChain } from "../../src/audit/verify-chain.ts";
import { type Database, openDatabase } from "../../src/platform/postgres.ts";
import { assertChainWhole, record } from "../support/audit.ts";
import { asOwner, testDatabase } from "../support/database.ts";
import { randomOf } from "../support/random.ts";

const now = new Date("2026-11-15T09:15:00Z");
const later = new Date("2026-11-15T09:16:00Z");
const desk = "frm_0000000000000000000000000a";

async function twoNodes(t: TestContext): Promise<[Database, Database]> {
  const { db, connection } = await testDatabase(t);
  const role = "scripdesk_app";
  const other = openDatabase({ connection, role, onIdleError() {} });
  t.after(() => other.close());
  return [db, other];
}

async function write(db: Database, entityIds: readonly string[], at = now): Promise<void> {
  await db.transaction(async (tx) => await record(tx, desk, entityIds, at));
}

async function drain(db: Database, setSize?: number): Promise<void> {
  while ((await chainRecords({ db }, setSize)) === "more");
}

async function chained(db: Database): Promise<string[]> {
  const { rows } = await db.pool.query<{ entity_id: string }>(
    "select entity_id from audit_chain order by environment, desk_id, seq",
  );
  return rows.map((row) => row.entity_id);
}

test("records get their places in the order they were written, from 1 and without a gap", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["a", "b", "c"]);
  await write(db, ["d"], later);
  await drain(db, 2);
  assert.deepEqual(await chained(db), ["a", "b", "c", "d"]);
  const { rows } = await db.pool.query("select seq::int from audit_chain order by seq");
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  await drain(db);
  assert.equal((await chained(db)).length, 4);
  await assertChainWhole({ db });
});

test("a record that is committed late is not passed over, and a writer never waits", async (t) => {
  const [db, other] = await twoNodes(t);
  let commit = () => {};
  const held = new Promise<void>((resolve) => (commit = resolve));
  let written = () => {};
  const isWritten = new Promise<void>((resolve) => (written = resolve));
  const slow = other.transaction(async (tx) => {
    await record(tx, desk, ["late"], now);
    written();
    await held;
  });
  await isWritten;
  await write(db, ["early-1", "early-2"], later);
  await drain(db);
  assert.deepEqual(await chained(db), ["early-1", "early-2"]);
  // Control: whoever remembers only the last record it has seen passes over the one that is still
  // to come, because it is older.
  const unseen = `select entity_id from audit_records
    where (recorded_in, record_id) > (
      select recorded_in, record_id from audit_records order by recorded_in desc, record_id desc limit 1
    )`;
  commit();
  await slow;
  assert.deepEqual((await db.pool.query(unseen)).rows, []);
  await write(db, ["last"], later);
  await drain(db);
  assert.deepEqual(await chained(db), ["early-1", "early-2", "late", "last"]);
  await assertChainWhole({ db });
});

test("sequencers that are killed, writers that commit late and rollbacks leave no gap and no double", async (t) => {
  const random = randomOf(t);
  const [db, other] = await twoNodes(t);
  const desks = Array.from({ length: 5 }, (_, at) => `frm_0000000000000000000000000${at}`);
  const kept: string[] = [];
  const written = new AbortController();
  let kills = 0;

  async function writer(name: string): Promise<void> {
    for (let at = 0; at < 40; at++) {
      const ids = Array.from({ length: 1 + random.below(6) }, (_, one) => `${name}-${at}-${one}`);
      const isKept = random.below(4) > 0;
      const pauseMs = random.below(20);
      const of = desks[random.below(desks.length)] ?? desk;
      await db.transaction(
        async (tx) => {
          await record(tx, of, ids, now);
          await sleep(pauseMs);
        },
        { rollBack: !isKept },
      );
      if (isKept) kept.push(...ids);
    }
  }

  async function sequencer(): Promise<void> {
    while (!written.signal.aborted) await chainRecords({ db: other }, 7).catch(() => {}); // Killed.
  }

  async function killer(): Promise<void> {
    const find = `select pid from pg_stat_activity
      where datname = current_database() and xact_start is not null and query ~ 'audit_(chain|cursor)'
        and pid <> pg_backend_pid()`;
    while (!written.signal.aborted) {
      await sleep(15);
      kills += await asOwner(db, async (owner) => {
        const { rows } = await owner.query<{ pid: number }>(find);
        for (const { pid } of rows) await owner.query("select pg_terminate_backend($1)", [pid]);
        return rows.length;
      });
    }
  }

  const killing = [sequencer(), sequencer(), killer()];
  await Promise.all(Array.from({ length: 6 }, (_, at) => writer(`w${at}`)));
  written.abort();
  await Promise.all(killing);
  t.diagnostic(`${kills} kills, ${kept.length} records`);
  assert.ok(kills > 0, "a sequencer was killed in the middle");
  await assertChainWhole({ db });
  assert.deepEqual((await chained(db)).toSorted(), kept.toSorted());
});

test("a database that was restored from a dump goes on where it was", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["old-1", "old-2"]);
  await drain(db);
  await write(db, ["left"]);
  // The dump came from a server that had counted further than this one.
  const ahead = "(recorded_in::text::numeric + 1000000000)::text::xid8";
  await asOwner(db, async (owner) => {
    for (const table of ["audit_records", "audit_chain", "audit_cursor"]) {
      await owner.query(`update ${table} set recorded_in = ${ahead}`);
    }
  });
  await write(db, ["new-1"], later);
  // Control: everything new is behind the cursor.
  const { rows } = await db.pool.query(
    "select 1 from audit_records as r, audit_cursor as c where r.entity_id = 'new-1' and r.recorded_in > c.recorded_in",
  );
  assert.equal(rows.length, 0);
  await drain(db, 1);
  await write(db, ["new-2"], later);
  await drain(db);
  assert.deepEqual(await chained(db), ["old-1", "old-2", "new-1", "left", "new-2"]);
  await assertChainWhole({ db });
});

test("a time that is finer than a millisecond is kept as it is", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["a"]);
  const finer = "update audit_records set at = at + interval '1 microsecond'";
  await asOwner(db, async (owner) => await owner.query(finer));
  await assertChainWhole({ db });
});

test("a chain that was cut in the middle is not whole", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["a", "b", "c"]);
  await drain(db);
  await asOwner(db, async (owner) => await owner.query("delete from audit_chain where seq = 2"));
  const { first_break: found } = await verifyChain({ db });
  assert.deepEqual([found?.desk_id, found?.seq], [desk, 2]);
});

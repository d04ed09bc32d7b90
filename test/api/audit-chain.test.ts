import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { verifyChain } from "../../src/journal/verify-chain.ts";
import { type Database, openDatabase } from "../../src/platform/postgres/postgres.ts";
import { wasRolledBack } from "../../src/platform/postgres/split.ts";
import { assertChainWhole, record } from "../support/audit.ts";
import { asOwner, testDatabase } from "../support/database.ts";
import { startRandom } from "../support/random.ts";
import { askJournal, editAsOwner } from "../support/journal.ts";

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

async function chained(db: Database): Promise<string[]> {
  const { rows } = await askJournal<{ entity_id: string }>(
    db.pool,
    "select entity_id from audit_records order by environment, desk_id, seq",
  );
  return rows.map((row) => row.entity_id);
}

test("audit records are numbered from 1 without a gap, in the order of writing", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["a", "b", "c"]);
  await write(db, ["d"], later);
  assert.deepEqual(await chained(db), ["a", "b", "c", "d"]);
  const { rows } = await askJournal(db.pool, "select seq::int from audit_records order by seq");
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  await assertChainWhole({ db });
});

test("writers of one desk are serialized, and writers of other desks do not wait", async (t) => {
  const [db, other] = await twoNodes(t);
  let commit = () => {};
  const held = new Promise<void>((resolve) => (commit = resolve));
  let written = () => {};
  const isWritten = new Promise<void>((resolve) => (written = resolve));
  const slow = other.transaction(async (tx) => {
    await record(tx, desk, ["first"], now);
    written();
    await held;
  });
  await isWritten;
  const second = write(db, ["second"], later);
  const elsewhere = "frm_0000000000000000000000000b";
  await db.transaction(async (tx) => await record(tx, elsewhere, ["elsewhere"], now));
  assert.deepEqual(await chained(db), ["elsewhere"]);
  commit();
  await Promise.all([slow, second]);
  assert.deepEqual(await chained(db), ["first", "second", "elsewhere"]);
  await assertChainWhole({ db });
});

test("writers that are killed, commit late or roll back leave no gap and no duplicate", async (t) => {
  const random = startRandom(t);
  const [db, other] = await twoNodes(t);
  const desks = Array.from({ length: 5 }, (_, at) => `frm_0000000000000000000000000${at}`);
  const kept: string[] = [];
  const unknown: string[][] = [];
  const written = new AbortController();
  let kills = 0;

  async function writer(node: Database, name: string): Promise<void> {
    for (let at = 0; at < 40; at++) {
      const ids = Array.from({ length: 1 + random.below(6) }, (_, one) => `${name}-${at}-${one}`);
      const isKept = random.below(4) > 0;
      const pauseMs = random.below(20);
      const of = desks[random.below(desks.length)] ?? desk;
      const work = node.transaction(
        async (tx) => {
          await record(tx, of, ids, now);
          await sleep(pauseMs);
        },
        { rollBack: !isKept },
      );
      await work.then(
        () => isKept && kept.push(...ids),
        // A kill may meet a commit on its way.
        (error) => isKept && !wasRolledBack(error) && unknown.push(ids),
      );
    }
  }

  async function killer(): Promise<void> {
    const find = `select pid from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and query ~ 'audit_'
        and pid <> pg_backend_pid()`;
    while (!written.signal.aborted) {
      await sleep(15);
      kills += await asOwner(db, async (owner) => {
        const { rows } = await owner.query<{ pid: number }>(find);
        for (const { pid } of rows.slice(0, 1)) {
          await owner.query("select pg_terminate_backend($1)", [pid]);
        }
        return Math.min(rows.length, 1);
      });
    }
  }

  const killing = killer();
  await Promise.all(Array.from({ length: 6 }, (_, at) => writer(at % 2 ? db : other, `w${at}`)));
  written.abort();
  await killing;
  t.diagnostic(`${kills} kills, ${kept.length} records`);
  assert.ok(kills > 0, "a writer was killed in the middle");
  assert.ok(kept.length > 0, "others were kept");
  await assertChainWhole({ db });
  const recorded = await chained(db);
  // Such a set is there as a whole, or not at all.
  for (const ids of unknown) if (ids.some((id) => recorded.includes(id))) kept.push(...ids);
  assert.deepEqual(recorded.toSorted(), kept.toSorted());
});

test("two concurrent first writers of a desk make one chain", async (t) => {
  const [db, other] = await twoNodes(t);
  const nodes = [db, other, db, other];
  await Promise.all(nodes.map((node, at) => write(node, [`n${at}`])));
  assert.equal((await chained(db)).length, nodes.length);
  await assertChainWhole({ db });
});

test("the hash includes the microseconds of a record's time", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["a"]);
  const finer = "update audit_records set at = at + interval '1 microsecond'";
  await asOwner(db, async (owner) => await editAsOwner(owner, finer));
  assert.equal((await verifyChain({ db })).first_break?.seq, 1);
});

test("a chain with a record removed from the middle fails verification", async (t) => {
  const { db } = await testDatabase(t);
  await write(db, ["a", "b", "c"]);
  await write(db, ["d"], later);
  await write(db, ["e"], later);
  for (const [seq, found] of [
    [4, 4],
    [2, 1],
  ] as const) {
    const remove = `delete from audit_records where seq = ${seq}`;
    await asOwner(db, async (owner) => await editAsOwner(owner, remove));
    const { first_break } = await verifyChain({ db });
    assert.deepEqual([first_break?.desk_id, first_break?.seq], [desk, found]);
  }
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { recordChanges } from "../../src/journal/record-changes.ts";
import { listEventsAfter } from "../../src/journal/find-events.ts";
import type { Actor, Change } from "../../src/kernel/actor.ts";
import { type Database, openDatabase, sql, type Tx } from "../../src/platform/postgres/postgres.ts";
import { testDatabase } from "../support/database.ts";
import { checkDoors } from "../support/doors.ts";
import { addFirm, listAuditRecords } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { startRandom } from "../support/random.ts";
import { readSlug, type Service, startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const actor: Actor = { kind: "key", id: "key_test", requestId: "req-1" };
const now = new Date("2026-11-15T09:15:00Z");

function firmChange(deskId: string, fields: Partial<Change> = {}): Change {
  return {
    environment: "sandbox",
    deskId,
    firmId: deskId,
    action: "firm.registered",
    entity: { type: "firm", id: deskId, version: 1, href: `/v1/firms/${deskId}` },
    after: { firm_id: deskId },
    event: { name: "firm.registered", from: null, to: "registered", data: { note: "✓" } },
    ...fields,
  };
}

const patient = {
  lock_timeout: 60_000,
  statement_timeout: 60_000,
  connectionTimeoutMillis: 60_000,
};

/** Two nodes of one service: two pools that know nothing of each other. */
async function twoNodes(t: TestContext): Promise<{ nodes: Database[]; owner: pg.Client }> {
  // Hooks run in their order: connections are closed before the database is dropped.
  const closing = new AsyncDisposableStack();
  t.after(() => closing.disposeAsync());
  const { connection } = await testDatabase(t);
  const nodes = [1, 2].map(() =>
    closing.adopt(
      openDatabase({
        connection: { ...connection, ...patient },
        role: "scripdesk_app",
        onIdleError() {},
      }),
      (node) => node.close(),
    ),
  );
  const owner = closing.adopt(new pg.Client(connection), (client) => client.end());
  owner.on("error", () => {}); // The database may be dropped under it.
  await owner.connect();
  return { nodes, owner };
}

async function openDesks(db: Database, count: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ firm_id: string }>(
    `insert into firms (
      firm_id, environment, desk_id, legal_name, connection_state, authorized_at, created_at, updated_at
    )
    select id, 'sandbox', id, id, 'authorized', now(), now(), now()
    from (select 'frm_1' || lpad(n::text, 25, '0') as id from generate_series(1, $1) as n) as ids
    returning firm_id`,
    [count],
  );
  return rows.map(({ firm_id }) => firm_id);
}

class RolledBack extends Error {}

test("under 500 concurrent writers each desk's events are numbered without a gap, and a reader misses none", async (t) => {
  const { nodes } = await twoNodes(t);
  const [first, second] = nodes as [Database, Database];
  const desks = await openDesks(first, 6);
  const random = startRandom(t);
  const committed = new Map(desks.map((desk) => [desk, 0]));
  let rolledBack = 0;
  let writing = true;

  async function write(writer: number): Promise<void> {
    const node = writer % 2 === 0 ? first : second;
    // Half of the changes are of the first desk; some writers change several desks at once.
    const told = Array.from({ length: 1 + random.below(4) }, () =>
      random.below(2) === 0 ? desks[0]! : random.pick(desks),
    );
    const fails = random.below(100) < 30;
    try {
      await node.transaction(async (tx) => {
        if (random.below(3) === 0) await sleep(random.below(5));
        await recordChanges(
          tx,
          actor,
          told.map((desk) => firmChange(desk)),
          now,
        );
        if (random.below(3) === 0) await sleep(random.below(5));
        if (fails) throw new RolledBack();
      });
      for (const desk of told) committed.set(desk, (committed.get(desk) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
      rolledBack += 1;
    }
  }

  async function follow(desk: string): Promise<{ seen: number; early: number }> {
    let seen = 0;
    let early = 0;
    for (;;) {
      const wasWriting = writing;
      const page = await listEventsAfter(second, desk, {
        firmId: null,
        after: seen,
        fetch: 1 + random.below(20),
      });
      for (const { sequence, body } of page) {
        assert.equal(sequence, seen + 1, `the reader of ${desk} is shown every event, in order`);
        assert.equal(JSON.parse(body).sequence, sequence);
        seen = sequence;
      }
      if (writing) early += page.length;
      if (page.length === 0 && !wasWriting) return { seen, early };
    }
  }

  const readers = desks.map(follow);
  await Promise.all(Array.from({ length: 500 }, (_, writer) => write(writer)));
  writing = false;
  const followed = await Promise.all(readers);

  assert.ok(rolledBack > 50, "many writers rolled back after they had their numbers");
  assert.ok(
    followed.every(({ early }) => early > 0),
    "the readers read while the writers wrote",
  );
  for (const [index, desk] of desks.entries()) {
    const { rows } = await askJournal<{ sequence: number }>(
      first.pool,
      "select sequence::int from events where desk_id = $1 order by sequence",
      [desk],
    );
    assert.deepEqual(
      rows.map(({ sequence }) => sequence),
      Array.from({ length: committed.get(desk) ?? 0 }, (_, n) => n + 1),
    );
    assert.equal(followed[index]?.seen, committed.get(desk));
  }
  const { rows } = await askJournal(
    first.pool,
    "select count(*)::int as records from audit_records",
  );
  assert.equal(
    rows[0].records,
    [...committed.values()].reduce((sum, count) => sum + count, 0),
  );
  t.diagnostic(`committed ${rows[0].records} events, ${rolledBack} of 500 writers rolled back`);
});

test("control: numbers from a PostgreSQL sequence leave gaps and make the same reader skip events", async (t) => {
  const { nodes, owner } = await twoNodes(t);
  const [first, second] = nodes as [Database, Database];
  const [desk] = await openDesks(first, 1);
  await owner.query("create sequence control_sequence; grant all on control_sequence to public");
  await owner.query("grant insert on former_events to public");
  const insert = async (tx: Tx) => {
    const [row] = await tx.rows<{ sequence: number }>(sql`
      insert into former_events (
        desk_id, sequence, event_id, environment, firm_id, event, entity_type, entity_id,
        entity_version, created_at, body
      )
      select ${desk}, next, 'evt_' || lpad(next::text, 26, '0'), 'sandbox', ${desk}, 'e', 'firm',
        ${desk}, 1, now(), json_build_object('sequence', next, 'entity', json_build_object())
      from nextval('control_sequence') as next
      returning sequence`);
    return row?.sequence ?? 0;
  };
  const holding = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<number>();
  const slow = first.transaction(async (tx) => {
    begun.resolve(await insert(tx));
    await holding.promise;
  });
  const slowSequence = await begun.promise;
  const fastSequence = await second.transaction(insert);

  let last = 0;
  const seen: number[] = [];
  const poll = async () => {
    const page = await listEventsAfter(second, desk ?? "", {
      firmId: null,
      after: last,
      fetch: 100,
    });
    seen.push(...page.map(({ sequence }) => sequence));
    last = seen.at(-1) ?? 0;
  };
  await poll();
  holding.resolve();
  await slow;
  await poll();
  assert.ok(slowSequence < fastSequence);
  assert.deepEqual(seen, [fastSequence], "the slow writer's event is committed and never shown");

  await first.transaction(insert, { rollBack: true });
  const afterHole = await first.transaction(insert);
  assert.equal(afterHole, fastSequence + 2, "a rollback leaves a hole");
});

test("a writer that holds a desk's sequence blocks that desk and no other", async (t) => {
  const { nodes, owner } = await twoNodes(t);
  const [first, second] = nodes as [Database, Database];
  const [a, b] = (await openDesks(first, 2)) as [string, string];
  const record = (node: Database, desk: string, then?: () => Promise<void>) =>
    node.transaction(async (tx) => {
      await recordChanges(tx, actor, [firmChange(desk)], now);
      await then?.();
    });
  await record(first, a);
  await record(first, b);

  const ended: string[] = [];
  const holding = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holder = record(first, a, async () => {
    held.resolve();
    await holding.promise;
    ended.push("holder of a");
  });
  await held.promise;
  const waiter = record(second, a).then(() => ended.push("waiter for a"));
  await untilWaiting(owner);
  await record(second, b);
  ended.push("b");
  holding.resolve();
  await Promise.all([holder, waiter]);
  assert.deepEqual(ended, ["b", "holder of a", "waiter for a"]);
});

/** Until a session waits for another's lock. */
async function untilWaiting(owner: pg.Client): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const { rows } = await owner.query(
      `select
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
    await sleep(5);
  }
  assert.fail("nobody waits");
}

test("writers to the same desks in opposite order do not deadlock", async (t) => {
  const { nodes } = await twoNodes(t);
  const [first, second] = nodes as [Database, Database];
  const desks = await openDesks(first, 8);
  await Promise.all(
    Array.from({ length: 200 }, (_, writer) => {
      const told = writer % 2 === 0 ? desks : desks.toReversed();
      return (writer % 4 < 2 ? first : second).transaction((tx) =>
        recordChanges(
          tx,
          actor,
          told.map((desk) => firmChange(desk)),
          now,
        ),
      );
    }),
  );
  const { rows } = await first.pool.query("select last_sequence::int from desk_sequences");
  assert.deepEqual(new Set(rows.map(({ last_sequence }) => last_sequence)), new Set([200]));
});

test("the service's role can add events and cannot change them", async (t) => {
  const { nodes, owner } = await twoNodes(t);
  const [db] = nodes as [Database];
  const [desk = ""] = await openDesks(db, 1);
  await db.transaction((tx) => recordChanges(tx, actor, [firmChange(desk)], now));
  const tables = ["journal_blocks", "journal_clients", "former_events", "former_audit_records"];
  for (const table of tables) {
    for (const statement of [
      `update ${table} set desk_id = 'other'`,
      `delete from ${table}`,
      `truncate ${table}`,
      `drop table ${table}`,
    ]) {
      await assert.rejects(db.pool.query(statement), { code: "42501" }, statement);
    }
  }
  for (const table of ["former_events", "former_audit_records"]) {
    const insert = `insert into ${table} select * from ${table}`;
    await assert.rejects(db.pool.query(insert), { code: "42501" }, insert);
  }
  const { rows } = await owner.query(
    "select desk_id, first_seq::int, last_seq::int from journal_blocks",
  );
  assert.deepEqual(rows, [{ desk_id: desk, first_seq: 1, last_seq: 1 }]);
});

test("GET /v1/events", async (t) => {
  const service = await startService(t);
  const record = (changes: readonly Change[], by: Actor = actor) =>
    service.ctx.db.transaction((tx) => recordChanges(tx, by, changes, service.clock.now()));
  /** A desk with so many events; the first of them tells of its root key. */
  const openDesk = async (events: number) => {
    const { api_key: key, firm_id: deskId } = await service.issue({ scopes: ["orders:read"] });
    await record(Array.from({ length: events - 1 }, () => firmChange(deskId)));
    const list = async (query = "", expect = 200) =>
      await service.send("GET", `/v1/events${query}`, { key, expect });
    return { deskId, list };
  };
  const pickSequences = (events: { sequence: number }[]) => events.map(({ sequence }) => sequence);

  await t.test("the route checks key, scope, rate and body", async (t) => {
    await checkDoors(t, service, [{ method: "GET", path: "/v1/events", scope: "orders:read" }]);
  });

  await t.test("an event is served as the bytes that were recorded", async () => {
    const { deskId, list } = await openDesk(2);
    const { body, text } = await list();
    const stored = await storedBodies(service, deskId);
    assert.equal(text, `{"events":[${stored.join(",")}],"latest_sequence":2}`);
    assert.equal(body.events[0].event, "key.created");
    assert.deepEqual(body.events[1], {
      id: body.events[1].id,
      event: "firm.registered",
      created_at: "2026-11-15T14:45:00.000+05:30",
      environment: "sandbox",
      firm_id: deskId,
      sequence: 2,
      entity: { type: "firm", id: deskId, version: 1, href: `/v1/firms/${deskId}` },
      from: null,
      to: "registered",
      data: { note: "✓" },
      request_id: "req-1",
    });
  });

  await t.test(
    "each change has an audit record with its actor and request, with or without an event",
    async () => {
      const { deskId } = await openDesk(1);
      const worker: Actor = { kind: "worker", id: "simulation", requestId: null };
      const operator: Actor = { kind: "operator", id: "asha", requestId: "cli-7" };
      const told = firmChange(deskId);
      const untold = firmChange(deskId, { event: undefined, after: null });
      await record([told, untold]);
      await record([told], worker);
      await record([untold], operator);
      const trail = await listAuditRecords(service, deskId);
      assert.deepEqual(
        trail.map((row) => [row.actor_kind, row.actor_id, row.request_id]),
        [
          ["key", "key_test", "req-1"],
          ["key", "key_test", "req-1"],
          ["worker", "simulation", null],
          ["operator", "asha", "cli-7"],
        ],
      );
      assert.deepEqual(
        trail.map((row) => [row.before_hash, row.after_hash]),
        trail.map(() => [null, null]),
        "the event's digest stands for what was told, and the rest is gone",
      );
      assert.equal((await storedBodies(service, deskId)).length, 3);
    },
  );

  await t.test("events are read after a sequence number, oldest first", async () => {
    const { list } = await openDesk(5);
    assert.deepEqual(pickSequences((await list("?after_sequence=2")).body.events), [3, 4, 5]);
    assert.deepEqual((await list("?after_sequence=5")).body, { events: [], latest_sequence: 5 });
    assert.deepEqual((await list(`?after_sequence=${2 ** 53 - 1}`)).body, {
      events: [],
      latest_sequence: 5,
    });
    const first = (await list("?after_sequence=1&limit=3")).body;
    assert.deepEqual(pickSequences(first.events), [2, 3, 4]);
    assert.deepEqual([first.count, first.total, first.has_more], [3, 4, true]);
    const query = `?after_sequence=1&limit=3&cursor=${first.next_cursor}`;
    const last = (await list(query)).body;
    assert.deepEqual(pickSequences(last.events), [5]);
    assert.deepEqual([last.total, last.has_more, last.next_cursor], [4, false, null]);
  });

  await t.test("a list that is not complete says has_more", async () => {
    const { list } = await openDesk(1_001);
    const answer = await list();
    assert.equal(answer.body.events.length, 1_000);
    assert.equal(answer.headers.get("x-truncated"), "true");
    assert.equal((await list("?after_sequence=1")).headers.get("x-truncated"), null);
  });

  await t.test("a desk reads its own events and no other's", async () => {
    const [mine, theirs] = [await openDesk(2), await openDesk(3)];
    assert.deepEqual(pickSequences((await mine.list()).body.events), [1, 2]);
    const { next_cursor } = (await mine.list("?limit=1")).body;
    const refused = await theirs.list(`?limit=1&cursor=${next_cursor}`, 400);
    assert.equal(readSlug(refused), "bad_request");
  });

  await t.test("a sub_account key reads the events of its firm and no other's", async () => {
    const { api_key: key, firm_id: deskId } = await service.issue();
    const firmId = await addFirm(service, { deskId });
    const minted = { kind: "sub_account", firm_id: firmId };
    const { api_key: sub } = await mintChild(service, key, minted);
    const siblingId = await addFirm(service, { deskId });
    const [own, sibling] = [{ firmId }, { firmId: siblingId }];
    await record([own, sibling, own, sibling].map((change) => firmChange(deskId, change)));
    const list = async (query: string, expect = 200) =>
      (await service.send("GET", `/v1/events${query}`, { key: sub, expect })).body;
    assert.deepEqual(pickSequences((await list("")).events), [2, 3, 5]);
    assert.deepEqual(pickSequences((await list("?after_sequence=3")).events), [5]);
    const first = await list("?limit=2");
    assert.deepEqual([first.count, first.total, first.has_more], [2, 3, true]);
    const last = await list(`?limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual(pickSequences(last.events), [5]);
  });

  await t.test("an invalid query is refused", async () => {
    const { list } = await openDesk(1);
    for (const query of [
      "after_sequence=-1",
      "after_sequence=x",
      "after_sequence=1.5",
      "limit=501",
    ]) {
      assert.equal(readSlug(await list(`?${query}`, 422)), "validation_error");
    }
    const { next_cursor } = (await openDesk(2).then(({ list }) => list("?limit=1"))).body;
    assert.equal(readSlug(await list(`?cursor=${next_cursor}x`, 400)), "bad_request");
  });
});

async function storedBodies({ ctx }: Service, deskId: string): Promise<string[]> {
  const { rows } = await askJournal<{ body: string }>(
    ctx.db.pool,
    "select body from events where desk_id = $1 order by sequence",
    [deskId],
  );
  return rows.map(({ body }) => body);
}

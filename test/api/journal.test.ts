// The journal is read alike whether a record is in a block or in the tables of before, and finds what is
// asked for without reading the rest.

import assert from "node:assert/strict";
import { test } from "node:test";

import { formerForm, linkAfter, startOfChain, writeRecord } from "../../src/journal/audit-rules.ts";
import { findEvents } from "../../src/journal/find-events.ts";
import { recordAttributedChanges, recordChanges } from "../../src/journal/record-changes.ts";
import { verifyExport } from "../../src/journal/verify-export.ts";
import type { Change } from "../../src/kernel/actor.ts";
import { newId } from "../../src/kernel/ids.ts";
import {
  assertChainWhole,
  changeOn,
  fetchExport,
  standAloneVerifier,
  worker,
} from "../support/audit.ts";
import { asOwner } from "../support/database.ts";
import { askJournal } from "../support/journal.ts";
import { addClientFirm, mintChild } from "../support/keys.ts";
import { registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Service, startService } from "../support/service.ts";

function tell(deskId: string, entityId: string, fields: Partial<Change> = {}): Change {
  const event = { name: "credit.listed", from: null, to: "listed", data: { entityId } };
  return changeOn(deskId, entityId, { event, ...fields });
}

/** Leaves everything recorded so far as the version before blocks would have written it. */
async function makeFormer({ ctx }: Service): Promise<void> {
  const { rows: records } = await askJournal(
    ctx.db.pool,
    `select *, to_char(at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at_text
     from audit_records order by environment, desk_id, seq`,
  );
  const { rows: events } = await askJournal(ctx.db.pool, "select * from events");
  let head = startOfChain;
  const chained = records.map((record) => {
    const { environment, desk_id } = record;
    const link = { environment, desk_id, form: formerForm, text: writeRecord(record) };
    head = linkAfter(Number(record.seq) === 1 ? startOfChain : head, { ...link, event_hash: null });
    return { ...record, form: formerForm, hash: `\\x${head.hash}` };
  });
  await asOwner(ctx.db, async (owner) => {
    await owner.query("truncate journal_blocks, journal_clients");
    for (const [table, rows] of [
      ["former_audit_records", chained],
      ["former_events", events],
    ] as const) {
      await owner.query(
        `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`,
        [JSON.stringify(rows)],
      );
    }
    await owner.query(
      `update audit_heads as h set hash = r.hash
       from former_audit_records as r
       where r.environment = h.environment and r.desk_id = h.desk_id and r.seq = h.seq`,
    );
  });
}

/** Hashes of two forms differ; everything else is the same. */
function withoutHash(entry: object): object {
  return { ...entry, hash: null, event_hash: null, block: null };
}

test("what was recorded in the forms of before is read on with what follows", async (t) => {
  const service = await startService(t);
  const { ctx, clock, send } = service;
  const receiver = await startReceiver(t);
  const { api_key: key, firm_id: desk } = await service.issue();
  const firm = await addClientFirm(service, desk);
  const sub = await mintChild(service, key, { kind: "sub_account", firm_id: firm });
  await registerWebhook(service, key, receiver.url, "credit.listed");
  const record = async (ids: readonly string[]) => {
    const changes = ids.map((id, at) => tell(desk, id, at % 2 === 0 ? { firmId: firm } : {}));
    await ctx.db.transaction((tx) => recordChanges(tx, worker, changes, clock.now()));
  };
  const readAll = async (path: string, name: string, by = key) => {
    const all: { sequence: number; seq: number }[] = [];
    let cursor = "";
    do {
      const { body } = await send("GET", `${path}limit=3${cursor}`, { key: by, expect: 200 });
      all.push(...body[name]);
      cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : "";
    } while (cursor !== "");
    return all;
  };
  const look = async () => ({
    events: await readAll("/v1/events?", "events"),
    own: await readAll("/v1/events?", "events", sub.api_key),
    trail: await readAll("/v1/audit?", "audit"),
    ofThing: await readAll("/v1/audit?entity_id=b&", "audit"),
    ofAction: await readAll("/v1/audit?action=test.change&", "audit"),
    total: (await send("GET", "/v1/audit?action=test.change&limit=1", { key })).body.total,
  });

  await record(["a", "b", "c", "d", "e"]);
  const inBlocks = await look();
  await makeFormer(service);
  const before = await look();
  assert.deepEqual(
    [before.events, before.own, before.trail.map(withoutHash)],
    [inBlocks.events, inBlocks.own, inBlocks.trail.map(withoutHash)],
    "read from the tables of before",
  );
  await assertChainWhole(ctx);

  await asOwner(ctx.db, (owner) => owner.query("update journal_form set form = 2"));
  await record(["f", "b", "g"]);
  await asOwner(ctx.db, (owner) => owner.query("update journal_form set form = 3"));
  await record(["h", "b"]);
  const after = await look();
  assert.deepEqual(after.events.slice(0, before.events.length), before.events);
  assert.deepEqual(
    after.events.map(({ sequence }) => sequence),
    Array.from({ length: before.events.length + 5 }, (_, at) => at + 1),
  );
  assert.deepEqual(after.own.slice(0, before.own.length), before.own);
  assert.equal(after.own.length, before.own.length + 3);
  assert.deepEqual(after.trail.slice(5), before.trail);
  assert.deepEqual([after.ofThing.length, after.ofAction.length, after.total], [3, 10, 10]);
  await assertChainWhole(ctx);

  const exported = await fetchExport(service, key);
  const versions = exported
    .trimEnd()
    .split("\n")
    .flatMap((line) => JSON.parse(line).v ?? []);
  assert.deepEqual(versions.slice(before.trail.length, -1), [2, 2, 2, 3]);
  assert.deepEqual(new Set(versions.slice(0, before.trail.length)), new Set([1]));
  const chunks = (async function* () {
    yield Buffer.from(exported);
  })();
  assert.equal((await verifyExport(chunks)).first_break, null);
  assert.equal(await (await standAloneVerifier())(Buffer.from(exported)), undefined);

  await service.work();
  assert.deepEqual(
    receiver.received
      .map(({ body }) => String(JSON.parse(body.toString()).data.entityId))
      .toSorted(),
    ["a", "b", "b", "b", "c", "d", "e", "f", "g", "h"],
  );
  const found = await findEvents(
    ctx.db,
    after.events.map(({ sequence }) => ({ desk_id: desk, sequence })),
  );
  for (const event of after.events) {
    const { body } =
      found({ desk_id: desk, sequence: event.sequence }) ?? assert.fail("it is there");
    assert.deepEqual(JSON.parse(body), event);
  }
});

test("filters and totals of the audit trail agree with a reading of every record", async (t) => {
  const service = await startService(t);
  const { ctx, clock, send } = service;
  const { api_key: key, firm_id: desk } = await service.issue();
  const things = Array.from({ length: 40 }, () => newId("ord", clock.now()));
  for (const size of [1, 7, 300, 2, 600, 31]) {
    const made = Array.from({ length: size }, (_, at) => ({
      actor: { ...worker, id: `w${at % 3}` },
      change: changeOn(desk, things[(at * size) % 40] ?? "", {
        action: at % 5 === 0 ? "test.rare" : "test.usual",
      }),
    }));
    await ctx.db.transaction((tx) => recordAttributedChanges(tx, made, clock.now()));
    clock.advance({ seconds: 60 });
  }
  const { rows } = await askJournal(ctx.db.pool, "select * from audit_records where desk_id = $1", [
    desk,
  ]);
  const from = new Date(clock.now().getTime() - 4 * 60_000);
  const filters: readonly Record<string, string>[] = [
    { entity_id: things[0] ?? "" },
    { entity_id: things[7] ?? "", actor: "w1" },
    { entity_id: newId("ord", clock.now()) },
    { action: "test.rare" },
    { actor: "w2" },
    { action: "test.usual", actor: "w0", entity_type: "thing" },
    { entity_type: "other" },
    { action: "test.rare", from: from.toISOString() },
    { entity_id: things[3] ?? "", to: from.toISOString() },
  ];
  for (const filter of filters) {
    const query = new URLSearchParams(filter).toString();
    const { body } = await send("GET", `/v1/audit?limit=100&${query}`, { key, expect: 200 });
    const wanted = rows
      .filter(
        (row) =>
          (filter["entity_id"] === undefined || row.entity_id === filter["entity_id"]) &&
          (filter["entity_type"] === undefined || row.entity_type === filter["entity_type"]) &&
          (filter["actor"] === undefined || row.actor_id === filter["actor"]) &&
          (filter["action"] === undefined || row.action === filter["action"]) &&
          (filter["from"] === undefined || row.at >= new Date(filter["from"])) &&
          (filter["to"] === undefined || row.at < new Date(filter["to"])),
      )
      .map(({ seq }) => Number(seq))
      .toSorted((a, b) => b - a);
    assert.deepEqual(
      body.audit.map(({ seq }: { seq: number }) => seq),
      wanted.slice(0, 100),
      query,
    );
    if (body.total !== undefined) assert.equal(body.total, wanted.length, query);
  }
});

test("a firm's events are counted and paged across blocks that others share", async (t) => {
  const service = await startService(t);
  const { ctx, clock, send } = service;
  const { api_key: key, firm_id: desk } = await service.issue();
  const firms = [await addClientFirm(service, desk), await addClientFirm(service, desk)];
  const sub = await mintChild(service, key, { kind: "sub_account", firm_id: firms[0] });
  for (let set = 0; set < 12; set++) {
    const changes = Array.from({ length: 1 + ((set * 5) % 11) }, (_, at) =>
      tell(desk, `t${set}-${at}`, { firmId: [...firms, desk][(set + at) % 3] ?? desk }),
    );
    await ctx.db.transaction((tx) => recordChanges(tx, worker, changes, clock.now()));
  }
  const { rows } = await askJournal(
    ctx.db.pool,
    "select sequence::int from events where desk_id = $1 and firm_id = $2 order by sequence",
    [desk, firms[0]],
  );
  const own: number[] = rows.map(({ sequence }) => sequence);
  assert.ok(own.length > 15);
  const last = own.at(-1) ?? 0;
  for (let after = 0; after <= last; after++) {
    const path = `/v1/events?after_sequence=${after}&limit=4`;
    const { body, headers } = await send("GET", path, { key: sub.api_key, expect: 200 });
    const wanted = own.filter((sequence) => sequence > after);
    assert.deepEqual(
      body.events.map(({ sequence }: { sequence: number }) => sequence),
      wanted.slice(0, 4),
    );
    const total = body.total ?? headers.get("x-total-count");
    if (total !== undefined && total !== null) assert.equal(Number(total), wanted.length);
  }
});

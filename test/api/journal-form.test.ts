// What the blocks of a desk's journal are hashed as: form 2 while a node of an older version runs, form 3
// from then on and in every new database. And what is left of an event whose body had to be erased.

import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

import pg from "pg";

import { hashPart } from "../../src/journal/audit-rules.ts";
import { recordChanges } from "../../src/journal/record-changes.ts";
import { verifyChain } from "../../src/journal/verify-chain.ts";
import { verifyExport } from "../../src/journal/verify-export.ts";
import { changeOn, fetchExport, standAloneVerifier, worker } from "../support/audit.ts";
import { asOwner, testServer } from "../support/database.ts";
import { type Service, startService } from "../support/service.ts";

async function tell({ ctx, clock }: Service, deskId: string, things: readonly string[]) {
  const changes = things.map((thing, place) =>
    changeOn(deskId, thing, {
      ...(place % 2 === 0 && {
        event: { name: "credit.listed", from: null, to: "listed", data: { holder: thing } },
      }),
    }),
  );
  await ctx.db.transaction((tx) => recordChanges(tx, worker, changes, clock.now()));
}

const listForms = async ({ ctx }: Service, deskId: string) =>
  await asOwner(ctx.db, async (owner) => {
    const { rows } = await owner.query<{ form: number }>(
      "select form from journal_blocks where desk_id = $1 order by first_seq",
      [deskId],
    );
    return rows.map(({ form }) => form);
  });

async function assertWhole(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const chunks = (async function* () {
    yield bytes;
  })();
  assert.equal((await verifyExport(chunks)).first_break, null);
  assert.equal(await (await standAloneVerifier())(bytes), undefined);
}

/** A node of an older version, as the database sees it. */
async function startOlderNode({ ctx }: Service): Promise<pg.Client> {
  const { database } = ctx.db.pool.options;
  const node = new pg.Client({ ...testServer(), database, application_name: "scripdesk" });
  await node.connect();
  return node;
}

test("a new database has blocks of form 3, and its form is never lowered", async (t) => {
  const service = await startService(t);
  const { firm_id: desk, api_key: key } = await service.issue();
  assert.deepEqual(await listForms(service, desk), [3]);
  const former = await startOlderNode(service);
  await service.work();
  await tell(service, desk, ["a"]);
  assert.deepEqual(await listForms(service, desk), [3, 3]);
  await former.end();
  await assertWhole(await fetchExport(service, key));
});

test("form 2 is written until no older node is left, and the chain goes on from one to the other", async (t) => {
  const service = await startService(t);
  await asOwner(service.ctx.db, (owner) => owner.query("update journal_form set form = 2"));
  const { firm_id: desk, api_key: key } = await service.issue();
  const former = await startOlderNode(service);
  const raise = service.workers().find(({ name }) => name === "journal-form");
  await raise?.work();
  await tell(service, desk, ["a", "b", "c"]);
  assert.deepEqual(await listForms(service, desk), [2, 2]);
  await former.end();
  await raise?.work();
  await tell(service, desk, ["d", "e"]);
  assert.deepEqual(await listForms(service, desk), [2, 2, 3]);
  // A node that had read the form before it was raised.
  await asOwner(service.ctx.db, (owner) => owner.query("update journal_form set form = 2"));
  await tell(service, desk, ["f"]);
  await asOwner(service.ctx.db, (owner) => owner.query("update journal_form set form = 3"));
  await tell(service, desk, ["g"]);
  assert.deepEqual(await listForms(service, desk), [2, 2, 3, 2, 3]);

  assert.equal((await verifyChain(service.ctx)).first_break, null);
  for (const after of [0, 3, 6, 7, 8]) {
    await assertWhole(await fetchExport(service, key, `?after_seq=${after}`));
  }
  const { body } = await service.send("GET", "/v1/audit", { key, expect: 200 });
  const shown = body.audit
    .filter(({ action }: { action: string }) => action === "test.change")
    .map((entry: Record<string, unknown>) => [
      entry["entity_id"],
      entry["before_hash"],
      (entry["event_hash"] === null) === (entry["after_hash"] !== null),
      entry["block"] !== null,
    ])
    .toReversed();
  assert.deepEqual(shown, [
    ["a", null, true, false],
    ["b", null, true, false],
    ["c", null, true, false],
    ["d", null, true, true],
    ["e", null, true, true],
    ["f", null, true, false],
    ["g", null, true, true],
  ]);
});

test("an event can be found again by its digest in the trail", async (t) => {
  const service = await startService(t);
  const { firm_id: desk, api_key: key } = await service.issue();
  await tell(service, desk, ["a", "b", "c"]);
  const { text } = await service.send("GET", "/v1/events", { key, expect: 200 });
  const bodies = text.slice('{"events":['.length, text.lastIndexOf("]")).split(/,(?=\{"id":"evt_)/);
  const { body } = await service.send("GET", "/v1/audit", { key, expect: 200 });
  const digests = body.audit
    .map(({ event_hash }: { event_hash: string | null }) => event_hash)
    .filter((digest: string | null) => digest !== null)
    .toReversed();
  assert.deepEqual(
    bodies.map((one) => hashPart(one.replace(/"sequence":\d+/, '"sequence":'))),
    digests,
  );
});

test("an erased body leaves its hash: the rest is proved, and the event keeps its place", async (t) => {
  const service = await startService(t);
  const { firm_id: desk, api_key: key } = await service.issue();
  await tell(service, desk, ["a", "b", "c", "d", "e"]);
  const read = async (path: string) => (await service.send("GET", path, { key })).body;
  const before = await fetchExport(service, key);
  const { events } = await read("/v1/events");
  const { audit } = await read("/v1/audit");
  const edit = async (change: (line: string) => string) =>
    await asOwner(service.ctx.db, async (owner) => {
      const where = "where desk_id = $1 and last_seq = 7";
      const { rows } = await owner.query<{ packed: Buffer }>(
        `select packed from journal_blocks ${where}`,
        [desk],
      );
      const lines = zstdDecompressSync(rows[0]?.packed ?? Buffer.alloc(0))
        .toString()
        .split("\n");
      const at = lines.findIndex((line) => line.includes('"holder":"c"'));
      const packed = zstdCompressSync(lines.with(at, change(lines[at] ?? "")).join("\n"));
      await owner.query(`update journal_blocks set packed = $2 ${where}`, [desk, packed]);
      return rows[0]?.packed;
    });

  // The control: anything else in its place is found.
  for (const change of [
    (line: string) => line.replace('"holder":"c"', '"holder":"x"'),
    (line: string) => hashPart(`${line} `),
    () => "",
  ]) {
    const packed = await edit(change);
    assert.equal((await verifyChain(service.ctx)).first_break?.seq, 3);
    const again = "update journal_blocks set packed = $2 where desk_id = $1 and last_seq = 7";
    await asOwner(service.ctx.db, (owner) => owner.query(again, [desk, packed]));
  }

  await edit(hashPart);
  const { first_break, erased } = await verifyChain(service.ctx);
  assert.deepEqual([first_break, erased], [null, 1]);
  const after = await fetchExport(service, key, "");
  const withoutCheckpoint = (text: string) => text.split("\n").slice(0, 8);
  assert.deepEqual(withoutCheckpoint(after), withoutCheckpoint(before), "byte for byte");
  await assertWhole(after);
  const left = (await read("/v1/events")).events.slice(0, events.length);
  const at = events.findIndex(({ data }: { data: { holder?: string } }) => data.holder === "c");
  assert.deepEqual(left.toSpliced(at, 1), events.toSpliced(at, 1));
  const { event, sequence, data, entity } = left[at];
  assert.deepEqual([event, sequence, data], ["event.erased", events[at].sequence, {}]);
  assert.deepEqual(entity, { ...events[at].entity, href: "/v1/audit" });
  const trail = (await read("/v1/audit")).audit;
  assert.deepEqual(trail.slice(-audit.length), audit, "the trail is as it was");
});

// A backup of the embedded database while orders are placed, restored elsewhere.

import assert from "node:assert/strict";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import type { Manifest } from "../../src/platform/postgres/backup-cluster.ts";
import { dataDirectory, scripdesk, serve } from "../support/process.ts";
import { scratchFolder } from "../support/scratch.ts";

/** What is never changed once it is there; orders of this test are matched when they are placed. */
const kept = {
  orders: "order_id",
  journal_blocks: "environment || desk_id || first_seq",
  ledger_entries: "entry_no::text",
} as const;

type Rows = Readonly<Record<string, ReadonlyMap<string, string>>>;

/** The rows of each table as text, by their ids. */
async function readRows(dataDir: string): Promise<Rows> {
  const embedded = await openEmbedded({ dataDir, as: "visitor", create: false });
  const client = new pg.Client(embedded.connection);
  await client.connect();
  try {
    const tables: Record<string, Map<string, string>> = {};
    for (const [table, id] of Object.entries(kept)) {
      const { rows } = await client.query<{ id: string; row: string }>(
        `select ${id} as id, t::text as row from ${table} as t`,
      );
      tables[table] = new Map(rows.map((found) => [found.id, found.row]));
    }
    return tables;
  } finally {
    await client.end();
    await embedded.leave();
  }
}

test("a backup taken under load has every row of what was acknowledged before it, and without its WAL it does not start", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const service = await serve(t, { DATA_DIR });
  const issued = await scripdesk(
    ["keys", "issue", "--firm", "Load", "--env", "sandbox", "--json"],
    { DATA_DIR },
  );
  const { api_key: key } = JSON.parse(issued.stdout) as { api_key: string };

  const acknowledged: string[] = [];
  const over = new AbortController();
  const load = (async () => {
    while (!over.signal.aborted) {
      const seeded = await service.send("POST", "/v1/sandbox/credits:seed", {
        key,
        body: { count: 20 },
        expect: 200,
      });
      for (const scrip_no of seeded.body.scrip_nos) {
        const order = { side: "sell", scrip_no };
        const { status, body } = await service.send("POST", "/v1/orders", { key, body: order });
        // A credit that is about to lapse has no price.
        if (status === 201) acknowledged.push(body.order_id);
      }
    }
  })();
  const enough = async () => {
    while (acknowledged.length < 40) await sleep(20);
  };
  await Promise.race([enough(), load]);

  const before = await readRows(DATA_DIR);
  const placedBefore = [...acknowledged];
  const to = join(await scratchFolder("scripdesk-backup-"), "first");
  t.after(() => rm(join(to, ".."), { recursive: true, force: true }));
  const made = await scripdesk(["backup", to, "--with-key", "--json"], { DATA_DIR });
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stderr, /^verify: \d+ of \d+ files$/m);
  const again = await scripdesk(["backup", to], { DATA_DIR });
  assert.deepEqual([again.code, /is there already/.test(again.stderr)], [3, true]);
  over.abort();
  await load;
  assert.ok(acknowledged.length > placedBefore.length, "orders came during the backup");
  service.signal("SIGTERM");
  await service.ended;

  const restoredDir = join(await scratchFolder("scripdesk-restored-"), "data");
  t.after(() => rm(join(restoredDir, ".."), { recursive: true, force: true }));
  const restored = await scripdesk(["restore", to, "--json"], { DATA_DIR: restoredDir });
  assert.equal(restored.code, 0, restored.stderr);
  const proof = JSON.parse(restored.stdout) as Record<string, unknown>;
  assert.deepEqual([proof["ledger_sound"], proof["audit_whole"]], [true, true]);
  const after = await readRows(restoredDir);
  for (const orderId of placedBefore) assert.ok(after["orders"]?.has(orderId), orderId);
  for (const [table, rows] of Object.entries(before)) {
    assert.ok(rows.size > 0, table);
    for (const [id, row] of rows) assert.equal(after[table]?.get(id), row, `${table} ${id}`);
  }
  const occupied = await scripdesk(["restore", to], { DATA_DIR: restoredDir });
  assert.deepEqual([occupied.code, /has a database already/.test(occupied.stderr)], [3, true]);

  // Controls: a backup without its WAL is refused, and where nobody looks, the server does not start.
  const broken = join(to, "..", "broken");
  await cp(to, broken, { recursive: true });
  await rm(join(broken, "postgres/pg_wal"), { recursive: true });
  const elsewhere = join(restoredDir, "..", "broken");
  const refused = await scripdesk(["restore", broken], { DATA_DIR: elsewhere });
  assert.deepEqual([refused.code, /not whole: .*pg_wal/.test(refused.stderr)], [3, true]);
  const manifest = JSON.parse(await readFile(join(broken, "backup.json"), "utf8")) as Manifest;
  const files = manifest.files.filter(({ path }) => !path.includes("/pg_wal/"));
  await writeFile(join(broken, "backup.json"), JSON.stringify({ ...manifest, files }));
  const dead = await scripdesk(["restore", broken], { DATA_DIR: elsewhere });
  assert.deepEqual([dead.code, /did not start/.test(dead.stderr)], [3, true], dead.stderr);
});

test("a changed byte of a backup is found before it is restored, and a missing key before anything is copied", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const to = join(await scratchFolder("scripdesk-backup-"), "first");
  t.after(() => rm(join(to, ".."), { recursive: true, force: true }));
  const made = await scripdesk(["backup", to], { DATA_DIR });
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stderr, /master key is not in it/);
  const elsewhere = join(to, "..", "data");
  const keyless = await scripdesk(["restore", to], { DATA_DIR: elsewhere });
  assert.deepEqual([keyless.code, /--key FILE/.test(keyless.stderr)], [3, true]);
  const control = join(to, "postgres/global/pg_control");
  const bytes = await readFile(control);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  await writeFile(control, bytes);
  const key = join(to, "..", "some.key");
  await writeFile(key, "0".repeat(64));
  const damaged = await scripdesk(["restore", to, "--key", key], { DATA_DIR: elsewhere });
  assert.deepEqual([damaged.code, /pg_control is not as/.test(damaged.stderr)], [3, true]);
});

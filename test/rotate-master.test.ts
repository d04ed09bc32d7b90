// The master key is replaced while the service runs: killed in the middle, with either key meanwhile,
// and never with a wrong one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { recordSuccession } from "../src/journal/read-audit.ts";
import { genesisHash, publicKeyHex, writeCheckpoint } from "../src/journal/audit-rules.ts";
import { verifyCheckpoints } from "../src/journal/verify-checkpoints.ts";
import { type PageQuery, readPage } from "../src/kernel/page.ts";
import { contextKeys, type MasterKeys } from "../src/open-context.ts";
import { isSealedAnew, open, seal } from "../src/platform/seal.ts";
import { sealedPlaces } from "../src/rotate-master-key.ts";
import { databaseUrlFor } from "./support/cli.ts";
import { clientFirm } from "./support/firms.ts";
import { commandsWith, dataDirectory, scripdesk, serve } from "./support/process.ts";
import { type Service, startService } from "./support/service.ts";
import { askJournal } from "./support/journal.ts";

const persons = 3_000;
const enquiryRef = (at: number) => `enq_${String(at).padStart(26, "0")}`;

/** Something sealed in every place, and so much in one that a rotation can be interrupted. */
async function sealThings(service: Service): Promise<void> {
  const { ctx } = service;
  const { api_key: key, firm_id: deskId } = await service.issue();
  const { firmId } = await clientFirm(service, deskId);
  await ctx.db.pool.query(
    "update firms set bank_sealed = $2, bank_last4 = '7890', bank_ifsc = 'HDFC0000001', bank_name = 'Acme', account_id = 'acc_' || substr(firm_id, 5) where firm_id = $1",
    [firmId, seal("001234567890", `bank account of ${firmId}`, ctx.sealKey)],
  );
  const body = { url: "https://erp.example/hooks", event: "*" };
  const made = (await service.send("POST", "/v1/webhooks", { key, body, expect: 201 })).body;
  const rotate = `/v1/webhooks/${made.webhook_id}/rotate-secret`;
  await service.send("POST", rotate, { key, body: {}, expect: 200 });
  await ctx.db.pool.query(
    `insert into enquiries (
      enquiry_ref, kind, status, person_sealed, digest, forget_at, version, created_at, updated_at
    )
    select ref, 'contact', 'received', sealed, digest, now() + interval '100 days', 1, now(), now()
    from unnest($1::text[], $2::bytea[], $3::bytea[]) as e (ref, sealed, digest)`,
    [
      Array.from({ length: persons }, (_, at) => enquiryRef(at)),
      Array.from({ length: persons }, (_, at) =>
        seal(JSON.stringify({ name: `Person ${at}` }), `enquiry ${enquiryRef(at)}`, ctx.sealKey),
      ),
      Array.from({ length: persons }, () => randomBytes(32)),
    ],
  );
}

/** How many rows these keys open, and how many the first of them has sealed. */
async function countSealed({ ctx }: Service, keys: MasterKeys) {
  const { sealKey } = contextKeys(keys);
  let [opened, anew, all] = [0, 0, 0];
  for (const { list } of sealedPlaces({ ...ctx, sealKey })) {
    for (const { sealed, purpose } of await list("", 2 * persons)) {
      all += 1;
      if (isSealedAnew(sealed, purpose, sealKey)) anew += 1;
      try {
        open(sealed, purpose, sealKey);
        opened += 1;
      } catch {
        // Counted as not opened.
      }
    }
  }
  return { opened, anew, all };
}

test("the rotation covers every sealed column", async (t) => {
  const service = await startService(t);
  const { rows } = await service.ctx.db.pool.query<{ column: string }>(
    `select table_name || '.' || column_name as column from information_schema.columns
    where table_schema = 'public' and column_name like '%sealed%' order by 1`,
  );
  assert.deepEqual(
    rows.map(({ column }) => column),
    [
      "bank_lines.details_sealed",
      "desk_approvals.terms_sealed",
      "enquiries.person_sealed",
      "firms.bank_sealed",
      "operators.totp_sealed",
      "paying_accounts.account_sealed",
      "payout_file_lines.account_sealed",
      "webhooks.previous_secret_sealed",
      "webhooks.secret_sealed",
    ],
  );
  assert.equal(sealedPlaces(service.ctx).length, rows.length);
});

test("a killed rotation resumes; both keys open everything meanwhile, and then only the new one", async (t) => {
  const service = await startService(t);
  await sealThings(service);
  const [older, newer] = [service.masterKey, randomBytes(32)];
  const DATABASE_URL = await databaseUrlFor(service.ctx);
  const run = commandsWith(t);
  const settings = (main: Buffer, other?: Buffer) => ({
    DATABASE_URL,
    MASTER_KEY: main.toString("hex"),
    ...(other && { MASTER_KEY_OTHER: other.toString("hex") }),
  });
  const rotate = ["keys", "rotate-master", "--json"];
  const refused = async (words: readonly string[], env: Record<string, string>, why: RegExp) => {
    const { code, stderr } = await run(words, env);
    assert.notEqual(code, 0);
    assert.match(stderr, why);
  };
  assert.equal((await run(["firms", "list"], settings(older))).code, 0);
  await refused(rotate, settings(newer, randomBytes(32)), /is not the key that the data/);
  await refused(rotate, settings(newer), /is not the key that the data/);
  await refused(rotate, settings(older), /give the new key as MASTER_KEY/);
  await refused(rotate, settings(older, newer), /MASTER_KEY is the old key/);

  const child = spawn(process.execPath, [join(import.meta.dirname, "../cli/main.ts"), ...rotate], {
    env: { PATH: process.env["PATH"] ?? "", ...settings(newer, older) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let said = "";
  for await (const chunk of child.stderr) {
    said += String(chunk);
    if (/enquiries: 400 /.test(said)) child.kill("SIGKILL");
  }
  await ended;
  const all = persons + 3;
  const half = await countSealed(service, { main: newer, other: older });
  assert.equal(half.all, all);
  assert.equal(half.opened, all);
  assert.ok(half.anew >= 400 && half.anew < all, `${half.anew} of ${all} were sealed anew`);
  assert.equal((await countSealed(service, { main: older, other: newer })).opened, all);

  await refused(["firms", "list"], settings(older), /is being replaced: give the new key/);
  await refused(["firms", "list"], settings(newer), /give that one as MASTER_KEY_OTHER/);
  await refused(["firms", "list"], settings(randomBytes(32), older), /being replaced by another/);
  for (const both of [settings(older, newer), settings(newer, older)]) {
    assert.equal((await run(["firms", "list"], both)).code, 0);
  }

  const again = await run(rotate, settings(newer, older));
  assert.equal(again.code, 0, again.stderr);
  const { status, resealed } = JSON.parse(again.stdout);
  assert.deepEqual([status, resealed], ["replaced", all - half.anew]);
  assert.deepEqual(await countSealed(service, { main: newer, other: undefined }), {
    opened: all,
    anew: all,
    all,
  });
  await refused(["firms", "list"], settings(older), /is not the key that the data/);
  await refused(["firms", "list"], settings(older, newer), /was replaced before/);
  assert.equal((await run(["firms", "list"], settings(newer))).code, 0);
  const repeated = await run(rotate, settings(newer, older));
  assert.equal(JSON.parse(repeated.stdout).status, "was replaced");

  const keys = JSON.parse((await run(["audit", "key", "--json"], settings(newer))).stdout);
  assert.equal(keys.length, 2);
  const { rows } = await askJournal(
    service.ctx.db.pool,
    "select action from audit_records where action like 'master_key%'",
  );
  assert.deepEqual(rows, [{ action: "master_key.replace" }]);
});

test("a value that neither key opens stops the rotation, unless it is told to skip", async (t) => {
  const service = await startService(t);
  const { firm_id: deskId } = await service.issue();
  const { firmId } = await clientFirm(service, deskId);
  await service.ctx.db.pool.query(
    "update firms set bank_sealed = '\\x00', bank_last4 = '7890', bank_ifsc = 'HDFC0000001', bank_name = 'Acme', account_id = 'acc_' || substr(firm_id, 5) where firm_id = $1",
    [firmId],
  );
  const DATABASE_URL = await databaseUrlFor(service.ctx);
  const run = commandsWith(t);
  const env = { DATABASE_URL, MASTER_KEY: service.masterKey.toString("hex") };
  assert.equal((await run(["firms", "list"], env)).code, 0);
  const both = { DATABASE_URL, MASTER_KEY: "cd".repeat(32), MASTER_KEY_OTHER: env.MASTER_KEY };
  const stopped = await run(["keys", "rotate-master"], both);
  assert.equal(stopped.code, 1);
  assert.match(
    stopped.stderr,
    new RegExp(`neither key opens 1 rows \\(bank accounts ${firmId}\\)`),
  );
  const left = await run(["keys", "rotate-master", "--leave-unreadable", "--json"], both);
  assert.equal(left.code, 0, left.stderr);
  assert.equal(JSON.parse(left.stdout).unreadable, 1);
});

test("cursors of both keys are valid during a rotation, and of a third key are not", async () => {
  const [one, other, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const rows = [1, 2].map((at) => ({ at: new Date(at), id: `${at}` }));
  const take = async (signingKey: Buffer, query: PageQuery) => {
    const asked = { query, question: { list: "orders" }, signingKey };
    const list = async () => rows;
    const page = await readPage(asked, { list, count: () => 2, toPosition: (row) => row });
    return page.paging ?? assert.fail();
  };
  const makeCursor = async (key: Buffer) =>
    (await take(key, { limit: 1 })).next_cursor ?? assert.fail();
  const opens = async (key: Buffer, cursor: string) => (await take(key, { cursor })).total;
  assert.equal(await opens(Buffer.concat([other, one]), await makeCursor(one)), 2);
  assert.equal(await opens(other, await makeCursor(Buffer.concat([other, one]))), 2);
  const cursor = await makeCursor(one);
  await assert.rejects(async () => await opens(Buffer.concat([other, third]), cursor));
});

test("signatures of the old key stay valid, and a key named only in the database is not trusted", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const former = contextKeys({ main: service.masterKey, other: undefined });
  const next = contextKeys({ main: randomBytes(32), other: undefined });
  const stranger = contextKeys({ main: randomBytes(32), other: undefined });
  await service.issue();
  const checkpoint = {
    environment: "live",
    desk_id: "frm_00000000000000000000000001",
    count: 0,
    first_seq: 1,
    last_seq: 0,
    prev_hash: genesisHash,
    head_hash: genesisHash,
    at: "2026-11-16T10:00:00.000+05:30",
  } as const;
  const verdict = async (signer: typeof former) => {
    const line = writeCheckpoint(checkpoint, signer.auditKey);
    return (await verifyCheckpoints({ db, auditKey: next.auditKey }, line)).whole;
  };
  assert.equal(await verdict(former), false);
  const keys = { former: former.auditKey, next: next.auditKey };
  await recordSuccession(db, keys, service.clock.now());
  assert.equal(await verdict(former), true);
  assert.equal(await verdict(next), true);
  // Whoever has the database and a key of their own can sign for one side only.
  const forged = { former: stranger.auditKey, next: stranger.auditKey };
  await recordSuccession(db, forged, service.clock.now());
  await db.pool.query("update audit_key_successions set public_key = $1 where former_key = $2", [
    publicKeyHex(next.auditKey),
    publicKeyHex(stranger.auditKey),
  ]);
  assert.equal(await verdict(stranger), false);
});

test("a rotation with its own DATA_DIR creates the next key, and is refused while the service runs", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  await mkdir(DATA_DIR, { recursive: true });
  const running = await serve(t, { DATA_DIR });
  const before = await readFile(join(DATA_DIR, "master.key"), "utf8");
  const refused = await scripdesk(["keys", "rotate-master"], { DATA_DIR });
  assert.equal(refused.code, 3, refused.stderr);
  assert.match(refused.stderr, /already running/);
  assert.equal((await readdir(DATA_DIR)).includes("master.key.next"), false);
  running.signal("SIGTERM");
  await running.ended;

  const nobody = await scripdesk(["keys", "rotate-master", "--operator", "#"], { DATA_DIR });
  assert.equal(nobody.code, 2, nobody.stderr);
  assert.equal((await readdir(DATA_DIR)).includes("master.key.next"), false);

  const done = await scripdesk(["keys", "rotate-master", "--json"], { DATA_DIR });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(JSON.parse(done.stdout).status, "replaced");
  const after = await readFile(join(DATA_DIR, "master.key"), "utf8");
  assert.notEqual(after, before);
  const names = await readdir(DATA_DIR);
  assert.equal(names.includes("master.key.next"), false);
  const former = names.find((name) => name.startsWith("master.key.until-")) ?? assert.fail();
  assert.equal(await readFile(join(DATA_DIR, former), "utf8"), before);
  const again = await serve(t, { DATA_DIR });
  assert.equal((await again.send("GET", "/readyz")).status, 200);
});

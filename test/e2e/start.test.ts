// What a start refuses, in one line and with exit 3, and what it mends by itself.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import {
  commandsWith,
  type Ended,
  dataDirectory,
  demoKeyIn,
  scripdesk,
  serve,
} from "../support/process.ts";

const listening = { PORT: "0", OPS_PORT: "off", LOG_LEVEL: "warn", DRAIN_S: "0" };

function assertCannotRun({ code, stdout, stderr }: Ended, why: RegExp): void {
  assert.equal(code, 3, `${stdout}${stderr}`);
  assert.equal(stdout, "");
  assert.match(stderr, /^scripdesk: [^\n]+\n$/);
  assert.match(stderr, why);
}

test("a DATA_DIR that cannot be a folder prints one line", async (t) => {
  const folder = await dataDirectory(t);
  await mkdir(folder, { recursive: true });
  const file = join(folder, "file");
  await writeFile(file, "");
  const run = commandsWith(t);
  for (const DATA_DIR of [file, join(file, "below"), "/dev/null/below"]) {
    const ended = await run(["serve"], { ...listening, DATA_DIR });
    assertCannotRun(ended, /DATA_DIR .* cannot be used/);
  }
});

test("a port that is taken is told before anything is made", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const DATA_DIR = await dataDirectory(t);
  const run = commandsWith(t, { ...listening, DATA_DIR });
  for (const name of ["PORT", "OPS_PORT"]) {
    assertCannotRun(
      await run(["serve"], { [name]: String(port) }),
      new RegExp(`cannot listen on .*:${port}: `),
    );
  }
  assert.deepEqual(await readdir(DATA_DIR).catch(() => []), []);
});

test("TLS files without certificate and key print one line", async (t) => {
  const DATA_DIR = await dataDirectory(t);
  await mkdir(DATA_DIR, { recursive: true });
  const path = join(DATA_DIR, "nonsense.pem");
  await writeFile(path, "not a certificate");
  const settings = { ...listening, DATA_DIR, TLS_CERT: path, TLS_KEY: path };
  assertCannotRun(await scripdesk(["serve"], settings), /TLS_CERT and TLS_KEY are no certificate/);
});

test("a command without a database reports it and creates none; keys issue creates one", async (t) => {
  const DATA_DIR = await dataDirectory(t);
  await mkdir(DATA_DIR, { recursive: true });
  const run = commandsWith(t, { DATA_DIR });
  for (const words of [["firms", "list"], ["doctor"], ["plans", "list"]]) {
    assertCannotRun(await run(words, {}), /there is no database in/);
  }
  assert.deepEqual(await readdir(DATA_DIR), []);
  const issue = ["keys", "issue", "--firm", "Acme", "--env", "sandbox", "--json"];
  const issued = await run(issue, {});
  assert.equal(issued.code, 0, issued.stderr);
  assert.equal((await run(["firms", "list"], {})).code, 0);
});

test("a first start that was interrupted while it created the database is repeated", async (t) => {
  const DATA_DIR = await dataDirectory(t);
  const command = join(import.meta.dirname, "../../cli/main.ts");
  const env = { PATH: process.env["PATH"] ?? "", ...listening, DATA_DIR };
  const first = spawn(process.execPath, [command, "serve"], { env, stdio: "ignore" });
  const ended = once(first, "close");
  const halfMade = async () =>
    (await readdir(DATA_DIR).catch(() => [])).filter((name) => name.includes(".making-"));
  for (let look = 0; look < 2_000 && (await halfMade()).length === 0; look++) await sleep(5);
  first.kill("SIGKILL");
  await ended;
  assert.equal((await readdir(DATA_DIR)).includes("postgres"), false, "it was interrupted in time");

  const service = await serve(t, { DATA_DIR });
  assert.equal((await service.send("GET", "/readyz")).status, 200);
  assert.deepEqual(await halfMade(), []);
});

test("a service refuses to start with a lost or wrong master key, and starts with its own", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const first = await serve(t, { DATA_DIR });
  first.signal("SIGTERM");
  assert.equal(await first.ended, 0);

  const path = join(DATA_DIR, "master.key");
  const own = await readFile(path, "utf8");
  const settings = { ...listening, DATA_DIR };
  const run = commandsWith(t, settings);
  await rm(path);
  assertCannotRun(await run(["serve"], {}), /master\.key is missing/);
  assertCannotRun(await run(["keys", "list"], {}), /master\.key is missing/);
  await writeFile(path, `${"ab".repeat(32)}\n`);
  assertCannotRun(await run(["serve"], {}), /is not the key that the data/);
  const given = { MASTER_KEY: "cd".repeat(32) };
  assertCannotRun(await run(["serve"], given), /MASTER_KEY is not the key that the data/);

  await writeFile(path, own);
  const again = await serve(t, { DATA_DIR });
  assert.equal((await again.send("GET", "/readyz")).status, 200);
});

test("after SIGTERM the service is not ready but serves; a second signal ends the wait", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const service = await serve(t, { DATA_DIR, DRAIN_S: "600" });
  let key = demoKeyIn(service.output.stdout);
  for (let look = 0; look < 400 && !key; look++) {
    await sleep(25);
    key = demoKeyIn(service.output.stdout);
  }
  service.signal("SIGTERM");
  let ready = await service.send("GET", "/readyz");
  for (let look = 0; look < 2_000 && ready.status === 200; look++) {
    await sleep(5);
    ready = await service.send("GET", "/readyz");
  }
  assert.equal(ready.status, 503);
  assert.equal((await service.send("GET", "/v1/whoami", { key })).status, 200);
  service.signal("SIGTERM");
  assert.equal(await service.ended, 0);
});

test("a socket folder of another owner is not used", async (t) => {
  const DATA_DIR = join(await dataDirectory(t), "deep".repeat(22));
  const cluster = join(DATA_DIR, "postgres");
  const digest = createHash("sha256").update(cluster).digest("hex").slice(0, 16);
  const planted = join(tmpdir(), `scripdesk-${digest}`);
  const elsewhere = await dataDirectory(t);
  await mkdir(elsewhere, { recursive: true, mode: 0o700 });
  await symlink(elsewhere, planted);
  t.after(() => rm(planted, { recursive: true, force: true }));
  const issue = ["keys", "issue", "--firm", "Acme", "--env", "sandbox"];
  assertCannotRun(await scripdesk(issue, { DATA_DIR }), /is not a closed folder/);
  assert.deepEqual(await readdir(elsewhere), []);

  await rm(planted);
  assert.equal((await scripdesk(issue, { DATA_DIR })).code, 0);
  const made = await lstat(planted);
  assert.equal(made.isDirectory() && made.mode & 0o777, 0o700);
});

test("an upgrade that is taken back: the older program names the version that it takes, and the backup starts", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const change = async (statements: string) => {
    const server = await openEmbedded({ dataDir: DATA_DIR, as: "visitor", create: false });
    const client = new pg.Client(server.connection);
    await client.connect();
    await client.query(statements);
    await client.end();
    await server.leave();
  };
  const run = commandsWith(t, { ...listening, DATA_DIR });
  const start = async (dataDir: string) => {
    const service = await serve(t, { DATA_DIR: dataDir });
    assert.equal((await service.send("GET", "/readyz")).status, 200);
    service.signal("SIGTERM");
    assert.equal(await service.ended, 0);
  };
  await start(DATA_DIR);
  await change(`alter table schema_migrations drop column version;
    delete from schema_migrations where file like '%-version-of-each-migration.sql'`);
  const backup = join(DATA_DIR, "before");
  const backedUp = await run(["backup", backup, "--with-key", "--json"], {});
  assert.equal(backedUp.code, 0, backedUp.stderr);

  await start(DATA_DIR);
  await change(`insert into schema_migrations (file, checksum, version)
    values ('9999-of-tomorrow.sql', '', '9.0.0')`);
  const why =
    /newer version migrated this database \(9999-of-tomorrow\.sql\): run 9\.0\.0 or later/;
  for (const words of [["serve"], ["migrate"], ["keys", "list"]]) {
    assertCannotRun(await run(words, {}), why);
  }

  const restored = await dataDirectory(t);
  const ended = await run(["restore", backup, "--json"], { DATA_DIR: restored });
  assert.equal(ended.code, 0, ended.stderr);
  await start(restored);
});

// Encrypted wires of a process: to PostgreSQL, and for operators beside figures of their own.

import assert from "node:assert/strict";
import { appendFile, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import pg from "pg";
import { Agent, request } from "undici";

import { findBinaries, openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { chooseUser, runProgram } from "../../src/platform/postgres/run-as.ts";
import { selfSignedCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free-port.ts";
import { commandsWith, dataDirectory, serve } from "../support/process.ts";
import { scratchFolder } from "../support/scratch.ts";

const certificate = await selfSignedCertificate();
const skip = certificate ? false : "no openssl on this machine";
const { cert, key } = certificate ?? { cert: Buffer.of(), key: Buffer.of() };

/** A server that takes connections by TLS only, in a cluster of its own. */
async function startTlsServer(t: TestContext) {
  const dataDir = await scratchFolder("scripdesk-tls-");
  const made = await openEmbedded({ dataDir, as: "visitor", create: true });
  await made.leave();
  const cluster = join(dataDir, "postgres");
  const { pg_ctl, postgres } = await findBinaries();
  const user = await chooseUser(cluster, postgres);
  const keep = async (name: string, text: Buffer) => {
    const path = join(cluster, name);
    await writeFile(path, text, { mode: 0o600 });
    if (user.uid !== undefined) await chown(path, user.uid, user.gid ?? user.uid);
    return path;
  };
  const port = await freePort();
  const files = [await keep("own.crt", cert), await keep("own.key", key)];
  await writeFile(join(cluster, "pg_hba.conf"), "hostssl all all samehost trust\n");
  const ssl = `-c ssl=on -c ssl_cert_file=${files[0]} -c ssl_key_file=${files[1]}`;
  const place = `-c port=${port} -c listen_addresses=localhost -c unix_socket_directories=${cluster}`;
  const control = (...words: string[]) =>
    runProgram(user, pg_ctl, [...words, "--wait", "--silent", `--pgdata=${cluster}`]);
  const log = `--log=${join(cluster, "startup.log")}`;
  const started = await control("start", log, `--options=${ssl} ${place} -c fsync=off`);
  assert.equal(started.code, 0, started.lastLine);
  t.after(async () => {
    await control("stop", "--mode=immediate");
    await rm(dataDir, { recursive: true, force: true });
  });
  const url = (query: string) => `postgres://scripdesk@localhost:${port}/scripdesk?${query}`;
  return { url, keep };
}

test(
  "with sslmode=verify-full and a CA the service reaches the server that it proves, and no other",
  { skip },
  async (t) => {
    const { url, keep } = await startTlsServer(t);
    const folder = await scratchFolder("scripdesk-ca-");
    t.after(() => rm(folder, { recursive: true }));
    const ca = join(folder, "ca.pem");
    await writeFile(ca, cert);
    const other = join(folder, "other.pem");
    await writeFile(other, (await selfSignedCertificate())?.cert ?? "");
    const MASTER_KEY = "5c".repeat(32);
    const verified = (file: string) => url(`sslmode=verify-full&sslrootcert=${file}`);

    const service = await serve(t, { DATABASE_URL: verified(ca), MASTER_KEY });
    await service.send("GET", "/readyz", { expect: 200 });
    const admin = new pg.Client(verified(ca));
    await admin.connect();
    const { rows } = await admin.query(
      `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
       where application_name like 'scripdesk%'`,
    );
    assert.deepEqual(rows, [{ ssl: true }]);
    service.signal("SIGTERM");
    assert.equal(await service.ended, 0);

    const run = commandsWith(t, { MASTER_KEY });
    const attempt = async (DATABASE_URL: string) => {
      const { code, stderr } = await run(["keys", "list"], { DATABASE_URL });
      assert.equal(code, 3);
      return stderr;
    };
    const unproved = /^scripdesk: the database cannot be reached: [^\n]+\n$/;
    for (const DATABASE_URL of [
      verified(other),
      url("sslmode=verify-full"),
      url("sslmode=disable"),
    ]) {
      assert.match(await attempt(DATABASE_URL), unproved, DATABASE_URL);
    }
    const named = await selfSignedCertificate("db.elsewhere.example");
    assert.ok(named);
    await Promise.all([keep("own.crt", named.cert), keep("own.key", named.key)]);
    await admin.query("select pg_reload_conf()");
    await admin.end();
    await appendFile(ca, named.cert);
    assert.match(await attempt(verified(ca)), /does not match certificate/);
  },
);

test(
  "operators are served by https with a certificate, and figures at an address of their own",
  { skip },
  async (t) => {
    const DATA_DIR = await dataDirectory(t, { isMigrated: true });
    await mkdir(DATA_DIR, { recursive: true });
    const files = {
      OPS_TLS_CERT: join(DATA_DIR, "ops.crt"),
      OPS_TLS_KEY: join(DATA_DIR, "ops.key"),
    };
    await writeFile(files.OPS_TLS_CERT, cert);
    await writeFile(files.OPS_TLS_KEY, key);
    const [ops, figures] = [await freePort(), await freePort()];
    const ports = { OPS_PORT: String(ops), METRICS_PORT: String(figures) };
    await serve(t, { DATA_DIR, ...files, ...ports });

    const dispatcher = new Agent({ connect: { ca: cert } });
    t.after(() => dispatcher.close());
    const look = async (origin: string, path: string) => {
      const { statusCode, headers, body } = await request(`${origin}${path}`, { dispatcher });
      return { status: statusCode, headers, text: await body.text() };
    };
    const people = `https://localhost:${ops}`;
    const console = await look(people, "/console");
    assert.equal(console.status, 200);
    assert.equal(console.headers["strict-transport-security"], "max-age=31536000");
    assert.equal((await look(people, "/ops/openapi.json")).status, 200);
    assert.equal((await look(people, "/metrics")).status, 404);
    const told = await look(`http://127.0.0.1:${figures}`, "/metrics");
    assert.match(told.text, /^scripdesk_database_stalled 0$/m);
    for (const path of ["/ops/openapi.json", "/console", "/v1/whoami"]) {
      assert.equal((await look(`http://127.0.0.1:${figures}`, path)).status, 404, path);
    }
    await assert.rejects(look(`http://localhost:${ops}`, "/console"), "plain http is not taken");
  },
);

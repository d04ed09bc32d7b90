// PgBouncer, as Debian has it, between the service and its database.

import assert from "node:assert/strict";
import { chown, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import pg from "pg";

import { pgbouncerUsers, type PoolMode, poolerSettings } from "../faults/cluster-config.ts";
import { startDaemon } from "../faults/daemon.ts";
import { eventually } from "../faults/acked-orders.ts";
import { debianFile } from "../support/debian-program.ts";
import { hasOldest, owner, startOldest, unprivilegedUser } from "../support/external-postgres.ts";
import { freePort } from "../support/free-port.ts";
import { scripdesk, serve, type Settings } from "../support/process.ts";
import { scratchFolder } from "../support/scratch.ts";

const program = await debianFile("/usr/sbin/pgbouncer", "pgbouncer");
const missing = hasOldest ? false : "Debian's PostgreSQL 15 is not installed";
const skip = "missing" in program ? program.missing : missing;

async function openPooled(t: TestContext, mode: PoolMode): Promise<Settings> {
  const { connection } = await startOldest(t);
  const admin = new pg.Client({ ...connection, database: "postgres" });
  await admin.connect();
  await admin.query("create database scripdesk");
  await admin.end();
  const folder = await scratchFolder("scripdesk-pooler-");
  t.after(() => rm(folder, { recursive: true, force: true }));
  const user = await unprivilegedUser();
  if (user) await chown(folder, user.uid, user.gid);
  const port = await freePort();
  const databases = `* = host=${connection.host} port=${connection.port}`;
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, poolerSettings({ folder, mode, port, databases }));
  await writeFile(join(folder, "users"), pgbouncerUsers);
  const log = join(folder, "log");
  await startDaemon(t, { path: "/usr/sbin/pgbouncer", words: [file], user, log });
  return {
    DATABASE_URL: `postgres://${owner}@127.0.0.1:${port}/scripdesk`,
    MASTER_KEY: "5c".repeat(32),
    OPS_PORT: "off",
  };
}

test(
  "the service runs through PgBouncer in session mode, under its own role",
  { skip },
  async (t) => {
    const env = await openPooled(t, "session");
    const words = ["keys", "issue", "--firm", "Pooled", "--env", "sandbox", "--json"];
    const issued = await eventually(
      async () => {
        const ended = await scripdesk(words, env);
        return ended.code === 0 ? ended : undefined;
      },
      "a key",
      20,
    );
    const { api_key: key } = JSON.parse(issued.stdout) as { api_key: string };
    const node = await serve(t, env);
    const seed = { key, body: { count: 20 }, expect: 200 };
    const { scrip_nos } = (await node.send("POST", "/v1/sandbox/credits:seed", seed)).body;
    const sell = (scrip_no: string) =>
      node.send("POST", "/v1/orders", { key, body: { side: "sell", scrip_no } });
    const statuses = await Promise.all(scrip_nos.map(sell));
    assert.ok(statuses.some(({ status }) => status === 201));
    assert.ok(statuses.every(({ status }) => status < 500));
    const { stdout } = await scripdesk(["doctor", "--json"], env);
    const findings = JSON.parse(stdout) as { check: string; found: string }[];
    const role = findings.find(({ check }) => check === "database role");
    assert.equal(role?.found, "scripdesk_app");
  },
);

test("a pooler in transaction mode is refused at the start, in one line", { skip }, async (t) => {
  const env = await openPooled(t, "transaction");
  const { code, stderr } = await eventually(
    async () => {
      const ended = await scripdesk(["serve"], env);
      return /ECONNREFUSED/.test(ended.stderr) ? undefined : ended;
    },
    "an answer",
    20,
  );
  assert.equal(code, 3);
  assert.match(stderr, /^scripdesk: DATABASE_URL leads to a pooler in transaction mode.*\n$/);
});

// The service as a process: how it starts, how it ends and what it survives.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import pg from "pg";

import { hasOldest, oldestBinaries, owner, startOldest } from "../support/external-postgres.ts";
import {
  commandsWith,
  dataDirectory,
  demoKeyIn,
  postgresPid,
  type Running,
  type RunWith,
  scripdesk,
  serve,
  type Settings,
} from "../support/process.ts";

const attemptsMax = 300;
const attemptPauseMs = 100;

/** Tries until the work says that it is done; the bound only ends a test that would hang. */
async function eventually(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (await isDone()) return;
    await sleep(attemptPauseMs);
  }
  assert.fail(`${what} did not happen`);
}

function readDemoKey({ output }: Running): string {
  const key = demoKeyIn(output.stdout);
  assert.ok(key, output.stdout);
  return key;
}

/** How many credits the sandbox's house has. */
async function countStock(settings: Settings, run: RunWith): Promise<number> {
  const words = ["inventory", "list", "--env", "sandbox", "--limit", "10000", "--json"];
  return JSON.parse((await run(words, settings)).stdout).length;
}

test("the first start shows where its key is and a first call that works; SIGTERM stops everything; the next start shows none", async (t) => {
  const DATA_DIR = await dataDirectory(t);
  const first = await serve(t, { DATA_DIR, OPS_PORT: "0" });
  await eventually("the introduction", async () => first.output.stdout.includes("API reference"));
  const key = readDemoKey(first);
  assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  // What is not a terminal is a log: it has the path, and only its owner reads the file.
  assert.ok(!first.output.stdout.includes(key) && !first.output.stderr.includes(key));
  assert.equal((await stat(join(DATA_DIR, "demo-key"))).mode & 0o777, 0o600);
  const [, call = ""] = /^ {2}(curl -s \S+\/v1\/whoami .*)$/m.exec(first.output.stdout) ?? [];
  const { stdout } = await promisify(execFile)("sh", ["-c", call]);
  assert.equal((JSON.parse(stdout) as { environment: string }).environment, "sandbox");
  await first.send("GET", "/readyz", { expect: 200 });
  const [, page = ""] = /^console for operators on (\S+)$/m.exec(first.output.stdout) ?? [];
  assert.match(await (await fetch(page)).text(), /<title>.*console/i);
  assert.match(first.output.stdout, /^the first person: npx scripdesk operators add /m);

  first.signal("SIGTERM");
  assert.equal(await first.ended, 0);
  assert.equal(first.output.stderr, "");
  assert.equal(await postgresPid(DATA_DIR), undefined);

  const second = await serve(t, { DATA_DIR });
  await second.send("GET", "/v1/whoami", { key, expect: 200 });
  second.signal("SIGINT");
  assert.equal(await second.ended, 0);
  assert.equal(demoKeyIn(second.output.stdout), undefined);
  assert.equal(second.output.stdout, `scripdesk listens on ${second.url}\n`);
  assert.equal(await postgresPid(DATA_DIR), undefined);
});

test("a service that was killed starts again on the database it left running", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const killed = await serve(t, { DATA_DIR });
  await eventually("the introduction", async () => demoKeyIn(killed.output.stdout) !== undefined);
  const key = readDemoKey(killed);
  await killed.send("GET", "/v1/whoami", { key, expect: 200 });
  killed.signal("SIGKILL");
  assert.equal(await killed.ended, null);
  assert.ok(await postgresPid(DATA_DIR), "the database outlives the service");

  const run = commandsWith(t, { DATA_DIR });
  const stock = await countStock({}, run);
  assert.ok(stock > 0, "the sandbox's house has something to sell");

  const again = await serve(t, { DATA_DIR });
  assert.equal(await countStock({}, run), stock, "it is stocked once");
  const { body } = await again.send("GET", "/v1/usage", { key, expect: 200 });
  assert.equal(body.quota_used, 2, "what was counted before is still counted");
  again.signal("SIGTERM");
  assert.equal(await again.ended, 0);
  assert.equal(await postgresPid(DATA_DIR), undefined);
});

test("one DATA_DIR has one service; commands run beside it and take effect at once", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const service = await serve(t, { DATA_DIR });
  const run = commandsWith(t, { DATA_DIR });
  const second = await scripdesk(["serve"], { DATA_DIR, PORT: "0", OPS_PORT: "off" });
  assert.equal(second.code, 3);
  assert.equal(second.stdout, "");
  assert.equal(
    second.stderr,
    `scripdesk: another scripdesk service is already running on ${DATA_DIR}\n`,
  );

  const words = ["keys", "issue", "--firm", "Beside", "--env", "sandbox", "--json"];
  const { api_key: key, key_id } = JSON.parse((await run(words, {})).stdout);
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
  const revoked = await run(["keys", "revoke", key_id], {});
  assert.equal(revoked.code, 0);
  await service.send("GET", "/v1/whoami", { key, expect: 401 });
  assert.ok(
    await postgresPid(DATA_DIR),
    "a command that leaves does not stop the service's database",
  );
});

test("a taken port prints one line and exits with 3, and the database is stopped", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const settings = { DATA_DIR, PORT: String(port), OPS_PORT: "off", LOG_LEVEL: "warn" };
  const { code, stdout, stderr } = await scripdesk(["serve"], settings);
  assert.equal(code, 3);
  assert.equal(stdout, "");
  assert.match(stderr, /^scripdesk: cannot listen on 127\.0\.0\.1:\d+: [^\n]+\n$/);
  assert.equal(await postgresPid(DATA_DIR), undefined);
});

test("a request in progress at SIGTERM is answered", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const service = await serve(t, { DATA_DIR });
  await eventually("the introduction", async () => demoKeyIn(service.output.stdout) !== undefined);
  const key = readDemoKey(service);
  const { port } = new URL(service.url);
  const body = JSON.stringify({ name: "late", kind: "app", scopes: ["quote"] });

  const socket = connect(Number(port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(
    "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      `X-Service-Key: ${key}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await eventually("the go-ahead", async () => answer.startsWith("HTTP/1.1 100"));
  service.signal("SIGTERM");
  // From here on nobody new gets in.
  await eventually("the end of listening", async () => !(await accepts(Number(port))));
  socket.write(body);
  await once(socket, "close");
  assert.match(answer, /\r\n\r\nHTTP\/1\.1 201 /);
  assert.match(answer, /\r\nconnection: close\r\n/i, "nothing waits for a connection that is done");
  const keyId = /"key_id":"(key_\w+)"/.exec(answer)?.[1];
  assert.ok(keyId);
  assert.equal(await service.ended, 0);

  const listed = await scripdesk(["keys", "list", "--json"], { DATA_DIR });
  assert.ok(listed.stdout.includes(keyId), "what was answered was kept");
});

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test("a running service recovers when its database is killed", async (t) => {
  const DATA_DIR = await dataDirectory(t, { isMigrated: true });
  const service = await serve(t, { DATA_DIR, LOG_LEVEL: "silent" });
  await eventually("the introduction", async () => demoKeyIn(service.output.stdout) !== undefined);
  const key = readDemoKey(service);
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
  const pid = await postgresPid(DATA_DIR);
  assert.ok(pid);
  process.kill(pid, "SIGKILL");

  const statuses = new Set<number>();
  await eventually("recovery", async () => {
    const { status } = await service.send("GET", "/v1/whoami", { key });
    statuses.add(status);
    return status === 200 && (await postgresPid(DATA_DIR)) !== pid;
  });
  for (const status of statuses) {
    assert.ok(status === 200 || status === 500, `${status} is not worth a retry`);
  }
  service.signal("SIGTERM");
  assert.equal(await service.ended, 0);
  assert.equal(await postgresPid(DATA_DIR), undefined);
});

const skip = hasOldest ? false : `${oldestBinaries} is not installed`;

test(
  "the service runs on PostgreSQL 15, as owner and as a role that cannot create roles",
  { skip },
  async (t) => {
    const cluster = await startOldest(t);
    const admin = new pg.Client(cluster.url("postgres", owner));
    await admin.connect();
    await admin.query("create database owned");
    await admin.query("create role plain login");
    await admin.query("create database plain owner plain");
    await admin.end();

    const run = commandsWith(t);
    const roles = { owned: [owner, "scripdesk_app"], plain: ["plain", null] } as const;
    for (const [database, [role, runsAs]] of Object.entries(roles)) {
      const settings = {
        DATABASE_URL: cluster.url(database, role),
        MASTER_KEY: "5c".repeat(32),
      };
      const migrated = await run(["migrate", "--json"], settings);
      assert.equal(migrated.code, 0, migrated.stderr);
      assert.equal(JSON.parse(migrated.stdout).role, runsAs);

      const service = await serve(t, settings);
      await service.send("GET", "/readyz", { expect: 200 });
      assert.ok((await countStock(settings, run)) > 0, "the sandbox's house has something to sell");
      const words = ["keys", "issue", "--firm", "Old Hands", "--env", "live", "--json"];
      const issued = await run(words, settings);
      assert.equal(issued.code, 0, issued.stderr);
      const { api_key: key, key_id } = JSON.parse(issued.stdout);
      const me = await service.send("GET", "/v1/whoami", { key, expect: 200 });
      assert.equal(me.body.key_id, key_id);
      const body = { name: "child", kind: "app", scopes: ["quote"] };
      const child = await service.send("POST", "/v1/keys", { key, body, expect: 201 });
      await service.send("DELETE", `/v1/keys/${child.body.key_id}`, { key, expect: 200 });
      await service.send("GET", "/v1/whoami", { key: child.body.api_key, expect: 401 });
      const usage = await service.send("GET", "/v1/usage", { key, expect: 200 });
      assert.equal(usage.body.quota_used, 4);
      service.signal("SIGTERM");
      assert.equal(await service.ended, 0);
      assert.equal(
        demoKeyIn(service.output.stdout),
        undefined,
        "no key is made on another's server",
      );
    }
  },
);

// What a call without a key costs: bytes that are at hand, or the budget of the address and its neighbourhood.

import assert from "node:assert/strict";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { test, type TestContext } from "node:test";
import zlib from "node:zlib";

import { pino } from "pino";

import type { Context } from "../../src/platform/context.ts";
import { prepareConstants } from "../../src/platform/http/constants.ts";
import { healthRoutes } from "../../src/platform/http/health.ts";
import { readMigrations } from "../../src/platform/postgres/migrate.ts";
import { createServer } from "../../src/platform/http/server.ts";
import { buildOpsApp } from "../../src/ops-app.ts";
import { openLocalRateWindow } from "../../src/access/rate-window.ts";
import { readConfig } from "../../src/config.ts";
import { type Service, startService } from "../support/service.ts";

const encodings = ["identity", "gzip", "br"];
const calls = 20;

/** Counts hashes, compressions and statements from now on. */
function countWork(t: TestContext, { db }: Pick<Context, "db">): () => number {
  const counted = [
    t.mock.method(crypto, "createHash"),
    t.mock.method(crypto, "hash"),
    t.mock.method(zlib, "gzip"),
    t.mock.method(zlib, "brotliCompress"),
    ...(["rows", "run", "pipeline", "transaction"] as const).map((name) => t.mock.method(db, name)),
  ];
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.reset(); // Timers too: what is mocked now would stay so for imports of later files.
    syncBuiltinESMExports();
  });
  return () => counted.reduce((sum, { mock }) => sum + mock.callCount(), 0);
}

/** Every page, file and document, with and without a copy at hand; returns how many calls that were. */
async function readConstants(app: Service["app"]): Promise<number> {
  const paths = app.routes
    .filter(({ method, config }) => method === "GET" && config.keyless === "constant")
    .map(({ path }) => path.replace("*", "x"));
  let asked = 0;
  for (const url of paths) {
    for (const encoding of encodings) {
      const headers = { "accept-encoding": encoding };
      const whole = await app.inject({ url, headers });
      const etag = whole.headers.etag ?? "";
      assert.ok([200, 301].includes(whole.statusCode), url);
      asked += 1;
      if (whole.statusCode !== 200) continue;
      assert.notEqual(etag, "", url);
      const held = await app.inject({ url, headers: { ...headers, "if-none-match": etag } });
      assert.deepEqual([held.statusCode, held.rawPayload.length], [304, 0], url);
      asked += 1;
    }
  }
  return asked;
}

test("what is constant is hashed and compressed once, and no call does it again", async (t) => {
  const { app, ctx } = await startService(t);
  const counted = countWork(t, ctx);
  await app.ready();
  await prepareConstants([app]);
  const prepared = counted();
  assert.ok(prepared > 0, "the work is counted");
  assert.ok((await readConstants(app)) > 100);
  assert.equal(counted(), prepared);
});

test("the same holds for the console and the operators' document", async (t) => {
  const { ctx, metrics, clock } = await startService(t);
  const window = openLocalRateWindow(clock.elapsedMs);
  const app = await buildOpsApp({ ctx, metrics, window, config: readConfig({}) });
  t.after(() => app.close());
  await app.ready();
  await prepareConstants([app]);
  const counted = countWork(t, ctx);
  assert.ok((await readConstants(app)) > 50);
  assert.equal(counted(), 0);
});

test("without preparation the first who asks has it made, also when many ask at once", async (t) => {
  const { app, ctx } = await startService(t);
  await app.ready();
  const counted = countWork(t, ctx);
  const ask = () => app.inject({ url: "/", headers: { "accept-encoding": "br" } });
  await Promise.all(Array.from({ length: calls }, ask));
  assert.equal(counted(), 2, "one hash, one compression");
});

/** A database that is asked for rows and for nothing else. */
function buildDatabase(rows: () => Promise<unknown[]>): Context["db"] {
  return { rows, run: rows, pipeline: rows, transaction: rows } as unknown as Context["db"];
}

/** A bare server with the health routes, on a database that answers as told. */
async function startHealth(t: TestContext, rows: () => Promise<unknown[]>) {
  const draining = new AbortController();
  const log = pino({ level: "silent" });
  const app = createServer({
    log,
    now: () => new Date(0),
    trustProxy: [],
    tls: undefined,
    inFlightMax: 100,
  });
  t.after(() => app.close());
  healthRoutes(app, { db: buildDatabase(rows) }, { draining: draining.signal });
  await app.ready();
  const ready = async () => (await app.inject("/readyz")).json<{ status: string }>();
  return { app, draining, ready };
}

const pending = { status: "not_ready", reason: "1 migrations to apply" };
const silent = { status: "not_ready", reason: "the database does not answer" };

test("any number of readiness calls makes one look, until the next is due", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const rows = t.mock.fn(async () => [] as unknown[]);
  const { app, ready } = await startHealth(t, rows);
  const answers = await Promise.all(Array.from({ length: calls }, ready));
  for (const answer of answers) assert.equal(answer.status, "not_ready");
  const counted = countWork(t, { db: buildDatabase(rows) });
  for (let call = 0; call < calls; call++) await ready();
  for (let call = 0; call < calls; call++) await app.inject("/healthz");
  assert.deepEqual([rows.mock.callCount(), counted()], [1, 0]);
});

test("a database that is lost or falls silent is seen by the next look, and so is its return", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const applied = (await readMigrations()).map(({ file }) => ({ file }));
  let answer: () => Promise<unknown[]> = async () => applied;
  const { ready } = await startHealth(t, () => answer());
  const lookAgain = async () => {
    t.mock.timers.tick(1_000);
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  };
  assert.deepEqual(await ready(), { status: "ready" });
  answer = async () => await Promise.reject(new Error("gone"));
  assert.deepEqual(await ready(), { status: "ready" }, "nothing was looked up for this call");
  await lookAgain();
  assert.deepEqual(await ready(), silent);
  answer = async () => applied.slice(1);
  await lookAgain();
  assert.deepEqual(await ready(), pending);
  answer = () => new Promise(() => {});
  await lookAgain();
  t.mock.timers.tick(3_000);
  await lookAgain();
  assert.deepEqual(await ready(), silent);
});

test("a process that drains is not ready from the next call on", async (t) => {
  const { draining, ready } = await startHealth(t, async () => []);
  assert.equal((await ready()).status, "not_ready");
  draining.abort();
  assert.deepEqual(await ready(), { status: "not_ready", reason: "shutting down" });
});

test("looks end when nobody asks any more, and begin anew with the next call", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const rows = t.mock.fn(async () => [] as unknown[]);
  const { ready } = await startHealth(t, rows);
  await ready();
  for (let look = 0; look < 200; look++) {
    t.mock.timers.tick(1_000);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  }
  const looks = rows.mock.callCount();
  assert.ok(looks < 100, `${looks} looks`);
  // Whoever comes while the new look is under way is not told what the last one found.
  rows.mock.mockImplementation(async () => await Promise.reject(new Error("gone")));
  for (const answer of await Promise.all([ready(), ready()])) assert.deepEqual(answer, silent);
  assert.equal(rows.mock.callCount(), looks + 1);
});

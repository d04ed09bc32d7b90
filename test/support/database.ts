import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";

import pg from "pg";

import { type Database, openDatabase } from "../../src/platform/postgres/postgres.ts";
import { lendDatabase, spoil } from "./lent-database.ts";
import { runAfter } from "./scope.ts";
import { serverVariable, templateDatabase } from "./server.ts";

/** Where this process's server is; the global setup of `npm test` has started it. */
export function testServer(): pg.ClientConfig {
  const text = process.env[serverVariable];
  if (!text) throw new Error("run tests with `npm run test:only` (it starts PostgreSQL for them)");
  const servers = JSON.parse(text) as pg.ClientConfig[];
  // Node numbers the processes that run test files at once, from 1.
  const worker = Number(process.env["NODE_TEST_WORKER_ID"] ?? 1);
  return servers[(worker - 1) % servers.length] ?? {};
}

type Scope = Pick<TestContext, "after">;

type DatabaseOptions = {
  readonly template?: string;
  readonly waits?: pg.ClientConfig;
  /** One that no test had before, for tests of what PostgreSQL does with it. */
  readonly isNew?: boolean;
};

/** For tests of who is first: on a slow machine, too, nobody is refused because a wait was too long. */
export const patient: pg.ClientConfig = {
  statement_timeout: 300_000,
  lock_timeout: 300_000,
  idle_in_transaction_session_timeout: 300_000,
  connectionTimeoutMillis: 300_000,
};

/** An empty, migrated database of this test's own, for as long as the test runs. */
export async function testDatabase(
  t: Scope,
  { template = templateDatabase, waits, isNew = false }: DatabaseOptions = {},
): Promise<{ db: Database; connection: pg.ClientConfig }> {
  if (!isNew && template === templateDatabase && waits === undefined) {
    const { db, giveBack } = await lendDatabase({ make: () => make(template), drop });
    runAfter(t, giveBack);
    return {
      db,
      get connection() {
        spoil(db); // Who connects for itself may do anything.
        return { ...testServer(), database: db.pool.options.database };
      },
    };
  }
  const connection = await make(template);
  const db = openDatabase({
    connection: { ...connection, ...waits },
    role: "scripdesk_app",
    onIdleError() {},
  });
  runAfter(t, async () => {
    await db.close();
    await drop(connection);
  });
  return { db, connection };
}

async function make(template: string): Promise<pg.ClientConfig> {
  const name = `scripdesk_${randomBytes(6).toString("hex")}`;
  await findAdmin().query(`create database ${name} template ${template} strategy file_copy`);
  return { ...testServer(), database: name };
}

async function drop({ database }: pg.ClientConfig): Promise<void> {
  await findAdmin().query(`drop database ${database} with (force)`);
}

/** Connections of another process to the database of a test. */
export function connectAgain(t: Scope, { pool }: Database, waits?: pg.ClientConfig): Database {
  const connection = { ...testServer(), database: pool.options.database, ...waits };
  const db = openDatabase({ connection, role: "scripdesk_app", onIdleError() {} });
  runAfter(t, () => db.close());
  return db;
}

/** Cuts a database off, as an outage does, or lets it be reached again. */
export async function setReachable({ pool }: Database, reachable: boolean): Promise<void> {
  spoil({ pool });
  const { database } = pool.options;
  await findAdmin().query(`alter database ${database} allow_connections ${reachable}`);
  if (reachable) return;
  // Waits until they are gone: a connection that is still ending may be lent once more.
  const terminate =
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1";
  await findAdmin().query(terminate, [database]);
}

/** Works on a database as the role that owns it and may do everything. */
export async function asOwner<Result>(
  { pool }: Database,
  work: (owner: pg.Client) => Promise<Result>,
): Promise<Result> {
  spoil({ pool });
  const owner = new pg.Client({ ...testServer(), database: pool.options.database });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

let admin: pg.Pool | undefined;

/** Connections to the server's own database, kept because every test creates and drops a database. */
function findAdmin(): pg.Pool {
  if (admin) return admin;
  admin = new pg.Pool({ ...testServer(), max: 4, idleTimeoutMillis: 0, allowExitOnIdle: true });
  admin.on("error", () => {}); // The pool opens another one.
  return admin;
}

/** The address of a database whose server listens on a socket in a folder. */
export function databaseUrl({ host, port, user, database }: pg.ClientConfig): string {
  const query = new URLSearchParams({ host: String(host), port: String(port), user: String(user) });
  return `postgres:///${database}?${query.toString()}`;
}

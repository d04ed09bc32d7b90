// The PostgreSQL of a test run: throw-away embedded servers, each with a migrated template database
// that every test clones in a few milliseconds.
//
// Every process that runs test files has a server of its own, because a snapshot counts the
// transactions of all databases of its server: what one file holds open, another would wait for. The
// folder they are copies of is kept for tests that start a service on a folder of their own.

import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { migrate } from "../../src/platform/postgres/migrate.ts";
import { scratchFolder } from "./scratch.ts";

export const templateDatabase = "scripdesk_template";
/** The servers, as a list of connections in JSON. */
export const serverVariable = "SCRIPDESK_TEST_SERVERS";
export const migratedVariable = "SCRIPDESK_TEST_MIGRATED";

export type TestServers = {
  readonly connections: readonly pg.ClientConfig[];
  /** A DATA_DIR whose database is migrated and empty, to be copied. */
  readonly migratedDir: string;
  readonly stop: () => Promise<void>;
};

export type TestServer = Pick<TestServers, "stop"> & { readonly connection: pg.ClientConfig };

/** Nothing here has to outlive its machine. */
const perishable = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_wal_size: "256MB",
};

export async function startTestServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const { connections, stop } = await startTestServers(1, settings);
  return { connection: connections[0] ?? {}, stop };
}

export async function startTestServers(
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServers> {
  const folder = await scratchFolder("scripdesk-test-");
  const migratedDir = join(folder, "migrated");
  const open = async (dataDir: string) =>
    await openEmbedded({
      dataDir,
      as: "visitor",
      create: true,
      settings: { ...perishable, ...settings },
    });
  const maker = await open(migratedDir);
  await migrate(maker.connection);
  await maker.leave();
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const dataDir = join(folder, `run-${at + 1}`);
      await copyFolder(migratedDir, dataDir);
      return await open(dataDir);
    }),
  );
  const make = `create database ${templateDatabase} template ${maker.connection.database}`;
  const connections = servers.map((server) => ({ ...server.connection, database: "postgres" }));
  await Promise.all(connections.map((connection) => asAdmin(connection, make)));
  return {
    connections,
    migratedDir,
    async stop() {
      await Promise.all(servers.map((server) => server.leave()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The database that those of tests are copies of, on a server that has none. */
export async function makeTemplate(connection: pg.ClientConfig): Promise<void> {
  await asAdmin(connection, `create database ${templateDatabase}`);
  await migrate({ ...connection, database: templateDatabase });
}

async function asAdmin(connection: pg.ClientConfig, statement: string): Promise<void> {
  const admin = new pg.Client(connection);
  await admin.connect();
  await admin.query(statement);
  await admin.end();
}

/** With the owners of its files: PostgreSQL may run as another user than the tests. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]);
}

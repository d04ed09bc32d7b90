// The PostgreSQL of a test run: throw-away embedded servers, each with a migrated template database
// that every test clones in a few milliseconds.
//
// Every process that runs test files has a server of its own, because a snapshot counts the
// transactions of all databases of its server: what one file holds open, another would wait for. The
// folder they are copies of also serves tests that start a service on a folder of their own.

import { rm } from "node:fs/promises";
import { join } from "node:path";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { migrate } from "../../src/platform/postgres/migrate.ts";
import { findMigratedFolder, perishable } from "./migrated-folder.ts";
import { copyFolder, scratchFolder } from "./scratch.ts";

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
  const migratedDir = await findMigratedFolder();
  const folder = await scratchFolder("scripdesk-test-");
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const dataDir = join(folder, `run-${at + 1}`);
      await copyFolder(migratedDir, dataDir);
      const all = { ...perishable, ...settings };
      return await openEmbedded({ dataDir, as: "visitor", create: true, settings: all });
    }),
  );
  const connections = servers.map((server) => ({ ...server.connection, database: "postgres" }));
  await Promise.all(
    servers.map(async ({ connection }) => {
      const make = `create database ${templateDatabase} template ${connection.database}`;
      await asAdmin({ ...connection, database: "postgres" }, make);
      // The first connection to a database writes down what each one has to know of the catalogue;
      // copies of the database have it too.
      await asAdmin({ ...connection, database: templateDatabase }, "select 1");
    }),
  );
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

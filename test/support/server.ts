// The PostgreSQL of a test run: one throw-away embedded server, with a migrated template database
// that every test file clones in a few milliseconds.

import { rm } from "node:fs/promises";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { migrate } from "../../src/platform/postgres/migrate.ts";
import { scratchFolder } from "./scratch.ts";

export const templateDatabase = "scripdesk_template";
export const serverVariable = "SCRIPDESK_TEST_SERVER";

export type TestServer = { readonly connection: pg.ClientConfig; stop(): Promise<void> };

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
  const dataDir = await scratchFolder("scripdesk-test-");
  const server = await openEmbedded({
    dataDir,
    as: "visitor",
    create: true,
    settings: { ...perishable, ...settings },
  });
  const connection = { ...server.connection, database: "postgres" };
  await makeTemplate(connection);
  return {
    connection,
    async stop() {
      await server.leave();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The database that those of tests are copies of. */
export async function makeTemplate(connection: pg.ClientConfig): Promise<void> {
  const admin = new pg.Client(connection);
  await admin.connect();
  await admin.query(`create database ${templateDatabase}`);
  await migrate({ ...connection, database: templateDatabase });
  await admin.end();
}

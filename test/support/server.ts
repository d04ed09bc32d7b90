// The PostgreSQL of a test run: one throw-away embedded server, with a migrated template database
// that every test file clones in a few milliseconds.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pg from "pg";

import { openEmbedded } from "../../src/platform/embedded.ts";
import { migrate } from "../../src/platform/migrate.ts";

export const templateDatabase = "scripdesk_template";
export const serverVariable = "SCRIPDESK_TEST_SERVER";

export type TestServer = { readonly connection: pg.ClientConfig; stop(): Promise<void> };

export async function startTestServer(
  settings: Readonly<Record<string, string>> = { fsync: "off", synchronous_commit: "off" },
): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-test-"));
  const server = await openEmbedded({ dataDir, as: "visitor", settings });
  const connection = { ...server.connection, database: "postgres" };
  const admin = new pg.Client(connection);
  await admin.connect();
  await admin.query(`create database ${templateDatabase}`);
  await migrate({ ...connection, database: templateDatabase });
  await admin.end();
  return {
    connection,
    async stop() {
      await server.leave();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

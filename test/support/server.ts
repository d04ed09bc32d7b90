// The PostgreSQL of a test run: one throw-away embedded server, with a migrated template database
// that every test file clones in a few milliseconds.

import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pg from "pg";

import { openEmbedded } from "../../src/platform/embedded.ts";
import { migrate } from "../../src/platform/migrate.ts";

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

const memoryFolder = "/dev/shm";
const memoryFileSystem = 0x0102_1994;
const memoryBytesMin = 4 * 1024 ** 3;

export async function startTestServer(): Promise<TestServer> {
  const dataDir = await mkdtemp(join(await cheapestFolder(), "scripdesk-test-"));
  const server = await openEmbedded({ dataDir, as: "visitor", settings: perishable });
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

/**
 * Memory, where there is plenty: a run makes and drops hundreds of databases of hundreds of files,
 * and ext4 goes by every recently deleted file before it makes a new one.
 */
async function cheapestFolder(): Promise<string> {
  const found = await statfs(memoryFolder).catch(() => undefined);
  const isMemory = found?.type === memoryFileSystem;
  const bytes = Math.min((found?.bavail ?? 0) * (found?.bsize ?? 0), process.availableMemory());
  return isMemory && bytes >= memoryBytesMin ? memoryFolder : tmpdir();
}

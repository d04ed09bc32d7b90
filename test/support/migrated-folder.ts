// A DATA_DIR whose database is migrated and empty, to be copied. To make one takes seconds, so it is
// kept in the cache of the packages until something changes that it is made from. Test runs of several
// processes may need it at once: each makes its own beside the others, and the first to be named after
// its digest is kept.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { migrate, migrationsDir } from "../../src/platform/postgres/migrate.ts";
import { copyFolder, scratchFolder } from "./scratch.ts";

const root = join(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache/migrated");
/** What nobody has used for so long is of another state of the code. */
const unusedMsMax = 86_400_000;

/** Nothing of a test has to outlive its machine. */
export const perishable = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_wal_size: "256MB",
};

export async function findMigratedFolder(): Promise<string> {
  const folder = join(cache, await digestSources());
  if (!(await isFolder(folder))) {
    await mkdir(cache, { recursive: true });
    await make(folder);
  }
  const now = new Date();
  await utimes(folder, now, now);
  await removeUnused(now.getTime());
  return folder;
}

/** Everything that the folder is made from. */
async function digestSources(): Promise<string> {
  const migrations = (await readdir(migrationsDir))
    .toSorted()
    .map((name) => join(migrationsDir, name));
  const makers = ["src/platform/postgres/embedded.ts", "src/platform/postgres/migrate.ts"];
  // The package file names the PostgreSQL.
  const sources = ["package.json", "test/support/migrated-folder.ts", ...makers];
  const hash = createHash("sha256");
  for (const path of [...migrations, ...sources.map((name) => join(root, name))]) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(await readFile(path))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

async function make(folder: string): Promise<void> {
  const scratch = await scratchFolder("scripdesk-migrated-");
  const made = `${folder}.${process.pid}`;
  try {
    const dataDir = join(scratch, "data");
    const settings = perishable;
    const server = await openEmbedded({ dataDir, as: "visitor", create: true, settings });
    await migrate(server.connection);
    await server.leave();
    await copyFolder(dataDir, made);
    await rename(made, folder).catch(async (error: unknown) => {
      if (!(await isFolder(folder))) throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
    await rm(made, { recursive: true, force: true });
  }
}

async function removeUnused(nowMs: number): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const found = await stat(path).catch(() => undefined); // Another run has just removed it.
    if (found && nowMs - found.mtimeMs > unusedMsMax) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

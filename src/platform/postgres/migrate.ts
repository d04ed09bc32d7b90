// Forward-only migrations: `migrations/NNNN-why.sql`, applied once each, in order, one transaction
// each. A session lock makes it safe to start several processes at once: the first migrates, the
// others wait and find nothing left to do.
//
// Statements of the service then run as the role `scripdesk_app`, which owns nothing. If the server
// does not allow such a role, the service runs as the connecting role and logs that.

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

import pg from "pg";

import { type Db, sql } from "./postgres.ts";
import { Unusable } from "../http/errors.ts";

export const migrationsDir = join(import.meta.dirname, "../../../migrations");

type Migration = { readonly file: string; readonly text: string; readonly checksum: string };

type Migrated = {
  readonly applied: readonly string[];
  /** The role for the service's statements; undefined when the server allows none. */
  readonly role: string | undefined;
};

const migrationLock = 7_201_003;
const serverVersionMin = 150_000;
const appRole = "scripdesk_app";

export async function migrate(connection: pg.ClientConfig): Promise<Migrated> {
  const client = await connect(connection);
  try {
    await refuseOldServer(client);
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    const applied = await applyPending(client);
    const role = await ensureRole(client);
    if (role) await client.query(await readFile(join(migrationsDir, "grants.sql"), "utf8"));
    return { applied, role };
  } finally {
    await client.end();
  }
}

export async function readMigrations(): Promise<Migration[]> {
  return await Promise.all(
    (await listMigrationFiles()).map(async (file) => {
      const text = await readFile(join(migrationsDir, file), "utf8");
      return { file, text, checksum: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

export async function listMigrationFiles(): Promise<string[]> {
  const files = (await readdir(migrationsDir)).filter((name) => /^\d{4}-.*\.sql$/.test(name));
  return files.toSorted((a, b) => a.localeCompare(b));
}

/** Which of these migrations are not applied yet; what they say was compared at the start. */
export async function pendingMigrations(db: Db, files: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ file: string }>(sql`select file from schema_migrations`);
  const applied = new Set(rows.map(({ file }) => file));
  return files.filter((file) => !applied.has(file));
}

async function connect(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ connectionTimeoutMillis: 5_000, ...connection });
  client.on("error", () => {}); // The query under way fails with the same error.
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw new Unusable(`the database cannot be reached: ${describeError(error)}`, { cause: error });
  }
}

/** Node reports a host that refuses on every address as an AggregateError without a message. */
function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join(", ");
  return error instanceof Error ? error.message : String(error);
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  );
  const [server] = rows;
  if (server && server.number >= serverVersionMin) return;
  throw new Unusable(`PostgreSQL 15 or later is needed; this server is ${server?.version}`);
}

async function applyPending(client: pg.Client): Promise<string[]> {
  await client.query(
    `create table if not exists schema_migrations (
       file text primary key,
       checksum text not null,
       applied_at timestamptz not null default now()
     )`,
  );
  const known = await client.query<{ file: string; checksum: string; version?: string | null }>(
    "select * from schema_migrations order by file", // Without `version` before the migration that adds it.
  );
  const checksums = new Map(known.rows.map(({ file, checksum }) => [file, checksum]));
  const migrations = await readMigrations();
  const own = new Set(migrations.map(({ file }) => file));
  const version = await readVersion();
  const newer = known.rows.filter(({ file }) => !own.has(file));
  const last = newer.at(-1);
  if (last) {
    const names = newer.map(({ file }) => file).join(", ");
    // Between two releases programs of one version number differ.
    const isNamed = typeof last.version === "string" && last.version !== version;
    const needed = isNamed
      ? `${last.version} or later, not ${version}`
      : "a program that has these migrations";
    throw new Unusable(
      `a newer version migrated this database (${names}): run ${needed}, or restore the backup from before it`,
    );
  }
  const applied: string[] = [];
  for (const migration of migrations) {
    const checksum = checksums.get(migration.file);
    if (checksum === undefined) {
      await apply(client, migration);
      applied.push(migration.file);
    } else if (checksum !== migration.checksum) {
      throw new Unusable(`migration ${migration.file} was changed after it was applied`);
    }
  }
  if (applied.length > 0) {
    await client.query("update schema_migrations set version = $1 where file = any($2)", [
      version,
      applied,
    ]);
  }
  return applied;
}

async function readVersion(): Promise<string> {
  const text = await readFile(join(migrationsDir, "../package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version; // Ours.
}

/** Other nodes may be at work: a migration that was the victim of a deadlock with them is repeated. */
async function apply(client: pg.Client, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await applyOnce(client, migration);
      return;
    } catch (error) {
      await client.query("rollback");
      if (isDeadlock(error) && attempt < attemptsMax) continue;
      const message = `migration ${migration.file} failed: ${describeError(error)}`;
      throw new Unusable(message, { cause: error });
    }
  }
}

/** PostgreSQL waits for a second before it ends a deadlock, so this takes a while. */
const attemptsMax = 20;

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "40P01";
}

async function applyOnce(client: pg.Client, { file, text, checksum }: Migration): Promise<void> {
  await client.query("begin");
  await client.query(text);
  await client.query("insert into schema_migrations (file, checksum) values ($1, $2)", [
    file,
    checksum,
  ]);
  await client.query("commit");
}

async function ensureRole(client: pg.Client): Promise<string | undefined> {
  try {
    const found = await client.query("select 1 from pg_roles where rolname = $1", [appRole]);
    if (!found.rowCount) await createRole(client);
    await client.query(`set role ${appRole}`);
    await client.query("reset role");
    return appRole;
  } catch (error) {
    const insufficientPrivilege = "42501";
    if (error instanceof pg.DatabaseError && error.code === insufficientPrivilege) return undefined;
    throw error;
  }
}

/** Roles belong to the whole server, so services of two databases may create this one at once. */
async function createRole(client: pg.Client): Promise<void> {
  try {
    await client.query(`create role ${appRole} nologin`);
    await client.query(`grant ${appRole} to current_user`);
  } catch (error) {
    const alreadyThere = ["42710", "23505"];
    if (error instanceof pg.DatabaseError && alreadyThere.includes(error.code ?? "")) return;
    throw error;
  }
}

// Opens the context that the service and every command need: a migrated database, and the keys derived
// from the master key.

import type { KeyObject } from "node:crypto";
import { extname } from "node:path";

import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";

import { recordSuccession } from "./journal/read-audit.ts";
import { buildSigningKey } from "./journal/audit-rules.ts";
import type { Config } from "./config.ts";
import { countDesks } from "./firms/find-firms.ts";
import type { Context } from "./platform/context.ts";
import { type HeavyPool, openHeavyPool } from "./platform/heavy/pool.ts";
import { openEmbedded } from "./platform/postgres/embedded.ts";
import {
  judgeMasterKeys,
  keyFor,
  localMasterKey,
  masterKeyCheck,
  nextLocalKey,
} from "./platform/master-key.ts";
import {
  findMasterKeyChecks,
  insertMasterKeyCheck,
  setNextCheck,
} from "./platform/master-key-store.ts";
import { migrate } from "./platform/postgres/migrate.ts";
import { type Database, openDatabase } from "./platform/postgres/postgres.ts";
import { refuseSharedSessions } from "./platform/postgres/pooler.ts";
import { followsPrimary, openReplica, type Replica } from "./platform/postgres/replica.ts";
import { Unusable } from "./platform/http/errors.ts";

/** The pool of worker threads; they start on demand. */
export function openThreads(threads: number): HeavyPool {
  // Compiled beside this file where the program is compiled.
  const name = `heavy-thread${extname(import.meta.filename)}`;
  return openHeavyPool({ module: new URL(name, import.meta.url), threads });
}

export type OpenedContext = {
  readonly ctx: Context & { readonly heavy: HeavyPool };
  readonly migrated: readonly string[];
  /** The database role of statements; undefined for the role of the connection. */
  readonly role: string | undefined;
  readonly keys: MasterKeys;
  close(): Promise<void>;
};

type Opening = {
  readonly as: "service" | "visitor";
  /** Whether to create the embedded database when there is none. */
  readonly create: boolean;
  readonly log: FastifyBaseLogger;
};

export async function openContext(
  config: Config,
  { now, ...opening }: Opening & { readonly now: () => Date },
): Promise<OpenedContext> {
  const { log } = opening;
  await using undo = new AsyncDisposableStack();
  const connection = await connectTo(config, opening, undo);
  const { applied, role } = await migrate(connection);
  const db = openDatabase({
    connection,
    role,
    connectionsMax: config.databaseConnections,
    onIdleError: (error) => log.warn({ err: error }, "an idle database connection was lost"),
    onStalled(isStalled) {
      if (isStalled) log.error("PostgreSQL does not answer: calls are refused until it does");
      else log.warn("PostgreSQL answers again");
    },
  });
  undo.defer(() => db.close());
  const replica = await openStandby(config, db, { role, log });
  if (replica) undo.defer(() => replica.close());
  const heavy = openThreads(config.heavyThreads);
  undo.defer(() => heavy.close());
  const keys = await openMasterKeys(config, db, now());
  const ctx = { db, replica, now, log, ...contextKeys(keys), heavy };
  const resources = undo.move();
  return { ctx, migrated: applied, role, keys, close: () => resources.disposeAsync() };
}

/** A standby that cannot be reached now is asked again with every read. */
async function openStandby(
  { databaseReadUrl, databaseConnections }: Config,
  primary: Database,
  { role, log }: Pick<Opening, "log"> & { readonly role: string | undefined },
): Promise<Replica | undefined> {
  if (databaseReadUrl === undefined) return undefined;
  const connection = { connectionString: databaseReadUrl };
  const tellAway = (error: unknown) =>
    log.warn({ err: error }, "the standby cannot be read: the primary is read instead");
  const isOurs = await followsPrimary(connection, primary).catch((error: unknown) => {
    tellAway(error);
    return true;
  });
  if (!isOurs) throw new Unusable("DATABASE_READ_URL is not a standby of DATABASE_URL");
  const db = openDatabase({
    connection,
    role,
    connectionsMax: databaseConnections,
    onIdleError: (error) => log.warn({ err: error }, "an idle connection to the standby was lost"),
  });
  return openReplica(db, tellAway);
}

async function connectTo(
  config: Config,
  { as, create, log }: Opening,
  undo: AsyncDisposableStack,
): Promise<pg.ClientConfig> {
  if (config.databaseUrl) {
    const connection = { connectionString: config.databaseUrl };
    await refuseSharedSessions(connection);
    return connection;
  }
  const embedded = await openEmbedded({
    dataDir: config.dataDir,
    as,
    create,
    onLost: (error) => log.fatal({ err: error }, "the embedded PostgreSQL is lost"),
  });
  undo.defer(() => embedded.leave());
  return embedded.connection;
}

/** The key that seals and signs, and the other one during a rotation. */
export type MasterKeys = { readonly main: Buffer; readonly other: Buffer | undefined };

/** The keys of a context. During a rotation each is two keys: the first seals, either opens. */
export function contextKeys({ main, other }: MasterKeys) {
  const both = other ? [main, other] : [main];
  return {
    cursorKey: Buffer.concat(both.map((key) => keyFor("cursors", key))),
    sealKey: Buffer.concat(both.map((key) => keyFor("seals", key))),
    auditKey: auditKeyFrom(main),
  };
}

function auditKeyFrom(masterKey: Buffer): KeyObject {
  return buildSigningKey(keyFor("audit", masterKey));
}

/** The master keys; throws when they are not those that sealed the data of this database. */
async function openMasterKeys(config: Config, db: Database, now: Date): Promise<MasterKeys> {
  const before = await findMasterKeyChecks(db);
  // A database with desks but without a stored check has data sealed with an existing key.
  const mayMake = before === undefined && (await countDesks({ db })) === 0;
  const { name, ...keys } = await givenKeys(config, mayMake);
  if (before === undefined) await insertMasterKeyCheck(db, masterKeyCheck(keys.main));
  const kept = before ?? (await findMasterKeyChecks(db));
  if (!kept) throw new Error("the check of the master key is kept");
  const verdict = judgeMasterKeys(kept, { ...keys, name });
  if (verdict === "begins" && keys.other) {
    await beginReplacing(db, { main: keys.main, other: keys.other }, now);
  }
  return keys;
}

async function givenKeys(
  { masterKey, masterKeyOther, dataDir }: Config,
  mayMake: boolean,
): Promise<MasterKeys & { readonly name: string }> {
  if (masterKey) return { main: masterKey, other: masterKeyOther, name: "MASTER_KEY" };
  const own = await localMasterKey(dataDir, { mayMake });
  const next = await nextLocalKey(dataDir);
  const name = `${dataDir}/master.key`;
  return next ? { main: next, other: own, name } : { main: own, other: undefined, name };
}

/** Starts a rotation: from now on no process can start with the old key alone. */
async function beginReplacing(
  db: Database,
  { main, other }: { readonly main: Buffer; readonly other: Buffer },
  now: Date,
): Promise<void> {
  await db.transaction(async (tx) => {
    const checks = { from: masterKeyCheck(other), to: masterKeyCheck(main) };
    if (!(await setNextCheck(tx, checks))) {
      throw new Unusable("another process began to replace the master key by another one");
    }
    const keys = { former: auditKeyFrom(other), next: auditKeyFrom(main) };
    await recordSuccession(tx, keys, now);
  });
}

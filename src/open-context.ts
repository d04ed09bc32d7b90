// What the service and every command need before they can do anything: a database that is reachable
// and migrated, and the keys made from the master key.

import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";

import { signingKeyFrom } from "./audit/rules.ts";
import type { Config } from "./config.ts";
import { countDesks } from "./firms/count-desks.ts";
import type { Context } from "./platform/context.ts";
import { type HeavyPool, openHeavyPool } from "./platform/heavy/pool.ts";
import { openEmbedded } from "./platform/embedded.ts";
import { keyFor, localMasterKey, masterKeyCheck } from "./platform/master-key.ts";
import { findMasterKeyCheck, insertMasterKeyCheck } from "./platform/master-key-store.ts";
import { migrate } from "./platform/migrate.ts";
import { type Database, openDatabase } from "./platform/postgres.ts";
import { Unusable } from "./platform/unusable.ts";

/** Threads are started when there is something for them to do. */
export function openThreads(threads: number): HeavyPool {
  return openHeavyPool({ module: new URL("heavy-thread.ts", import.meta.url), threads });
}

export type OpenedContext = {
  readonly ctx: Context & { readonly heavy: HeavyPool };
  readonly migrated: readonly string[];
  /** The role that statements run as; undefined when it is the connecting one. */
  readonly role: string | undefined;
  close(): Promise<void>;
};

type Opening = {
  readonly as: "service" | "visitor";
  /** Whether to make the embedded database where there is none. */
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
  const heavy = openThreads(config.heavyThreads);
  undo.defer(() => heavy.close());
  const masterKey = await openMasterKey(config, db);
  const ctx = {
    db,
    now,
    log,
    cursorKey: keyFor("cursors", masterKey),
    sealKey: keyFor("seals", masterKey),
    auditKey: signingKeyFrom(keyFor("audit", masterKey)),
    heavy,
  };
  const resources = undo.move();
  return { ctx, migrated: applied, role, close: () => resources.disposeAsync() };
}

async function connectTo(
  config: Config,
  { as, create, log }: Opening,
  undo: AsyncDisposableStack,
): Promise<pg.ClientConfig> {
  if (config.databaseUrl) return { connectionString: config.databaseUrl };
  const embedded = await openEmbedded({
    dataDir: config.dataDir,
    as,
    create,
    onLost: (error) => log.fatal({ err: error }, "the embedded PostgreSQL is lost"),
  });
  undo.defer(() => embedded.leave());
  return embedded.connection;
}

/** The master key, as long as it is the one that this database's data was sealed with. */
async function openMasterKey({ masterKey: given, dataDir }: Config, db: Database): Promise<Buffer> {
  const before = await findMasterKeyCheck(db);
  // A database that had a desk before it kept a check has sealed data, and so has a key somewhere.
  const mayMake = before === undefined && (await countDesks({ db })) === 0;
  const masterKey = given ?? (await localMasterKey(dataDir, { mayMake }));
  const check = masterKeyCheck(masterKey);
  if (before === undefined) await insertMasterKeyCheck(db, check);
  const kept = before ?? (await findMasterKeyCheck(db));
  if (kept?.equals(check)) return masterKey;
  throw new Unusable(
    `${given ? "MASTER_KEY" : `${dataDir}/master.key`} is not the key that the data in this database was sealed with`,
  );
}

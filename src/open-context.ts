// What the service and every command need before they can do anything: a database that is reachable
// and migrated, and the keys made from the master key.

import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";

import { signingKeyFrom } from "./audit/rules.ts";
import type { Config } from "./config.ts";
import type { Context } from "./platform/context.ts";
import { type HeavyPool, openHeavyPool } from "./platform/heavy/pool.ts";
import { openEmbedded } from "./platform/embedded.ts";
import { keyFor, localMasterKey } from "./platform/master-key.ts";
import { migrate } from "./platform/migrate.ts";
import { openDatabase } from "./platform/postgres.ts";

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

export async function openContext(
  config: Config,
  { as, log, now }: { as: "service" | "visitor"; log: FastifyBaseLogger; now: () => Date },
): Promise<OpenedContext> {
  await using undo = new AsyncDisposableStack();
  const connection = await connectTo(config, { as, log, undo });
  const { applied, role } = await migrate(connection);
  const db = openDatabase({
    connection,
    role,
    connectionsMax: config.databaseConnections,
    onIdleError: (error) => log.warn({ err: error }, "an idle database connection was lost"),
  });
  undo.defer(() => db.close());
  const heavy = openThreads(config.heavyThreads);
  undo.defer(() => heavy.close());
  const masterKey = config.masterKey ?? (await localMasterKey(config.dataDir));
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
  {
    as,
    log,
    undo,
  }: { as: "service" | "visitor"; log: FastifyBaseLogger; undo: AsyncDisposableStack },
): Promise<pg.ClientConfig> {
  if (config.databaseUrl) return { connectionString: config.databaseUrl };
  const embedded = await openEmbedded({
    dataDir: config.dataDir,
    as,
    onLost: (error) => log.fatal({ err: error }, "the embedded PostgreSQL is lost"),
  });
  undo.defer(() => embedded.leave());
  return embedded.connection;
}

// What a connection is told before its first statement. It is told by a statement and not in the
// request to connect: PgBouncer refuses requests with settings that it does not know, or drops the
// settings without a word.

import pg from "pg";

import { types } from "./prepared.ts";
import { cut } from "./silence.ts";

export type SessionOptions = {
  readonly connection: pg.ClientConfig;
  /** The role that statements run as; the connecting role by default. */
  readonly role?: string | undefined;
};

export const connectTimeoutMs = 5_000;
export const statementTimeoutMs = 5_000;
const lockTimeoutMs = 2_000;
const idleInTransactionTimeoutMs = 10_000;

type PoolConfig = pg.PoolConfig & { readonly onConnect: (client: pg.ClientBase) => Promise<void> };

export function sessionConfig({ connection, role }: SessionOptions): PoolConfig {
  const {
    statement_timeout = statementTimeoutMs,
    lock_timeout = lockTimeoutMs,
    idle_in_transaction_session_timeout = idleInTransactionTimeoutMs,
    ...server
  } = connection;
  const settings = {
    statement_timeout,
    lock_timeout,
    idle_in_transaction_session_timeout,
    // Statements are written to be planned once: to let the server choose took 22 % more processor time
    // for a `whoami`, 35 % for a quote and 24 % for an order (decision statements). A plan that is made while
    // a table is small must serve when it is large, so none reads a whole table where an index would do.
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    enable_mergejoin: "off",
    random_page_cost: "1.1",
    // What a scan is discouraged by counts as its cost, so the server would compile nearly every
    // statement that has one, each time it runs, which can take longer than a statement may.
    jit: "off",
    // A plan for all values takes a range to be a third of its table, so on a large one the server
    // would start processes for a statement that reads a few rows, which takes tens of milliseconds.
    max_parallel_workers_per_gather: "0",
    ...(role && { role }),
  };
  const text = Object.entries(settings)
    .map(([name, value]) => `set ${name} = ${pg.escapeLiteral(String(value))}`)
    .join("; ");
  const connectionTimeoutMillis = server.connectionTimeoutMillis ?? connectTimeoutMs;
  return {
    // Versions that are called `scripdesk` alone cannot read what this one writes to the journal.
    application_name: "scripdesk.2",
    keepAlive: true,
    ...server,
    connectionTimeoutMillis,
    types,
    async onConnect(client) {
      // A pooler takes connections also while it has no server to pass them to.
      const told = { text, query_timeout: connectionTimeoutMillis } as pg.QueryConfig;
      await client.query(told).catch((error: unknown) => {
        cut(client);
        throw error;
      });
    },
  };
}

import pg from "pg";

import { Unusable } from "../http/errors.ts";
import { connectTimeoutMs } from "./session.ts";

/**
 * Refuses a pooler that gives each transaction another session: settings, prepared statements and the
 * lock of migrations belong to a session.
 */
export async function refuseSharedSessions(connection: pg.ClientConfig): Promise<void> {
  const [first, second] = [openQuietly(connection), openQuietly(connection)];
  try {
    await first.connect();
    const session = await findSession(first);
    await second.connect();
    await second.query("begin");
    const others = [await findSession(second), await findSession(first)];
    if (others[0] !== session && others[1] === session) return;
  } catch {
    return; // Whoever connects next says why the database cannot be used.
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
  throw new Unusable(
    "DATABASE_URL leads to a pooler in transaction mode, which the service cannot work through: use session mode, or connect directly",
  );
}

function openQuietly(connection: pg.ClientConfig): pg.Client {
  const client = new pg.Client({ connectionTimeoutMillis: connectTimeoutMs, ...connection });
  client.on("error", () => {}); // The query under way fails with the same error.
  return client;
}

async function findSession(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>({
    text: "select pg_backend_pid() as pid",
    query_timeout: connectTimeoutMs,
  } as pg.QueryConfig);
  return rows[0]?.pid;
}

// Interleavings made by real locks: a test holds a row, and sees others wait.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { testServer } from "./database.ts";
import type { Service } from "./service.ts";

const looksMax = 600;

export type Held = {
  /** The session that holds the rows. */
  readonly pid: number;
  /** Returns once this many connections of the service wait for a lock. */
  readonly whenWaiting: (count: number) => Promise<void>;
  readonly release: () => Promise<void>;
};

/** Locks rows from a connection of its own until they are released. */
export async function holdRow(
  t: TestContext,
  service: Pick<Service, "ctx">,
  { table, where }: { readonly table: string; readonly where: string },
): Promise<Held> {
  const held = await hold(t, service, `select from ${table} where ${where} for update`);
  assert.ok(held.rowCount, `no row of ${table} where ${where}`);
  return held;
}

/** Locks a whole table, reading included. */
export async function holdTable(
  t: TestContext,
  service: Pick<Service, "ctx">,
  table: string,
): Promise<Held> {
  return await hold(t, service, `lock table ${table} in access exclusive mode`);
}

async function hold(
  t: TestContext,
  { ctx }: Pick<Service, "ctx">,
  locking: string,
): Promise<Held & { readonly rowCount: number | null }> {
  const client = new pg.Client({ ...testServer(), database: ctx.db.pool.options.database });
  await client.connect();
  let held = true;
  const release = async () => {
    if (!held) return;
    held = false;
    await client.query("commit");
    await client.end();
  };
  t.after(release);
  await client.query("begin");
  const { rowCount } = await client.query(locking);
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return {
    pid: rows[0]?.pid ?? 0,
    rowCount,
    release,
    async whenWaiting(count) {
      for (let looks = 0; looks < looksMax; looks++) {
        // What a transaction has read of others' activity it would read again.
        await client.query("select pg_stat_clear_snapshot()");
        const { rowCount: waiting } = await client.query(
          `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
        );
        if ((waiting ?? 0) >= count) return;
        await sleep(5);
      }
      assert.fail(`fewer than ${count} connections wait for a lock`);
    },
  };
}

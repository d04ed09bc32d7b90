// Items that fail late: when what they are made of is written, or while somebody else holds it.

import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { asOwner, testServer } from "./database.ts";
import type { Service } from "./service.ts";

let triggers = 0;

/** Whatever writes a row of this table for which the condition holds fails, however late it comes. */
export async function poison(
  { ctx }: Pick<Service, "ctx">,
  table: string,
  condition: string,
): Promise<{ readonly heal: () => Promise<void> }> {
  const name = `poison_${++triggers}`;
  await asOwner(ctx.db, (owner) =>
    owner.query(
      `create function ${name}() returns trigger language plpgsql as
        $$ begin raise exception 'poisoned' using errcode = 'XX001'; end $$;
      create trigger ${name} before insert or update on ${table}
        for each row when (${condition}) execute function ${name}()`,
    ),
  );
  return {
    heal: () =>
      asOwner(ctx.db, async (owner) => void (await owner.query(`drop function ${name} cascade`))),
  };
}

/** Holds what a statement locks, in a session of its own, until it is let go. */
export async function hold(
  { ctx }: Pick<Service, "ctx">,
  statement: string,
): Promise<{ readonly letGo: () => Promise<void> }> {
  const client = new pg.Client({ ...testServer(), database: ctx.db.pool.options.database });
  await client.connect();
  await client.query("begin");
  await client.query(statement);
  return { letGo: () => client.end() };
}

/** Resolves when this many sessions wait for what others hold. */
export async function someoneWaits({ ctx }: Pick<Service, "ctx">, many = 1): Promise<void> {
  await asOwner(ctx.db, async (owner) => {
    for (let looks = 0; looks < 1_000; looks++) {
      const { rows } = await owner.query(
        `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      );
      if (rows.length >= many) return;
      await sleep(5);
    }
    throw new Error("nobody waits");
  });
}

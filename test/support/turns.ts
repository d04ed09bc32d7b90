// Turns of the background workers in tests, one worker after the other.
//
// In a new database the first run of a worker reads the catalogue and plans its statements, which
// takes longer than what most tests are about. So a turn leaves out whoever works on things of callers
// of which there is none yet.

import { type Db, sql } from "../../src/platform/postgres/postgres.ts";
import type { WorkerSpec } from "../../src/workers.ts";

/** The things of callers that a worker works on: while this table is empty, it has nothing to do. */
export const worksOn: Readonly<Record<string, "crosses" | "enquiries" | "orders" | "webhooks">> = {
  "cross-deadlines": "crosses",
  retention: "enquiries",
  matching: "orders",
  "order-upkeep": "orders",
  "small-rests": "orders",
  "order-expiry": "orders",
  "fan-out": "webhooks",
  deliveries: "webhooks",
};

/** Who takes a deal, a cross or a payout further, or makes a payout; everybody else only learns of it. */
export const settlingWorkers: readonly string[] = [
  "ledger-check", // No payout leaves before it.
  "simulation",
  "funding",
  "settlement",
  "deadlines",
  "offboarding",
  "payouts",
];

/** Lets each worker that may have something to do run until it has nothing left. */
export async function turn(db: Db, workers: readonly WorkerSpec[]): Promise<void> {
  const filled = await listFilled(db);
  for (const { name, work, settled } of workers) {
    const table = worksOn[name];
    if (table !== undefined && !filled.has(table)) continue;
    while ((await work()) === "more") await settled?.();
  }
}

async function listFilled(db: Db): Promise<Set<string>> {
  const rows = await db.rows<{ name: string }>(sql`
    select 'crosses' as name where exists (select from crosses)
    union all select 'enquiries' where exists (select from enquiries)
    union all select 'orders' where exists (select from orders)
    union all select 'webhooks' where exists (select from webhooks)`);
  return new Set(rows.map(({ name }) => name));
}

// A service with the fewest connections that its settings allow: sets of orders hold one while they
// wait for the book, and the book has one of its own to read with.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { connectionsMin } from "../../src/platform/postgres/connections.ts";
import { type Database, openDatabase } from "../../src/platform/postgres/postgres.ts";
import { testDatabase } from "../support/database.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";
import { countStatuses } from "../support/usage.ts";

const face = 25_000_000;
const schemes = ["RODTEP", "ROSCTL"] as const;

async function openFew(t: TestContext, waitMs: number): Promise<Database> {
  const { connection } = await testDatabase(t);
  const db = openDatabase({
    connection: { ...connection, connectionTimeoutMillis: waitMs },
    role: "scripdesk_app",
    connectionsMax: connectionsMin,
    onIdleError() {},
  });
  t.after(() => db.close());
  return db;
}

/** Buys, quotes and dry runs of both schemes at once; how often each status was answered. */
async function buyAtOnce(t: TestContext, db: Database, callsOfEach: number) {
  const service = await startService(t, { db });
  const stock = schemes.flatMap((scheme) =>
    Array.from({ length: 2 * callsOfEach }, () => ({ scheme, face_paise: face })),
  );
  await stockHouse(service.ctx, stock);
  const { key } = await dealer(service, []);
  const post = (path: string, scheme: string, headers = {}) => {
    const body = { side: "buy", scheme, requirement_paise: face };
    return service.send("POST", path, { key, body, headers });
  };
  const calls = Array.from({ length: callsOfEach }, () =>
    schemes.flatMap((scheme) => [
      post("/v1/orders", scheme),
      post("/v1/quote", scheme),
      post("/v1/orders", scheme, { "X-Dry-Run": "1" }),
    ]),
  );
  return { service, statuses: countStatuses(await Promise.all(calls.flat())) };
}

test("buys, quotes and dry runs at once are all answered over the fewest connections", async (t) => {
  const { service, statuses } = await buyAtOnce(t, await openFew(t, 20_000), 15);
  assert.deepEqual(statuses, { 200: 60, 201: 30 });
  await assertOrdersSound(service);
});

test("control: where the book reads as all others do, sets of orders wait for it in vain", async (t) => {
  const db = await openFew(t, 300);
  const asOthers = (of: Database): Database => ({
    ...of,
    awaited: of,
    for: (environment) => asOthers(of.for(environment)),
  });
  const { statuses } = await buyAtOnce(t, asOthers(db), 1);
  assert.ok((statuses[500] ?? 0) > 0, JSON.stringify(statuses));
});

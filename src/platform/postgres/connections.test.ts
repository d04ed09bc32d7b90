// Who is lent a connection, and who waits for one.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { testDatabase } from "../../../test/support/database.ts";
import { Overloaded } from "./coalesce.ts";
import { connectionsMin } from "./connections.ts";
import { type Database, openDatabase, sql } from "./postgres.ts";

const looksMax = 2_000;
const whoServes = sql`select pg_backend_pid() as pid`;

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < looksMax && !holds(); look++) await sleep(10);
  assert.ok(holds(), "it did not come");
}

async function openWith(t: TestContext, connectionsMax: number, own = {}): Promise<Database> {
  const { connection } = await testDatabase(t);
  const db = openDatabase({
    connection: { ...connection, ...own },
    connectionsMax,
    onIdleError() {},
  });
  t.after(() => db.close());
  return db;
}

/** Twelve that each keep a connection once they have one; answers when so many have. */
async function holdAll(db: Database, { have, end }: { have: number; end: Promise<void> }) {
  let held = 0;
  const hold = () =>
    db.transaction(async () => {
      held += 1;
      await end;
    });
  const holders = Array.from({ length: 12 }, () => hold().catch((error: unknown) => error));
  await until(() => held >= have);
  return { held: () => held, ended: Promise.all(holders) };
}

test("the sandbox leaves connections to live; waiting callers are served in order, live first, or time out", async (t) => {
  const db = await openWith(t, 8);
  const sandbox = db.for("sandbox");
  const end = Promise.withResolvers<void>();
  const holders = await holdAll(sandbox, { have: 5, end: end.promise });
  assert.equal(holders.held(), 5);
  assert.deepEqual(db.loans(), {
    live: { lent: 0, waiting: 0 },
    sandbox: { lent: 5, waiting: 7 },
  });
  assert.equal((await db.rows(whoServes)).length, 1);
  assert.equal((await db.for("live").rows(whoServes)).length, 1);

  const endLive = Promise.withResolvers<void>();
  const live = await holdAll(db, { have: 2, end: endLive.promise });
  assert.deepEqual(db.loans().live, { lent: 2, waiting: 10 });
  assert.equal(live.held(), 2, "live takes what is left");
  const served: string[] = [];
  const late = sandbox.rows(whoServes).then(() => served.push("sandbox"));
  const soon = db.rows(whoServes).then(() => served.push("live"));
  endLive.resolve();
  await soon;
  assert.deepEqual(served, ["live"]);
  end.resolve();
  await Promise.all([late, holders.ended, live.ended]);
  assert.equal(holders.held(), 12);

  const short = await openWith(t, 2, { connectionTimeoutMillis: 500 });
  const forever = Promise.withResolvers<void>();
  const taken = await holdAll(short, { have: 2, end: forever.promise });
  // Those that wait give up, though nothing is given back.
  await until(() => short.connections().waiting === 0);
  forever.resolve();
  const outcomes = await taken.ended;
  assert.equal(outcomes.filter((outcome) => outcome instanceof Overloaded).length, 10);
});

for (const environment of ["live", "sandbox"] as const) {
  test(`a read of ${environment} that transactions wait for finds a connection, whoever holds the others`, async (t) => {
    const db = await openWith(t, connectionsMin);
    const end = Promise.withResolvers<void>();
    // Live leaves one to its own awaited reads, and the sandbox is served when live has ended.
    const inSandbox = await holdAll(db.for("sandbox"), { have: 1, end: end.promise });
    const inLive =
      environment === "live" ? await holdAll(db, { have: 2, end: end.promise }) : undefined;
    const first = await db.for(environment).awaited.rows(whoServes);
    const second = await db.for(environment).awaited.rows(whoServes);
    assert.equal(first.length + second.length, 2);
    assert.equal(inSandbox.held(), 1);
    assert.equal(inLive?.held() ?? 2, 2);
    assert.ok(db.connections().waiting > 0);
    end.resolve();
    await Promise.all([inSandbox.ended, inLive?.ended]);
  });
}

test("an awaited read of the sandbox leaves live its own, and comes before other callers of the sandbox", async (t) => {
  const db = await openWith(t, connectionsMin);
  const sandbox = db.for("sandbox");
  const endLive = Promise.withResolvers<void>();
  const live = await holdAll(db, { have: 3, end: endLive.promise });
  const served: string[] = [];
  const other = sandbox.rows(whoServes).then(() => served.push("other"));
  const awaited = sandbox.awaited.rows(whoServes).then(() => served.push("awaited"));
  assert.equal((await db.awaited.rows(whoServes)).length, 1);
  assert.deepEqual(served, []);
  endLive.resolve();
  await Promise.all([other, awaited, live.ended]);
  assert.deepEqual(served, ["awaited", "other"]);
});

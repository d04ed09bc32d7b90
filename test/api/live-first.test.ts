// A sandbox that asks for everything it can get, and live beside it. Nothing here is timed: the sandbox
// keeps its connections and its thread until the test lets them go, however slow the machine is.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { HeavyPool } from "../../src/platform/heavy/pool.ts";
import type { Loans } from "../../src/platform/postgres/connections.ts";
import type { Database } from "../../src/platform/postgres/postgres.ts";
import { patient, testDatabase } from "../support/database.ts";
import { keepThread, openHeldThreads } from "../support/held-threads.ts";
import { openGroup } from "../support/large-group.ts";
import { holdRow } from "../support/locks.ts";
import { type Service, startService } from "../support/service.ts";

/** Of sixteen connections the calls of the sandbox have eleven: its book has one, and live four. */
const sandboxConnectionsMax = 11;
/** All calls together, when nothing is kept for live: the book has one. */
const connectionsMax = 15;
const calls = 48;
const looksMax = 4_000;

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (holds()) return;
    await sleep(5);
  }
  assert.fail(`${what} did not come`);
}

/** Calls of a sandbox desk that wait, each with a connection, for a row that is held until released. */
async function askForHeldRow(t: TestContext, service: Service, onAnswered: () => void) {
  const { api_key: key, firm_id } = await service.issue();
  const held = await holdRow(t, service, { table: "firms", where: `firm_id = '${firm_id}'` });
  const asked = Array.from({ length: calls }, async (_, at) => {
    await service.send("PATCH", `/v1/firms/${firm_id}`, {
      key,
      body: { phone: `+9180000000${at}` },
    });
    onAnswered();
  });
  return { release: held.release, ended: Promise.all(asked) };
}

/** Everything that live asks for while the sandbox has all that it may have. */
async function askLive(service: Service): Promise<number[]> {
  const group = await openGroup(service, "live");
  const { key } = group;
  const asked = [
    service.send("GET", "/v1/whoami", { key }),
    service.send("GET", "/v1/orders", { key }),
    service.send("GET", "/v1/positions", { key }),
    service.send("GET", `${group.path}/netting`, { key }),
    service.send("POST", "/v1/groups", { key, body: { name: "another" } }),
    service.send("POST", "/v1/quote", {
      key,
      body: { side: "sell", scheme: "RODTEP", face_paise: 1_000_000 },
    }),
    service.send("POST", "/v1/quote", {
      key,
      body: { side: "buy", scheme: "RODTEP", requirement_paise: 1_000_000 },
    }),
    service.send("GET", "/readyz"),
  ];
  return (await Promise.all(asked)).map(({ status }) => status);
}

function isFull({ ctx: { db } }: Pick<Service, "ctx">, heavy: HeavyPool): boolean {
  const { sandbox } = db.loans();
  const hasConnections = sandbox.lent === sandboxConnectionsMax && sandbox.waiting > 0;
  return hasConnections && heavy.running("sandbox") === 1 && heavy.waiting("sandbox") > 0;
}

test("live is served while the sandbox uses all its connections and threads", async (t) => {
  const heavy = openHeldThreads(2);
  t.after(() => heavy.close());
  const { db } = await testDatabase(t, { waits: patient });
  const service = await startService(t, { heavy, db });
  const by = { environment: "sandbox", deskId: "insatiable" } as const;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const kept = Array.from({ length: 4 }, () => heavy.run(keepThread, gate, { by }));
  const held = await askForHeldRow(t, service, () => {});
  await until("a full sandbox", () => isFull(service, heavy));
  const answers = await askLive(service);
  assert.ok(isFull(service, heavy), "the sandbox was full all the time");
  assert.deepEqual(answers, [200, 200, 200, 200, 201, 200, 200, 200]);
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  await held.release();
  await Promise.all([held.ended, ...kept]);
});

/** The same connections with nothing kept back for live. */
function withoutReserve(db: Database): Database {
  const shared: Database = { ...db, for: () => shared };
  return shared;
}

test("control: without connections of its own, live waits behind the sandbox", async (t) => {
  const { db } = await testDatabase(t, { waits: patient });
  const service = await startService(t, { db: withoutReserve(db) });
  const { api_key: key } = await service.issue({ environment: "live" });
  await service.send("GET", "/v1/orders", { key, expect: 200 });
  const answered: string[] = [];
  const held = await askForHeldRow(t, service, () => answered.push("sandbox"));
  const isPoolFull = ({ lent, waiting }: Loans["live"]) => lent === connectionsMax && waiting > 0;
  await until("a full pool", () => isPoolFull(db.loans().live));
  const live = service.send("GET", "/v1/orders", { key }).then(() => answered.push("live"));
  // What needs no connection is answered after live has been heard.
  await service.send("GET", "/healthz", { expect: 200 });
  assert.deepEqual(answered, []);
  await held.release();
  await Promise.all([held.ended, live]);
  assert.equal(answered[0], "sandbox");
});

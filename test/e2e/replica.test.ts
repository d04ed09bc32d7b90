// A real standby beside its primary: what it answers is what the primary would have answered.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { migrate } from "../../src/platform/postgres/migrate.ts";
import { openDatabase } from "../../src/platform/postgres/postgres.ts";
import { openReplica } from "../../src/platform/postgres/replica.ts";
import {
  type Cluster,
  hasOldest,
  startOldest,
  startStandby,
} from "../support/external-postgres.ts";
import { scripdesk } from "../support/process.ts";
import { type Service, startService } from "../support/service.ts";

const skip = hasOldest ? false : "Debian's PostgreSQL 15 is not installed";
const looksMax = 500;

type Pair = {
  readonly service: Service;
  readonly standby: Cluster;
  /** The reads that the standby may answer, by who answered them. */
  readonly counts: () => Promise<Record<string, number>>;
  readonly onStandby: (statement: string) => Promise<void>;
};

async function startPrimary(t: TestContext) {
  const primary = await startOldest(t);
  const admin = new pg.Client({ ...primary.connection, database: "postgres" });
  await admin.connect();
  await admin.query("create database scripdesk");
  await admin.end();
  const connection = { ...primary.connection, database: "scripdesk" };
  const { role } = await migrate(connection);
  return { primary, connection, role };
}

async function startPair(t: TestContext): Promise<Pair> {
  const { primary, connection, role } = await startPrimary(t);
  const standby = await startStandby(t, primary);
  const db = openDatabase({ connection, role, onIdleError() {} });
  const following = { ...standby.connection, database: "scripdesk" };
  const replica = openReplica(
    openDatabase({ connection: following, role, onIdleError() {} }),
    () => {},
  );
  const service = await startService(t, { db, replica });
  t.after(() => replica.close());
  t.after(() => db.close());
  return {
    service,
    standby,
    async counts() {
      const text = await service.metrics.registry.getSingleMetricAsString(
        "scripdesk_replica_reads_total",
      );
      const found = text.matchAll(/outcome="(\w+)"\} (\d+)/g);
      return Object.fromEntries([...found].map(([, name = "", count]) => [name, Number(count)]));
    },
    async onStandby(statement) {
      const client = new pg.Client(following);
      await client.connect();
      await client.query(statement);
      await client.end();
    },
  };
}

/** Everything that the standby may answer. */
const reads = [
  "/v1/events",
  "/v1/audit",
  "/v1/audit/export",
  "/v1/orders?format=csv",
  "/v1/settlements?format=csv",
  "/v1/payouts?format=csv",
  "/v1/statements",
  "/v1/statements/2026-11",
  "/v1/earnings",
] as const;

/** What a client asks again to know where it stands. */
const decisive = ["/v1/orders", "/v1/positions", "/v1/settlements", "/v1/payouts", "/v1/usage"];

async function sellOne({ send }: Service, key: string): Promise<string> {
  const seed = { key, body: { count: 1 }, expect: 200 };
  const { scrip_nos } = (await send("POST", "/v1/sandbox/credits:seed", seed)).body;
  const order = { key, body: { side: "sell", scrip_no: scrip_nos[0] }, expect: 201 };
  return (await send("POST", "/v1/orders", order)).body.order_id;
}

test(
  "a standby answers exports, statements and history as freshly as the primary, and nothing else",
  { skip },
  async (t) => {
    const { service, counts } = await startPair(t);
    const { api_key: key } = await service.issue();
    for (let place = 0; place < 5; place++) {
      const orderId = await sellOne(service, key);
      for (const path of ["/v1/audit", "/v1/orders?format=csv"]) {
        const { text } = await service.send("GET", path, { key, expect: 200 });
        assert.ok(text.includes(orderId), `${path} has the order that was just placed`);
      }
    }
    const { replica = 0, ...others } = await counts();
    assert.ok(replica > 0, "the standby was read");
    for (const path of reads) {
      const before = await counts();
      await service.send("GET", path, { key, expect: 200 });
      assert.notDeepEqual(await counts(), before, `${path} may be read at the standby`);
    }
    const before = await counts();
    for (const path of decisive) await service.send("GET", path, { key, expect: 200 });
    assert.deepEqual(await counts(), before);
    assert.equal(others["failed"], 0);
  },
);

test(
  "a standby that is behind or gone is passed over, and nobody is refused or told old news",
  { skip },
  async (t) => {
    const { service, standby, counts, onStandby } = await startPair(t);
    const { api_key: key } = await service.issue();
    await sellOne(service, key);
    await onStandby("select pg_wal_replay_pause()");
    const orderId = await sellOne(service, key);
    const atFirst = await counts();
    for (const path of reads) await service.send("GET", path, { key, expect: 200 });
    const { text } = await service.send("GET", "/v1/audit", { key, expect: 200 });
    assert.ok(text.includes(orderId));
    const whileBehind = await counts();
    assert.equal(whileBehind["replica"], atFirst["replica"]);
    assert.ok((whileBehind["behind"] ?? 0) > (atFirst["behind"] ?? 0), JSON.stringify(whileBehind));

    await onStandby("select pg_wal_replay_resume()");
    /** Reads until one more has ended so. */
    const readUntil = async (outcome: string) => {
      const { [outcome]: before } = await counts();
      for (let look = 0; look < looksMax; look++) {
        await service.send("GET", "/v1/events", { key, expect: 200 });
        if ((await counts())[outcome] !== before) return;
        await sleep(20);
      }
      assert.fail(`no read ended as ${outcome}: ${JSON.stringify(await counts())}`);
    };
    await readUntil("replica");

    await standby.stop();
    const { replica } = await counts();
    for (const path of reads) await service.send("GET", path, { key, expect: 200 });
    // One that is slow to say that it is gone counts as behind.
    await readUntil("failed");
    assert.equal((await counts())["replica"], replica);
  },
);

test("the database of another cluster is refused as a standby", { skip }, async (t) => {
  const { primary } = await startPrimary(t);
  const other = await startOldest(t);
  const { stderr, code } = await scripdesk(["serve"], {
    DATABASE_URL: primary.url("scripdesk", "postgres"),
    DATABASE_READ_URL: other.url("postgres", "postgres"),
    MASTER_KEY: "ab".repeat(32),
    OPS_PORT: "off",
  });
  assert.deepEqual(
    [code, stderr.trim()],
    [3, "scripdesk: DATABASE_READ_URL is not a standby of DATABASE_URL"],
  );
});

// A short run of `npm run faults -- webhooks`: processes that die at any statement, with a clock that
// is turned instead of waited for; and the reader that loses what this one keeps.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { createFanOut } from "../../src/webhooks/fan-out.ts";
import { createSender } from "../../src/webhooks/send-deliveries.ts";
import type { Context } from "../../src/platform/context.ts";
import { openOutbound } from "../../src/platform/outbound.ts";
import type { Database, Tx } from "../../src/platform/postgres/postgres.ts";
import { buildDeliveryId } from "../../src/webhooks/rules.ts";
import { testDatabase } from "../support/database.ts";
import { mintChild } from "../support/keys.ts";
import { registerWebhook, startReceiver } from "../support/receivers.ts";
import { startRandom } from "../support/random.ts";
import { startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

class Died extends Error {}

/** A process that dies when it has run so many statements: nothing it does later has an effect. */
function mortal(ctx: Context, statements: number): Context & { isDead(): boolean } {
  let left = statements;
  const live = () => {
    left -= 1;
    if (left <= 0) throw new Died();
  };
  const db: Database = {
    ...ctx.db,
    async rows(statement) {
      live();
      return await ctx.db.rows(statement);
    },
    async transaction(work, options) {
      live();
      const result = await ctx.db.transaction(async (tx) => {
        const guarded = {
          ...tx,
          rows: async (statement: Parameters<Tx["rows"]>[0]) => {
            live();
            return await tx.rows(statement);
          },
        } as Tx;
        const done = await work(guarded);
        live();
        return done;
      }, options);
      live(); // It may also die right after the commit.
      return result;
    },
    onAnnounced: () => () => {},
  };
  return { ...ctx, db, isDead: () => left <= 0 };
}

test("a kill at any statement loses no event: every receiver gets each with its id and bytes", async (t) => {
  const service = await startService(t);
  const { ctx, clock } = service;
  const random = startRandom(t);
  const { api_key: key } = await service.issue();
  const receivers = await Promise.all([1, 2, 3].map(() => startReceiver(t)));
  const hooks: string[] = [];
  for (const { url } of receivers) {
    hooks.push((await registerWebhook(service, key, url, "key.created")).webhook_id);
  }
  const minting = (async () => {
    for (let n = 0; n < 60; n++) await mintChild(service, key);
  })();

  const scheduleS = [0, 1, 1, 1, 1, 1];
  let deaths = 0;
  for (let life = 0; life < 25; life++) {
    const node = mortal(ctx, 2 + random.below(80));
    const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"] });
    const sender = createSender(node, { outbound, scheduleS });
    for (let turn = 0; turn < 30 && !node.isDead(); turn++) {
      await createFanOut(node, { scheduleS })().catch((error: unknown) =>
        assert.ok(error instanceof Died),
      );
      await sender.work().catch((error: unknown) => assert.ok(error instanceof Died));
      await sleep(random.below(3));
    }
    if (node.isDead()) deaths += 1;
    await outbound.close();
    clock.advance({ seconds: 21 });
  }
  await minting;
  for (let turn = 0; turn < 10; turn++) {
    clock.advance({ seconds: 21 });
    await service.work();
  }

  const { rows: events } = await askJournal(
    ctx.db.pool,
    "select * from events where event = 'key.created' order by sequence",
  );
  assert.ok(deaths > 10, `${deaths} processes died`);
  let duplicates = 0;
  for (const [at, receiver] of receivers.entries()) {
    const bodies = new Map<string, Set<string>>();
    for (const { headers, body } of receiver.received) {
      const id = String(headers["x-service-delivery"]);
      bodies.set(id, (bodies.get(id) ?? new Set()).add(body.toString()));
    }
    // The first event is the root key's own, before there was a subscription.
    const expected = events
      .slice(1)
      .map((event) => [buildDeliveryId(hooks[at]!, event), event.body]);
    assert.equal(expected.length, 60);
    assert.deepEqual(
      new Map([...bodies].map(([id, [body]]) => [id, body])),
      new Map([...bodies].map(([id]) => [id, new Map(expected as [string, string][]).get(id)])),
    );
    assert.equal(bodies.size, 60, "every event arrived");
    assert.ok([...bodies.values()].every((variants) => variants.size === 1));
    duplicates += receiver.received.length - bodies.size;
  }
  const { rows: left } = await ctx.db.pool.query(
    `select state, sum(count)::int as count
    from (
      select state, count(*) as count from deliveries group by state
      union all
      select 'delivered', sum(deliveries) from delivered_blocks having count(*) > 0
      union all
      select 'pending', sum(cardinality(sequences)) from delivery_blocks having count(*) > 0
    ) as counted
    group by state`,
  );
  assert.deepEqual(left, [{ state: "delivered", count: 180 }]);
  t.diagnostic(`${deaths} deaths, ${duplicates} seen twice, none lost`);
});

test("control: a fan-out that reads an outbox by `id > last` loses late commits", async (t) => {
  const { connection } = await testDatabase(t);
  const clients = Array.from({ length: 6 }, () => new pg.Client(connection));
  await Promise.all(clients.map((client) => client.connect()));
  const random = startRandom(t);
  const [reader, ...writers] = clients as [pg.Client, ...pg.Client[]];
  await reader.query("create table outbox (id bigserial primary key, body text)");
  const writing = new AbortController();
  const written = Promise.all(
    writers.map(async (writer, at) => {
      for (let n = 0; n < 40; n++) {
        await writer.query("begin");
        await writer.query("insert into outbox (body) values ($1)", [digest(`${at} ${n}`)]);
        await sleep(random.below(8));
        await writer.query("commit");
      }
    }),
  ).then(() => writing.abort());
  let last = 0;
  let sent = 0;
  const read = async () => {
    const { rows } = await reader.query<{ id: string }>(
      "select id from outbox where id > $1 order by id",
      [last],
    );
    sent += rows.length;
    last = Number(rows.at(-1)?.id ?? last);
  };
  for (let turn = 0; turn < 10_000 && !writing.signal.aborted; turn++) {
    await read();
    await sleep(1);
  }
  await written;
  await read();
  await Promise.all(clients.map((client) => client.end()));
  assert.ok(sent < 200, `${200 - sent} of 200 were lost`);
  t.diagnostic(`${200 - sent} of 200 lost`);
});

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

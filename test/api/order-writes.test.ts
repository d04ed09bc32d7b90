// What an order costs the database: sales leave the indexes alone, and what is added up beside the
// rows is what the rows add up to.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import pg from "pg";

import { creditStates, isLive, isOpen } from "../../src/credits/rules.ts";
import { reserveCredits } from "../../src/credits/reserve-credits.ts";
import { beginTransfers } from "../../src/credits/settle-credits.ts";
import { findTapes } from "../../src/market/store.ts";
import { sql, toDb, type Tx } from "../../src/platform/postgres/postgres.ts";
import { lockOffers } from "../../src/trading/load-orders.ts";
import { recordPlans } from "../compat/plans.ts";
import { asOwner } from "../support/database.ts";
import { addDeals } from "../support/deals.ts";
import { dealer } from "../support/orders.ts";
import { type Service, startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

type Updates = { readonly all: number; readonly inPage: number };

/** How many rows of a table some work updates, and how many of them within their page. */
async function updatesBy(
  { ctx }: Service,
  table: string,
  work: (tx: Tx) => Promise<unknown>,
): Promise<Updates> {
  return await ctx.db.transaction(async (tx) => {
    const before = await countUpdates(tx, table);
    await work(tx);
    const after = await countUpdates(tx, table);
    return { all: after.all - before.all, inPage: after.inPage - before.inPage };
  });
}

/** Since this connection last reported, which it does between transactions only. */
async function countUpdates(tx: Tx, table: string): Promise<Updates> {
  const [row] = await tx.rows<Updates>(sql`
    select pg_stat_get_xact_tuples_updated(${table}::regclass) as all,
      pg_stat_get_xact_tuples_hot_updated(${table}::regclass) as "inPage"`);
  return row ?? assert.fail("the server counts");
}

async function creditIds({ ctx }: Service, firmId: string): Promise<string[]> {
  const rows = await ctx.db.rows<{ credit_id: string }>(
    sql`select credit_id from credits where firm_id = ${firmId}`,
  );
  return rows.map((row) => row.credit_id);
}

test("reserving a credit and starting its transfer update no index, ending it does", async (t) => {
  const service = await startService(t);
  const { ctx } = service;
  const { firmId } = await dealer(
    service,
    Array.from({ length: 10 }, () => ({})),
  );
  const ids = await creditIds(service, firmId);
  const reservations = ids.map((creditId) => ({ creditId, reservedFor: "ord_test" }));
  const now = ctx.now();
  assert.deepEqual(
    await updatesBy(service, "credits", (tx) => tx.run(reserveCredits(reservations, now))),
    { all: 10, inPage: 10 },
  );
  assert.deepEqual(
    await updatesBy(service, "credits", (tx) => tx.run(beginTransfers(reservations, now))),
    { all: 10, inPage: 10 },
  );
  assert.deepEqual(
    await updatesBy(service, "credits", (tx) =>
      tx.rows(sql`update credits set state = 'transferred', reserved_for = null`),
    ),
    { all: 10, inPage: 0 },
  );
});

test("initiating a leg of a deal updates no index, answering it takes it from the open ones", async (t) => {
  const service = await startService(t);
  await addDeals(service, [{ facePaise: 1_000, sellerBps: 9_000 }]);
  assert.deepEqual(
    await updatesBy(service, "settlement_legs", (tx) =>
      tx.rows(sql`
        update settlement_legs
        set state = 'transferring', initiated_at = now(), accepted_at = now(), customs_due_at = now()`),
    ),
    { all: 1, inPage: 1 },
  );
  assert.deepEqual(
    await updatesBy(service, "settlement_legs", (tx) =>
      tx.rows(sql`update settlement_legs set state = 'delivered', answered_at = now()`),
    ),
    { all: 1, inPage: 0 },
  );
});

test("the bank's answer about a remittance updates the indexes of its lead only", async (t) => {
  const service = await startService(t);
  const { post, scripNos } = await dealer(service, [{}, {}, {}]);
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  await post("/v1/orders:batch", { orders }, 200);
  await letSettle(service, 1);
  const answer = (tx: Tx) =>
    tx.rows(sql`
      update payouts
      set state = 'paid', history = history || '["paid 1"]', version = version + 1,
        updated_at = now()
      where state = 'sent'`);
  assert.deepEqual(await updatesBy(service, "payouts", answer), { all: 3, inPage: 2 });
});

test("customs' answers about sales are applied without a look for the questions that they answer", async (t) => {
  const service = await startService(t, { isNew: true });
  const plans = await recordPlans(service.ctx.db);
  const { post, scripNos } = await dealer(service, [{}, {}, {}]);
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  await post("/v1/orders:batch", { orders }, 200);
  await letSettle(service);
  const run = plans.take().map(({ text }) => text);
  assert.ok(run.some((text) => text.includes("insert into questions")));
  assert.ok(run.some((text) => text.includes("delete from questions")));
  assert.deepEqual(
    run.filter((text) => text.includes("select found.question_id")),
    [],
  );
});

test("a credit's standing column agrees with the rules for its state", async (t) => {
  const service = await startService(t);
  const { firmId } = await dealer(
    service,
    creditStates.map((state) => ({ state })),
  );
  const rows = await service.ctx.db.rows<{ state: string; standing: string | null }>(
    sql`select state, standing from credits where firm_id = ${firmId}`,
  );
  const standings = new Map(rows.map((row) => [row.state, row.standing]));
  assert.equal(standings.size, creditStates.length);
  for (const state of creditStates) {
    assert.equal(standings.get(state) === "live", isLive(state), state);
    assert.equal(standings.get(state) === "claim", isOpen(state) && !isLive(state), state);
  }
});

test("the volume of 24 hours equals the sum of its deals, at every instant", async (t) => {
  const service = await startService(t);
  const { db } = service.ctx;
  const until = new Date("2026-11-15T09:30:20.500Z");
  const after = new Date(until.getTime() - 86_400_000);
  const around = (edge: Date) =>
    fc.integer({ min: -90_000, max: 90_000 }).map((ms) => edge.getTime() + ms);
  const dealtAt = fc.oneof(
    around(after),
    around(until),
    fc.constantFrom(after.getTime(), until.getTime(), until.getTime() + 1),
  );
  const deal = fc.record({ dealtAt, facePaise: fc.integer({ min: 1, max: 999_999_999 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(deal, { minLength: 1, maxLength: 5 }), async (deals) => {
      await addDeals(
        service,
        deals.map((one) => ({ ...one, sellerBps: 9_000, dealtAt: new Date(one.dealtAt) })),
      );
      const tapes = await findTapes(db, { environment: "sandbox", after, until });
      const [summed] = await db.rows(sql`
        select coalesce(sum(shown_face(face_paise)), 0)::bigint as volume_paise,
          count(*)::int as count
        from settlement_legs
        where environment = 'sandbox' and scheme = 'RODTEP'
          and dealt_at > ${after} and dealt_at <= ${until}`);
      const { last: _last, ...day } = tapes.get("RODTEP") ?? assert.fail("there is a tape");
      assert.deepEqual(day, summed);
    }),
    { numRuns: 30 },
  );
});

test("a deal is added to its minute's volume", async (t) => {
  const service = await startService(t);
  const { post, scripNos } = await dealer(service, [{}, {}, {}]);
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  const { body } = await post("/v1/orders:batch", { orders }, 200);
  assert.equal(body.submitted, 3);
  const minutes = await service.ctx.db.rows<{ deals: number; shown_paise: number }>(
    sql`select deals, shown_paise from deal_minutes`,
  );
  assert.deepEqual(minutes, [{ deals: 3, shown_paise: 75_000_000 }]);
});

test("the records of a batch are one row on each desk, found by few keys", async (t) => {
  const service = await startService(t);
  const { deskId, post, scripNos } = await dealer(
    service,
    Array.from({ length: 60 }, () => ({})),
  );
  const listBlocks = async () =>
    await service.ctx.db.rows<{
      desk_id: string;
      records: number;
      keys: number;
      clients: number;
    }>(sql`
      select b.desk_id, b.last_seq - b.first_seq + 1 as records, cardinality(b.entities) as keys,
        (
          select count(*)
          from journal_clients as c
          where c.desk_id = b.desk_id and c.last_sequence = b.last_sequence
        ) as clients
      from journal_blocks as b
      where b.desk_id = ${deskId}
      order by b.first_seq`);
  const before = (await listBlocks()).length;
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  const { body } = await post("/v1/orders:batch", { orders }, 200);
  assert.equal(body.submitted, 60);
  const made = (await listBlocks()).slice(before);
  assert.equal(made.length, 1, "one row, which was six for each order");
  const [block] = made;
  assert.equal(block?.records, 3 * 60);
  assert.ok((block?.keys ?? 99) <= 32, `${block?.keys} keys in the index`);
  assert.equal(block?.clients, 1);
});

test("orders that take nothing from the book send no statement about its offers", async (t) => {
  const { ctx } = await startService(t);
  const sent = await ctx.db.transaction(async (tx) => {
    let statements = 0;
    const counting = toDb(async (query) => {
      statements += query.steps.length;
      return await tx.run(query);
    });
    const { offered, held } = await lockOffers({ ...tx, ...counting }, "live", [], ctx.now());
    assert.deepEqual([offered.size, held.length], [0, 0]);
    return statements;
  });
  assert.equal(sent, 0);
});

/** How many lists of statements each transaction sends from now on, from its begin to its commit. */
function countTrips(t: { after(work: () => void): void }): readonly number[] {
  type Driver = {
    bind: (this: pg.Connection, config: { statement: string }, ...rest: unknown[]) => void;
    sync: (this: pg.Connection) => void;
  };
  const driver = pg.Connection.prototype as unknown as Driver;
  const { bind, sync } = driver;
  const [begin, commit] = [sql`begin`.name, sql`commit`.name];
  const open = new WeakMap<pg.Connection, { trips: number; isEnding: boolean }>();
  const counted: number[] = [];
  driver.bind = function (config, ...rest) {
    if (config.statement === begin) open.set(this, { trips: 0, isEnding: false });
    const transaction = open.get(this);
    if (transaction && config.statement === commit) transaction.isEnding = true;
    bind.call(this, config, ...rest);
  };
  driver.sync = function () {
    const transaction = open.get(this);
    if (transaction) transaction.trips += 1;
    if (transaction?.isEnding) {
      counted.push(transaction.trips);
      open.delete(this);
    }
    sync.call(this);
  };
  t.after(() => Object.assign(driver, { bind, sync }));
  return counted;
}

test("a single sale to the house is one transaction of five trips", async (t) => {
  const service = await startService(t);
  // One more than the house's money has stripes, so that one sale opens no account.
  const { post, scripNos } = await dealer(
    service,
    Array.from({ length: 17 }, () => ({})),
  );
  const trips = countTrips(t);
  for (const scrip_no of scripNos) await post("/v1/orders", { side: "sell", scrip_no }, 201);
  assert.equal(trips.length, scripNos.length);
  assert.equal(Math.min(...trips), 5);
});

test("what customs and the bank answer about a single sale takes few trips", async (t) => {
  const service = await startService(t);
  const { post, scripNos } = await dealer(
    service,
    Array.from({ length: 18 }, () => ({})),
  );
  for (const scrip_no of scripNos.slice(1)) {
    await post("/v1/orders", { side: "sell", scrip_no }, 201);
  }
  await letSettle(service);
  await post("/v1/orders", { side: "sell", scrip_no: scripNos[0] }, 201);
  const trips = countTrips(t);
  await letSettle(service);
  assert.ok(trips.length > 3, "its transfer, its payout and the market's log");
  assert.ok(Math.max(...trips) <= 15, `${trips.toSorted((a, b) => b - a).join(", ")} trips`);
});

/** Rows of the service's tables that were inserted, updated and deleted so far. */
async function countWritten({ ctx }: Service): Promise<number> {
  return await asOwner(ctx.db, async (owner) => {
    // A connection reports all that it wrote when it ends.
    await owner.query(`
      select pg_terminate_backend(pid, 5000)
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    const { rows } = await owner.query<{ written: string }>(`
      select sum(n_tup_ins + n_tup_upd + n_tup_del) as written
      from pg_stat_user_tables`);
    return Number(rows[0]?.written);
  });
}

test("a sale in a batch writes few rows until it is paid", async (t) => {
  const service = await startService(t, { isNew: true });
  const sales = 200;
  const { post, scripNos, get } = await dealer(
    service,
    Array.from({ length: sales }, () => ({})),
  );
  const before = await countWritten(service);
  const orders = scripNos.map((scrip_no) => ({ side: "sell", scrip_no }));
  await post("/v1/orders:batch", { orders }, 200);
  await letSettle(service);
  const { payouts } = await get("/v1/payouts?status=paid&limit=500");
  assert.equal(payouts.length, sales);
  const each = ((await countWritten(service)) - before) / sales;
  t.diagnostic(`${each} rows for each sale`);
  assert.ok(each > 10, "its order, settlement, entries and payout are rows");
  assert.ok(each <= 27, `${each} rows for each sale`);
});

// An order's whole life: sells in batches of 500 until the last is `paid`, with everything that is
// written about it, against pgbench's TPC-B on the same durable PostgreSQL in turns, once by one desk,
// once by eight, and once by eight whose transfers are attested in batches of 500. The environment is
// the sandbox. Its bank and registry are simulated by the service itself, on the cores that are
// measured; each of their answers comes half a second after its question. While this process attests,
// its processor time counts as the service's. The proof of the books and PostgreSQL's ANALYZE fall into
// some rounds, which is told of each.

import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import { ProcessorPerOrder } from "./processor.ts";
import { batchSize, type Market, openMarket, type Transfers } from "./sales.ts";
import { attestQuestions } from "../src/outside/answer-questions.ts";
import { isLockTimeout, openDatabase } from "../src/platform/postgres/postgres.ts";
import { appliers } from "../src/workers.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, spread } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const pgbenchClients = 16;
const rounds = chooseSize("BENCH_ROUNDS", 3, 1);
const pgbenchSeconds = 6;
/** So many that the answers' delays are a small part of the time. */
const batchesPerRound = chooseSize("BENCH_BATCHES", 40, 2);
const desksMany = 8;
const patienceMs = 300_000;
/** Reading the records back takes longer than writing them. */
const walBatchesMax = 10;

type Way = { readonly desks: number; readonly transfers: Transfers };

/** The orders of so many desks, whose transfers are answered in one way. */
type Lives = Way & {
  readonly perSecond: number[];
  readonly ratios: number[];
  readonly wal: number[];
  readonly rows: number[];
  readonly processor: ProcessorPerOrder;
};

const newLives = (way: Way): Lives => ({
  ...way,
  perSecond: [],
  ratios: [],
  wal: [],
  rows: [],
  processor: new ProcessorPerOrder(),
});

export async function life(): Promise<void> {
  await using stack = openStack();
  const market = await openMarket(stack, "sandbox", desksMany);
  const { client, pgbench, service } = market;
  const attest = openAttester(stack, market);
  const all = [
    newLives({ desks: 1, transfers: "simulated" }),
    newLives({ desks: desksMany, transfers: "simulated" }),
    newLives({ desks: desksMany, transfers: "attested" }),
  ];
  await liveThrough(market, await market.batches(batchesPerRound, ["RODTEP"], desksMany)); // Warms up.
  for (let round = 0; round < rounds; round++) {
    for (const lives of all) {
      const isAttested = lives.transfers === "attested";
      const tps = await pgbench({ clients: pgbenchClients, seconds: pgbenchSeconds });
      const { desks, transfers } = lives;
      const requests = await market.batches(batchesPerRound, ["RODTEP"], desks, transfers);
      const before = await readWritten(client);
      const helperPid = isAttested ? process.pid : undefined;
      const lived = await lives.processor.measure({ ...service, helperPid }, () =>
        liveThrough(market, requests, isAttested ? attest : pause),
      );
      const after = await readWritten(client);
      lives.perSecond.push(lived.perSecond);
      lives.ratios.push(lived.perSecond / tps);
      lives.wal.push((after.walBytes - before.walBytes) / lived.orders / 1_000);
      lives.rows.push((after.rows - before.rows) / lived.orders);
      const proved = after.proved - before.proved;
      const analyzed = after.analyzed - before.analyzed;
      process.stdout.write(
        `round ${round + 1} of ${nameLives(lives)}: ${Math.round(lived.perSecond)}/s, ` +
          `${lives.processor.describeLast()}; in it ${proved} entries of the books were proved ` +
          `and ${analyzed} tables analyzed\n`,
      );
    }
  }
  printTable(
    all.map(({ perSecond, ratios, ...way }) => ({
      what: `an order's whole life, until paid, of ${nameLives(way)}`,
      ours: `${Math.round(median(perSecond))}/s`,
      yardstick: `${Math.round(median(perSecond.map((value, at) => value / (ratios[at] ?? 1))))} tps`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal: "≥ 0.45",
    })),
  );
  for (const { wal: bytes, rows, processor, ...way } of all) {
    printRemark(
      `of ${nameLives(way)}: ${median(bytes).toFixed(1)} KB of WAL an order (goal ≤ 10), ` +
        `${median(rows).toFixed(1)} rows inserted, updated and deleted (goal ≤ 16); ` +
        `processor time of an order: ${processor.describe()} (goal ≤ 0.45 and 0.55)`,
    );
  }
}

const nameLives = ({ desks, transfers }: Way) =>
  `${desks === 1 ? "one desk" : `${desks} desks`}, ${transfers}`;

const pause = () => sleep(50);

/** Attests to one set of open transfers; pauses where none is. */
function openAttester(
  stack: AsyncDisposableStack,
  { client, connection }: Market,
): () => Promise<void> {
  const db = openDatabase({ connection, role: undefined, connectionsMax: 4, onIdleError() {} });
  stack.defer(() => db.close());
  const ctx = { db, now: () => new Date() };
  const operator = { kind: "operator", id: "bench", requestId: null } as const;
  return async () => {
    const { rows } = await client.query<{ questionId: string }>(
      `select question_id as "questionId"
      from questions
      where kind = 'credit_transfer' and state = 'open'
      limit $1`,
      [batchSize],
    );
    if (rows.length === 0) return await pause();
    const seen = rows.map((row) => ({ ...row, answer: transferred, reference: "BENCH" }));
    try {
      await attestQuestions(ctx, operator, seen, appliers);
    } catch (error) {
      if (!isLockTimeout(error)) throw error; // It gives way, and is said again.
    }
  };
}

const transferred = { outcome: "transferred" } as const;

/** Bytes on disk for each settled order, by table with its indexes. */
export async function storage(): Promise<void> {
  await using stack = openStack();
  const market = await openMarket(stack, "sandbox");
  const { client } = market;
  await liveThrough(market, await market.batches(2));
  const before = await readSizes(client);
  const { orders } = await liveThrough(market, await market.batches(batchesPerRound));
  const after = await readSizes(client);
  const grown = [...after]
    .map(([table, bytes]) => ({ table, bytes: (bytes - (before.get(table) ?? 0)) / orders }))
    .filter(({ bytes }) => bytes >= 1)
    .toSorted((a, b) => b.bytes - a.bytes);
  console.table(
    grown.map(({ table, bytes }) => ({ table, "bytes an order": Math.round(bytes) })),
    ["table", "bytes an order"],
  );
  const total = grown.reduce((sum, { bytes }) => sum + bytes, 0);
  printRemark(`${Math.round(total)} bytes on disk for each of ${orders} settled orders`);
}

/** Bytes of WAL and its records for each order, by table with its indexes. */
export async function wal(): Promise<void> {
  await using stack = openStack();
  const market = await openMarket(stack, "sandbox");
  const { client } = market;
  await client.query("create extension if not exists pg_walinspect");
  await liveThrough(market, await market.batches(2));
  const requests = await market.batches(Math.min(batchesPerRound, walBatchesMax));
  const before = await readPlace(client);
  const { orders } = await liveThrough(market, requests);
  // Connections write what is left of their work within a second.
  await sleep(1_500);
  const after = await readPlace(client);
  const records = await readRecords(client, { before, after, orders });
  console.table(records.byTable, ["table", "bytes", "heap", "index", "full_pages"]);
  console.table(records.byType, ["record", "count", "bytes"]);
  console.table(records.byIndex, ["index", "entries", "bytes"]);
  printRemark(`${records.bytes} bytes of WAL for each of ${orders} orders`);
}

type Lived = { readonly orders: number; readonly perSecond: number };

/** Sells, and waits until everything is paid; meanwhile `step` is called again and again. */
async function liveThrough(
  market: Market,
  requests: readonly string[],
  step: () => Promise<void> = pause,
): Promise<Lived> {
  const startedMs = performance.now();
  const sold = new AbortController();
  const follow = async () => {
    while (!sold.signal.aborted || (await hasUnpaid(market.client))) {
      if (performance.now() - startedMs > patienceMs) throw new Error("orders are not paid");
      await step();
    }
  };
  await Promise.all([market.sellInBatches(requests).finally(() => sold.abort()), follow()]);
  if (await hasFailed(market.client)) throw new Error("deals failed");
  const orders = requests.length * batchSize;
  return { orders, perSecond: orders / ((performance.now() - startedMs) / 1_000) };
}

/** Looks by indexes of what is open, so that the look costs the same however much was dealt. */
async function hasUnpaid(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`
    select from settlements where environment = 'sandbox' and due_at is not null
    union all
    select from payouts where environment = 'sandbox' and queued_as is not null
    limit 1`);
  return rows.length > 0;
}

async function hasFailed(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    "select from settlements where environment = 'sandbox' and state in ('failed', 'reversed') limit 1",
  );
  return rows.length > 0;
}

type Written = {
  readonly walBytes: number;
  readonly rows: number;
  /** How many entries of the books are proved. */
  readonly proved: number;
  /** How often a table was analyzed. */
  readonly analyzed: number;
};

/** When everything is paid; throws where something was left undone. */
async function readWritten(client: pg.Client): Promise<Written> {
  // Connections report what they wrote after a second without a transaction.
  await sleep(1_500);
  const { rows } = await client.query<{ [Name in keyof Written | "undone"]: string }>(`
    select pg_current_wal_insert_lsn() - '0/0' as "walBytes",
      tup_inserted + tup_updated + tup_deleted as rows,
      (select proved_to from ledger_proof) as proved,
      (select sum(analyze_count + autoanalyze_count) from pg_stat_user_tables) as analyzed,
      (select count(*) from settlements where state <> 'settled')
        + (select count(*) from payouts where state <> 'paid') as undone
    from pg_stat_database
    where datname = current_database()`);
  const [row] = rows;
  if (Number(row?.undone) > 0) throw new Error(`${row?.undone} deals and payouts are not done`);
  return {
    walBytes: Number(row?.walBytes),
    rows: Number(row?.rows),
    proved: Number(row?.proved),
    analyzed: Number(row?.analyzed),
  };
}

async function readSizes(client: pg.Client): Promise<Map<string, number>> {
  await client.query("vacuum");
  const { rows } = await client.query<{ table: string; bytes: string }>(`
    select relname as table, pg_total_relation_size(oid) as bytes
    from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`);
  return new Map(rows.map(({ table, bytes }) => [table, Number(bytes)]));
}

async function readPlace(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ place: string }>(
    "select pg_current_wal_flush_lsn()::text as place",
  );
  return rows[0]?.place ?? "0/0";
}

/** A record counts for the first page that it is about; those of commits are about none. */
async function readRecords(
  client: pg.Client,
  { before, after, orders }: { before: string; after: string; orders: number },
) {
  await client.query(
    `create temp table written as
    select coalesce(t.relname, 'none') as table, c.relname as relation, b.kind, b.bytes, b.fpi
    from (
      select r.resource_manager || ' ' || r.record_type as kind, r.record_length as bytes,
        coalesce(r.fpi_length, 0) as fpi, first.relfilenode
      from pg_get_wal_records_info($1, $2) as r
      left join (
        select distinct on (start_lsn) start_lsn, relfilenode
        from pg_get_wal_block_info($1, $2, false)
        order by start_lsn, block_id
      ) as first using (start_lsn)
    ) as b
    left join pg_class as c on c.relfilenode = b.relfilenode and b.relfilenode <> 0
    left join pg_index as i on i.indexrelid = c.oid
    left join pg_class as toasting on toasting.reltoastrelid in (c.oid, i.indrelid)
    left join pg_class as t on t.oid = coalesce(toasting.oid, i.indrelid, c.oid)`,
    [before, after],
  );
  const read = async (text: string) => (await client.query(text, [orders])).rows;
  const byTable = await read(`
    select w.table, round(sum(bytes) / $1::float8)::int as bytes,
      round(sum(bytes) filter (where kind like 'Heap%') / $1::float8)::int as heap,
      round(sum(bytes) filter (where kind not like 'Heap%') / $1::float8)::int as index,
      round(sum(fpi) / $1::float8)::int as full_pages
    from written as w group by w.table having sum(bytes) >= 5 * $1::float8 order by 2 desc`);
  const byType = await read(`
    select kind as record, round((count(*) / $1::float8)::numeric, 2)::float8 as count,
      round(sum(bytes) / $1::float8)::int as bytes
    from written group by kind having sum(bytes) >= 5 * $1::float8 order by 3 desc`);
  const byIndex = await read(`
    select relation as index, round((count(*) / $1::float8)::numeric, 2)::float8 as entries,
      round(sum(bytes) / $1::float8)::int as bytes
    from written
    where kind like 'Btree INSERT%' group by relation having sum(bytes) >= 5 * $1::float8
    order by 3 desc`);
  const [total] = await read("select round(sum(bytes) / $1::float8)::int as bytes from written");
  return { byTable, byType, byIndex, bytes: Number(total?.bytes) };
}

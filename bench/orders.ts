// What an order costs: sells by scrip_no at the current price, one a call and 500 a call, against
// pgbench's TPC-B on the same durable PostgreSQL in turns. Every order is authenticated, metered,
// matched with the house, held in the books, settled as far as it can be and told as events; the
// environment is live, so that nobody simulates the other side on the cores that are measured.

import pg from "pg";

import { newId } from "../src/kernel/ids.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import type { LoadResult } from "./load.ts";
import { preparePgbench } from "./pgbench.ts";
import { median, printTable, spread, startLoad, startService } from "./support.ts";

const connections = 64;
const batchConnections = 4;
const batchSize = 500;
const pgbenchClients = 16;
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 4);
const secondsPerRound = 4;
/** More than can be sold in a round. */
const creditsPerRound = 40_000;
const creditsPerBatchRound = 100_000;

type Desk = { readonly api_key: string; readonly firm_id: string };

export async function orders(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = await startService(stack);
  const load = await startLoad(stack);
  const server = await openEmbedded({ dataDir: service.dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  const client = new pg.Client(server.connection);
  await client.connect();
  stack.defer(() => client.end());
  const pgbench = await preparePgbench({ ...server.connection, database: "postgres" });
  for (const scheme of ["RODTEP", "ROSCTL"]) {
    const limit = ["--house-limit-paise", "9007199254740991"];
    await service.command("rates", "publish", "--env", "live", "--scheme", scheme, ...limit);
  }
  await service.command(
    "plans",
    "set",
    "--name",
    "bench",
    "--per-minute",
    "10000000",
    "--monthly",
    "1000000000",
  );
  const identity = ["--iec", "AAACB1234C", "--pan", "AAACB1234C", "--plan", "bench"];
  const desk = (await service.command(
    "keys",
    "issue",
    "--firm",
    "Bench",
    "--env",
    "live",
    ...identity,
  )) as Desk;

  const figures = { single: [] as number[], batch: [] as number[] };
  const ratios = { single: [] as number[], batch: [] as number[] };
  const latencies: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const tps = await pgbench({ clients: pgbenchClients, seconds: secondsPerRound });
    const single = await sellSingly();
    const batch = await sellInBatches();
    if (round === 0) continue; // Warms both up.
    figures.single.push(single.perSecond);
    figures.batch.push(batch.perSecond * batchSize);
    ratios.single.push(single.perSecond / tps);
    ratios.batch.push((batch.perSecond * batchSize) / tps);
    latencies.push(single.medianMs);
  }
  const tpsOf = (per: readonly number[], ratio: readonly number[]) =>
    median(per.map((value, at) => value / (ratio[at] ?? 1)));
  printTable([
    {
      what: `single orders, ${connections} connections`,
      ours: `${Math.round(median(figures.single))}/s`,
      yardstick: `${Math.round(tpsOf(figures.single, ratios.single))} tps`,
      ratio: median(ratios.single),
      spread: spread(ratios.single),
      goal: "≥ 2.0",
    },
    {
      what: `orders by ${batchSize} a call`,
      ours: `${Math.round(median(figures.batch))}/s`,
      yardstick: `${Math.round(tpsOf(figures.batch, ratios.batch))} tps`,
      ratio: median(ratios.batch),
      spread: spread(ratios.batch),
      goal: "≥ 8",
    },
  ]);
  process.stdout.write(`median latency of a single order: ${median(latencies).toFixed(1)} ms\n`);

  async function sellSingly(): Promise<LoadResult> {
    const request = (await addCredits(client, desk, creditsPerRound)).map((scripNo) =>
      post("/v1/orders", { side: "sell", scrip_no: scripNo }, desk),
    );
    const result = await load({
      port: service.port,
      connections,
      seconds: secondsPerRound,
      request,
    });
    if (result.failures > 0) throw new Error(`${result.failures} orders were refused`);
    return result;
  }

  async function sellInBatches(): Promise<LoadResult> {
    const scripNos = await addCredits(client, desk, creditsPerBatchRound);
    const request = Array.from({ length: scripNos.length / batchSize }, (_, at) => {
      const own = scripNos.slice(at * batchSize, (at + 1) * batchSize);
      return post(
        "/v1/orders:batch",
        { orders: own.map((scrip_no) => ({ side: "sell", scrip_no })) },
        desk,
      );
    });
    const before = await countOrders(client);
    const result = await load({
      port: service.port,
      connections: batchConnections,
      seconds: secondsPerRound,
      request,
    });
    const placed = (await countOrders(client)) - before;
    if (result.failures > 0 || placed !== result.answers * batchSize) {
      throw new Error(`${result.answers * batchSize - placed} orders of batches were refused`);
    }
    return result;
  }
}

async function countOrders(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>("select count(*) from orders");
  return Number(rows[0]?.count);
}

let added = 0;

/** Listed credits of the desk's own firm, by the thousand. */
async function addCredits(client: pg.Client, { firm_id }: Desk, count: number): Promise<string[]> {
  const now = new Date();
  const ids = Array.from({ length: count }, () => newId("crd", now));
  const scripNos = ids.map(() => `BENCH-${String(added++).padStart(9, "0")}`);
  await client.query(
    `insert into credits (
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      issued_on, expires_on, expiry_due_on, state, as_of, version, created_at, updated_at
    )
    select credit_id, 'live', $3, $3, scrip_no, 'RODTEP', 25000000, 25000000, '2026-01-01',
      '2098-12-31', '2098-12-31', 'listed', $4, 1, $4, $4
    from unnest($1::text[], $2::text[]) as c (credit_id, scrip_no)`,
    [ids, scripNos, firm_id, now],
  );
  await client.query("vacuum analyze credits");
  return scripNos;
}

function post(path: string, body: object, { api_key }: Desk): string {
  const text = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nhost: bench\r\nx-service-key: ${api_key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

// What an order costs: sells by scrip_no at the current price, one a call and 500 a call, against
// pgbench's TPC-B on the same durable PostgreSQL in turns. Every order is authenticated, metered,
// matched with the house, held in the books, settled as far as it can be and told as events; the
// environment is live, so that nobody simulates the other side on the cores that are measured.

import type { LoadResult } from "./load.ts";
import { batchSize, openMarket } from "./sales.ts";
import { median, printTable, spread } from "./support.ts";

const connections = 64;
const pgbenchClients = 16;
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 4);
const secondsPerRound = 4;
/** More than can be sold in a round. */
const creditsPerRound = 40_000;
const batchesPerRound = 200;

export async function orders(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const market = await openMarket(stack, "live");
  const figures = { single: [] as number[], batch: [] as number[] };
  const ratios = { single: [] as number[], batch: [] as number[] };
  const latencies: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const tps = await market.pgbench({ clients: pgbenchClients, seconds: secondsPerRound });
    const single = await sellSingly();
    const batches = await market.batches(batchesPerRound);
    const batch = await market.sellInBatches(batches, secondsPerRound);
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
      goal: "≥ 1.2",
    },
    {
      what: `orders by ${batchSize} a call`,
      ours: `${Math.round(median(figures.batch))}/s`,
      yardstick: `${Math.round(tpsOf(figures.batch, ratios.batch))} tps`,
      ratio: median(ratios.batch),
      spread: spread(ratios.batch),
      goal: "≥ 3.0",
    },
  ]);
  process.stdout.write(`median latency of a single order: ${median(latencies).toFixed(1)} ms\n`);

  async function sellSingly(): Promise<LoadResult> {
    const request = await market.singles(creditsPerRound);
    const { port } = market.service;
    const result = await market.load({ port, connections, seconds: secondsPerRound, request });
    if (result.failures > 0) throw new Error(`${result.failures} orders were refused`);
    return result;
  }
}

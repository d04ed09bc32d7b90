// What an order costs: sells by scrip_no at the current price, one a call and 500 a call, against
// pgbench's TPC-B on the same durable PostgreSQL in turns. The same once more with two schemes, of
// which each has a lane of its own. Every order is authenticated, metered,
// matched with the house, held in the books, settled as far as it can be and told as events; the
// environment is live, so that nobody simulates the other side on the cores that are measured.

import { type Scheme, schemes } from "../src/kernel/scheme.ts";
import type { LoadResult } from "./load.ts";
import { batchSize, openMarket } from "./sales.ts";
import { median, printRemark, printTable, spread } from "./support.ts";

const connections = 64;
const pgbenchClients = 16;
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 4);
const secondsPerRound = 4;
/** More than can be sold in a round. */
const creditsPerRound = 40_000;
const batchesPerRound = 200;

type Figure = { readonly perSecond: number[]; readonly ratios: number[] };

const newFigure = (): Figure => ({ perSecond: [], ratios: [] });

export async function orders(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const market = await openMarket(stack, "live");
  const yardstick: number[] = [];
  const figures = {
    single: newFigure(),
    batch: newFigure(),
    singles: newFigure(),
    both: newFigure(),
  };
  const latencies: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const tps = await market.pgbench({ clients: pgbenchClients, seconds: secondsPerRound });
    const single = await sellSingly(["RODTEP"]);
    const batch = await sellBatches(["RODTEP"]);
    const singles = await sellSingly(schemes);
    const both = await sellBatches(schemes);
    if (round === 0) continue; // Warms both up.
    yardstick.push(tps);
    for (const [name, perSecond] of Object.entries({
      single: single.perSecond,
      batch: batch.perSecond * batchSize,
      singles: singles.perSecond,
      both: both.perSecond * batchSize,
    })) {
      const figure = figures[name as keyof typeof figures];
      figure.perSecond.push(perSecond);
      figure.ratios.push(perSecond / tps);
    }
    latencies.push(single.medianMs);
  }
  const toRow = (what: string, { perSecond, ratios }: Figure, goal: string) => ({
    what,
    ours: `${Math.round(median(perSecond))}/s`,
    yardstick: `${Math.round(median(yardstick))} tps`,
    ratio: median(ratios),
    spread: spread(ratios),
    goal,
  });
  printTable([
    toRow(`single orders, ${connections} connections`, figures.single, "≥ 1.2"),
    toRow(`orders by ${batchSize} a call`, figures.batch, "≥ 3.0"),
    toRow("single orders of two schemes", figures.singles, "≥ one scheme"),
    toRow(`orders of two schemes by ${batchSize} a call`, figures.both, "≥ one scheme"),
  ]);
  printRemark(`median latency of a single order: ${median(latencies).toFixed(1)} ms`);

  async function sellBatches(of: readonly Scheme[]): Promise<LoadResult> {
    return await market.sellInBatches(await market.batches(batchesPerRound, of), secondsPerRound);
  }

  async function sellSingly(of: readonly Scheme[]): Promise<LoadResult> {
    const request = await market.singles(creditsPerRound, of);
    const { port } = market.service;
    const result = await market.load({ port, connections, seconds: secondsPerRound, request });
    if (result.failures > 0) throw new Error(`${result.failures} orders were refused`);
    return result;
  }
}

// What an order costs: sells by scrip_no at the current price, one a call and 500 a call, against
// pgbench's TPC-B on the same durable PostgreSQL in turns. The same once more with two schemes. Every order is authenticated, metered,
// matched with the house, held in the books, settled as far as it can be and told as events; the
// environment is live, so that nobody simulates the other side on the cores that are measured.

import { type Scheme, schemes } from "../src/kernel/scheme.ts";
import type { LoadResult } from "./load.ts";
import { ProcessorPerOrder } from "./processor.ts";
import { batchSize, openMarket } from "./sales.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, spread } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const connections = 64;
const pgbenchClients = 16;
const rounds = chooseSize("BENCH_ROUNDS", 4, 1);
const secondsPerRound = chooseSize("BENCH_SECONDS", 4, 1);
/** More than can be sold in a round. */
const creditsPerRound = 10_000 * secondsPerRound;
const batchesPerRound = 50 * secondsPerRound;

type Figure = {
  readonly perSecond: number[];
  readonly ratios: number[];
  readonly processor: ProcessorPerOrder;
};

const newFigure = (): Figure => ({ perSecond: [], ratios: [], processor: new ProcessorPerOrder() });

export async function orders(): Promise<void> {
  await using stack = openStack();
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
    const single = await sellSingly(["RODTEP"], figures.single);
    const batch = await sellBatches(["RODTEP"], figures.batch);
    const singles = await sellSingly(schemes, figures.singles);
    const both = await sellBatches(schemes, figures.both);
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
    toRow(`single orders, ${connections} connections`, figures.single, "≥ 0.5"),
    toRow(`orders by ${batchSize} a call`, figures.batch, "≥ 1.5"),
    toRow("single orders of two schemes", figures.singles, "≥ one scheme"),
    toRow(`orders of two schemes by ${batchSize} a call`, figures.both, "≥ one scheme"),
  ]);
  printRemark(
    `median latency of a single order: ${median(latencies).toFixed(1)} ms; processor time: ` +
      `${figures.single.processor.describe()} for a single order, ` +
      `${figures.batch.processor.describe()} for one of a batch`,
  );

  async function sellBatches(of: readonly Scheme[], { processor }: Figure): Promise<LoadResult> {
    const requests = await market.batches(batchesPerRound, of);
    return await processor.measure(market.service, async () => {
      const result = await market.sellInBatches(requests, secondsPerRound);
      return { ...result, orders: result.answers * batchSize };
    });
  }

  async function sellSingly(of: readonly Scheme[], { processor }: Figure): Promise<LoadResult> {
    const request = await market.singles(creditsPerRound, of);
    const { port } = market.service;
    return await processor.measure(market.service, async () => {
      const result = await market.load({ port, connections, seconds: secondsPerRound, request });
      if (result.failures > 0) {
        throw new Error(`${result.failures} orders were refused: ${result.firstFailure}`);
      }
      return { ...result, orders: result.answers };
    });
  }
}

// The service and a bare Fastify under the same load in turns, and what is told of it.

import type { LoadOrder, LoadResult } from "./load.ts";
import { chooseSize } from "./sizes.ts";
import { median, type Row, spread } from "./support.ts";

export const connections = 64;
const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
const secondsPerRound = chooseSize("BENCH_SECONDS", 4, 1);
/** Until both are compiled as they stay. */
const warmUpSeconds = 2 * secondsPerRound;

type Call = Pick<LoadOrder, "port" | "request">;

export type Rounds = {
  readonly ours: readonly LoadResult[];
  readonly yardstick: readonly LoadResult[];
};

export async function loadInTurns(
  load: (order: LoadOrder) => Promise<LoadResult>,
  calls: { readonly ours: Call; readonly bare: Call },
  afterOurs: () => Promise<void> = async () => {},
): Promise<Rounds> {
  const run = async (call: Call, seconds: number) => await load({ ...call, connections, seconds });
  await run(calls.ours, warmUpSeconds);
  await run(calls.bare, warmUpSeconds);
  const ours: LoadResult[] = [];
  const yardstick: LoadResult[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await run(calls.ours, secondsPerRound));
    await afterOurs();
    yardstick.push(await run(calls.bare, secondsPerRound));
  }
  const failures = [...ours, ...yardstick].reduce((sum, result) => sum + result.failures, 0);
  if (failures > 0) throw new Error(`${failures} answers were not 2xx`);
  return { ours, yardstick };
}

export function buildRows(
  { what, latency, goal }: Pick<Row, "what" | "goal"> & { readonly latency: string },
  { ours, yardstick }: Rounds,
): Row[] {
  const ratios = ours.map((result, round) => result.perSecond / (yardstick[round]?.perSecond ?? 1));
  const speed = (results: readonly LoadResult[]) => median(results.map((each) => each.perSecond));
  const wait = (results: readonly LoadResult[]) => median(results.map((each) => each.medianMs));
  return [
    {
      what,
      ours: `${Math.round(speed(ours))}/s`,
      yardstick: `${Math.round(speed(yardstick))}/s bare Fastify`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal,
    },
    {
      what: latency,
      ours: `${wait(ours).toFixed(2)} ms`,
      yardstick: `${wait(yardstick).toFixed(2)} ms`,
      ratio: wait(ours) / wait(yardstick),
      spread: "",
      goal: "",
    },
  ];
}

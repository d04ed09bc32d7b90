// Benches that compare a small service with a large one: two whole services run side by side and take
// turns call by call, so that whatever else the machine does falls on both.

import { median, spread } from "./support.ts";

/** A figure at the small side and at the large one, of one round. */
export type Pair = readonly [few: number, many: number];

/** The median milliseconds of a call to each side; the two take turns in going first. */
export async function timeInTurns(
  calls: number,
  work: (side: 0 | 1, call: number) => Promise<unknown>,
): Promise<Pair> {
  const taken: [number[], number[]] = [[], []];
  for (let call = 0; call < calls; call++) {
    for (const side of call % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const startedAt = performance.now();
      await work(side, call);
      taken[side].push(performance.now() - startedAt);
    }
  }
  return [median(taken[0]), median(taken[1])];
}

/** A row of the table: how much longer a call takes at the large side, by the middle of all rounds. */
export function buildGrowthRow(
  what: string,
  taken: readonly Pair[],
  { small, large, goal }: { readonly small: number; readonly large: number; readonly goal: string },
) {
  const ofFew = median(taken.map(([ms]) => ms));
  const ofMany = median(taken.map(([, ms]) => ms));
  return {
    what,
    ours: `${ofMany.toFixed(2)} ms at ${large}`,
    yardstick: `${ofFew.toFixed(2)} ms at ${small}`,
    ratio: ofMany / ofFew,
    spread: spread(taken.map(([few, many]) => many / few)),
    goal,
  };
}

// Random choices that can be made again: the seed is printed, and SEED=… repeats a run.

import type { TestContext } from "node:test";

export type Random = {
  /** A whole number from 0 up to and without the bound. */
  below(bound: number): number;
  pick<Item>(items: readonly Item[]): Item;
};

/** How many sequences a model plays: few in `npm test`, RUNS=… many in `npm run test:long`. */
export function readRuns(few: number): number {
  return Number(process.env["RUNS"] ?? few);
}

export function startRandom(t: Pick<TestContext, "diagnostic">): Random {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
  t.diagnostic(`SEED=${seed}`);
  return seededRandom(seed);
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  // Mulberry32: small, and good enough to choose with.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    below,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("there is something to pick from");
      return item;
    },
  };
}

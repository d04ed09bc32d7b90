// Work on many items that has to be done on the event loop is done in pieces: once a piece has held
// the loop for a few milliseconds, whoever else waits has a turn.

import { setImmediate as nextTurn } from "node:timers/promises";

export type Pace = {
  /** Whether this piece has been going on for long enough. */
  isOver(): boolean;
  /** Lets the others have their turn; throws when the work is not wanted any more. */
  turn(): Promise<void>;
};

const pieceMsDefault = 5;

export function openPace({
  pieceMs = pieceMsDefault,
  mayGoOn = () => {},
}: { readonly pieceMs?: number; readonly mayGoOn?: () => void } = {}): Pace {
  let begunMs = performance.now();
  return {
    isOver: () => performance.now() - begunMs > pieceMs,
    async turn() {
      await nextTurn();
      mayGoOn();
      begunMs = performance.now();
    },
  };
}

/** All in one piece. */
export const noPace: Pace = { isOver: () => false, turn: () => Promise.resolve() };

/** Does work that says by `yield` where it may be interrupted. */
export async function runPaced<Result>(work: Generator<void, Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (pace.isOver()) await pace.turn();
  }
}

/** The same in one piece. */
export function runThrough<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

export async function mapPaced<Item, Result>(
  items: readonly Item[],
  one: (item: Item, at: number) => Result,
  pace: Pace,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    results.push(one(item, at));
    if (pace.isOver()) await pace.turn();
  }
  return results;
}

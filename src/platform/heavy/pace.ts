// Work that would only wait for itself in the database waits here instead: one piece at a time, in
// the order it came. Whoever finds too many waiting is refused at once and may try again.

import { Overloaded } from "../postgres/coalesce.ts";

// Work on many items that has to be done on the event loop is done in pieces: once a piece has held
// the loop for a few milliseconds, whoever else waits has a turn. All such work shares one queue, and
// a piece or two are done in a turn of the loop, however many callers there are.

export type Pace = {
  /** Whether this piece has been going on for long enough. */
  isOver(): boolean;
  /** Lets the others have their turn; throws when the work is not wanted any more. */
  turn(): Promise<void>;
};

const pieceMsDefault = 5;

/**
 *   few     what waited for one of a few places, and holds a transaction meanwhile
 *   many    whatever anybody may ask for at any time: long lists, large bodies
 */
type PieceQueue = "few" | "many";

const waiting: Readonly<Record<PieceQueue, (() => void)[]>> = { few: [], many: [] };
let isLetting = false;

/** Resolves when it is this piece's turn; of each queue one has a turn of the loop. */
export function takePiece(queue: PieceQueue = "many"): Promise<void> {
  return new Promise((resolve) => {
    waiting[queue].push(resolve);
    if (isLetting) return;
    isLetting = true;
    setImmediate(letNext);
  });
}

function letNext(): void {
  waiting.few.shift()?.();
  waiting.many.shift()?.();
  isLetting = waiting.few.length + waiting.many.length > 0;
  if (isLetting) setImmediate(letNext);
}

type PaceOptions = {
  readonly pieceMs?: number;
  /** Throws when the work is not wanted any more. */
  readonly mayGoOn?: () => void;
  /** How it waits for its next turn: in the queue of all such work unless given. */
  readonly nextTurn?: () => Promise<void>;
};

export function openPace({
  pieceMs = pieceMsDefault,
  mayGoOn = () => {},
  nextTurn = takePiece,
}: PaceOptions = {}): Pace {
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

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function takeTurns({ waitingMax }: { readonly waitingMax: number }): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting >= waitingMax) throw new Overloaded();
    waiting += 1;
    const turn = last.then(async () => {
      waiting -= 1;
      return await work();
    });
    // The next one's turn comes whatever became of this one.
    last = turn.catch(() => {});
    return await turn;
  };
}

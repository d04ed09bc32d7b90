// Cooperative scheduling on the event loop.
//
// Work on many items is done in pieces: after a few milliseconds it yields. All such work shares a few
// queues, and each turn of the loop runs one piece of each queue, so a turn stays short however many
// callers there are. The parsing of one body cannot be divided, and a small call needs several turns:
// after a large body its queue rests for as long as the body took. Bodies of live have a queue of their
// own, so that those of the sandbox do not delay them.

export type Pace = {
  /** Whether this piece has used up its time. */
  isOver(): boolean;
  /** Yields to other work; throws when the caller has gone. */
  turn(): Promise<void>;
};

const pieceMsDefault = 5;
const restMsMax = 50;

/**
 *   few         work that has one of a few places and holds a transaction
 *   many        all other work: long lists, batches
 *   live bodies large bodies of live callers, parsed and validated
 *   bodies      those of everybody else
 *   refused     bodies that are read only to be discarded
 */
const queues = {
  few: openQueue({ rests: false }),
  many: openQueue({ rests: false }),
  "live bodies": openQueue({ rests: true }),
  bodies: openQueue({ rests: true }),
  refused: openQueue({ rests: false }),
};

/** Resolves when it is this piece's turn; each turn of the loop runs one piece of each queue. */
export function takePiece(queue: keyof typeof queues = "many"): Promise<void> {
  return queues[queue]();
}

function openQueue({ rests }: { readonly rests: boolean }): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let isLetting = false;
  const letNext = () => {
    const begunMs = performance.now();
    waiting.shift()?.();
    if (!rests) return goOn();
    // The piece is done before the next turn of the loop.
    setImmediate(() => setTimeout(goOn, Math.min(performance.now() - begunMs, restMsMax)));
  };
  const goOn = () => {
    isLetting = waiting.length > 0;
    if (isLetting) setImmediate(letNext);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (isLetting) return;
      isLetting = true;
      setImmediate(letNext);
    });
}

type PaceOptions = {
  readonly pieceMs?: number;
  /** Throws when the caller has gone. */
  readonly mayGoOn?: () => void;
  /** Waits for the next turn; by default in the queue `many`. */
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

/** Never yields. */
export const noPace: Pace = { isOver: () => false, turn: () => Promise.resolve() };

/** Runs a generator that marks by `yield` where it may be interrupted. */
export async function runPaced<Result>(work: Generator<void, Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (pace.isOver()) await pace.turn();
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

// Many callers, one statement.
//
//   caller    asks for one thing and waits for its own answer
//   queue     what has been asked for and not yet been taken into a set
//   set       up to `setSizeMax` items handed to `work` together, in the order they were asked for
//
// At most `setsInFlight` sets are being worked on. What arrives meanwhile waits and forms the next
// set, so a busy service works in bigger sets and an idle one adds no delay: there is no timer. A
// set closes when the current turn of the event loop ends, which lets requests that were read from
// their sockets in one turn travel together.
//
// One item never harms another. `work` answers each item by itself, with a result or with the
// Error that only its own caller sees. When `work` throws and `mayRetry` says that nothing was
// kept, the set is split in halves and tried again, down to the single item that is to blame.
// When something may have been kept, every caller of that set learns of the error instead.
//
// The queue is bounded. A caller that would not fit is refused at once with `Overloaded`, which
// the edge turns into the contract's retryable answer.

export type Outcome<Result> = Result | Error;

export type CoalesceOptions = {
  readonly setSizeMax: number;
  readonly queueMax: number;
  readonly setsInFlight?: number;
  /** Whether a thrown error means that nothing of the set was kept, so that it may be split. */
  readonly mayRetry: (error: unknown) => boolean;
  readonly onSet?: (size: number) => void;
};

export class Overloaded extends Error {
  constructor() {
    super("too much work is waiting");
  }
}

type Waiting<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export function coalesce<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Outcome<Result>[]>,
  { setSizeMax, queueMax, setsInFlight = 1, mayRetry, onSet }: CoalesceOptions,
): (item: Item) => Promise<Result> {
  let queue: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let closing = false;

  function ask(item: Item): Promise<Result> {
    if (queue.length >= queueMax) return Promise.reject(new Overloaded());
    return new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      closeSoon();
    });
  }

  function closeSoon(): void {
    if (closing || inFlight >= setsInFlight) return;
    closing = true;
    setImmediate(closeSet);
  }

  function closeSet(): void {
    closing = false;
    if (queue.length === 0) return;
    const set = queue.length <= setSizeMax ? queue : queue.slice(0, setSizeMax);
    queue = set === queue ? [] : queue.slice(setSizeMax);
    inFlight += 1;
    onSet?.(set.length);
    void settle(set).finally(() => {
      inFlight -= 1;
      if (queue.length > 0) closeSoon();
    });
    if (queue.length > 0) closeSoon();
  }

  async function settle(set: readonly Waiting<Item, Result>[]): Promise<void> {
    const items = set.map(({ item }) => item);
    const outcomes = await workInHalves(work, items, mayRetry);
    set.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index] as Outcome<Result>; // The lengths are equal.
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
  }

  return ask;
}

/** The outcome of every item; a set that throws is split as long as nothing of it was kept. */
export async function workInHalves<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Outcome<Result>[]>,
  items: readonly Item[],
  mayRetry: (error: unknown) => boolean,
): Promise<readonly Outcome<Result>[]> {
  try {
    const outcomes = await work(items);
    if (outcomes.length !== items.length) throw new Error("a set must answer every item once");
    return outcomes;
  } catch (error) {
    if (items.length === 1 || !mayRetry(error)) {
      const fault = error instanceof Error ? error : new Error(String(error));
      return items.map(() => fault);
    }
    const half = Math.ceil(items.length / 2);
    const first = await workInHalves(work, items.slice(0, half), mayRetry);
    return [...first, ...(await workInHalves(work, items.slice(half), mayRetry))];
  }
}

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
// Error that only its own caller sees. When `work` throws and nothing was kept, the set is split in
// halves and tried again, down to the single item that is to blame (`split.ts`). When something may
// have been kept, every caller of that set learns of the error instead. Items that met a row which
// somebody holds wait apart from the others (`hold-back.ts`).
//
// The queue is bounded. A caller that would not fit is refused at once with `Overloaded`, which
// the edge turns into the contract's retryable answer.

import { holdBack, type Waiting } from "./hold-back.ts";
import { keptNothing, type Outcome, type SetWork, workInHalves } from "./split.ts";

export type { Outcome };

export type CoalesceOptions<Item> = {
  readonly setSizeMax: number;
  readonly queueMax: number;
  readonly setsInFlight?: number;
  /** Whether a set that threw may be split; where nothing of it was kept unless said otherwise. */
  readonly mayRetry?: (error: unknown) => boolean;
  /** Where items may meet rows that others hold: how that shows, and which items share such rows. */
  readonly held?: {
    readonly isHeld: (error: unknown) => boolean;
    readonly groupOf: (item: Item) => string;
  };
  readonly onSet?: (size: number) => void;
};

export class Overloaded extends Error {
  constructor() {
    super("too much work is waiting");
  }
}

export function coalesce<Item, Result>(
  work: SetWork<Item, Result>,
  {
    setSizeMax,
    queueMax,
    setsInFlight = 1,
    mayRetry = keptNothing,
    held,
    onSet,
  }: CoalesceOptions<Item>,
): (item: Item) => Promise<Result> {
  let queue: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let closing = false;
  const apart =
    held &&
    holdBack<Item, Result>({
      ...held,
      tryAgain: (items, { isLast, isPart }) =>
        workInHalves(work, items, (error) => mayRetry(error) && (isLast || !held.isHeld(error)), {
          isPart,
        }),
      giveBack: enqueue,
    });

  function ask(item: Item): Promise<Result> {
    const waiting = queue.length + (apart?.count() ?? 0);
    if (waiting >= queueMax) return Promise.reject(new Overloaded());
    return new Promise((resolve, reject) => {
      const asked = { item, resolve, reject };
      if (!apart?.joins(asked)) enqueue(asked);
    });
  }

  function enqueue(asked: Waiting<Item, Result>): void {
    queue.push(asked);
    closeSoon();
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
    set.forEach((waiting, index) => {
      const outcome = outcomes[index] as Outcome<Result>; // The lengths are equal.
      if (!(outcome instanceof Error)) waiting.resolve(outcome);
      else if (apart && held.isHeld(outcome)) apart.take(waiting);
      else waiting.reject(outcome);
    });
  }

  return ask;
}

// Batches the calls of many callers into sets, so that one statement serves all of them.
//
//   caller    passes one item and awaits its own result
//   queue     items that are not in a set yet
//   set       up to `setSizeMax` items passed to `work` together, in the order of the calls
//
// At most `setsInFlight` sets run at a time. Items that arrive meanwhile form the next set, so a
// busy service works in bigger sets and an idle one adds no delay: there is no timer. A set closes at
// the end of the current turn of the event loop, so requests that were read from their sockets in one
// turn share a set.
//
// One item never harms another. `work` returns a result or an Error for each item. When `work` throws
// and nothing was committed, the set is split in halves and retried, down to the item that causes the
// error (`split.ts`). When something may have been committed, every caller of the set gets the error.
// Items that meet a locked row wait apart from the others (`hold-back.ts`).
//
// The queue is bounded. A caller beyond the bound is refused at once with `Overloaded`, which the
// HTTP layer answers as retryable.

import { holdBack, type WaitingItem } from "./hold-back.ts";
import { wasRolledBack, type ItemResult, type SetWork, workInHalves } from "./split.ts";

export type { ItemResult };

type CoalesceOptions<Item> = {
  readonly setSizeMax: number;
  readonly queueMax: number;
  readonly setsInFlight?: number;
  /** Whether a set that threw may be split; by default, when nothing of it was committed. */
  readonly mayRetry?: (error: unknown) => boolean;
  /** For items that may meet locked rows: recognizes that error, and groups items by such rows. */
  readonly held?: {
    readonly isHeld: (error: unknown) => boolean;
    readonly toGroup: (item: Item) => string;
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
    mayRetry = wasRolledBack,
    held,
    onSet,
  }: CoalesceOptions<Item>,
): (item: Item) => Promise<Result> {
  let queue: WaitingItem<Item, Result>[] = [];
  let inFlight = 0;
  let closing = false;
  const apart =
    held &&
    holdBack<Item, Result>({
      ...held,
      tryAgain: (items, attempt) =>
        workInHalves(
          work,
          items,
          (error) => mayRetry(error) && (attempt.isLast || !held.isHeld(error)),
          attempt,
        ),
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

  function enqueue(asked: WaitingItem<Item, Result>): void {
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

  async function settle(set: readonly WaitingItem<Item, Result>[]): Promise<void> {
    const items = set.map(({ item }) => item);
    const outcomes = await workInHalves(work, items, mayRetry);
    set.forEach((waiting, index) => {
      const outcome = outcomes[index] as ItemResult<Result>; // The lengths are equal.
      if (!(outcome instanceof Error)) waiting.resolve(outcome);
      else if (apart && held.isHeld(outcome)) apart.take(waiting);
      else waiting.reject(outcome);
    });
  }

  return ask;
}

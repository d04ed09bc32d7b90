// Retries items that met a locked row, apart from the sets of other items:
//
//   group    items that may meet the same locked rows: those of one desk
//   room     the waiting items of a group: those that met a locked row, and later arrivals
//
// After each pause a room is retried as one set that hardly waits for locks, so it delays nobody. After
// the last pause it queues for them, because whoever locks the rows again and again would otherwise
// always be first; then its items are retried one by one, and those whose row is still locked are
// refused. The items of one call that form their own set are retried by `workPastHeld`.

import { setTimeout as sleep } from "node:timers/promises";

import type { SetAttempt, ItemResult } from "./split.ts";

/** Their sum is that of several locks, each held as long as a transaction may be silent. */
const pausesMs = [100, 200, 400, 900, 1_500, 2_000] as const;

export type WaitingItem<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

type Retry = SetAttempt & { readonly isLast: boolean };

type HeldBack<Item, Result> = {
  /** Adds the item to the room of its group; false when the group has none. */
  joins(waiting: WaitingItem<Item, Result>): boolean;
  /** Adds an item that met a locked row; opens a room when its group has none. */
  take(waiting: WaitingItem<Item, Result>): void;
  count(): number;
};

export function holdBack<Item, Result>({
  toGroup,
  isHeld,
  tryAgain,
  giveBack,
}: {
  readonly toGroup: (item: Item) => string;
  readonly isHeld: (error: unknown) => boolean;
  /** Retries a set; it is split at a locked row on the last try only. */
  readonly tryAgain: (
    items: readonly Item[],
    attempt: Retry,
  ) => Promise<readonly ItemResult<Result>[]>;
  /** Puts items that arrived after the last try back into the queue. */
  readonly giveBack: (waiting: WaitingItem<Item, Result>) => void;
}): HeldBack<Item, Result> {
  const rooms = new Map<string, WaitingItem<Item, Result>[]>();

  async function keep(group: string, room: WaitingItem<Item, Result>[]): Promise<void> {
    for (const [at, pauseMs] of pausesMs.entries()) {
      await sleep(pauseMs, undefined, { ref: false });
      const isLast = at === pausesMs.length - 1;
      const trying = room.splice(0);
      const items = trying.map(({ item }) => item);
      const outcomes = await tryAgain(items, { isPart: !isLast, isLast });
      trying.forEach((waiting, place) => {
        const outcome = outcomes[place] as ItemResult<Result>; // The lengths are equal.
        if (!(outcome instanceof Error)) waiting.resolve(outcome);
        else if (isLast || !isHeld(outcome)) waiting.reject(outcome);
        else room.push(waiting);
      });
      if (room.length === 0) break;
    }
    rooms.delete(group);
    for (const waiting of room) giveBack(waiting);
  }

  return {
    joins(waiting) {
      const room = rooms.get(toGroup(waiting.item));
      room?.push(waiting);
      return room !== undefined;
    },
    take(waiting) {
      if (this.joins(waiting)) return;
      const group = toGroup(waiting.item);
      const room = [waiting];
      rooms.set(group, room);
      void keep(group, room);
    },
    count: () => [...rooms.values()].reduce((sum, room) => sum + room.length, 0),
  };
}

/**
 * Works on the items of one call. Those that met a locked row are retried together after each pause,
 * because most of them need the same rows of their desk; a dry run (`isDryRun`) retries all items.
 */
export async function workPastHeld<Item, Result>(
  work: (items: readonly Item[], attempt: Retry) => Promise<readonly ItemResult<Result>[]>,
  items: readonly Item[],
  {
    isHeld,
    isDryRun,
  }: { readonly isHeld: (error: unknown) => boolean; readonly isDryRun: boolean },
): Promise<readonly ItemResult<Result>[]> {
  let outcomes = await work(items, { isPart: false, isLast: false });
  const wasHeld = (outcome: ItemResult<Result>) => outcome instanceof Error && isHeld(outcome);
  for (const [at, pauseMs] of pausesMs.entries()) {
    const isAgain = outcomes.map((outcome) => isDryRun || wasHeld(outcome));
    if (!outcomes.some(wasHeld)) break;
    await sleep(pauseMs, undefined, { ref: false });
    const isLast = at === pausesMs.length - 1;
    const again = await work(
      items.filter((_, place) => isAgain[place]),
      { isPart: false, isLast },
    );
    let next = 0;
    outcomes = outcomes.map((outcome, place) =>
      isAgain[place] ? (again[next++] ?? outcome) : outcome,
    );
  }
  return outcomes;
}

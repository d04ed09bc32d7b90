// Items that wait for a row which somebody else holds wait here, and not in a set with others:
//
//   group    whose row it may be: the items of one desk
//   room     the items of a group that met a held row, and those that come while they wait
//
// A room is tried again as a set of its own after each pause, with no patience, so that it keeps
// nobody waiting; after the last pause its items are tried one by one, and what still finds its row
// held is refused. Items of one call that are a set of their own wait by themselves.

import { setTimeout as sleep } from "node:timers/promises";

import type { Attempt, Outcome, SetWork } from "./split.ts";

/** Together about as long as a row may be waited for. */
const pausesMs = [100, 200, 400, 900] as const;

export type Waiting<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export type HeldBack<Item, Result> = {
  /** Takes in who belongs to a group that waits. */
  joins(waiting: Waiting<Item, Result>): boolean;
  /** Lets an item wait that met a held row. */
  take(waiting: Waiting<Item, Result>): void;
  count(): number;
};

export function holdBack<Item, Result>({
  groupOf,
  isHeld,
  tryAgain,
  giveBack,
}: {
  readonly groupOf: (item: Item) => string;
  readonly isHeld: (error: unknown) => boolean;
  /** Works on a set by itself; split at a held row only where it is the last time. */
  readonly tryAgain: (
    items: readonly Item[],
    attempt: Attempt & { readonly isLast: boolean },
  ) => Promise<readonly Outcome<Result>[]>;
  /** Who came too late for the last try begins anew. */
  readonly giveBack: (waiting: Waiting<Item, Result>) => void;
}): HeldBack<Item, Result> {
  const rooms = new Map<string, Waiting<Item, Result>[]>();

  async function keep(group: string, room: Waiting<Item, Result>[]): Promise<void> {
    for (const [at, pauseMs] of pausesMs.entries()) {
      await sleep(pauseMs, undefined, { ref: false });
      const isLast = at === pausesMs.length - 1;
      const trying = room.splice(0);
      const items = trying.map(({ item }) => item);
      const outcomes = await tryAgain(items, { isPart: true, isLast });
      trying.forEach((waiting, place) => {
        const outcome = outcomes[place] as Outcome<Result>; // The lengths are equal.
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
      const room = rooms.get(groupOf(waiting.item));
      room?.push(waiting);
      return room !== undefined;
    },
    take(waiting) {
      if (this.joins(waiting)) return;
      const group = groupOf(waiting.item);
      const room = [waiting];
      rooms.set(group, room);
      void keep(group, room);
    },
    count: () => [...rooms.values()].reduce((sum, room) => sum + room.length, 0),
  };
}

/**
 * Works on items that came together and are nobody else's set: those that met a held row are tried
 * again after each pause, or all of them where nothing is kept of the others either.
 */
export async function workPastHeld<Item, Result>(
  work: SetWork<Item, Result>,
  items: readonly Item[],
  {
    isHeld,
    keepsNothing,
  }: { readonly isHeld: (error: unknown) => boolean; readonly keepsNothing: boolean },
): Promise<readonly Outcome<Result>[]> {
  let outcomes = await work(items, { isPart: false });
  const wasHeld = (outcome: Outcome<Result>) => outcome instanceof Error && isHeld(outcome);
  for (const pauseMs of pausesMs) {
    const isAgain = outcomes.map((outcome) => keepsNothing || wasHeld(outcome));
    if (!outcomes.some(wasHeld)) break;
    await sleep(pauseMs, undefined, { ref: false });
    const again = await work(
      items.filter((_, at) => isAgain[at]),
      { isPart: true },
    );
    let next = 0;
    outcomes = outcomes.map((outcome, at) => (isAgain[at] ? (again[next++] ?? outcome) : outcome));
  }
  return outcomes;
}

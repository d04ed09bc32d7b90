// Work that would only wait for itself in the database waits here instead: one piece at a time, in
// the order it came. Whoever finds too many waiting is refused at once and may try again.

import { Overloaded } from "./coalesce.ts";

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

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

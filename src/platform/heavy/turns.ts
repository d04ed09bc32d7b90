// Turns for work that would wait for the same database lock: one piece of work at a time. Desks take turns,
// so that one that asks for much delays the others by a piece of its work each time; what is done for
// several desks together has turns of its own.

import { FairQueue, type QueueLimits } from "./fair-queue.ts";
import type { OnBehalf } from "./kinds.ts";

type InTurn = <Result>(by: OnBehalf, work: () => Promise<Result>) => Promise<Result>;

type WaitingTurn = { readonly by: OnBehalf; readonly begin: () => void };

/** Work beyond the limits is refused at once. */
export function takeTurns(limits: QueueLimits): InTurn {
  const queue = new FairQueue<WaitingTurn>(limits);
  let isBusy = false;
  const beginNext = () => {
    const next = queue.next({ sandbox: true });
    isBusy = next !== undefined;
    next?.begin();
  };
  return async (by, work) => {
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
    queue.add({ by, begin });
    if (!isBusy) beginNext();
    await turn;
    try {
      return await work();
    } finally {
      beginNext();
    }
  };
}

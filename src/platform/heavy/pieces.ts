// Long work on the event loop, done in pieces; a few jobs run at a time. They wait in a fair queue as
// jobs for threads do: desks take turns, live goes before sandbox, and some places are for live only.

import type { Environment } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { openPace, takePiece } from "./pace.ts";
import { FairQueue, type QueueLimits } from "./fair-queue.ts";
import { type EndedJob, type Heavy, NobodyWaits, type OnBehalf } from "./kinds.ts";

export type Pieces = {
  readonly run: Heavy["inPieces"];
  waiting(environment: Environment): number;
  running(environment: Environment): number;
  close(): void;
};

/** Jobs that run at a time; a short call waits for at most one piece (some milliseconds) of each. */
const placesDefault = 4;
const sandboxPlacesDefault = 2;

type WaitingPiece = {
  readonly by: OnBehalf;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
};

export function openPieces({
  places = placesDefault,
  sandboxPlaces = sandboxPlacesDefault,
  onEnded,
  ...limits
}: QueueLimits & {
  readonly places?: number;
  readonly sandboxPlaces?: number;
  readonly onEnded: (job: EndedJob) => void;
}): Pieces {
  const queue = new FairQueue<WaitingPiece>(limits);
  const underWay = { live: 0, sandbox: 0 };
  let isClosed = false;

  function dispatch(): void {
    while (underWay.live + underWay.sandbox < places) {
      const next = queue.next({ sandbox: underWay.sandbox < sandboxPlaces });
      if (!next) return;
      underWay[next.by.environment] += 1;
      next.begin();
    }
  }

  function takePlace(by: OnBehalf, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        if (queue.remove(waiting)) reject(new NobodyWaits());
      };
      const waiting: WaitingPiece = {
        by,
        begin: () => {
          signal?.removeEventListener("abort", giveUp);
          resolve();
        },
        refuse: reject,
      };
      queue.add(waiting);
      signal?.addEventListener("abort", giveUp, { once: true });
      dispatch();
    });
  }

  return {
    waiting: (environment) => queue.waiting(environment),
    running: (environment) => underWay[environment],
    async run(name, work, { by, signal }) {
      if (isClosed) throw new Overloaded();
      if (signal?.aborted) throw new NobodyWaits();
      const { environment } = by;
      const askedMs = performance.now();
      let begunMs = 0;
      const tell = (outcome: EndedJob["outcome"]) => {
        const endedMs = performance.now();
        const waitedMs = (begunMs || endedMs) - askedMs;
        const workedMs = begunMs === 0 ? 0 : endedMs - begunMs;
        onEnded({ kind: name, environment, outcome, waitedMs, workedMs });
      };
      try {
        await takePlace(by, signal);
        begunMs = performance.now();
        const mayGoOn = () => {
          if (signal?.aborted) throw new NobodyWaits();
        };
        const result = await work(openPace({ mayGoOn, nextTurn: () => takePiece("few") }));
        tell("done");
        return result;
      } catch (error) {
        tell(outcomeFor(error));
        throw error;
      } finally {
        if (begunMs > 0) {
          underWay[environment] -= 1;
          dispatch();
        }
      }
    },
    close() {
      isClosed = true;
      for (const waiting of queue.all()) {
        if (queue.remove(waiting)) waiting.refuse(new Overloaded());
      }
    },
  };
}

function outcomeFor(error: unknown): EndedJob["outcome"] {
  if (error instanceof NobodyWaits) return "abandoned";
  return error instanceof Failure || error instanceof Overloaded ? "refused" : "failed";
}

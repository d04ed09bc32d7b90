// A background worker: it runs its work repeatedly until it is stopped.
//
//   work     does one bounded piece and returns whether there is more to do at once
//   pause    between two runs when there is nothing to do; `wake` ends it early
//   error    is logged, and the next run comes after the pause; a worker never ends by itself
//
// Several processes may run the same worker: the work claims its rows with `skip locked`.

import type { FastifyBaseLogger } from "fastify";

import { Overloaded } from "./postgres/coalesce.ts";
import { isLockTimeout } from "./postgres/postgres.ts";

export type RunEnd = "done" | "failed";

export type WorkerOptions = {
  readonly name: string;
  readonly pauseMs: number;
  readonly work: () => Promise<"more" | "idle">;
  readonly log: FastifyBaseLogger;
  /** Called after a run that was done or failed; not after one that gave way. */
  readonly onRun?: ((ended: RunEnd) => void) | undefined;
};

export type Worker = {
  readonly wake: () => void;
  /** Resolves when the run under way has ended. */
  readonly stop: () => Promise<void>;
};

export function startWorker({ name, pauseMs, work, log, onRun }: WorkerOptions): Worker {
  const stopping = new AbortController();
  /** Set by `wake` during a run: the next pause is skipped. */
  let woken = false;
  let endPause: (() => void) | undefined;

  function wake(): void {
    woken = true;
    endPause?.();
  }

  async function pause(): Promise<void> {
    if (!woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs).unref();
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    endPause = undefined;
    woken = false;
  }

  async function runOnce(): Promise<"more" | "idle"> {
    try {
      const next = await work();
      onRun?.("done");
      return next;
    } catch (error) {
      // A lock timeout: the worker rolls back, so that callers go first, and tries again later.
      const hasNoTurn = isLockTimeout(error) || error instanceof Overloaded;
      if (hasNoTurn) log.info({ worker: name }, "worker gave way");
      else {
        log.error({ worker: name, err: error }, "worker failed");
        onRun?.("failed");
      }
      return "idle";
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) if ((await runOnce()) === "idle") await pause();
  }

  const running = loop();
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}

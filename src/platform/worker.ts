// A background worker: it runs its work repeatedly until it is stopped.
//
//   work     does one bounded piece and returns whether there is more to do at once
//   pause    between two runs when there is nothing to do; `wake` ends it early
//   quiet    while nobody writes to the database only time can bring work, so pauses grow with the time
//            since somebody wrote, up to some seconds; a write ends what a pause has grown by
//   error    is logged, and the next run comes after the pause; a worker never ends by itself
//
// Several processes may run the same worker: the work claims its rows with `skip locked`.

import type { FastifyBaseLogger } from "fastify";

import { Overloaded } from "./postgres/coalesce.ts";
import { commitTopic, type Database, isLockTimeout, sql } from "./postgres/postgres.ts";

export type RunEnd = "done" | "failed";

export type WorkerOptions = {
  readonly name: string;
  readonly pauseMs: number;
  readonly work: () => Promise<"more" | "idle">;
  readonly log: FastifyBaseLogger;
  /** Called after a run that was done or failed; not after one that gave way. */
  readonly onRun?: ((ended: RunEnd) => void) | undefined;
  /** Without it pauses do not grow. */
  readonly writes?: Writes | undefined;
};

/** What is known of writes to the database, by this process or another. */
export type Writes = {
  /** For how long there was none. */
  readonly quietMs: () => number;
  /** Returns the function that ends it. */
  readonly onWrite: (listener: () => void) => () => void;
};

export type Worker = {
  readonly wake: () => void;
  /** Resolves when the run under way has ended. */
  readonly stop: () => Promise<void>;
};

const quietPauseMsMax = 10_000;
/** A pause is at most this part of the time since the last write. */
const quietShare = 1 / 4;

export function startWorker({ name, pauseMs, work, log, onRun, writes }: WorkerOptions): Worker {
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
      const end = Promise.withResolvers<void>();
      endPause = end.resolve;
      const begunMs = performance.now();
      const endAfter = (ms: number) => setTimeout(end.resolve, ms).unref();
      const quietPauseMs = Math.min(quietPauseMsMax, (writes?.quietMs() ?? 0) * quietShare);
      let timer = endAfter(Math.max(pauseMs, quietPauseMs));
      const unheard = writes?.onWrite(() => {
        clearTimeout(timer);
        // As if the pause had not grown: all at once would need a connection each.
        timer = endAfter(pauseMs - ((performance.now() - begunMs) % pauseMs));
      });
      await end.promise;
      clearTimeout(timer);
      unheard?.();
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

const lookMs = 500;

/**
 * Looks often whether a transaction that wrote has ended, which is a small part of what workers ask, and
 * at once after one of this process that ends a quiet time.
 */
export function watchWrites({
  db,
  log,
}: Pick<WorkerOptions, "log"> & {
  readonly db: Pick<Database, "rows" | "onAnnounced">;
}): Writes & Pick<Worker, "stop"> {
  const listeners = new Set<() => void>();
  let seen: string | undefined;
  let writtenAtMs = performance.now();
  const quietMs = () => performance.now() - writtenAtMs;
  const worker = startWorker({
    name: "watching writes",
    pauseMs: lookMs,
    log,
    async work() {
      const [row] = await db.rows<{ snapshot: string }>(
        sql`select pg_current_snapshot()::text as snapshot`,
      );
      if (row?.snapshot === seen) return "idle";
      seen = row?.snapshot;
      writtenAtMs = performance.now();
      for (const listener of listeners) listener();
      return "idle";
    },
  });
  const unheard = db.onAnnounced(commitTopic, () => {
    if (quietMs() > lookMs) worker.wake();
  });
  return {
    async stop() {
      unheard();
      await worker.stop();
    },
    quietMs,
    onWrite(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

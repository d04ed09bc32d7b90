// A pool of threads for work that would block the event loop.
//
//   job      one piece of work with its input; waits in the fair queue until a thread is free
//   thread   runs one job at a time; started for a job, terminated after some idle time
//   bounds   waiting jobs, and the time and memory of one job; a job that exceeds them fails and its
//            thread is terminated, which no other caller notices
//   gone     when its caller has gone, a waiting job leaves the queue; a running one is asked to stop,
//            and its thread is terminated if it does not
//
// Work that needs the database throughout cannot run in a thread. It runs on the event loop in
// pieces and waits in a fair queue, too.
//
// At most all threads but one work for the sandbox, so live never waits for a sandbox job to end. On
// Linux the threads have a lower priority than the event loop.

import { Worker } from "node:worker_threads";

import { Counter, Gauge, Histogram } from "prom-client";

import { type Environment, environments } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import type { Metrics } from "../metrics.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { FairQueue, type QueueLimits } from "./fair-queue.ts";
import {
  type EndedJob,
  type Heavy,
  type HeavyOptions,
  NobodyWaits,
  type OnBehalf,
  type TimeLimit,
} from "./kinds.ts";
import { type Asked, type HeavyAnswer, unpackError } from "./messages.ts";
import { openPace, takePiece } from "./pace.ts";

type HeavyLimits = {
  readonly threads: number;
  readonly perDeskMax: number;
  readonly perEnvironmentMax: number;
  readonly timeMs: number;
  readonly memoryMb: number;
  readonly idleMs: number;
  /** How long a job may take to stop when asked to. */
  readonly stopMs: number;
};

const limitsDefault = {
  perDeskMax: 32,
  perEnvironmentMax: 128,
  timeMs: 60_000,
  memoryMb: 192,
  idleMs: 30_000,
  stopMs: 1_000,
} as const;

/** Between two looks at the processor time of a job. */
const meterPauseMsMin = 50;
const secondsBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

export type HeavyPoolOptions = Partial<HeavyLimits> & {
  readonly threads: number;
  /** The module that a thread runs; it calls `serveJobs`. */
  readonly module: URL;
};

export type HeavyPool = Heavy & {
  readonly onEnded: (listener: (job: EndedJob) => void) => void;
  waiting(environment: Environment): number;
  running(environment: Environment): number;
  close(): Promise<void>;
};

type Job = {
  readonly kind: string;
  readonly limit: TimeLimit | undefined;
  readonly input: unknown;
  readonly by: OnBehalf;
  readonly askedMs: number;
  begunMs: number;
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
};

type Thread = {
  readonly worker: Worker;
  /** 1 asks the job under way to stop. */
  readonly stop: Int32Array;
  job: Job | undefined;
  deadline: NodeJS.Timeout | undefined;
  /** When to look at the processor time of the job again. */
  meter: NodeJS.Timeout | undefined;
};

export function openHeavyPool({ module, ...options }: HeavyPoolOptions): HeavyPool {
  const limits: HeavyLimits = { ...limitsDefault, ...options };
  const queue = new FairQueue<Job>(limits);
  const threads = new Set<Thread>();
  const listeners: ((job: EndedJob) => void)[] = [];
  const pieces = openPieces({ ...limits, onEnded: report });
  const sandboxThreadsMax = Math.max(1, limits.threads - 1);
  let isClosed = false;

  function running(environment: Environment): number {
    return [...threads].filter(({ job }) => job?.by.environment === environment).length;
  }

  /** Gives waiting jobs to free threads, and starts threads up to the limit. */
  function dispatch(): void {
    for (;;) {
      const free = [...threads].find(({ job }) => job === undefined);
      if (!free && threads.size >= limits.threads) return;
      const job = queue.next({ sandbox: running("sandbox") < sandboxThreadsMax });
      if (!job) return;
      begin(free ?? startThread(), job);
    }
  }

  function startThread(): Thread {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(module, {
      name: "heavy",
      workerData: { stop },
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: 16 },
    });
    const thread: Thread = { worker, stop, job: undefined, deadline: undefined, meter: undefined };
    worker.on("message", (answered: HeavyAnswer) => answer(thread, answered));
    worker.on("error", (error) => drop(thread, asError(error)));
    worker.on("exit", () => drop(thread, new Error("a thread ended by itself")));
    threads.add(thread);
    return thread;
  }

  function begin(thread: Thread, job: Job): void {
    clearTimeout(thread.deadline);
    thread.job = job;
    job.begunMs = performance.now();
    Atomics.store(thread.stop, 0, 0);
    thread.deadline = setTimeout(
      () => drop(thread, new Error(`${job.kind} took longer than ${limits.timeMs} ms`)),
      limits.timeMs,
    );
    if (job.limit) void meterJob(thread, job, job.limit);
    // Only a thread with a job keeps the process alive.
    thread.worker.ref();
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      thread.worker.postMessage({ kind: job.kind, input: job.input } satisfies Asked);
    } catch (error) {
      // The input cannot be cloned: the job fails, and the thread stays usable.
      answer(thread, { ok: false, fault: asError(error).message });
    }
  }

  /**
   * Ends a job that uses more processor time than its kind may have. On a busy machine a job waits more
   * than it works, and that is not the caller's fault.
   */
  async function meterJob(thread: Thread, job: Job, { processorMs, refusal }: TimeLimit) {
    // A thread that is starting cannot tell yet, and has used next to nothing.
    const before = await thread.worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
    meterAfter(processorMs);

    function meterAfter(pauseMs: number): void {
      if (thread.job === job) thread.meter = setTimeout(() => void look(), pauseMs);
    }
    async function look(): Promise<void> {
      const used = await thread.worker.cpuUsage(before).catch(() => ({ user: 0, system: 0 }));
      const leftMs = processorMs - (used.user + used.system) / 1_000;
      if (leftMs > 0) meterAfter(Math.max(leftMs, meterPauseMsMin));
      else if (thread.job === job) drop(thread, refusal());
    }
  }

  function answer(thread: Thread, answered: HeavyAnswer): void {
    const { job } = thread;
    if (!job) return;
    const isStopped = Atomics.load(thread.stop, 0) === 1;
    rest(thread);
    if (isStopped) {
      tell(job, "abandoned");
      job.reject(new NobodyWaits());
    } else if (answered.ok) {
      tell(job, "done");
      job.resolve(answered.output as never); // The output of the job's kind.
    } else {
      tell(job, "refusal" in answered ? "refused" : "failed");
      job.reject(unpackError(answered));
    }
    dispatch();
  }

  function rest(thread: Thread): void {
    clearTimeout(thread.deadline);
    clearTimeout(thread.meter);
    thread.job = undefined;
    thread.worker.unref();
    thread.deadline = setTimeout(() => drop(thread, new Error("idle")), limits.idleMs).unref();
  }

  /** Terminates the thread and rejects its job with the error. */
  function drop(thread: Thread, error: Error): void {
    if (!threads.delete(thread)) return;
    clearTimeout(thread.deadline);
    clearTimeout(thread.meter);
    void thread.worker.terminate();
    const { job } = thread;
    thread.job = undefined;
    if (job) {
      const ended = error instanceof Failure ? "refused" : "failed";
      tell(job, error instanceof NobodyWaits ? "abandoned" : ended);
      job.reject(error);
    }
    if (!isClosed) dispatch();
  }

  function tell({ kind, by, askedMs, begunMs }: Job, outcome: EndedJob["outcome"]): void {
    const endedMs = performance.now();
    const waitedMs = (begunMs || endedMs) - askedMs;
    const workedMs = begunMs === 0 ? 0 : endedMs - begunMs;
    report({ kind, environment: by.environment, outcome, waitedMs, workedMs });
  }

  function report(job: EndedJob): void {
    for (const listener of listeners) listener(job);
  }

  function abandon(job: Job): void {
    if (queue.remove(job)) {
      tell(job, "abandoned");
      job.reject(new NobodyWaits());
      return;
    }
    const thread = [...threads].find((one) => one.job === job);
    if (!thread) return;
    Atomics.store(thread.stop, 0, 1);
    clearTimeout(thread.deadline);
    thread.deadline = setTimeout(() => drop(thread, new NobodyWaits()), limits.stopMs);
  }

  return {
    onEnded: (listener) => void listeners.push(listener),
    waiting: (environment) => queue.waiting(environment) + pieces.waiting(environment),
    running: (environment) => running(environment) + pieces.running(environment),
    inPieces: pieces.run,
    async run({ name, limit }, input, { by, signal }: HeavyOptions) {
      if (isClosed) throw new Overloaded();
      if (signal?.aborted) throw new NobodyWaits();
      return await new Promise((resolve, reject) => {
        const job: Job = {
          kind: name,
          limit,
          input,
          by,
          askedMs: performance.now(),
          begunMs: 0,
          resolve: (output) => {
            signal?.removeEventListener("abort", onAbort);
            resolve(output);
          },
          reject: (error) => {
            signal?.removeEventListener("abort", onAbort);
            reject(error);
          },
        };
        const onAbort = () => abandon(job);
        queue.add(job);
        signal?.addEventListener("abort", onAbort, { once: true });
        dispatch();
      });
    },
    async close() {
      isClosed = true;
      pieces.close();
      for (const job of queue.all()) if (queue.remove(job)) job.reject(new Overloaded());
      const ended = [...threads].map(({ worker }) => worker.terminate());
      for (const thread of threads) drop(thread, new Overloaded());
      await Promise.all(ended);
    },
  };
}

/** How much heavy work waits and runs, how long each kind waited and took, and how it ended. */
export function measureHeavy(pool: HeavyPool, { registry }: Metrics): void {
  const registers = [registry];
  const jobs = new Gauge({
    name: "scripdesk_heavy_jobs",
    help: "Jobs for threads that wait and that run",
    labelNames: ["environment", "state"],
    registers,
    collect() {
      for (const state of ["waiting", "running"] as const) {
        for (const { environment, jobs: count } of countJobs(pool, state)) {
          jobs.set({ environment, state }, count);
        }
      }
    },
  });
  const waited = new Histogram({
    name: "scripdesk_heavy_wait_seconds",
    help: "How long jobs waited for a thread",
    labelNames: ["kind", "environment"],
    buckets: secondsBuckets,
    registers,
  });
  const worked = new Histogram({
    name: "scripdesk_heavy_work_seconds",
    help: "How long threads worked on jobs",
    labelNames: ["kind", "environment"],
    buckets: secondsBuckets,
    registers,
  });
  const ended = new Counter({
    name: "scripdesk_heavy_jobs_total",
    help: "Jobs that ended, by how: done, refused, failed, abandoned by their callers",
    labelNames: ["kind", "environment", "outcome"],
    registers,
  });
  pool.onEnded(({ kind, environment, outcome, waitedMs, workedMs }) => {
    waited.observe({ kind, environment }, waitedMs / 1_000);
    worked.observe({ kind, environment }, workedMs / 1_000);
    ended.inc({ kind, environment, outcome });
  });
}

/** The number of waiting or running jobs, for metrics. */
function countJobs(pool: HeavyPool, state: "waiting" | "running") {
  return environments.map((environment) => ({ environment, jobs: pool[state](environment) }));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

// Long work on the event loop, done in pieces; a few jobs run at a time. They wait in a fair queue as
// jobs for threads do: desks take turns, live goes before sandbox, and some places are for live only.

type Pieces = {
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

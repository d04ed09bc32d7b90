// Work that would block the event loop: its kinds, its callers and the interface that runs it.

import type { Environment } from "../../kernel/caller.ts";
import type { Failure } from "../../kernel/failure.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { noPace, type Pace } from "./pace.ts";

/** Input and output are copied between threads, so they are plain values: no functions, no classes. */
export type HeavyKind<Input, Output> = {
  readonly name: string;
  readonly work: (input: Input, stop: Stop) => Output | Promise<Output>;
  /** Where the pool's own limit would be too long: a job that works longer is ended and refused. */
  readonly limit: TimeLimit | undefined;
};

export type TimeLimit = { readonly processorMs: number; readonly refusal: () => Failure };

/** Long work polls this, and stops when its caller has gone. */
export type Stop = { readonly isAsked: () => boolean };

/** The caller of a job, for the fair queue: desks take turns, and live goes before sandbox. */
export type OnBehalf = { readonly environment: Environment; readonly deskId: string };

export type HeavyOptions = {
  readonly by: OnBehalf;
  /** Cancels the job, waiting or running, when its caller has gone. */
  readonly signal?: AbortSignal | undefined;
};

export type Heavy = {
  run<Input, Output>(
    kind: HeavyKind<Input, Output>,
    input: Input,
    options: HeavyOptions,
  ): Promise<Output>;
  /** Runs work that needs the database throughout: on the event loop, in pieces. */
  inPieces<Output>(
    name: string,
    work: (pace: Pace) => Promise<Output>,
    options: HeavyOptions,
  ): Promise<Output>;
};

/** How a job ended, for metrics. */
export type EndedJob = {
  readonly kind: string;
  readonly environment: Environment;
  readonly outcome: "done" | "refused" | "failed" | "abandoned";
  readonly waitedMs: number;
  readonly workedMs: number;
};

export function heavyKind<Input, Output>(
  name: string,
  work: HeavyKind<Input, Output>["work"],
  limit?: TimeLimit,
): HeavyKind<Input, Output> {
  return { name, work, limit };
}

/** The caller has gone; nobody reads this error. */
export class NobodyWaits extends Overloaded {}

/** Runs the work on the calling thread: for commands and tests. */
export const onThisThread: Heavy = {
  run: async ({ work }, input, { signal }) =>
    await work(input, { isAsked: () => signal?.aborted ?? false }),
  inPieces: async (_name, work) => await work(noPace),
};

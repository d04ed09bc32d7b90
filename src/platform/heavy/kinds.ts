// Work that would hold the event loop: what it is called, what it does, and for whom it is done.

import type { Environment } from "../../kernel/caller.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { noPace, type Pace } from "./pace.ts";

/** Input and output pass between threads, so they are plain values: no functions, no classes. */
export type HeavyKind<Input, Output> = {
  readonly name: string;
  readonly work: (input: Input, stop: Stop) => Output | Promise<Output>;
};

/** Long work asks now and then whether anybody still waits for it. */
export type Stop = { readonly isAsked: () => boolean };

/** Whose turn it is: desks take turns, and live goes before sandbox. */
export type OnBehalf = { readonly environment: Environment; readonly deskId: string };

export type HeavyOptions = {
  readonly by: OnBehalf;
  /** Ends the work, or its wait, when nobody wants the answer any more. */
  readonly signal?: AbortSignal | undefined;
};

export type Heavy = {
  run<Input, Output>(
    kind: HeavyKind<Input, Output>,
    input: Input,
    options: HeavyOptions,
  ): Promise<Output>;
  /** Work that needs the database all along, and so is done where it is asked for, piece by piece. */
  inPieces<Output>(
    name: string,
    work: (pace: Pace) => Promise<Output>,
    options: HeavyOptions,
  ): Promise<Output>;
};

/** How a job ended, for whoever measures. */
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
): HeavyKind<Input, Output> {
  return { name, work };
}

/** Whoever asked has gone, so nobody will read what this is answered with. */
export class NobodyWaits extends Overloaded {}

/** The same work where it is asked for: in commands, in tests of its own, and as a control. */
export const onThisThread: Heavy = {
  run: async ({ work }, input, { signal }) =>
    await work(input, { isAsked: () => signal?.aborted ?? false }),
  inPieces: async (_name, work) => await work(noPace),
};

// Jobs that behave well and badly, for the tests of the pool; run as a thread, it serves them.

import { isMainThread } from "node:worker_threads";

import { Failure } from "../../src/kernel/failure.ts";
import { heavyKind, NobodyWaits } from "../../src/platform/heavy/kinds.ts";
import { serveJobs } from "../../src/platform/heavy/thread.ts";

export const echo = heavyKind("echo", (word: string) => word);

export const refuse = heavyKind("refuse", (reason: string): string => {
  throw new Failure("conflict", "no", { detail: { reason } });
});

export const breakDown = heavyKind("break down", (): string => {
  throw new Error("a bug");
});

/** Holds its thread until the gate is opened. */
export const wait = heavyKind("wait", (gate: Int32Array) => {
  Atomics.wait(gate, 0, 0);
  return "opened";
});

/** Works until it is asked to stop. */
export const stopWhenAsked = heavyKind("stop when asked", async (begun: Int32Array, stop) => {
  announce(begun);
  while (!stop.isAsked()) await new Promise((resolve) => setImmediate(resolve));
  throw new NobodyWaits();
});

/** Neither ends nor listens. */
export const spin = heavyKind("spin", (begun: Int32Array): string => {
  announce(begun);
  for (;;) Math.random();
});

/** The same, in a kind whose time is short. */
export const spinBriefly = heavyKind("spin briefly", spin.work, {
  processorMs: 400,
  refusal: () => new Failure("unprocessable", "too long"),
});

export const eat = heavyKind("eat", (): string => {
  const eaten: number[][] = [];
  for (;;) eaten.push(Array.from({ length: 100_000 }, () => 1));
});

export const die = heavyKind("die", (): string => process.exit(1));

function announce(begun: Int32Array): void {
  Atomics.store(begun, 0, 1);
  Atomics.notify(begun, 0);
}

if (!isMainThread)
  serveJobs([echo, refuse, breakDown, wait, stopWhenAsked, spin, spinBriefly, eat, die]);

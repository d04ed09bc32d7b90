// The code of a thread: it receives one job at a time and answers it.

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

import type { HeavyKind } from "./kinds.ts";
import { type HeavyAnswer, type Asked, packError } from "./messages.ts";

/** A lower priority than the event loop's. */
const niceness = 10;

// Kinds have different inputs; `Heavy.run` checks that input and kind belong together.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyKind = HeavyKind<any, unknown>;

export function serveJobs(kinds: readonly AnyKind[]): void {
  if (!parentPort) throw new Error("this module runs in a thread");
  const port = parentPort;
  // On Linux 0 means this thread alone; elsewhere it would be the whole process.
  if (process.platform === "linux") setPriority(0, niceness);
  const { stop: flag } = workerData as { readonly stop: Int32Array }; // Set by the pool.
  const stop = { isAsked: () => Atomics.load(flag, 0) === 1 };
  const workByKind = new Map(kinds.map(({ name, work }) => [name, work]));

  async function answer({ kind, input }: Asked): Promise<HeavyAnswer> {
    const work = workByKind.get(kind);
    if (!work) throw new Error(`no thread does ${kind}`);
    return { ok: true, output: await work(input, stop) };
  }

  port.on("message", (asked: Asked) => {
    void answer(asked)
      .catch(packError)
      .then((answered) => port.postMessage(answered));
  });
}

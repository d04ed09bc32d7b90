// What runs in a thread: jobs arrive one at a time and are answered one at a time.

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

import type { HeavyKind } from "./kinds.ts";
import { type Answered, type Asked, packError } from "./messages.ts";

/** Less than the event loop's, whose callers all wait. */
const niceness = 10;

// Each kind has an input of its own; who asks for one by its object cannot send another's.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyKind = HeavyKind<any, unknown>;

export function serveJobs(kinds: readonly AnyKind[]): void {
  if (!parentPort) throw new Error("this module runs in a thread");
  const port = parentPort;
  // On Linux 0 means this thread alone; elsewhere it would be the whole process.
  if (process.platform === "linux") setPriority(0, niceness);
  const { stop: flag } = workerData as { readonly stop: Int32Array }; // As the pool gives it.
  const stop = { isAsked: () => Atomics.load(flag, 0) === 1 };
  const workOf = new Map(kinds.map(({ name, work }) => [name, work]));

  async function answer({ kind, input }: Asked): Promise<Answered> {
    const work = workOf.get(kind);
    if (!work) throw new Error(`no thread does ${kind}`);
    return { ok: true, output: await work(input, stop) };
  }

  port.on("message", (asked: Asked) => {
    void answer(asked)
      .catch(packError)
      .then((answered) => port.postMessage(answered));
  });
}

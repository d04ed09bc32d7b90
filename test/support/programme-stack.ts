// What a long programme (a benchmark, a fault programme, a comparison of versions) has started:
// services, servers, folders. When a signal ends the programme, it first ends all of them, the newest
// first.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";

const openStacks = new Set<AsyncDisposableStack>();

/** A stack that is disposed when a signal ends the programme, too. */
export function openStack(): AsyncDisposableStack {
  const stack = new AsyncDisposableStack();
  openStacks.add(stack);
  stack.defer(() => void openStacks.delete(stack));
  return stack;
}

/** A second signal ends the programme at once. */
export function endOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void endBy(signal));
  }
}

async function endBy(signal: "SIGINT" | "SIGTERM"): Promise<void> {
  process.stderr.write(`${signal}: ending what was started\n`);
  // The programme fails when its services end under it; that must not end the process before them.
  process.on("uncaughtException", () => {});
  for (const stack of [...openStacks].toReversed()) {
    try {
      await stack.disposeAsync();
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
    }
  }
  process.exit(128 + constants.signals[signal]);
}

export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

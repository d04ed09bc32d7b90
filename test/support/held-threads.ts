// The service's threads with one more job, which keeps its thread for as long as a test wants.

import { isMainThread } from "node:worker_threads";

import { searchCover } from "../../src/cover/search-cover.ts";
import { netGroup } from "../../src/netting/net-group.ts";
import { heavyKind } from "../../src/platform/heavy/kinds.ts";
import { type HeavyPool, openHeavyPool } from "../../src/platform/heavy/pool.ts";
import { serveJobs } from "../../src/platform/heavy/thread.ts";

/** Longer than any test takes. */
const timeMs = 600_000;

export const keepThread = heavyKind("keep a thread", (gate: Int32Array): void => {
  Atomics.wait(gate, 0, 0);
});

export function openHeldThreads(threads: number): HeavyPool {
  return openHeavyPool({ module: new URL(import.meta.url), threads, timeMs });
}

if (!isMainThread) serveJobs([searchCover, netGroup, keepThread]);

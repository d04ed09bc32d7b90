import { Counter, Gauge, Histogram } from "prom-client";

import type { Metrics } from "../metrics.ts";
import { countJobs, type HeavyPool } from "./pool.ts";

const secondsBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

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

// Prometheus metrics of this process, served on a separate listener, because they are for operators
// only.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

import type { App } from "./http/server.ts";
import type { Database } from "./postgres/postgres.ts";
import type { Replica } from "./postgres/replica.ts";
import type { RunEnd } from "./worker.ts";

export type Metrics = {
  readonly registry: Registry;
  readonly setSize: Histogram<"set">;
  readonly setAside: Counter<"worker">;
  readonly workerFailures: Counter<"worker">;
  readonly workerFailing: Gauge<"worker">;
  readonly workerDone: Gauge<"worker">;
  readonly noticesSent: Counter<"result">;
};

export function createMetrics(
  db: Pick<Database, "connections" | "loans" | "isStalled">,
  replica?: Pick<Replica, "counts">,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const setSize = new Histogram({
    name: "scripdesk_set_size",
    help: "Items that travelled to the database in one set",
    labelNames: ["set"],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  });
  const setAside = new Counter({
    name: "scripdesk_set_aside_total",
    help: "Items that a worker could not do and leaves out for a while, by worker",
    labelNames: ["worker"],
    registers,
  });
  const workerFailures = new Counter({
    name: "scripdesk_worker_failures_total",
    help: "Runs of a worker that failed, by worker",
    labelNames: ["worker"],
    registers,
  });
  const workerFailing = new Gauge({
    name: "scripdesk_worker_failing",
    help: "1 while a worker's last run failed, 0 otherwise, by worker",
    labelNames: ["worker"],
    registers,
  });
  const workerDone = new Gauge({
    name: "scripdesk_worker_last_success_timestamp_seconds",
    help: "When a worker last did what it had to, or was started, by worker",
    labelNames: ["worker"],
    registers,
  });
  const connections = new Gauge({
    name: "scripdesk_database_connections",
    help: "Connections to PostgreSQL by what they do; waiting counts requests that wait for one",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(db.connections())) {
        connections.set({ state }, count);
      }
    },
  });
  const loans = new Gauge({
    name: "scripdesk_database_loans",
    help: "Connections lent, and callers that wait for one, by environment; live's include what serves both",
    labelNames: ["environment", "state"],
    registers,
    collect() {
      for (const [environment, counts] of Object.entries(db.loans())) {
        for (const [state, count] of Object.entries(counts))
          loans.set({ environment, state }, count);
      }
    },
  });
  const stalled = new Gauge({
    name: "scripdesk_database_stalled",
    help: "1 while PostgreSQL does not answer and calls are refused, 0 otherwise",
    registers,
    collect() {
      stalled.set(Number(db.isStalled()));
    },
  });
  const replicaReads = new Counter({
    name: "scripdesk_replica_reads_total",
    help: "Reads that a standby may answer: by it, or by the primary because it was behind or failed",
    labelNames: ["outcome"],
    registers,
    collect() {
      replicaReads.reset();
      for (const [outcome, count] of Object.entries(replica?.counts() ?? {})) {
        replicaReads.inc({ outcome }, count);
      }
    },
  });
  const noticesSent = new Counter({
    name: "scripdesk_notice_attempts_total",
    help: "Attempts to send a notice by mail, by what became of them",
    labelNames: ["result"],
    registers,
  });
  return {
    registry,
    setSize,
    setAside,
    workerFailures,
    workerFailing,
    workerDone,
    noticesSent,
  };
}

/** Counts the runs of a worker that is about to start. */
export function measureRuns(
  { workerFailures, workerFailing, workerDone }: Metrics,
  worker: string,
  now: () => Date,
): (ended: RunEnd) => void {
  const succeed = () => workerDone.set({ worker }, now().getTime() / 1_000);
  succeed();
  workerFailing.set({ worker }, 0);
  return (ended) => {
    workerFailing.set({ worker }, Number(ended === "failed"));
    if (ended === "done") succeed();
    else workerFailures.inc({ worker });
  };
}

/** A gauge that is read on each scrape; NaN when the read fails. */
export function measureOnDemand(
  { registry }: Metrics,
  { name, help, read }: { name: string; help: string; read: () => Promise<number> },
): void {
  const gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read().catch(() => Number.NaN);
      gauge.set(value);
    },
  });
}

export type Measured = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** The same with labels; without values when the read fails. */
export function measureLabelled(
  { registry }: Metrics,
  {
    name,
    help,
    labelNames,
    read,
  }: {
    readonly name: string;
    readonly help: string;
    readonly labelNames: readonly string[];
    readonly read: () => Promise<readonly Measured[]>;
  },
): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const values = await read().catch(() => []);
      gauge.reset();
      for (const { labels, value } of values) gauge.set(labels, value);
    },
  });
}

/** Counts and times every request by route and status class. */
export function measureRequests(app: App, { registry }: Metrics): void {
  const registers = [registry];
  const times = new RequestTimes();
  registry.registerMetric(times as unknown as Histogram); // The registry only ever asks for its values.
  const refusals = new Counter({
    name: "scripdesk_http_refusals_total",
    help: "Answers of 400 and above by route and status",
    labelNames: ["route", "status"],
    registers,
  });
  app.addHook("onResponse", (request, reply, next) => {
    const { label: route = "none", streams = false } = request.declared;
    const status = reply.statusCode;
    const isStream = streams && status < 400;
    // The duration of a stream is not a response time.
    if (!isStream) times.observe(route, Math.floor(status / 100), reply.elapsedTime / 1_000);
    if (status >= 400) refusals.inc({ route, status });
    next();
  });
}

const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
] as const;

const name = "scripdesk_http_request_duration_seconds";
const help = "From the first byte of a request to the last byte of its answer";

type Series = { readonly counts: Float64Array; sum: number };

/**
 * A histogram of request durations by route and status class. The histogram of `prom-client` builds a key
 * from its labels at every observation; this one looks its series up by route and class. The library's
 * took 25 % more processor time for a `whoami` (decision statements).
 */
class RequestTimes {
  readonly name = name;
  readonly help = help;
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #series = new Map<string, Map<number, Series>>();

  observe(route: string, statusClass: number, seconds: number): void {
    const series = this.#findSeries(route, statusClass);
    let bucket = 0;
    while (seconds > (durationBuckets[bucket] ?? Infinity)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += seconds;
  }

  /** Called by the registry when it is scraped. */
  async get() {
    const values = [...this.#series].flatMap(([route, classes]) =>
      [...classes].flatMap(([statusClass, series]) =>
        listValues({ route, status: `${statusClass}xx` }, series),
      ),
    );
    return { name, help, type: this.type, aggregator: this.aggregator, values };
  }

  reset(): void {
    this.#series.clear();
  }

  #findSeries(route: string, statusClass: number): Series {
    let classes = this.#series.get(route);
    if (!classes) this.#series.set(route, (classes = new Map()));
    let series = classes.get(statusClass);
    if (!series) {
      series = { counts: new Float64Array(durationBuckets.length + 1), sum: 0 };
      classes.set(statusClass, series);
    }
    return series;
  }
}

/** Prometheus wants each bucket to count everything up to its bound. */
function listValues(labels: Record<string, string>, { counts, sum }: Series) {
  let total = 0;
  const buckets = [...counts].map((count, at) => {
    total += count;
    const le = durationBuckets[at] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

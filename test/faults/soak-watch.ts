// What a long run looks at again and again: memory and open files of the service and of PostgreSQL, and
// how much PostgreSQL keeps. Afterwards the last third of the run is compared with the middle one.

import { readdir, readFile } from "node:fs/promises";

import type pg from "pg";

import { postgresPid } from "../support/process.ts";
import { listChildren } from "../support/stopped-postgres.ts";
import { asOwner } from "./kill.ts";
import { middle } from "./mixed-load.ts";
import { residentMib } from "./stall.ts";

export type Sample = {
  readonly atMs: number;
  readonly serviceMib: number;
  readonly serviceFiles: number;
  /** What its processes have for themselves; what they share does not grow. */
  readonly postgresMib: number;
  readonly postgresFiles: number;
  readonly walMib: number;
  readonly databaseBytes: number;
  readonly orders: number;
  /** Deliveries that were not taken yet. */
  readonly waiting: number;
  readonly tables: readonly TableSample[];
};

/** A table whose rows are changed or deleted. */
type TableSample = {
  readonly name: string;
  readonly changed: number;
  readonly dead: number;
  readonly live: number;
  readonly bytes: number;
};

const mib = 1_048_576;

export async function takeSample(
  { pid, dataDir }: { readonly pid: number; readonly dataDir: string },
  startMs: number,
): Promise<Sample> {
  const postmaster = (await postgresPid(dataDir)) ?? 0;
  const processes = [postmaster, ...(await listChildren(postmaster))];
  const postgres = await Promise.all(
    processes.map(async (each) => ({ kib: await ownKib(each), files: await countFiles(each) })),
  );
  return {
    atMs: performance.now() - startMs,
    serviceMib: await residentMib(pid),
    serviceFiles: await countFiles(pid),
    postgresMib: postgres.reduce((sum, { kib }) => sum + kib, 0) / 1_024,
    postgresFiles: postgres.reduce((sum, { files }) => sum + files, 0),
    ...(await asOwner(dataDir, askDatabase)),
  };
}

async function ownKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""); // It has ended.
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? 0);
}

async function countFiles(pid: number): Promise<number> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []); // It has ended.
  return files.length;
}

async function askDatabase(owner: pg.Client) {
  const { rows: totals } = await owner.query<Record<string, string>>(`
    select pg_database_size(current_database()) as bytes,
      (select sum(size) from pg_ls_waldir()) as wal,
      (select count(*) from orders) as orders,
      (select count(*) from deliveries where state = 'pending')
        + (select coalesce(sum(cardinality(sequences)), 0) from delivery_blocks) as waiting`);
  const { rows } = await owner.query<Record<keyof TableSample, string>>(`
    select relname as name, n_tup_upd + n_tup_del as changed, n_dead_tup as dead,
      n_live_tup as live, pg_total_relation_size(relid) as bytes
    from pg_stat_user_tables
    where n_tup_upd + n_tup_del > 0`);
  const [total] = totals;
  return {
    walMib: Number(total?.["wal"]) / mib,
    databaseBytes: Number(total?.["bytes"]),
    orders: Number(total?.["orders"]),
    waiting: Number(total?.["waiting"]),
    tables: rows.map(({ name, changed, dead, live, bytes }): TableSample => ({
      name,
      changed: Number(changed),
      dead: Number(dead),
      live: Number(live),
      bytes: Number(bytes),
    })),
  };
}

/** A figure in its middle over the middle third of a run, and over the last. */
type Thirds = readonly [second: number, last: number];

export function summarizeThirds(
  samples: readonly Sample[],
  figure: (sample: Sample) => number,
): Thirds {
  const third = (samples.at(-1)?.atMs ?? 0) / 3;
  const within = (from: number, to: number) =>
    middle(samples.filter(({ atMs }) => atMs > from && atMs <= to).map(figure));
  return [within(third, 2 * third), within(2 * third, 3 * third)];
}

/** Memory may grow by a tenth or 50 MiB, open files by a tenth or 20. */
const bounds = {
  "memory of the service": { of: (sample: Sample) => sample.serviceMib, more: 50 },
  "open files of the service": { of: (sample: Sample) => sample.serviceFiles, more: 20 },
  "memory of PostgreSQL": { of: (sample: Sample) => sample.postgresMib, more: 50 },
};

/** What autovacuum leaves alone, and what a minute without it adds. */
const deadShare = 0.2;
const deadMore = 5_000;

/** All that grew beyond its bound, by name. */
export function findGrowth(samples: readonly Sample[]): string[] {
  const grown = Object.entries(bounds).flatMap(([name, { of, more }]) => {
    const [second, last] = summarizeThirds(samples, of);
    return last > Math.max(1.1 * second, second + more) ? [name] : [];
  });
  const bloated = sortByChanges(samples).flatMap(({ name, live }) => {
    const [second, last] = summarizeDead(samples, name);
    const isBloated = last > Math.max(1.5 * second, deadShare * live + deadMore);
    return isBloated ? [`dead rows of ${name}`] : [];
  });
  return [...grown, ...bloated];
}

export function summarizeDead(samples: readonly Sample[], name: string): Thirds {
  return summarizeThirds(
    samples,
    ({ tables }) => tables.find((table) => table.name === name)?.dead ?? 0,
  );
}

/** The tables of the last sample, the most changed first. */
export function sortByChanges(samples: readonly Sample[]): readonly TableSample[] {
  return (samples.at(-1)?.tables ?? []).toSorted((a, b) => b.changed - a.changed);
}

export function describeSample(sample: Sample): string {
  const dead = sample.tables.reduce((sum, table) => sum + table.dead, 0);
  return [
    `service ${Math.round(sample.serviceMib)} MiB and ${sample.serviceFiles} files`,
    `PostgreSQL ${Math.round(sample.postgresMib)} MiB and ${sample.postgresFiles} files`,
    `database ${Math.round(sample.databaseBytes / mib)} MiB, its write-ahead log ${Math.round(sample.walMib)} MiB`,
    `${sample.orders} orders, ${dead} dead rows, ${sample.waiting} deliveries waiting`,
  ].join("; ");
}

// The processor time that the service and its PostgreSQL took, as the operating system counts it.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { median, type RunningService } from "./support.ts";

export type ProcessorMs = { readonly node: number; readonly postgres: number };

type Watched = Pick<RunningService, "pid" | "dataDir"> & {
  /** Another process of Node that works for the service. */
  readonly helperPid?: number | undefined;
};

const msPerTick = 10;
/** In /proc/PID/stat, behind the name in parentheses. */
const fields = { parent: 1, user: 11, system: 12, endedUser: 13, endedSystem: 14 };

export async function readProcessor({ pid, dataDir, helperPid }: Watched): Promise<ProcessorMs> {
  const file = await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8");
  const postmaster = Number(file.split("\n", 1)[0]);
  const ids = (await readdir("/proc")).map(Number).filter((id) => id > 0);
  const stats = await Promise.all(ids.map(readStat));
  const sessions = stats.filter((stat) => stat?.[fields.parent] === postmaster);
  const server = await readStat(postmaster);
  // Sessions that have ended are counted with their parent.
  const ended = (server?.[fields.endedUser] ?? 0) + (server?.[fields.endedSystem] ?? 0);
  const postgres = [server, ...sessions].reduce((sum, stat) => sum + countTicks(stat), ended);
  const helped = helperPid === undefined ? 0 : countTicks(await readStat(helperPid));
  return {
    node: (countTicks(await readStat(pid)) + helped) * msPerTick,
    postgres: postgres * msPerTick,
  };
}

function countTicks(stat: readonly number[] | undefined): number {
  return (stat?.[fields.user] ?? 0) + (stat?.[fields.system] ?? 0);
}

/** Undefined when the process has ended. */
async function readStat(pid: number): Promise<number[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text
    ?.slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

/** What each order took, by the middle of the rounds. */
export class ProcessorPerOrder {
  readonly #taken: ProcessorMs[] = [];

  async measure<Result>(
    service: Watched,
    work: () => Promise<{ readonly orders: number } & Result>,
  ): Promise<{ readonly orders: number } & Result> {
    const before = await readProcessor(service);
    const result = await work();
    const after = await readProcessor(service);
    this.#taken.push({
      node: (after.node - before.node) / result.orders,
      postgres: (after.postgres - before.postgres) / result.orders,
    });
    return result;
  }

  describe(): string {
    return describeTaken(this.#taken);
  }

  /** What each order of the last round took. */
  describeLast(): string {
    return describeTaken(this.#taken.slice(-1));
  }
}

function describeTaken(taken: readonly ProcessorMs[]): string {
  const shown = (of: (one: ProcessorMs) => number) => median(taken.map(of)).toFixed(2);
  return `${shown(({ node }) => node)} ms of Node and ${shown(({ postgres }) => postgres)} ms of PostgreSQL`;
}

// `kill -9` under order load. Three processes besides PostgreSQL's own: this one kills, the load asks
// and remembers what it was told, the service answers.
//
//   start    the service on a DATA_DIR of its own with two desks, then the load
//   kill     the service, which is started again, or every process of PostgreSQL at once, which the
//            service starts again; each after the load has got answers since the last kill
//   judge    the load finishes, the service stops, and the rows are compared with what was told
//
// A control is the same run on the same system, with a defect: it must lose something.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { drawFrom } from "../support/market.ts";
import { dataDirectory, postgresPid, type Scope, serve } from "../support/process.ts";
import { killPostgres } from "../support/stopped-postgres.ts";
import {
  eventually,
  issueDesks,
  judge,
  type Site,
  startLoad,
  type Verdict,
} from "./acked-orders.ts";

export type Victim = "service" | "postgres";

export type KillSettings = {
  readonly count: number;
  readonly seed: number;
  /** Who is killed; both unless one is named. */
  readonly victims?: readonly Victim[];
  readonly defect?: Defect;
  readonly callers?: number;
  readonly deadlineMs?: number;
  readonly onKill?: (kills: number, victim: Victim) => void;
};

/** What is broken on purpose, for a control. */
export type Defect = "commits are not flushed" | "answers come before the commit";

export type KillReport = Verdict & { readonly kills: Readonly<Record<Victim, number>> };

const deadlineDefaultMs = 40 * 60_000;
const answersBetweenKills = 30;

/** Kills and judges; the system stands still afterwards, and can be used for another run. */
export async function killUnderLoad(
  scope: Scope,
  system: System,
  settings: KillSettings,
): Promise<KillReport> {
  const { count, seed, victims = ["service", "postgres"], onKill } = settings;
  const draw = drawFrom(seed);
  await system.start(settings.defect);
  const load = startLoad(scope, system, settings);
  const endMs = performance.now() + (settings.deadlineMs ?? deadlineDefaultMs);
  const kills = { service: 0, postgres: 0 };
  for (let done = 0; done < count && performance.now() < endMs; done++) {
    await load.progress(answersBetweenKills);
    await sleep(draw() * 300);
    const victim = victims[done % victims.length] ?? "service";
    await system.kill(victim);
    kills[victim] += 1;
    onKill?.(done + 1, victim);
  }
  await load.progress(answersBetweenKills);
  const told = await load.stop();
  await system.stop();
  return { kills, ...(await judge(system, told)) };
}

export type System = Site & {
  start(defect: Defect | undefined): Promise<void>;
  kill(victim: Victim): Promise<void>;
  stop(): Promise<void>;
};

const hastyService = { program: join(import.meta.dirname, "hasty-serve.ts"), words: [] };

/** A running system with two desks. */
export async function openSystem(scope: Scope): Promise<System> {
  const dataDir = await dataDirectory(scope, { isMigrated: true });
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: "silent" };
  let service = await serve(scope, settings);
  const { port } = new URL(service.url);
  const desks = await issueDesks({ DATA_DIR: dataDir });
  let defective: Defect | undefined;
  let isRunning = true;
  const start = async () => {
    const program = defective === "answers come before the commit" ? hastyService : undefined;
    service = await serve(scope, { ...settings, PORT: port }, program);
    isRunning = true;
  };
  const stop = async () => {
    service.signal("SIGTERM");
    await service.ended;
    isRunning = false;
  };
  return {
    folder: dataDir,
    settings: { DATA_DIR: dataDir },
    asOwner: (work) => asOwner(dataDir, work),
    url: service.url,
    ...desks,
    stop,
    async start(defect) {
      if (isRunning && defect === defective) return;
      if (isRunning) await stop();
      defective = defect;
      await setFlushing(dataDir, defect !== "commits are not flushed");
      await start();
    },
    async kill(victim) {
      if (victim === "postgres") return await killEmbedded(dataDir);
      service.signal("SIGKILL");
      await service.ended;
      await start();
    },
  };
}

async function setFlushing(dataDir: string, isOn: boolean): Promise<void> {
  const mode = isOn ? "on" : "off";
  await asOwner(dataDir, async (owner) => {
    await owner.query(`alter database scripdesk set synchronous_commit = ${mode}`);
  });
}

/** All of a PostgreSQL's processes at once; returns when the service has started it again. */
export async function killEmbedded(dataDir: string): Promise<void> {
  const postmaster = await eventually(() => postgresPid(dataDir));
  await killPostgres(postmaster);
  // The service starts it again; until then the file names the dead one.
  await eventually(async () => {
    const revived = await postgresPid(dataDir);
    return revived === postmaster ? undefined : revived;
  });
}

export async function asOwner<Result>(
  dataDir: string,
  work: (owner: pg.Client) => Promise<Result>,
): Promise<Result> {
  const server = await openEmbedded({ dataDir, as: "visitor", create: true });
  const owner = new pg.Client(server.connection);
  // The next query fails too when PostgreSQL is killed between two; without a listener the process ends.
  owner.on("error", () => {});
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
    await server.leave();
  }
}

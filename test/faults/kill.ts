// `kill -9` under order load. Three processes besides PostgreSQL's own: this one kills, the load asks
// and remembers what it was told, the service answers.
//
//   start    the service on a DATA_DIR of its own with two desks, then the load
//   kill     the service, which is started again, or every process of PostgreSQL at once, which the
//            service starts again; each after the load has got answers since the last kill
//   judge    the load finishes, the service stops, and the rows are compared with what was told
//
// A control is the same run on the same system, with a defect: it must lose something.

import { readFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { orderBreaches } from "../support/invariants.ts";
import { drawFrom } from "../support/market.ts";
import { dataDirectory, postgresPid, scripdesk, type Scope, serve } from "../support/process.ts";
import type { Desk, LoadResult, LoadSettings } from "./order-load.ts";

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

export type KillReport = {
  readonly kills: Readonly<Record<Victim, number>>;
  readonly acked: number;
  readonly refused: number;
  readonly cancelled: number;
  readonly ambiguous: number;
  readonly replays: number;
  readonly lost: number;
  readonly doubled: number;
  readonly ledgerIsSound: boolean;
  /** Everything that does not hold, the lost and doubled included. */
  readonly breaches: readonly string[];
};

const callersDefault = 24;
const deadlineDefaultMs = 40 * 60_000;
const answersBetweenKills = 30;
const pauseMs = 20;
const waitsMax = 3_000;

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
  return { kills, ...(await judge(system.dataDir, told)) };
}

export type System = {
  readonly dataDir: string;
  readonly url: string;
  readonly seller: Desk;
  readonly buyer: Desk;
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
  const [seller, buyer] = await Promise.all([
    issueDesk(dataDir, "Seller"),
    issueDesk(dataDir, "Buyer"),
  ]);
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
    dataDir,
    url: service.url,
    seller,
    buyer,
    stop,
    async start(defect) {
      if (isRunning && defect === defective) return;
      if (isRunning) await stop();
      defective = defect;
      await setFlushing(dataDir, defect !== "commits are not flushed");
      await start();
    },
    async kill(victim) {
      if (victim === "postgres") return await killPostgres(dataDir);
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

/** All of its processes at once, so that none of them can still write down what it knows. */
async function killPostgres(dataDir: string): Promise<void> {
  const postmaster = await eventually(() => postgresPid(dataDir));
  const path = `/proc/${postmaster}/task/${postmaster}/children`;
  const children = (await readFile(path, "utf8").catch(() => "")).split(" ").filter(Boolean);
  for (const pid of [postmaster, ...children.map(Number)]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself a moment ago.
    }
  }
  // The service starts it again; until then the file names the dead one.
  await eventually(async () => {
    const revived = await postgresPid(dataDir);
    return revived === postmaster ? undefined : revived;
  });
}

async function eventually<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
  for (let wait = 0; wait < waitsMax; wait++) {
    const found = await find();
    if (found !== undefined) return found;
    await sleep(pauseMs);
  }
  throw new Error("it did not happen in time");
}

async function asOwner<Result>(
  dataDir: string,
  work: (owner: pg.Client) => Promise<Result>,
): Promise<Result> {
  const server = await openEmbedded({ dataDir, as: "visitor", create: true });
  const owner = new pg.Client(server.connection);
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
    await server.leave();
  }
}

type Load = {
  /** Waits until so many more orders have been acknowledged. */
  progress(answers: number): Promise<void>;
  stop(): Promise<LoadResult>;
};

let loads = 0;

function startLoad(
  scope: Scope,
  { dataDir, url, seller, buyer }: System,
  { seed, callers = callersDefault }: KillSettings,
): Load {
  const name = `LOAD${++loads}`;
  const resultFile = join(dataDir, `${name}.json`);
  const settings: LoadSettings = { url, seed, name, callers, seller, buyer, resultFile };
  const program = join(import.meta.dirname, "order-load.ts");
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  let [acked, isOver] = [0, false];
  child.stdout.on("data", (chunk: Buffer) => {
    acked = Number(chunk.toString().trimEnd().split("\n").at(-1));
  });
  void ended.then(() => (isOver = true));
  scope.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    async progress(answers) {
      const before = acked;
      await eventually(async () => {
        if (isOver) throw new Error("the load ended early");
        return acked >= before + answers ? acked : undefined;
      });
    },
    async stop() {
      child.stdin.end();
      await ended;
      return JSON.parse(await readFile(resultFile, "utf8")) as LoadResult;
    },
  };
}

async function issueDesk(dataDir: string, firm: string): Promise<Desk> {
  const words = ["keys", "issue", "--firm", firm, "--env", "sandbox", "--scopes", "*", "--buy"];
  const { stdout } = await scripdesk([...words, "--json"], { DATA_DIR: dataDir });
  return JSON.parse(stdout) as Desk;
}

async function judge(dataDir: string, told: LoadResult): Promise<Omit<KillReport, "kills">> {
  const acked = new Map(told.acked);
  const ofRows = await asOwner(dataDir, async (owner) => [
    ...(await orderBreaches(owner, { acked, refused: told.refused })),
    ...(await undoneCancels(owner, told.cancelled)),
    ...told.unresolved.map((what) => `${what} was never answered`),
  ]);
  const { code } = await scripdesk(["ledger", "check"], { DATA_DIR: dataDir });
  const trail = await scripdesk(["audit", "verify", "--json"], { DATA_DIR: dataDir });
  const breaches = trail.code === 0 ? ofRows : [...ofRows, `the audit trail: ${trail.stdout}`];
  return {
    acked: acked.size,
    refused: told.refused.length,
    cancelled: told.cancelled.length,
    ambiguous: told.ambiguous,
    replays: told.replays,
    lost: breaches.filter((breach) => breach.endsWith("lost")).length,
    doubled: breaches.filter((breach) => / made \d+ orders$/.test(breach)).length,
    ledgerIsSound: code === 0,
    breaches,
  };
}

async function undoneCancels(owner: pg.Client, cancelled: readonly string[]): Promise<string[]> {
  const { rows } = await owner.query<{ order_id: string }>(
    `select c.order_id
    from unnest($1::text[]) as c (order_id)
    left join orders as o on o.order_id = c.order_id and o.state = 'cancelled'
    where o.order_id is null`,
    [cancelled],
  );
  return rows.map(({ order_id }) => `the cancel of ${order_id} was answered and is lost`);
}

// What the programmes that break things have in common: orders are placed by a load in a process of
// its own, which remembers what it was told, and afterwards the rows are compared with that.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import { orderBreaches } from "../support/invariants.ts";
import { scripdesk, type Scope, type Settings } from "../support/process.ts";
import type { Desk, LoadResult, LoadSettings } from "./order-load.ts";

/** A service with two desks, and how its database is reached. */
export type Site = {
  readonly url: string;
  readonly seller: Desk;
  readonly buyer: Desk;
  /** Where results are kept. */
  readonly folder: string;
  /** What a command needs to find the database. */
  readonly settings: Settings;
  readonly asOwner: <Result>(work: (owner: pg.Client) => Promise<Result>) => Promise<Result>;
};

export type Verdict = {
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
const pauseMs = 20;
const waitsMax = 3_000;

export async function eventually<Found>(
  find: () => Promise<Found | undefined>,
  what = "it",
  waits = waitsMax,
): Promise<Found> {
  for (let wait = 0; wait < waits; wait++) {
    const found = await find();
    if (found !== undefined) return found;
    await sleep(pauseMs);
  }
  throw new Error(`${what} did not happen in time`);
}

export type Load = {
  /** Waits until so many more orders have been acknowledged. */
  progress(answers: number): Promise<void>;
  stop(): Promise<LoadResult>;
};

export type LoadOptions = Pick<LoadSettings, "seed" | "isPatient" | "pauseMs"> & {
  readonly callers?: number | undefined;
};

let loads = 0;

export function startLoad(
  scope: Scope,
  { folder, url, seller, buyer }: Pick<Site, "folder" | "url" | "seller" | "buyer">,
  { seed, isPatient, pauseMs, callers = callersDefault }: LoadOptions,
): Load {
  const name = `LOAD${++loads}`;
  const resultFile = join(folder, `${name}.json`);
  const desks = { seller, buyer };
  const given: LoadSettings = {
    url,
    seed,
    name,
    callers,
    ...desks,
    resultFile,
    isPatient,
    pauseMs,
  };
  const program = join(import.meta.dirname, "order-load.ts");
  const child = spawn(process.execPath, [program, JSON.stringify(given)], {
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
      const find = async () => {
        if (isOver) throw new Error("the load ended early");
        return acked >= before + answers ? acked : undefined;
      };
      await eventually(find, "an answer");
    },
    async stop() {
      child.stdin.end();
      await ended;
      return JSON.parse(await readFile(resultFile, "utf8")) as LoadResult;
    },
  };
}

/** By the present version of the service, or by another one. */
export async function issueDesks(
  settings: Settings,
  program?: string,
): Promise<Pick<Site, "seller" | "buyer">> {
  const [seller, buyer] = await Promise.all([
    issueDesk(settings, "Seller", program),
    issueDesk(settings, "Buyer", program),
  ]);
  return { seller, buyer };
}

async function issueDesk(settings: Settings, firm: string, program?: string): Promise<Desk> {
  const words = ["keys", "issue", "--firm", firm, "--env", "sandbox", "--scopes", "*", "--buy"];
  const { stdout } = await scripdesk([...words, "--json"], settings, program);
  return JSON.parse(stdout) as Desk;
}

/** Compares the rows with what the load was told, and has the books and the trail proved. */
export async function judge(
  { settings, asOwner }: Pick<Site, "settings" | "asOwner">,
  told: LoadResult,
): Promise<Verdict> {
  const acked = new Map(told.acked);
  const ofRows = await asOwner(async (owner) => [
    ...(await orderBreaches(owner, { acked, refused: told.refused })),
    ...(await undoneCancels(owner, told.cancelled)),
    ...told.unresolved.map((what) => `${what} was never answered`),
  ]);
  const books = await scripdesk(["ledger", "check"], settings);
  const trail = await scripdesk(["audit", "verify", "--json"], settings);
  const breaches = [
    ...ofRows,
    ...(books.code === 0 ? [] : [`the ledger check: ${books.stdout}${books.stderr}`]),
    ...(trail.code === 0 ? [] : [`the audit trail: ${trail.stdout}${trail.stderr}`]),
  ];
  return {
    acked: acked.size,
    refused: told.refused.length,
    cancelled: told.cancelled.length,
    ambiguous: told.ambiguous,
    replays: told.replays,
    lost: breaches.filter((breach) => breach.endsWith("lost")).length,
    doubled: breaches.filter((breach) => / made \d+ orders$/.test(breach)).length,
    ledgerIsSound: books.code === 0,
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

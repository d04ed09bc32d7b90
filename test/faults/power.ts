// Power cuts under order load. The power is cut again and again while one load runs; when it has ended,
// PostgreSQL and the service are started on what the disk had at each cut, and the rows are compared
// with what was told before that cut began.
//
// The control is the same with PostgreSQL's fsync off: it must lose something.

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { drawFrom } from "../support/market.ts";
import { postgresPid, type Scope, serve } from "../support/process.ts";
import { killPostgres } from "../support/stopped-postgres.ts";
import { issueDesks, judge, startLoad, type Verdict } from "./acked-orders.ts";
import type { Disk } from "./disk.ts";
import { asOwner } from "./kill.ts";
import type { LoadResult } from "./order-load.ts";
import { openStack } from "../support/programme-stack.ts";

export type PowerSettings = {
  readonly cuts: number;
  readonly seed: number;
  readonly flushes: boolean;
  readonly say: (line: string) => void;
};

export type PowerReport = {
  /** Cuts whose disk was started again and compared. */
  readonly cuts: number;
  /** Orders acknowledged, in all cuts together: one of before the first cut counts in each. */
  readonly compared: number;
  readonly acked: number;
  readonly lost: number;
  readonly doubled: number;
  /** Cuts after which the service did not start. */
  readonly unusable: number;
  /** Everything that does not hold, with the number of its cut. */
  readonly breaches: readonly string[];
};

type Cut = { readonly name: string; readonly atMs: number };

const callers = 12;
const answersBetween = 20;
const pauseMsMax = 700;
/** On a busy machine the last cuts are left out. */
const judgeMsMax = 45 * 60_000;

export async function cutUnderLoad(
  scope: Scope,
  disk: Disk,
  { cuts: count, seed, flushes, say }: PowerSettings,
): Promise<PowerReport> {
  const { told, cuts } = await placeAndCut(scope, disk, { count, seed, flushes });
  say(`${cuts.length} cuts, ${told.acked.length} orders acknowledged`);
  const total = { cuts: 0, compared: 0, lost: 0, doubled: 0, unusable: 0 };
  const breaches: string[] = [];
  const endMs = performance.now() + judgeMsMax;
  for (const { name, atMs } of cuts) {
    if (performance.now() > endMs) break;
    const before = toldBefore(told, atMs);
    const verdict = await disk.withCut(
      name,
      async (path) => await startAgain(join(path, folderName(flushes)), before),
    );
    total.cuts += 1;
    total.compared += before.acked.length;
    if (verdict instanceof Error) total.unusable += 1;
    const found = verdict instanceof Error ? [verdict.message] : verdict.breaches;
    breaches.push(...found.map((breach) => `${name}: ${breach}`));
    if (verdict instanceof Error) continue;
    total.lost += verdict.lost;
    total.doubled += verdict.doubled;
    say(`${name}: ${before.acked.length} acknowledged before, ${verdict.lost} lost`);
  }
  return { ...total, acked: told.acked.length, breaches };
}

/** Orders on the disk, and cuts between them; the service is stopped in the end. */
async function placeAndCut(
  scope: Scope,
  disk: Disk,
  {
    count,
    seed,
    flushes,
  }: { readonly count: number; readonly seed: number; readonly flushes: boolean },
): Promise<{ readonly told: LoadResult; readonly cuts: readonly Cut[] }> {
  const folder = join(disk.path, folderName(flushes));
  await mkdir(folder);
  const draw = drawFrom(seed);
  const settings = { DATA_DIR: folder, LOG_LEVEL: "silent" };
  // Whoever starts the server says how; the service finds it running.
  const how = flushes ? {} : { settings: { fsync: "off" } };
  const server = await openEmbedded({ dataDir: folder, as: "visitor", create: true, ...how });
  const service = await serve(scope, settings);
  const desks = await issueDesks({ DATA_DIR: folder });
  // The control is to lose orders, and not the files that they are kept in.
  await disk.flush();
  const { url } = service;
  const load = startLoad(scope, { folder, url, ...desks }, { seed, callers, isPatient: true });
  const cuts: Cut[] = [];
  for (let at = 1; at <= count; at++) {
    await load.progress(answersBetween);
    await sleep(draw() * pauseMsMax);
    const cut = { name: `cut${flushes ? "" : "-unflushed"}-${at}`, atMs: Date.now() };
    await disk.cut(cut.name);
    cuts.push(cut);
  }
  const told = await load.stop();
  service.signal("SIGTERM");
  await service.ended;
  await server.leave();
  return { told, cuts };
}

function folderName(flushes: boolean): string {
  return flushes ? "data" : "unflushed";
}

function toldBefore(told: LoadResult, atMs: number): LoadResult {
  const isBefore = (times: readonly number[], at: number) => (times[at] ?? atMs) < atMs;
  return {
    ...told,
    acked: told.acked.filter((_, at) => isBefore(told.ackedAtMs, at)),
    cancelled: told.cancelled.filter((_, at) => isBefore(told.cancelledAtMs, at)),
  };
}

/** The verdict, or why the service did not start. */
async function startAgain(dataDir: string, told: LoadResult): Promise<Verdict | Error> {
  await using stack = openStack();
  const scope = { after: (work: () => Promise<void>) => stack.defer(work) };
  const settings = { DATA_DIR: dataDir };
  try {
    const service = await serve(scope, { ...settings, LOG_LEVEL: "silent" });
    // So that the server is not started anew for each command.
    const server = await openEmbedded({ dataDir, as: "visitor", create: false });
    stack.defer(() => server.leave());
    service.signal("SIGTERM");
    await service.ended;
    return await judge({ settings, asOwner: (work) => asOwner(dataDir, work) }, told);
  } catch (error) {
    await endLeft(dataDir);
    return error as Error;
  }
}

/** A server that runs on it still. The file may name a process of before the cut. */
async function endLeft(dataDir: string): Promise<void> {
  const pid = (await postgresPid(dataDir)) ?? 0;
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (command.includes(dataDir)) await killPostgres(pid);
}

// What runs by schedule, at times of the day, and the worker that runs it. Of several processes one
// claims a time. What they write goes into folders of `OUT_DIR`, which nobody else may read.

import { createWriteStream } from "node:fs";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { rupeesText } from "../kernel/money.ts";
import { istTimestamp } from "../kernel/time.ts";
import { enterMachineByName } from "../operators/machines.ts";
import { makeFiles } from "../payouts/make-files.ts";
import { parseFileFormat } from "../payouts/file-rules.ts";
import { readFile as readPayoutFile } from "../payouts/read-files.ts";
import type { Context } from "../platform/context.ts";
import { noteBackup } from "../platform/last-backup.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { backUpCluster } from "../platform/postgres/backup-cluster.ts";
import { openEmbedded } from "../platform/postgres/embedded.ts";
import { describeFreezing, findClosedMonth } from "../reports/freeze-statements.ts";
import { archiveMonth } from "../reports/month-end.ts";
import { badPlace, openDropFolder, readDropped } from "./read-folder.ts";
import {
  archivedAfterMs,
  findNextTime,
  findRetry,
  listOutdated,
  nameBackup,
  type ScheduleName,
} from "./schedule-rules.ts";
import {
  claimSchedule,
  dropSchedules,
  endSchedule,
  findSchedule,
  listDroppedRows,
  listScheduleRows,
  putSchedule,
} from "./store.ts";
import type { DroppedOutcome } from "./drop-rules.ts";

type ScheduleContext = Pick<Context, "db" | "now" | "sealKey" | "log">;

type ScheduleOptions = {
  /** The machine that makes payout files. */
  readonly machine: string;
  readonly times: Readonly<Partial<Record<ScheduleName, readonly string[]>>>;
  readonly outDir: string;
  /** The JSON file of the bank's own form of payout files. */
  readonly payoutForm: string | undefined;
  readonly twoFromPaise: number;
  readonly letterhead: Letterhead;
  /** Of the embedded database. */
  readonly dataDir: string;
};

type Ended = { readonly outcome: "done" | "nothing"; readonly said: string };
type RunSchedule = (ctx: ScheduleContext, options: ScheduleOptions) => Promise<Ended>;

const runners: Readonly<Record<ScheduleName, RunSchedule>> = {
  "payout-files": makePayoutFiles,
  archives: archiveStatements,
  backups: backUp,
};

/** A worker that runs what is due. */
export function createScheduler(
  ctx: ScheduleContext,
  options: ScheduleOptions,
): () => Promise<"more" | "idle"> {
  const planned = Object.entries(options.times) as [ScheduleName, readonly string[]][];
  let isPlanned = false;
  return async () => {
    if (!isPlanned) await planAll(ctx, planned);
    isPlanned = true;
    for (const [name, times] of planned) await runWhenDue(ctx, options, { name, times });
    return "idle";
  };
}

/** What is set to other times runs at them next; what is not set any more has no next time. */
async function planAll(
  { db, now }: ScheduleContext,
  planned: readonly (readonly [ScheduleName, readonly string[]])[],
): Promise<void> {
  await dropSchedules(
    db,
    planned.map(([name]) => name),
  );
  for (const [name, list] of planned) {
    const known = await findSchedule(db, name);
    const times = list.join(", ");
    if (known?.times === times && known.next_at !== null) continue;
    const { last_at = null, outcome = null, said = null } = known ?? {};
    const next_at = findNextTime(list, now());
    await putSchedule(db, { name, times, next_at, last_at, outcome, said });
  }
}

async function runWhenDue(
  ctx: ScheduleContext,
  options: ScheduleOptions,
  { name, times }: { readonly name: ScheduleName; readonly times: readonly string[] },
): Promise<void> {
  const now = ctx.now();
  const before = await findSchedule(ctx.db, name);
  if (!before?.next_at || before.next_at > now) return;
  const next = findNextTime(times, now);
  if (!(await claimSchedule(ctx.db, { name, seen: before.next_at, next }))) return;
  try {
    const ended = await runners[name](ctx, options);
    await endSchedule(ctx.db, { name, last_at: now, ...ended, next_at: next });
  } catch (error) {
    const said = error instanceof Failure ? error.message : `failed: see the service's log`;
    if (!(error instanceof Failure))
      ctx.log.error({ err: error, schedule: name }, "a schedule failed");
    const ended = { name, last_at: now, outcome: "failed", said } as const;
    await endSchedule(ctx.db, { ...ended, next_at: findRetry(next, now) });
    if (before.outcome !== "failed") await tellFailure(ctx, { name, said, at: now });
  }
}

const scheduler: Actor = { kind: "worker", id: "schedules", requestId: null };

/** Whoever minds the bank is told when something begins to fail. */
export async function tellFailure(
  { db }: Pick<Context, "db">,
  { name, said, at }: { readonly name: string; readonly said: string; readonly at: Date },
): Promise<void> {
  const house = houseFirmId.live;
  const data = { name, said };
  await db.transaction(async (tx) => {
    const change = {
      environment: "live",
      deskId: house,
      firmId: house,
      action: "schedule.fail",
      entity: { type: "schedule", id: name, version: 1, href: "/ops/schedules" },
      after: data,
      event: { name: "schedule.failed", from: null, to: null, data },
    } as const;
    await recordChanges(tx, scheduler, [change], at);
  });
}

/** Makes what is due into files as the machine; those that need nobody else are put out for the bank. */
async function makePayoutFiles(
  ctx: ScheduleContext,
  { machine, outDir, payoutForm, twoFromPaise }: ScheduleOptions,
): Promise<Ended> {
  const actor = await enterMachineByName(ctx, { name: machine, permission: "payouts.write" });
  const format = payoutForm === undefined ? undefined : await readForm(payoutForm);
  const made = await makeFiles(ctx, actor, { environment: "live", format, twoFromPaise });
  if (made.length === 0) return { outcome: "nothing", said: "nothing is due" };
  const folder = await openFolder(outDir, "payout-files");
  for (const { file_id } of made) {
    if (file_id === null) continue;
    const { name, text } = await readPayoutFile(ctx, actor, file_id);
    await writeWhole(join(folder, name), text);
  }
  const told = made.map(
    ({ rail, paise, approval_id }) =>
      `${rail} ${rupeesText(paise)}${approval_id === null ? "" : ` waits for a person: ${approval_id}`}`,
  );
  return { outcome: "done", said: told.join("; ") };
}

/** Whoever could write it would say whose account is paid. */
async function readForm(path: string) {
  const read = await readDropped(path, Number.POSITIVE_INFINITY);
  if (typeof read === "string") throw badPlace(path, "is not there");
  if ("problem" in read) throw badPlace(path, read.problem);
  return parseFileFormat(JSON.parse(read.bytes.toString("utf8")));
}

/** Writes the archive of the last month that is closed, once. */
async function archiveStatements(
  ctx: ScheduleContext,
  { outDir, letterhead }: ScheduleOptions,
): Promise<Ended> {
  const before = () => new Date(ctx.now().getTime() - archivedAfterMs);
  const period = await findClosedMonth({ db: ctx.db, now: before });
  const folder = await openFolder(outDir, "archives");
  const name = `statements-live-${period}.tar.gz`;
  const isThere = await stat(join(folder, name)).catch(() => undefined);
  if (isThere) return { outcome: "nothing", said: `${name} is there` };
  const making = join(folder, `.${name}.part`);
  let firms = 0;
  const pieces = archiveMonth(ctx, {
    environment: "live",
    period,
    formats: ["csv", "pdf"],
    letterhead,
    onProgress: (count) => (firms = count),
  });
  await pipeline(pieces, createGzip(), createWriteStream(making, { mode: 0o600, flush: true }));
  if (firms === 0) {
    await rm(making, { force: true });
    return { outcome: "nothing", said: `nobody has a statement of ${period}` };
  }
  await rename(making, join(folder, name));
  return { outcome: "done", said: `${name}: ${firms} statements` };
}

/** Backs the embedded database up, verified, and removes the oldest. */
async function backUp(
  { now }: ScheduleContext,
  { outDir, dataDir }: ScheduleOptions,
): Promise<Ended> {
  const folder = await openFolder(outDir, "backups");
  const at = now();
  const name = nameBackup(istTimestamp(at));
  const embedded = await openEmbedded({ dataDir, as: "visitor", create: false });
  try {
    await backUpCluster({
      connection: embedded.connection,
      clusterDir: join(dataDir, "postgres"),
      to: join(folder, name),
      now: at,
    });
  } finally {
    await embedded.leave();
  }
  await noteBackup(dataDir, at, now());
  const outdated = listOutdated(await readdir(folder));
  for (const old of outdated) await rm(join(folder, old), { recursive: true, force: true });
  return { outcome: "done", said: `${name}, verified; ${outdated.length} removed` };
}

async function openFolder(outDir: string, name: string): Promise<string> {
  await openDropFolder(outDir, [name]);
  return join(outDir, name);
}

/** Under its name a file is whole. */
async function writeWhole(path: string, text: string): Promise<void> {
  const part = `${path}.part`;
  const file = await open(part, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
}

/** What the service does by itself, when it last did, and when it does next. */
export async function listSchedules(ctx: Pick<Context, "db" | "now">) {
  const { lastAt, nextAt } = await describeFreezing(ctx);
  const statements = {
    name: "statements",
    times: "when a month is closed",
    next_at: nextAt,
    last_at: lastAt,
    outcome: lastAt && ("done" as const),
    said: lastAt && "each firm has its statement",
  };
  return [...(await listScheduleRows(ctx.db)), statements].map(({ next_at, last_at, ...row }) => ({
    ...row,
    next_at: next_at && istTimestamp(next_at),
    last_at: last_at && istTimestamp(last_at),
  }));
}

/** The files that were found in the drop folder, the newest first. */
export async function listDroppedFiles(
  { db }: Pick<Context, "db">,
  search: {
    readonly before: string | undefined;
    readonly outcome: DroppedOutcome | undefined;
    readonly limit: number;
  },
) {
  const { before = null, outcome = null, limit } = search;
  const rows = await listDroppedRows(db, { before, outcome, limit });
  return rows.map(({ sha256, at, ...row }) => ({
    ...row,
    sha256: sha256 && sha256.toString("hex"),
    at: istTimestamp(at),
  }));
}

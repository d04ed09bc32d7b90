// PostgreSQL's own yardstick: pgbench's TPC-B on the same server that is being measured.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type pg from "pg";

import { debianProgram } from "../test/support/debian-program.ts";

const execute = promisify(execFile);
/** With as many branches as this, clients seldom wait for each other's branch. */
const scale = 20;

export type Pgbench = (options: { clients: number; seconds: number }) => Promise<number>;

/** Prepares the tables of TPC-B in a database and gives what measures transactions per second. */
export async function preparePgbench(connection: pg.ClientConfig): Promise<Pgbench> {
  const program = await debianProgram("pgbench", "postgresql-contrib");
  if ("missing" in program) throw new Error(program.missing);
  const { host, port, user, database } = connection;
  const target = ["-h", String(host), "-p", String(port), "-U", String(user), String(database)];
  await execute(program.path, ["-i", "-q", "-s", String(scale), ...target]);
  return async ({ clients, seconds }) => {
    const load = ["-n", "-M", "prepared", "-c", String(clients), "-j", "2", "-T", String(seconds)];
    const { stdout } = await execute(program.path, [...load, ...target]);
    const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
    if (tps === undefined) throw new Error(`pgbench said ${stdout}`);
    return Number(tps);
  };
}

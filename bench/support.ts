// What every measurement needs: the service and its yardstick as processes of their own, load from
// a third one, and a table that shows ours, the yardstick and their ratio side by side.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { endChild } from "../test/support/programme-stack.ts";
import type { LoadOrder, LoadResult } from "./load.ts";

const root = join(import.meta.dirname, "..");

export type Measured = { readonly pid: number; readonly port: number };

export type RunningService = Measured & {
  readonly dataDir: string;
  /** A command of the CLI beside the running service; its JSON answer. */
  command(...words: readonly string[]): Promise<unknown>;
};

export async function makeFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-bench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function startService(stack: AsyncDisposableStack): Promise<RunningService> {
  return await startOn(stack, await makeFolder(stack));
}

/** The whole service as `npm start` runs it: embedded PostgreSQL, durable, metered, logging. */
export async function startOn(
  stack: AsyncDisposableStack,
  dataDir: string,
): Promise<RunningService> {
  const env = { ...process.env, DATA_DIR: dataDir, PORT: "0", OPS_PORT: "off" };
  const flags = ["--max-semi-space-size=32", "--no-allocation-site-pretenuring"];
  const child = spawn(process.execPath, [...flags, "bin/scripdesk.js", "serve"], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(() => endChild(child));
  const port = await portFrom(child);
  return {
    pid: child.pid ?? 0,
    port,
    dataDir,
    async command(...words) {
      const cli = spawn(process.execPath, ["bin/scripdesk.js", ...words, "--json"], {
        cwd: root,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      cli.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await once(cli, "close");
      return JSON.parse(output);
    },
  };
}

/** A bare yardstick: a script that prints the port it listens on. */
export async function startYardstick(
  stack: AsyncDisposableStack,
  script: string,
  ...words: readonly string[]
): Promise<Measured> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(() => endChild(child));
  return { pid: child.pid ?? 0, port: await portFrom(child) };
}

export async function startLoad(stack: AsyncDisposableStack) {
  const child = fork(join(import.meta.dirname, "load.ts"));
  stack.defer(() => endChild(child));
  return async (order: LoadOrder): Promise<LoadResult> => {
    child.send(order);
    const [result] = (await once(child, "message")) as [LoadResult];
    return result;
  };
}

/** Resident memory, as the operating system sees it. */
export async function residentMiB({ pid }: Measured): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}

export type Row = {
  readonly what: string;
  readonly ours: string;
  readonly yardstick: string;
  readonly ratio: number;
  readonly spread: string;
  readonly goal: string;
};

const found: { rows: Row[]; remarks: string[] } = { rows: [], remarks: [] };

/** What was printed since the last time somebody took it. */
export function takeFound(): {
  readonly rows: readonly Row[];
  readonly remarks: readonly string[];
} {
  return { rows: found.rows.splice(0), remarks: found.remarks.splice(0) };
}

/** A figure beside the table. */
export function printRemark(line: string): void {
  found.remarks.push(line);
  process.stdout.write(`${line}\n`);
}

export function printTable(rows: readonly Row[]): void {
  found.rows.push(...rows);
  console.table(
    rows.map(({ ratio, ...row }) => ({ ...row, ratio: Number(ratio.toFixed(2)) })),
    ["what", "ours", "yardstick", "ratio", "spread", "goal"],
  );
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function spread(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`;
}

export async function portFrom(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error("the process prints its address");
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (!port) continue;
    // Whatever else it prints is thrown away, so that its pipe never fills.
    child.stdout.resume();
    return Number(port);
  }
  throw new Error("the process ended before it listened");
}

// The program as an operator runs it: `node cli/main.ts …` in a process of its own, or many commands
// in one.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";

import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { copyFolder, scratchFolder } from "./scratch.ts";
import { migratedVariable } from "./server.ts";
import { type Send, sender } from "./service.ts";
import { findPostmaster } from "./stopped-postgres.ts";

/** A test, or a file of tests. */
export type Scope = { after(work: () => Promise<void>): void };
export type Settings = Readonly<Record<string, string>>;

/** What is run, and the first words it is given. */
export type Program = { readonly program: string; readonly words: readonly string[] };

const command = join(import.meta.dirname, "../../cli/main.ts");
const commandLoop = join(import.meta.dirname, "command-loop.ts");

/** What ends the output of one command among several. */
const mark = /\0(\d+)\n$/;
/** Less than what an open connection pool keeps a process alive for. */
const lingerMsMax = 15_000;

/** What still runs on a DATA_DIR when its test is over, whether the test passed or not. */
const running = new Map<string, Set<() => Promise<unknown>>>();

/**
 * A DATA_DIR of this test's own; whatever still runs on it is stopped before it is removed. Where the
 * first start is not what a test is about, its database is a migrated one that was made for all.
 */
export async function dataDirectory(
  t: Scope,
  { isMigrated = false }: { readonly isMigrated?: boolean } = {},
): Promise<string> {
  const dataDir = await scratchFolder("scripdesk-run-");
  const migratedDir = process.env[migratedVariable];
  if (isMigrated && migratedDir !== undefined) await copyFolder(`${migratedDir}/.`, dataDir);
  running.set(dataDir, new Set());
  t.after(async () => {
    for (const end of running.get(dataDir) ?? []) await end();
    if ((await postgresPid(dataDir)) !== undefined) {
      // The last one out stops the server, so going in and out leaves none behind.
      const server = await openEmbedded({ dataDir, as: "visitor", create: true });
      await server.leave();
    }
    await rm(dataDir, { recursive: true, force: true });
  });
  return dataDir;
}

function start(
  { program, words }: Program,
  settings: Settings,
  input: "ignore" | "pipe" = "ignore",
): ChildProcess {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE: cache } = process.env;
  return spawn(process.execPath, [program, ...words], {
    stdio: [input, "pipe", "pipe"],
    // Compiling the service takes longer than all else that most commands do.
    env: { PATH, HOME, ...(cache && { NODE_COMPILE_CACHE: resolve(cache) }), ...settings },
  });
}

export type Ended = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a command to its end. */
export async function scripdesk(
  words: readonly string[],
  settings: Settings,
  program = command,
): Promise<Ended> {
  const child = start({ program, words }, settings);
  const output = collect(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}

export type RunCommand = (...words: string[]) => Promise<Ended>;

export type RunWith = (words: readonly string[], settings: Settings) => Promise<Ended>;

/** Runs commands in one process, all of them with the same settings. */
export function commands(t: Scope, settings: Settings): RunCommand {
  const run = commandsWith(t, settings);
  return (...words) => run(words, {});
}

/**
 * Runs commands in one process, in the order they are given, each with settings of its own beside the
 * shared ones: most of what a command costs is loading the program. The process ends by itself after
 * the last one, as each would have to in its own, so none may leave anything open.
 */
export function commandsWith(t: Scope, settings: Settings = {}): RunWith {
  const child = start({ program: commandLoop, words: [] }, settings, "pipe");
  const output = collect(child);
  const ended = once(child, "close") as Promise<[number | null]>;
  const died = ended.then(() => {
    throw new Error(`the commands' process ended: ${output.stderr}`);
  });
  died.catch(() => {}); // It ends with the test; only a command that is waited for minds.
  const runNext = async (words: readonly string[], own: Settings): Promise<Ended> => {
    output.stdout = "";
    output.stderr = "";
    child.stdin?.write(`${JSON.stringify({ words, settings: own })}\n`);
    for (const name of ["stdout", "stderr"] as const) {
      while (!mark.test(output[name])) {
        await Promise.race([once(child[name] ?? child, "data"), died]);
      }
    }
    const code = Number(mark.exec(output.stdout)?.[1]);
    return {
      code,
      stdout: output.stdout.replace(mark, ""),
      stderr: output.stderr.replace(mark, ""),
    };
  };
  endWith(t, settings, async () => {
    child.stdin?.end();
    const kill = setTimeout(() => child.kill("SIGKILL"), lingerMsMax);
    const [code] = await ended;
    clearTimeout(kill);
    assert.equal(code, 0, `a command left something open, or failed: ${output.stderr}`);
  });
  let last: Promise<unknown> = Promise.resolve();
  return (words, own) => {
    const ran = last.then(() => runNext(words, own));
    last = ran.catch(() => {});
    return ran;
  };
}

export type Running = {
  readonly url: string;
  readonly pid: number;
  readonly send: Send;
  /** What it has printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  signal(name: NodeJS.Signals): void;
  /** The exit code, once it has ended; null when it was killed. */
  readonly ended: Promise<number | null>;
};

/** `scripdesk serve` on a free port, from the moment it says where it listens, for operators too. */
export async function serve(
  t: Scope,
  settings: Settings,
  program: Program = { program: command, words: ["serve"] },
): Promise<Running> {
  const child = start(program, {
    PORT: "0",
    OPS_PORT: "off",
    LOG_LEVEL: "warn",
    DRAIN_S: "0",
    ...settings,
  });
  const output = collect(child);
  const ended = once(child, "close").then(([code]) => code as number | null);
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  endWith(t, settings, end);
  const lines = [/^scripdesk listens on (\S+)$/m];
  if ((settings["OPS_PORT"] ?? "off") !== "off") lines.push(/^console for operators on (\S+)$/m);
  const said = lines.map((line) => findSaid(child, output, line));
  const [url] = (await Promise.race([Promise.all(said), ended.then(() => undefined)])) ?? [];
  if (url === undefined) throw new Error(`serve ended: ${output.stdout}${output.stderr}`);
  const { pid = 0 } = child;
  return { url, pid, output, ended, send: sender(url), signal: (name) => child.kill(name) };
}

/** Hooks run in the order they were made, and a DATA_DIR is made before what runs on it. */
function endWith(t: Scope, settings: Settings, end: () => Promise<void>): void {
  const onItsDirectory = running.get(settings["DATA_DIR"] ?? "");
  if (onItsDirectory) onItsDirectory.add(end);
  else t.after(end);
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  return output;
}

async function findSaid(
  child: ChildProcess,
  output: { readonly stdout: string },
  line: RegExp,
): Promise<string> {
  for (;;) {
    const [, said] = line.exec(output.stdout) ?? [];
    if (said !== undefined) return said;
    await once(child.stdout ?? child, "data");
  }
}

/** The process id of the embedded PostgreSQL, while it runs. */
export async function postgresPid(dataDir: string): Promise<number | undefined> {
  return await findPostmaster(join(dataDir, "postgres"));
}

/** The key of the first start, in the file that it shows; undefined when it has shown none yet. */
export function demoKeyIn(stdout: string): string | undefined {
  const path = /^ {2}(\/.*demo-key)$/m.exec(stdout)?.[1];
  return path === undefined ? undefined : readFileSync(path, "utf8").trim();
}

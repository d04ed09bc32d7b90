// Files of tests that share a process, one after the other. Most of what a small file costs is loading
// the service and running it for the first time, which a process does once. A file is loaded when its
// turn comes, and what it opened is closed before the next; alone it runs just as well. Only the files
// of `test/e2e` and `test/long` are in no such process: `npm run test:e2e` and `test:long` run them.
//
// The processes take the files from one list, whoever is free the next one, so all of them end at
// about the same time. A process takes a file by making a folder with the file's place in the list,
// which only one can do.
//
// What they draw by chance is the same in each run, so that a change alone decides whether it passes.
// SEED=… draws otherwise; `npm run test:long` and a file alone draw anew each time.

import { globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";
import { pathToFileURL } from "node:url";

import fc from "fast-check";

export const takenVariable = "SCRIPDESK_TEST_TAKEN";

const root = join(import.meta.dirname, "../..");
/** Those of `test` start whole services. The last ones should be short. */
const folders = ["test/*.test.ts", "test/api/*.test.ts", "src/**/*.test.ts"];

/** Runs files until all are taken. */
export async function runFiles(): Promise<void> {
  const taken = process.env[takenVariable];
  if (!taken) throw new Error("run tests with `npm run test:only` (it prepares the list of files)");
  const seed = (process.env["SEED"] ??= "1");
  fc.configureGlobal({ seed: Number(seed) });
  const files = folders.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted());
  // Code under test may pause on timers that do not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  let running: string | undefined;
  process.once("exit", () => {
    if (running === undefined) return;
    process.exitCode = 1;
    process.stderr.write(`the process ended during ${running}\n`);
  });
  for (const [at, file] of files.entries()) {
    if (!tryMake(join(taken, String(at)))) continue;
    running = file;
    await suite(file, async () => {
      await import(pathToFileURL(join(root, file)).href);
    });
    running = undefined;
  }
  clearInterval(alive);
}

/** Whether this process made the folder. */
function tryMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

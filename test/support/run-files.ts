// Files of tests that share a process, one after the other. Most of what a small file costs is loading
// the service and running it for the first time, which a process does once. A file is loaded when its
// turn comes, and what it opened is closed before the next; alone it runs just as well. Only the files
// of `test/long` are in no such process: `npm run test:long` runs them.

import { globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { suite } from "node:test";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../..");
const shared = ["src/**/*.test.ts", "test/*.test.ts", "test/api/*.test.ts"];

/** Runs the files of this process, which is one of those in its folder: each takes one in turn. */
export async function runFiles(ownFile: string): Promise<void> {
  const processes = globSync("*.test.ts", { cwd: dirname(ownFile) }).toSorted();
  const own = processes.indexOf(basename(ownFile));
  const files = globSync(shared, { cwd: root })
    .toSorted()
    .filter((_, at) => at % processes.length === own);
  const left = new Set(files);
  // Code under test may pause on timers that do not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  process.once("exit", () => {
    if (left.size === 0) return;
    process.exitCode = 1;
    process.stderr.write(`the process ended before ${[...left].join(", ")}\n`);
  });
  for (const file of files) {
    await suite(file, async () => {
      await import(pathToFileURL(join(root, file)).href);
    });
    left.delete(file);
  }
  clearInterval(alive);
}

// Files of tests that share a process, one after the other. Most of what a small file costs is loading
// the service and running it for the first time, which a lane does once. A file is loaded when its
// turn comes, and what it opened is closed before the next; alone it runs just as well.

import { globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { suite } from "node:test";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../..");
const shared = ["src/**/*.test.ts", "test/api/*.test.ts"];

/** Runs this lane's share of the files: every lane takes one in turn. */
export async function runLane(lane: string): Promise<void> {
  const lanes = globSync("*.test.ts", { cwd: dirname(lane) }).toSorted();
  const own = lanes.indexOf(basename(lane));
  const files = globSync(shared, { cwd: root })
    .toSorted()
    .filter((_, at) => at % lanes.length === own);
  const left = new Set(files);
  // Code under test may pause on timers that do not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  process.once("exit", () => {
    if (left.size === 0) return;
    process.exitCode = 1;
    process.stderr.write(`the lane ended before ${[...left].join(", ")}\n`);
  });
  for (const file of files) {
    await suite(file, async () => {
      await import(pathToFileURL(join(root, file)).href);
    });
    left.delete(file);
  }
  clearInterval(alive);
}

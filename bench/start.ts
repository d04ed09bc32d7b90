// How long the second start takes, as `npm start` does it, to the first 200, against Node that does
// nothing, in turns.

import { spawn } from "node:child_process";
import { once } from "node:events";

import { chooseSize } from "./sizes.ts";
import { makeFolder, median, printTable, spread, startOn } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const rounds = chooseSize("BENCH_ROUNDS", 7, 1);

export async function start(): Promise<void> {
  await using stack = openStack();
  const dataDir = await makeFolder(stack);
  await startAndStop(dataDir);
  const ours: number[] = [];
  const yardstick: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const bareMs = await timeBareNode();
    const firstAnswerMs = await startAndStop(dataDir);
    if (round === 0) continue; // Warms both up.
    yardstick.push(bareMs);
    ours.push(firstAnswerMs);
  }
  printTable([
    {
      what: "a start on a folder with a database, to the first 200",
      ours: `${Math.round(median(ours))} ms`,
      yardstick: `${Math.round(median(yardstick))} ms node -e 0`,
      ratio: median(ours) / median(yardstick),
      spread: spread(ours.map((ms, at) => ms / (yardstick[at] ?? ms))),
      goal: "≤ 20",
    },
  ]);
}

/** How long the first answer took, in milliseconds. */
async function startAndStop(dataDir: string): Promise<number> {
  await using stack = openStack();
  const startedAt = performance.now();
  const { port } = await startOn(stack, dataDir);
  const { status } = await fetch(`http://127.0.0.1:${port}/healthz`);
  if (status !== 200) throw new Error(`/healthz answered ${status}`);
  return performance.now() - startedAt;
}

async function timeBareNode(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - startedAt;
}

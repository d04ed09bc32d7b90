// What a service takes that nobody calls: processor time of Node and PostgreSQL for a minute, after one
// in which whatever a start leaves behind has ended.

import { setTimeout as sleep } from "node:timers/promises";

import { readProcessor } from "./processor.ts";
import { chooseSize } from "./sizes.ts";
import { printRemark, residentMiB, startService } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const settlingMs = chooseSize("BENCH_SETTLING_SECONDS", 75, 5) * 1_000;
const idleMs = chooseSize("BENCH_SECONDS", 60, 5) * 1_000;

export async function idle(): Promise<void> {
  await using stack = openStack();
  const service = await startService(stack);
  await sleep(settlingMs);
  const before = await readProcessor(service);
  const begunMs = performance.now();
  await sleep(idleMs);
  const after = await readProcessor(service);
  const tookMs = performance.now() - begunMs;
  const share = (of: "node" | "postgres") => ((after[of] - before[of]) / tookMs) * 100;
  printRemark(
    `an idle service takes ${(share("node") + share("postgres")).toFixed(2)} % of a core (goal ≤ 1): ` +
      `${share("node").toFixed(2)} of Node and ${share("postgres").toFixed(2)} of PostgreSQL; ` +
      `Node has ${Math.round(await residentMiB(service))} MiB`,
  );
}

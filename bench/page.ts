// docs/measured/benchmarks.md: what each measurement found on an idle machine, with the machine, the day and the
// version. What a busy machine or another size gave is printed only.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { writeSection } from "../test/support/page-sections.ts";
import { isQuick } from "./sizes.ts";
import type { Row } from "./support.ts";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs/measured/benchmarks.md");
const by = "npm run bench";

const sampleMs = 3_000;
/** Above this share of all cores other work would be measured too. */
const busyShare = 0.2;

/** How much of all cores others use, before a measurement begins. */
export async function measureOthers(): Promise<number> {
  const before = countTicks();
  await sleep(sampleMs);
  const after = countTicks();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function countTicks(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, { idle: own }) => sum + own, 0);
  const all = times.reduce(
    (sum, { user, nice, sys, irq, idle: own }) => sum + user + nice + sys + irq + own,
    0,
  );
  return { idle, all };
}

export type Finding = {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly remarks: readonly string[];
  /** The share of the machine that others used before it began. */
  readonly others: number;
};

/** Why a finding is not kept; undefined when it is. */
export function explainUnkept({ others }: Pick<Finding, "others">): string | undefined {
  if (others > busyShare) {
    return `the machine was busy (${asShare(others)} of it) before the run: not written to docs/measured/benchmarks.md`;
  }
  if (isQuick) return "--quick: not written to docs/measured/benchmarks.md";
  const sized = Object.keys(process.env).filter((name) => name.startsWith("BENCH_"));
  if (sized.length > 0)
    return `${sized.join(", ")} set: not written to docs/measured/benchmarks.md`;
  return undefined;
}

export async function keepFinding({ name, rows, remarks, others }: Finding): Promise<void> {
  const table = [
    "| what | ours | yardstick | ratio | spread | goal |",
    "|---|---|---|---|---|---|",
    ...rows.map(
      ({ what, ours, yardstick, ratio, spread, goal }) =>
        `| ${what} | ${ours} | ${yardstick} | ${ratio.toFixed(2)} | ${spread} | ${goal} |`,
    ),
  ].join("\n");
  const tables = rows.length === 0 ? [] : [table];
  const parts = [describeRun(others), ...tables, ...remarks];
  await writeSection({ file, name, by }, parts);
}

function describeRun(others: number): string {
  const [first] = cpus();
  const machine = `${cpus().length} cores (${first?.model.trim() ?? "unknown"})`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${describeVersion()}, Node ${process.versions.node}, ${machine}, ${memory}; others used ${asShare(others)} of the machine before it began.`;
}

/** The commit, and the last migration, which says what an order writes. */
function describeVersion(): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root });
  const migrations = readdirSync(join(root, "migrations")).filter((name) => /^\d{4}-/.test(name));
  const last = migrations.toSorted().at(-1)?.slice(0, 4) ?? "none";
  return `commit ${commit.toString().trim()} (migration ${last})`;
}

function asShare(part: number): string {
  return `${Math.round(100 * part)} %`;
}

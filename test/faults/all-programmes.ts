// Every programme, each in a process of its own, and one table of what came of them. In the short form
// two run at once, as most of their time is waiting for leases and starts; those that measure times or
// memory run alone. The whole programmes run one after the other, as each writes its section down.

import { type Outcome, runTold, type Say, type Settings } from "./outcome.ts";

export type Named = { readonly name: string; readonly isAlone: boolean };

type Row = { readonly name: string; readonly outcome: Outcome; readonly seconds: number };

const atOnce = 2;

/** Whether none failed; what cannot run here is skipped, and told. */
export async function runAll(
  { program, programmes }: { readonly program: string; readonly programmes: readonly Named[] },
  { seed, quick }: Pick<Settings, "seed" | "quick">,
  say: Say,
): Promise<boolean> {
  const begunMs = performance.now();
  const run = async ({ name }: Named, isBeside: boolean): Promise<Row> => {
    const startedMs = performance.now();
    const words = [program, name, "--seed", String(seed), ...(quick ? ["--quick"] : [])];
    const outcome = await runTold(process.execPath, words, isBeside ? { prefix: name } : {});
    return { name, outcome, seconds: countSeconds(startedMs) };
  };
  const rows: Row[] = [];
  const beside = quick ? programmes.filter(({ isAlone }) => !isAlone) : [];
  const left = beside.values();
  const runLeft = async () => {
    for (const programme of left) rows.push(await run(programme, true));
  };
  await Promise.all(Array.from({ length: atOnce }, runLeft));
  for (const programme of programmes) {
    if (!beside.includes(programme)) rows.push(await run(programme, false));
  }
  say(summaryTable(rows, countSeconds(begunMs)));
  return rows.every(({ outcome }) => "missing" in outcome || outcome.held);
}

function countSeconds(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) / 1_000);
}

function summaryTable(rows: readonly Row[], totalSeconds: number): string {
  const lines = rows.map(({ name, outcome, seconds }) => {
    const told =
      "missing" in outcome
        ? [outcome.missing, "", "skipped"]
        : [outcome.counts, outcome.control, outcome.held ? "yes" : "FAILED"];
    return `| ${[name, ...told, seconds].join(" | ")} |`;
  });
  return [
    "| programme | counts | control | held | seconds |",
    "|---|---|---|---|---|",
    ...lines,
    `| all | | | | ${totalSeconds} |`,
  ].join("\n");
}

// Every programme one after the other, each in a process of its own, and one table of what came of them.

import { type Outcome, runTold, type Say, type Settings } from "./outcome.ts";

type Row = { readonly name: string; readonly outcome: Outcome; readonly seconds: number };

/** Whether none failed; what cannot run here is skipped, and told. */
export async function runAll(
  { program, names }: { readonly program: string; readonly names: readonly string[] },
  { seed, quick }: Pick<Settings, "seed" | "quick">,
  say: Say,
): Promise<boolean> {
  const rows: Row[] = [];
  for (const name of names) {
    const begunMs = performance.now();
    const words = [program, name, "--seed", String(seed), ...(quick ? ["--quick"] : [])];
    const outcome = await runTold(process.execPath, words);
    rows.push({ name, outcome, seconds: Math.round((performance.now() - begunMs) / 1_000) });
  }
  say(summaryTable(rows));
  return rows.every(({ outcome }) => "missing" in outcome || outcome.held);
}

function summaryTable(rows: readonly Row[]): string {
  const lines = rows.map(({ name, outcome, seconds }) => {
    const told =
      "missing" in outcome
        ? [outcome.missing, "", "skipped"]
        : [outcome.counts, outcome.control, outcome.held ? "yes" : "FAILED"];
    return `| ${[name, ...told, seconds].join(" | ")} |`;
  });
  const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    "| programme | counts | control | held | seconds |",
    "|---|---|---|---|---|",
    ...lines,
    `| all | | | | ${total} |`,
  ].join("\n");
}

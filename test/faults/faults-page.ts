import { join } from "node:path";

import { writeSection } from "../support/page-sections.ts";

const file = join(import.meta.dirname, "../../docs/measured/faults.md");

/** Puts what a run found into its section of the page. */
export async function writeFaults(name: string, parts: readonly string[]): Promise<void> {
  await writeSection({ file, name, by: "npm run faults" }, parts);
}

/** The same for a whole run; a shorter one is printed only. */
export async function keepFaults(
  name: string,
  parts: readonly string[],
  { isWhole, say }: { readonly isWhole: boolean; readonly say: (line: string) => void },
): Promise<void> {
  if (isWhole) await writeFaults(name, parts);
  else say("shorter than by default: not written to docs/measured/faults.md");
}

/** Two columns: what was counted, and the figure. */
export function figureTable(rows: readonly (readonly [what: string, figure: unknown])[]): string {
  const lines = rows.map(([what, figure]) => `| ${what} | ${String(figure)} |`);
  return ["| what | figure |", "|---|---|", ...lines].join("\n");
}

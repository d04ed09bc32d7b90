// Pages of figures that runs write: each run has a section between two comments, and the words around
// it are written by people.

import { readFile, writeFile } from "node:fs/promises";

export type Section = {
  readonly file: string;
  readonly name: string;
  /** The command that makes it. */
  readonly by: string;
};

/** Puts what a run found into its section of the page. */
export async function writeSection(
  { file, name, by }: Section,
  parts: readonly string[],
): Promise<void> {
  const page = await readFile(file, "utf8");
  const [begin, end] = [`<!-- ${name}: made by ${by} -->`, `<!-- ${name}: end -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${file} has no ${name}`);
  await writeFile(file, [before, begin, "\n\n", parts.join("\n\n"), "\n\n", end, after].join(""));
}

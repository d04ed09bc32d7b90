// Runs commands one after another as `cli/main.ts` runs one, so that the program is loaded once. A
// line of input is the words of a command and the settings of its own, as JSON; a mark with its exit
// code ends both its outputs.

import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

enableCompileCache(join(import.meta.dirname, "../../node_modules/.cache/scripdesk"));

const { run } = await import("../../cli/run.ts");
const shared = { ...process.env };

for await (const line of createInterface({ input: process.stdin })) {
  const { words, settings } = JSON.parse(line) as Line;
  process.env = { ...shared, ...settings };
  const code = await run(words);
  process.stdout.write(`\0${code}\n`);
  process.stderr.write(`\0${code}\n`);
}

type Line = { readonly words: string[]; readonly settings: Record<string, string> };

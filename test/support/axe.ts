// What axe finds on a page that is open in a browser.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

type Violation = { readonly id: string; readonly impact: string; readonly nodes: string[] };

let source: string | undefined;

/** What is serious or critical, by all rules or by some. */
export async function findSerious(page: Page, rules?: readonly string[]): Promise<Violation[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    source ??= await readFile(createRequire(import.meta.url).resolve("axe-core"), "utf8");
    await page.evaluate(source);
  }
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  return await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map(({ html }) => html) })))`);
}

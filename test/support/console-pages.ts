// Every page of the console as a browser shows it, and what is wrong with it: judged by axe, by its
// width and by its own words.

import type { Page } from "playwright-core";

import { findSerious } from "./axe.ts";
import type { Console } from "./console.ts";

/** Where pictures of every page go, for whoever wants to look at them. */
const shots = process.env["CONSOLE_SHOTS"];
/** Where the pictures of the guide go, when they are made anew. */
const guide = process.env["CONSOLE_GUIDE"];
const inGuide = [
  "today",
  "board",
  "firms-one",
  "queue",
  "files",
  "bank",
  "approvals-one",
  "notices",
];
const guideClip = { x: 0, y: 0, width: 1360, height: 640 };

export const listPages = [
  "/today",
  "/board",
  "/orders",
  "/crosses",
  "/house",
  "/house-in-law",
  "/queue",
  "/settlements",
  "/portal",
  "/payouts",
  "/files",
  "/bank",
  "/bank-statements",
  "/approvals",
  "/questions",
  "/enquiries",
  "/firms",
  "/credits",
  "/keys",
  "/statements",
  "/invoices",
  "/taxes",
  "/calendar",
  "/letters",
  "/notices",
  "/ready",
  "/health",
  "/audit",
  "/requests",
  "/people",
  "/find?q=Client",
  "/publish/RODTEP",
];

/** One list page of each kind: the others are made of the same parts. */
export const kindsOfPages = [
  "/today",
  "/board",
  "/payouts",
  "/calendar",
  "/health",
  "/find?q=Client",
  "/publish/RODTEP",
];

const laptop = { width: 1360, height: 900 };
const phone = { width: 390, height: 844 };

/** How a page is looked at. Without rules axe uses all of them; with none it is not asked. */
type Look = {
  readonly name: string;
  readonly colorScheme: "light" | "dark";
  readonly size: typeof laptop;
  readonly rules?: readonly string[];
};

export const looks = {
  plain: { name: "light", colorScheme: "light", size: laptop, rules: [] },
  light: { name: "light", colorScheme: "light", size: laptop },
  // The colours are all that the dark changes, and the width all that a phone does.
  dark: { name: "dark", colorScheme: "dark", size: laptop, rules: ["color-contrast"] },
  phone: {
    name: "phone",
    colorScheme: "light",
    size: phone,
    rules: ["target-size", "scrollable-region-focusable"],
  },
} as const satisfies Readonly<Record<string, Look>>;

const withoutRows = ["today", "board", "health", "publish", "find", "statements", "invoices"];

/** How the pages are reached, and whether there is something on them. */
type Judging = {
  readonly of: readonly Look[];
  readonly isFull: boolean;
  readonly by?: "open" | "go";
};

/** Opens the pages in turn, each once for all its looks, and says what is wrong with them. */
export async function judgePages(
  console: Console,
  paths: readonly string[],
  { of, isFull, by = "open" }: Judging,
): Promise<string[]> {
  const faults: string[] = [];
  for (const path of paths) {
    const [, first = "", second] = path.split(/[/?]/);
    const kind = second === undefined ? "" : "-one";
    const name = `${first}${isFull ? kind : "-empty"}`;
    faults.push(...(await judgePage(console, { path, name, of, by })));
    if (!isFull || second !== undefined || withoutRows.includes(first)) continue;
    if ((await console.page.locator("tbody tr").count()) === 0) faults.push(`${name} has no rows`);
  }
  return faults;
}

type Judged = Required<Omit<Judging, "isFull">> & { readonly path: string; readonly name: string };

async function judgePage(
  { page, ...reach }: Console,
  { path, name, of, by }: Judged,
): Promise<string[]> {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(laptop);
  await reach[by](path);
  await page.locator(".live[data-live=true]").or(page.locator("#page h1")).first().waitFor();
  if (guide !== undefined && inGuide.includes(name)) {
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${guide}/${name}.png`, clip: guideClip });
  }
  const faults: string[] = [];
  for (const { name: look, colorScheme, size, rules } of of) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    const picture = `${name}-${look}`;
    if (shots !== undefined) {
      await page.waitForTimeout(300);
      await page.screenshot({ path: `${shots}/${picture}.png`, fullPage: true });
    }
    const serious = rules?.length === 0 ? [] : await findSerious(page, rules);
    faults.push(...serious.map((found) => `${picture}: ${JSON.stringify(found)}`));
    const [content = 0, width = 0] = await page.evaluate<number[]>(
      "[document.documentElement.scrollWidth, innerWidth]",
    );
    if (content > width) faults.push(`${picture}: ${content} wide on ${width}`);
    const letters = await measureLetters(page);
    if (letters < lettersLeast) faults.push(`${picture}: letters of ${letters} pixels`);
  }
  const problem = page.locator("#page .notice[role=alert]:visible");
  if ((await problem.count()) > 0) faults.push(`${name}: ${await problem.innerText()}`);
  return faults;
}

/** Smaller letters are not read. */
export const lettersLeast = 10;

/** The height of the smallest letters of figures, as they are drawn on this screen. */
export async function measureLetters(page: Page): Promise<number> {
  return await page.evaluate<number>(`Math.min(1000, ...Array.from(
    document.querySelectorAll("#page svg text"),
    (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,
  ))`);
}

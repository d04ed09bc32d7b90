// The pages for people: the public one with the house's papers, and the operators' console: a few files
// of the folder web/ and the charting library, all from this service. Their policy lets the browser load
// scripts, styles and figures from here and nothing else, and run nothing that is written into the page
// itself. Who the house is is written into the public page when the service starts.

import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { fillPage, type HouseOnPage, listPapers, writePaper } from "./house-page.ts";
import { serveConstant } from "../http/constants.ts";
import type { App } from "../http/server.ts";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** What both pages are made of. */
const sharedParts = [
  "look.css",
  "ask.js",
  "chart.js",
  "form.js",
  "money.js",
  "words.js",
  "icon.svg",
];
const parts = [
  ...sharedParts,
  "page.css",
  "page.js",
  "docs.css",
  "enquiry.js",
  "estimate.js",
  "house.js",
  "rates.js",
];

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

const folder = join(import.meta.dirname, "../../../web");
const charts = new URL(
  "./lightweight-charts.standalone.production.mjs",
  import.meta.resolve("lightweight-charts"),
);

/** The pages are for everybody, the API for programs with a key. */
const robots = "User-agent: *\nDisallow: /v1/\nDisallow: /public/\n";

export async function servePage(app: App, { imprint, papers }: HouseOnPage): Promise<void> {
  const page = await readFile(join(folder, "index.html"), "utf8");
  serveBytes(app, "/", { type: types[".html"], bytes: fillPage(page, { imprint, papers }) });
  serveBytes(app, "/robots.txt", { type: "text/plain; charset=utf-8", bytes: robots });
  for (const part of parts) await serveFile(app, `/web/${part}`, join(folder, part));
  await serveFile(app, "/web/lightweight-charts.js", fileURLToPath(charts));
  for (const { name, path, title } of listPapers(papers)) {
    const bytes = await writePaper(papers[name] ?? "", { house: imprint.name, path, title });
    serveBytes(app, path, { type: types[".html"], bytes });
  }
}

/** The console; what it shows is asked from `/ops`. Every address under it is the same page. */
export async function serveConsole(app: App): Promise<void> {
  const own = join(folder, "console");
  const page = join(own, "console.html");
  await serveFile(app, "/console", page);
  await serveFile(app, "/console/*", page);
  for (const part of sharedParts) await serveFile(app, `/web/${part}`, join(folder, part));
  for (const part of await readdir(own)) {
    await serveFile(app, `/web/console/${part}`, join(own, part));
  }
  await serveFile(app, "/web/lightweight-charts.js", fileURLToPath(charts));
}

/** The file as it is when the service starts. Readers keep it and ask whether it still holds. */
async function serveFile(app: App, url: string, path: string): Promise<void> {
  serveBytes(app, url, { type: types[extname(path)], bytes: await readFile(path) });
}

const headers = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cache-control": "public, no-cache",
};

function serveBytes(
  app: App,
  url: string,
  { type, bytes }: { readonly type: string | undefined; readonly bytes: Buffer | string },
): void {
  if (type === undefined) throw new Error(`${url} is of no type that a page is made of`);
  serveConstant(app, url, { type, headers, make: async () => bytes });
}

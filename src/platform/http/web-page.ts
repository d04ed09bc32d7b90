// The pages for people: the public one and the operators' console, a few files of the folder web/ and
// the charting library, all from this service. Its policy lets the browser load scripts, styles and figures from here and nothing else,
// and run nothing that is written into the page itself.

import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { App } from "./server.ts";

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
const parts = [...sharedParts, "page.css", "page.js", "enquiry.js", "estimate.js", "rates.js"];

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

export async function servePage(app: App): Promise<void> {
  await serveFile(app, "/", join(folder, "index.html"));
  for (const part of parts) await serveFile(app, `/web/${part}`, join(folder, part));
  await serveFile(app, "/web/lightweight-charts.js", fileURLToPath(charts));
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
  const bytes = await readFile(path);
  const type = types[extname(path)];
  if (type === undefined) throw new Error(`${path} is of no type that a page is made of`);
  app.get(
    url,
    { config: { keyless: true, tagged: true }, schema: { hide: true } },
    async (_request, reply) =>
      await reply
        .type(type)
        .header("content-security-policy", policy)
        .header("referrer-policy", "no-referrer")
        .header("cache-control", "public, no-cache")
        .send(bytes),
  );
}

// Debian's Chromium without a window. `visit` loads one page, runs its scripts and says what became
// of it; a browser opens pages that tests then use as a person would.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

import { debianProgram } from "./debian-program.ts";

const execute = promisify(execFile);

export type Visit = {
  /** The document as it is after its scripts have run. */
  readonly dom: string;
  /** Every address the page asked for, its own first; the browser's own affairs are left out. */
  readonly requests: readonly string[];
  /** What scripts and the browser itself wrote to the console. */
  readonly console: string;
};

/** Time as the page sees it; it runs ahead while nothing is loading. */
const virtualTimeMs = 20_000;
const deadlineMs = 120_000;
const outputBytesMax = 64 * 1_048_576;

/** No other host has a name or an address in this browser. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

export async function chromiumMissing(): Promise<string | undefined> {
  const program = await debianProgram("chromium");
  return "missing" in program ? program.missing : undefined;
}

/** Visits a page on this machine. */
export async function visit(t: Scope, url: string): Promise<Visit> {
  const program = await debianProgram("chromium");
  if ("missing" in program) throw new Error(program.missing);
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-chromium-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const netLog = join(folder, "net.json");
  const { stdout, stderr } = await execute(
    program.path,
    [
      "--headless",
      ...flags,
      "--enable-logging=stderr",
      `--user-data-dir=${join(folder, "profile")}`,
      `--virtual-time-budget=${virtualTimeMs}`,
      "--dump-dom",
      `--log-net-log=${netLog}`,
      url,
    ],
    {
      timeout: deadlineMs,
      maxBuffer: outputBytesMax,
      env: { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder },
    },
  );
  return {
    dom: stdout,
    requests: parseRequests(new URL(url).origin, await readFile(netLog, "utf8")),
    console: stderr
      .split("\n")
      .filter((line) => line.includes(":CONSOLE"))
      .join("\n"),
  };
}

export type Browsing = {
  readonly page: Page;
  /** Every address the page asked for. */
  readonly requests: readonly string[];
  /** Errors and warnings of scripts and of the browser, broken policies among them. */
  readonly complaints: readonly string[];
};

type Scope = Pick<TestContext, "after">;
export type Browse = (t: Scope, url: string, options?: BrowserContextOptions) => Promise<Browsing>;

/** One browser, started for its first page. Each page is opened as if by another person. */
export function browser(scope: Scope): Browse {
  let launched: Promise<Browser> | undefined;
  scope.after(async () => await (await launched)?.close());
  return async (t, url, options = {}) => {
    launched ??= launch();
    const person = await (await launched).newContext(options);
    t.after(() => person.close());
    const page = await person.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    await page.goto(url, { waitUntil: "networkidle" });
    return { page, requests, complaints };
  };
}

async function launch(): Promise<Browser> {
  const program = await debianProgram("chromium");
  if ("missing" in program) throw new Error(program.missing);
  return await chromium.launch({ executablePath: program.path, args: [...flags] });
}

type NetLog = {
  readonly constants: { readonly logEventTypes: Readonly<Record<string, number>> };
  readonly events: readonly {
    readonly type: number;
    readonly params?: { readonly url?: string; readonly initiator?: string };
  }[];
};

function parseRequests(origin: string, text: string): string[] {
  const { constants, events } = JSON.parse(text) as NetLog;
  const started = constants.logEventTypes["URL_REQUEST_START_JOB"];
  return events.flatMap(({ type, params }) => {
    if (type !== started || params?.url === undefined) return [];
    const isOfPage = params.initiator === origin || params.url.startsWith(origin);
    return isOfPage ? [params.url] : [];
  });
}

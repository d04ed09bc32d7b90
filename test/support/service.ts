// A whole service on a database and a port of its own, and a client that speaks the contract.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { pino } from "pino";
import { request } from "undici";

import { contextKeys, openThreads } from "../../src/open-context.ts";
import { readConfig } from "../../src/config.ts";
import { buildApp } from "../../src/app.ts";
import { type Book, type OfferSource, openBook } from "../../src/trading/book.ts";
import { blockMinPaise } from "../../src/crosses/rules.ts";
import type { Offboarding } from "../../src/firms/offboard-firm.ts";
import type { Budgets } from "../../src/kernel/budget.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import type { HousePapers, Imprint } from "../../src/platform/pages/house-page.ts";
import { type IssuedKey, issueKey } from "../../src/access/issue-keys.ts";
import type { Context } from "../../src/platform/context.ts";
import type { Heavy } from "../../src/platform/heavy/kinds.ts";
import type { HeavyPool } from "../../src/platform/heavy/pool.ts";
import type { App } from "../../src/platform/http/server.ts";
import { openLineSink } from "../../src/platform/line-sink.ts";
import { openOutbound, type OutboundOptions } from "../../src/platform/outbound.ts";
import type { Database } from "../../src/platform/postgres/postgres.ts";
import type { Replica } from "../../src/platform/postgres/replica.ts";
import { createMetrics, type Metrics } from "../../src/platform/metrics.ts";
import { openMailServer, type SmtpServer } from "../../src/platform/smtp.ts";
import { loadTemplates } from "../../src/notices/templates.ts";
import { offerSources } from "../../src/hooks.ts";
import { type AddressWindows, localAddressWindows } from "../../src/market/address-budgets.ts";
import { openLocalRateWindow, type RateWindow } from "../../src/access/rate-window.ts";
import { setPlan } from "../../src/access/plans.ts";
import { type WorkerSpec, listWorkers } from "../../src/workers.ts";
import { connectAgain, testDatabase } from "./database.ts";
import { runAfter } from "./scope.ts";
import { assertReasonTold } from "./told-reasons.ts";
import { turn } from "./turns.ts";

/** Where the receivers of tests are. */
const loopback = ["127.0.0.0/8", "::1"];

/** Who the house of tests is on paper. */
export const letterhead = {
  name: "Scripdesk Clearing House",
  address: ["12 Mint Road, Fort", "Mumbai 400001, Maharashtra"],
  gstin: "27AAPFU0939F1ZV",
} as const;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests look into answers of every shape; what they expect is what they assert.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
};

export type RequestOptions = {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The status the test relies on; another one fails at the call. */
  readonly expect?: number;
  /** Whether it is sent again when the service was busy; by default, when a success is expected. */
  readonly isPatient?: boolean;
};

export type Send = (method: string, path: string, options?: RequestOptions) => Promise<Answer>;

/** A clock that a test turns. It starts at a quarter to three on a Sunday afternoon, IST. */
export class Clock {
  #ms = Date.UTC(2026, 10, 15, 9, 15);
  readonly now = () => new Date(this.#ms);
  readonly elapsedMs = () => this.#ms;

  advance({ ms = 0, seconds = 0, days = 0 }: { ms?: number; seconds?: number; days?: number }) {
    this.#ms += ms + seconds * 1_000 + days * 86_400_000;
  }

  set(instant: Date): void {
    this.#ms = instant.getTime();
  }
}

export type Service = {
  /** What the keys of its context are made from. */
  readonly masterKey: Buffer;
  /** New workers of this process. */
  readonly workers: () => WorkerSpec[];
  readonly app: App;
  readonly ctx: Context;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly book: Book;
  readonly url: string;
  readonly send: Send;
  issue(options?: Partial<Parameters<typeof issueKey>[1]>): Promise<IssuedKey>;
  plan(perMinute: number, monthlyQuota?: number): Promise<string>;
  /** Lets every worker but these run until it has nothing left to do at this moment of the clock. */
  work(except?: readonly string[]): Promise<void>;
  /** Lets only these workers run, for tests that turn the clock often. */
  workOn(names: readonly string[]): Promise<void>;
};

export type ServiceOptions = {
  readonly rateWindow?: RateWindow;
  readonly publicBudgets?: Budgets;
  /** Where the house is another than that of tests. */
  readonly imprint?: Partial<Imprint>;
  readonly papers?: HousePapers;
  readonly addressWindows?: AddressWindows;
  readonly inFlightMax?: number;
  readonly blockMinPaise?: number;
  readonly trustProxy?: readonly string[];
  readonly log?: Context["log"];
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Routes of the test's own, beside those of the service and behind the same edge. */
  readonly routes?: (app: App, ctx: Context) => void;
  /** What stands in the way of offboarding, and what follows it. */
  readonly offboarding?: Offboarding;
  /** Where the offers of the book come from. */
  readonly sources?: readonly OfferSource[];
  readonly outbound?: Partial<OutboundOptions>;
  readonly scheduleS?: readonly number[];
  /** The mail server that notices go to, on loopback; none are sent without it. */
  readonly mail?: Pick<SmtpServer, "port"> & Partial<SmtpServer> & { readonly stop?: AbortSignal };
  /** Where checkpoints of the audit trail go. */
  readonly checkpoints?: string;
  /** Where heavy work is done; threads that the file's services share unless a test says otherwise. */
  readonly heavy?: Heavy;
  /** Connections on the test's own terms. */
  readonly db?: Database;
  /** Whether the database is one that no test had before. */
  readonly isNew?: boolean;
  readonly replica?: Replica;
  /**
   * Another process of a service that runs already: the same database, clock and secrets, but its own
   * connections, book, caches and windows. With `db` it uses those connections.
   */
  readonly beside?: Service;
};

/** Started when there is something for them to do; without it they do not keep the process alive. */
let threads: HeavyPool | undefined;

export async function startService(
  t: Pick<TestContext, "after">,
  options: ServiceOptions = {},
): Promise<Service> {
  const { beside } = options;
  const clock = beside?.clock ?? new Clock();
  const masterKey = beside?.masterKey ?? randomBytes(32);
  const ctx = {
    db:
      options.db ?? (beside ? connectAgain(t, beside.ctx.db) : (await testDatabase(t, options)).db),
    replica: options.replica,
    now: clock.now,
    log: options.log ?? beside?.ctx.log ?? pino({ level: "silent" }),
    ...contextKeys({ main: masterKey, other: undefined }),
    heavy: options.heavy ?? beside?.ctx.heavy ?? (threads ??= openThreads(2)),
  };
  const metrics = createMetrics(ctx.db, ctx.replica);
  const book = openBook(ctx, options.sources ?? offerSources);
  const outbound = openOutbound({ allowCidrs: loopback, ...options.outbound });
  const app = await buildApp({
    ctx,
    config: {
      trustProxy: options.trustProxy ?? [],
      tls: options.tls,
      inFlightMax: options.inFlightMax ?? 10_000,
      blockMinPaise: options.blockMinPaise ?? blockMinPaise,
      letterhead,
      imprint: { ...letterhead, email: "desk@house.example", phone: null, ...options.imprint },
      publicBudgets: options.publicBudgets ?? {
        rates: { perMinute: 60 },
        enquiry: { perMinute: 6, perDay: 30 },
      },
    },
    addressWindows: options.addressWindows ?? localAddressWindows(clock.elapsedMs),
    rateWindow: options.rateWindow ?? openLocalRateWindow(clock.elapsedMs),
    book,
    metrics,
    outbound,
    papers: options.papers,
    offboarding: options.offboarding,
  });
  options.routes?.(app, ctx);
  await app.listen({ host: "127.0.0.1", port: 0 });
  runAfter(t, () => app.close());
  runAfter(t, () => outbound.close());
  const url = `${options.tls ? "https" : "http"}://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const webhooks = { outbound, scheduleS: options.scheduleS ?? readConfig({}).webhookScheduleS };
  const templates = options.mail && (await loadTemplates());
  const workers = () =>
    listWorkers(ctx, {
      book,
      webhooks,
      letterhead,
      offboarding: options.offboarding,
      onSetAside: (worker) => metrics.setAside.inc({ worker }),
      notices:
        options.mail && templates
          ? {
              server: openMailServer({
                host: "127.0.0.1",
                secure: false,
                credentials: undefined,
                ...options.mail,
              }),
              templates,
              from: { name: letterhead.name, address: "desk@house.example" },
              publicUrl: url,
              perMinute: 60_000,
              stop: options.mail.stop,
              onResult: (result) => metrics.noticesSent.inc({ result }),
            }
          : undefined,
      checkpoints:
        options.checkpoints === undefined ? undefined : openLineSink(options.checkpoints, outbound),
    });
  // A day that ends would tell every desk where its chain stands: only for tests that ask for it.
  // To make partitions is a sixth of the first run in a database; rows without a month have a place too.
  const leftOut =
    options.checkpoints === undefined ? ["checkpoints", "partitions"] : ["partitions"];
  const works = workers().filter(({ name }) => !leftOut.includes(name));
  let firms = 0;
  let plans = 0;
  return {
    masterKey,
    workers,
    app,
    ctx,
    metrics,
    clock,
    book,
    url,
    send: sender(url),
    async issue(command = {}) {
      const environment: Environment = command.environment ?? "sandbox";
      return await issueKey(ctx, {
        firmName: `Firm ${++firms}`,
        environment,
        scopes: ["*"],
        plan: "growth",
        buySide: true,
        name: "test",
        ...command,
      });
    },
    work: (except = []) =>
      turn(
        ctx.db,
        works.filter(({ name }) => !except.includes(name)),
      ),
    workOn: (names) =>
      turn(
        ctx.db,
        works.filter(({ name }) => names.includes(name)),
      ),
    async plan(perMinute, monthlyQuota = 1_000_000) {
      const name = `plan-${++plans}`;
      await setPlan(ctx, { name, perMinute, monthlyQuota });
      return name;
    },
  };
}

/**
 * How often a patient call is sent. A machine of tests may pause for seconds, and
 * whoever then waited too long for a lock is told to try again; nothing of such a call is kept.
 */
const attemptsMax = 3;
const pauseMs = 250;

function isBusy({ status, text }: Answer): boolean {
  return status === 500 && text.includes("the service is busy; try again");
}

/** Like `fetch` in all that tests look at, at half of what a call by `fetch` costs. */
export function sender(url: string): Send {
  return async (method, path, options = {}) => {
    const { expect, body } = options;
    const { isPatient = expect !== undefined && expect < 500 } = options;
    const most = isPatient && !(body instanceof ReadableStream) ? attemptsMax : 1;
    let answer = await sendOnce(url, method, path, options);
    for (let attempt = 1; attempt < most && isBusy(answer); attempt++) {
      await sleep(pauseMs);
      answer = await sendOnce(url, method, path, options);
    }
    const { status, text } = answer;
    if (expect !== undefined) {
      assert.equal(status, expect, `${method} ${path} answered ${status} ${text.slice(0, 500)}`);
    }
    if (text.includes('"reason"')) assertReasonTold(method, path, answer);
    return answer;
  };
}

async function sendOnce(
  url: string,
  method: string,
  path: string,
  { key, body, headers = {} }: RequestOptions,
): Promise<Answer> {
  const response = await request(`${url}${path}`, {
    method,
    headers: {
      ...(key !== undefined && { "x-service-key": key }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: encodeBody(body) }),
  });
  const answered = toHeaders(response.headers);
  // A stream has no end: all that is looked at here is how it opened. Leaving it is an error to it.
  const isStream = answered.get("content-type")?.startsWith("text/event-stream");
  if (isStream) response.body.on("error", () => {}).destroy();
  const text = isStream ? "" : await response.body.text();
  const isJson = answered.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: response.statusCode,
    headers: answered,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}

/** Text and bytes are sent as they are, a stream in chunks, anything else as JSON. */
function encodeBody(body: unknown): string | Uint8Array | Readable {
  if (body instanceof ReadableStream) return Readable.from(body);
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}

function toHeaders(received: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(received)) {
    for (const value of [values].flat()) headers.append(name, value);
  }
  return headers;
}

/** The slug as the contract says to read it. */
export function readSlug({ body }: Answer): string {
  return body.code ?? body.error;
}

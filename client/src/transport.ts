// Sends a call, and sends it again where the contract allows it.
//
//   429                  after the answer's Retry-After
//   500                  after a pause that doubles
//   502, 503, 504, or    the same; these come from gateways and broken connections, and leave open
//   no whole answer      whether the call was carried out
//
// Only what can be repeated is sent again: a read, a dry run, or a write under an idempotency key, which
// is the same for all attempts of a call, as is its body. Attempts end by count and by time.

import { randomUUID } from "node:crypto";

import { checkOptions } from "./check-options.ts";
import { readError, ScripdeskError } from "./errors.ts";
import { api_version } from "./operations.ts";
import type { Call, ClientOptions, Operation } from "./options.ts";

const attemptTimeoutMsDefault = 30_000;
const timeoutMsDefault = 180_000;
const maxRetriesDefault = 4;
const retryDelayMsDefault = 500;
const retryDelayMsMax = 8_000;
/** What a timer can count to. */
const timerMsMax = 2_147_483_647;
/** Callers that were refused together do not all come back together. */
const spread = 0.1;

/** Statuses that are worth another attempt. */
const passing: ReadonlySet<number | undefined> = new Set([429, 500, 502, 503, 504]);
/** Without an answer. */
const unanswered: ReadonlySet<string> = new Set(["connection_broken", "timed_out"]);

/** What is sent, the same for every attempt. */
type Request = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  readonly idempotency_key: string | undefined;
  readonly isRepeatable: boolean;
};

/** A good answer with its whole body. */
export type Received = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
};

/** A good answer whose body is still to come. */
export type Opened = {
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends it; also to be called when it was read to its end. */
  readonly close: () => void;
};

/** Takes what is wanted of a good answer; its control ends the connection. */
type Take<T> = (response: Response, control: AbortController) => Promise<T>;

export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    const { protocol, origin, pathname } = new URL(options.base_url);
    if (protocol !== "https:" && protocol !== "http:") {
      throw new TypeError("base_url must be an https:// or http:// address");
    }
    this.#options = options;
    this.#base = `${origin}${pathname.replace(/\/$/, "")}`;
  }

  async receive(operation: Operation, call: Call): Promise<Received> {
    const request = this.#build(operation, call);
    return await this.#send(operation, call, request, async (response) => ({
      status: response.status,
      headers: response.headers,
      bytes: new Uint8Array(await response.arrayBuffer()),
    }));
  }

  /** Only the beginning is tried again; whoever reads knows where to go on. */
  async open(
    operation: Operation,
    call: Call,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Opened> {
    const request = this.#build(operation, call);
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    const { signal } = call.options;
    return await this.#send(operation, call, request, async ({ body }, control) => {
      const leave = () => control.abort(signal?.reason);
      signal?.addEventListener("abort", leave, { once: true });
      return {
        body: body ?? readNothing(),
        close() {
          signal?.removeEventListener("abort", leave);
          control.abort();
        },
      };
    });
  }

  #build(operation: Operation, { path = {}, query = {}, body, options }: Call): Request {
    const { method, takes_key: takesKey, is_keyless: isKeyless } = operation;
    checkOptions(operation, options);
    const { dry_run: dryRun = false, request_id: requestId } = options;
    const url = new URL(this.#base + fillPath(operation.path, path));
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const made = takesKey === true && !dryRun ? randomUUID() : undefined;
    const key = takesKey === true ? (options.idempotency_key ?? made) : undefined;
    const headers = new Headers({ "user-agent": `scripdesk-client/${api_version}` });
    const { api_key: apiKey } = this.#options;
    if (apiKey !== undefined && isKeyless !== true) headers.set("x-service-key", apiKey);
    if (body !== undefined) headers.set("content-type", "application/json");
    if (requestId !== undefined) headers.set("x-request-id", requestId);
    if (dryRun) headers.set("x-dry-run", "1");
    if (key !== undefined) headers.set("idempotency-key", key);
    return {
      url,
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      idempotency_key: key,
      isRepeatable: method === "GET" || dryRun || key !== undefined,
    };
  }

  async #send<T>(operation: Operation, call: Call, request: Request, take: Take<T>): Promise<T> {
    const { signal } = call.options;
    const limits = { ...this.#options, ...dropUndefined(call.options) };
    const timeoutMs = limits.timeout_ms ?? timeoutMsDefault;
    const attemptMs = limits.attempt_timeout_ms ?? attemptTimeoutMsDefault;
    const retriesMax = limits.max_retries ?? maxRetriesDefault;
    const began = performance.now();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const leftMs = timeoutMs - (performance.now() - began);
      const error = await this.#attempt(request, take, {
        signal,
        withinMs: Math.min(attemptMs, leftMs),
        onHead: ({ status, headers }) =>
          limits.on_answer?.({ operation: operation.id, status, headers, attempt }),
      });
      if (!(error instanceof ScripdeskError)) return error.taken;
      error.operation = operation.id;
      error.attempts = attempt;
      error.idempotency_key = request.idempotency_key;
      if (!request.isRepeatable || !isPassing(error) || attempt > retriesMax) throw error;
      const pauseMs = this.#pauseAfter(error, attempt);
      // To wait for an attempt that there is no time for would only tell the caller later.
      if (performance.now() - began + pauseMs >= timeoutMs) throw error;
      await pause(pauseMs, signal);
    }
  }

  async #attempt<T>(
    { url, method, headers, body }: Request,
    take: Take<T>,
    given: {
      readonly signal: AbortSignal | undefined;
      readonly withinMs: number;
      readonly onHead: (response: Response) => void;
    },
  ): Promise<{ readonly taken: T } | ScripdeskError> {
    const { signal, withinMs, onHead } = given;
    const control = new AbortController();
    const leave = () => control.abort(signal?.reason);
    signal?.addEventListener("abort", leave, { once: true });
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        control.abort();
      },
      Math.min(Math.max(withinMs, 0), timerMsMax),
    );
    const explain = (cause: unknown): ScripdeskError => {
      signal?.throwIfAborted();
      return isLate
        ? new ScripdeskError({ slug: "timed_out", message: "no answer came in time", cause })
        : new ScripdeskError({ slug: "connection_broken", message: "no whole answer came", cause });
    };
    try {
      const ask = this.#options.fetch ?? fetch;
      // A redirect would carry the key to an address that nobody gave it to.
      const sent = { method, headers, body, redirect: "manual", signal: control.signal } as const;
      const response = await ask(url, sent).catch(explain);
      if (response instanceof ScripdeskError) return response;
      onHead(response);
      if (response.ok) {
        const taken = await take(response, control).then((value) => ({ taken: value }), explain);
        return taken;
      }
      const text = await response.text().catch(explain);
      return text instanceof ScripdeskError
        ? text
        : readError(response.status, response.headers, text);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    }
  }

  #pauseAfter({ status, retry_after_s: retryAfterS }: ScripdeskError, attempt: number): number {
    const first = this.#options.retry_delay_ms ?? retryDelayMsDefault;
    const backoffMs = Math.min(first * 2 ** (attempt - 1), retryDelayMsMax);
    const askedMs = (retryAfterS ?? 0) * 1_000;
    const pauseMs =
      status === 429 && retryAfterS !== undefined ? askedMs : Math.max(backoffMs, askedMs);
    return pauseMs * (1 + Math.random() * spread);
  }
}

async function* readNothing(): AsyncGenerator<Uint8Array> {}

function isPassing({ status, slug }: ScripdeskError): boolean {
  return status === undefined ? unanswered.has(slug) : passing.has(status);
}

/** Waits, or throws the signal's reason. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = openPromise();
  const timer = setTimeout(resolve, Math.min(ms, timerMsMax));
  signal?.addEventListener("abort", resolve, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", resolve);
  signal?.throwIfAborted();
}

function openPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

function fillPath(path: string, given: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name];
    // Of these an address makes another path.
    if (typeof value !== "string" || value === "" || value === "." || value === "..") {
      throw new TypeError(`${name} must name something`);
    }
    return encodeURIComponent(value);
  });
}

function dropUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}

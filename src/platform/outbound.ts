// Requests to URLs that callers chose. None of them reaches an address that is not public (SSRF).
//
//   resolve    by a resolver of its own: a slow name must not block the thread pool of libuv, which
//              `dns.lookup` uses
//   vet        each resolved address, or the literal in the URL, at the moment of connecting; only a
//              vetted address is connected to, so DNS rebinding has no effect
//   answer     read up to a cap, within one deadline for everything; redirects are never followed
//
// Addresses that the configuration allows in addition are for tests and local development.

import { promises as dns } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

import type { Agent, Dispatcher } from "undici";

import { isInside, isPublic } from "../kernel/networks.ts";

type OutboundPost = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

type OutboundFault = "timeout" | "network" | "tls" | "address_blocked";

type OutboundAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** The first bytes of the body. */
      readonly head: Buffer;
    }
  | { readonly kind: "failed"; readonly fault: OutboundFault };

export type Outbound = {
  /** Whether the host of a URL is permitted; the addresses of a name are vetted when it is resolved. */
  permitsHost(hostname: string): boolean;
  /** Never throws: a failure is returned as an answer. */
  post(request: OutboundPost): Promise<OutboundAnswer>;
  close(): Promise<void>;
};

export type OutboundOptions = {
  readonly allowCidrs: readonly string[];
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly deadlineMs?: number;
};

const connectTimeoutMs = 3_000;
const deadlineMsDefault = 10_000;
const answerBytesMax = 20_480;
const headBytesMax = 512;
/** Shorter than the keep-alive of servers, so that none closes a connection during a request. */
const keepAliveMs = 2_000;
const resolveTimeoutMs = 1_400;

/** Names that resolve on private networks only. */
const insideNames = /(^|\.)(internal|local|localdomain|home\.arpa)\.?$/i;
const localhost = /(^|\.)localhost\.?$/i;

class AddressBlocked extends Error {}

export function openOutbound({
  allowCidrs,
  resolve = resolveName,
  deadlineMs = deadlineMsDefault,
}: OutboundOptions): Outbound {
  const permits = (address: string) => isPublic(address) || isInside(address, allowCidrs);
  let agent: Promise<Agent> | undefined;
  return {
    permitsHost(hostname) {
      const host = withoutBrackets(hostname);
      if (isIP(host) !== 0) return permits(host);
      if (localhost.test(host)) return loopback.some(permits);
      return !insideNames.test(host);
    },
    async post(request) {
      agent ??= openAgent({ permits, resolve, deadlineMs });
      const through = await agent;
      return await new Promise((settle) => exchange(through, request, deadlineMs, settle));
    },
    async close() {
      await (await agent)?.destroy();
    },
  };
}

type AgentOptions = Required<Pick<OutboundOptions, "resolve" | "deadlineMs">> & {
  readonly permits: (address: string) => boolean;
};

/** Loads the library with the first request, which most starts do not come to soon. */
async function openAgent({ permits, resolve, deadlineMs }: AgentOptions): Promise<Agent> {
  const { Agent, buildConnector } = await import("undici");
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: vettingLookup(resolve, permits),
    allowH2: false,
  });
  return new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    connect(options, callback) {
      const host = withoutBrackets(options.hostname);
      // A literal address is not resolved, so it is vetted here.
      if (isIP(host) !== 0 && !permits(host)) callback(new AddressBlocked(), null);
      else connect(options, callback);
    },
  });
}

const loopback = ["127.0.0.1", "::1"];

async function resolveName(hostname: string): Promise<readonly string[]> {
  if (localhost.test(hostname)) return loopback;
  const resolver = new dns.Resolver({ timeout: resolveTimeoutMs, tries: 2 });
  const found = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}

function vettingLookup(
  resolve: (hostname: string) => Promise<readonly string[]>,
  permits: (address: string) => boolean,
): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const vetted = addresses.filter(permits);
        const [first] = vetted;
        if (first === undefined) {
          const blocked = addresses.length > 0;
          callback(blocked ? new AddressBlocked() : new Error("the name has no address"), "");
        } else if (all) {
          callback(
            null,
            vetted.map((address) => ({ address, family: isIP(address) })),
          );
        } else {
          callback(null, first, isIP(first));
        }
      },
      (error: Error) => callback(error, ""),
    );
  };
}

function exchange(
  agent: Agent,
  { url, headers, body }: OutboundPost,
  deadlineMs: number,
  settle: (answer: OutboundAnswer) => void,
): void {
  let controller: Dispatcher.DispatchController | undefined;
  let settled = false;
  const answer = { status: 0, retryAfter: undefined as string | undefined, head: [] as Buffer[] };
  let bytes = 0;
  const deadline = setTimeout(() => finish({ kind: "failed", fault: "timeout" }), deadlineMs);

  /** The first outcome counts; the request is aborted if it is still under way. */
  function finish(outcome: OutboundAnswer): void {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    settle(outcome);
    controller?.abort(new Error("the outcome is known already"));
  }

  function answered(): void {
    const { status, retryAfter } = answer;
    const head = Buffer.concat(answer.head).subarray(0, headBytesMax);
    finish({ kind: "answered", status, retryAfter, head });
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (settled) started.abort(new Error("the deadline passed before it began"));
    },
    onResponseStart(_controller, status, { "retry-after": retryAfter }) {
      answer.status = status;
      answer.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    },
    onResponseData(_controller, chunk) {
      if (bytes < headBytesMax) answer.head.push(chunk);
      bytes += chunk.length;
      if (bytes > answerBytesMax) answered();
    },
    onResponseEnd() {
      controller = undefined; // Nothing is left to abort; the connection is kept alive.
      answered();
    },
    onResponseError: (_controller, error) =>
      finish({ kind: "failed", fault: classifyFault(error) }),
  };
  try {
    agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method: "POST", headers, body },
      handler,
    );
  } catch (error) {
    finish({ kind: "failed", fault: classifyFault(error) });
  }
}

function classifyFault(error: unknown): OutboundFault {
  if (error instanceof AddressBlocked) return "address_blocked";
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return "timeout";
  // The error codes of OpenSSL and Node for a failed handshake or certificate.
  if (/^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return "tls";
  if (error instanceof AggregateError) return classifyFault(error.errors[0]);
  return "network";
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

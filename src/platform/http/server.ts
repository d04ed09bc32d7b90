// The edge: the checks of every request before its route runs.
//
//   1  request id      echoed when well-formed, otherwise a new one; on every answer
//   2  load            more than `inFlightMax` requests at once are refused, and more than strangers or a
//                      desk may have of them (`seats.ts`); whoever asks for health is told it anyhow
//   3  size            over 1 MiB is refused; a chunked body is counted as it arrives, and kept only
//                      for callers that can be served (`body.ts`)
//   4  route           unknown paths and methods
//   5  key, meter, scope     `admit.ts`, for routes that demand a key; for public ones the budget
//   6  content type, JSON, shape
//
// Node's own timeouts end slow senders; they are checked every second. Slow readers are looked for every
// few seconds. `broken.ts` answers requests that break before they are complete.

import { isUtf8 } from "node:buffer";
import type { ServerResponse } from "node:http";

import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import {
  fastify,
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  LogController,
  type preValidationHookHandler,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from "fastify";

import { findBudget, type Keyless } from "../../kernel/budget.ts";
import type { Actor, Permission } from "../../kernel/actor.ts";
import type { Caller, Demand, Scope } from "../../kernel/caller.ts";
import type { Metered } from "../../kernel/metered.ts";
import type { Trace } from "../trace.ts";
import { parseStrictJson } from "../../kernel/json.ts";
import { type SeatOwner, Seats } from "../seats.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import {
  badRequest,
  bodyBytesMax,
  isTooLong,
  openDiscarding,
  openKeylessRoom,
  readBody,
  tooLarge,
} from "./body.ts";
import { brokenRequests } from "./broken.ts";
import { toErrorReply, notJson, noRoute } from "./errors.ts";
import { compileSerializer } from "./serialization.ts";
import { takePiece } from "../heavy/pace.ts";
import { markDryRun, nameRequest, readRequestId, readTrace } from "./calls.ts";
import { InFlight } from "./in-flight.ts";
import { compileValidator, unknownFields, unknownParameters } from "./validation.ts";
import { watchConnections } from "./listen.ts";

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A registered route, for the documentation and the authorization test. */
export type RouteEntry = {
  readonly method: string;
  /** As the contract writes it: `/v1/keys/{key_id}`. */
  readonly path: string;
  readonly operationId: string | undefined;
  readonly config: Readonly<FastifyContextConfig>;
  readonly schema: FastifySchema | undefined;
};

declare module "fastify" {
  /** What the document tells of a route with an operation's id. */
  interface FastifySchema {
    /** It is no part of the document. */
    hide?: boolean;
    operationId?: string;
    tags?: readonly string[];
    summary?: string;
    description?: string;
  }
  interface FastifyInstance {
    routes: RouteEntry[];
    /** The budgets that calls without a key can spend; set by `admit.ts`. */
    budgets: ReadonlySet<string>;
    /** Whose key the request brings; undefined for one that is not valid. Set by `admit.ts`. */
    findSeatOwner: (request: FastifyRequest) => Promise<SeatOwner | undefined>;
    /**
     * Meters a request that is refused before its route is asked for; resolves to another refusal where
     * its key is over its limit. Set by `admit.ts`.
     */
    meterRefused:
      | ((request: FastifyRequest, reply: FastifyReply) => Promise<Error | undefined>)
      | undefined;
    /** Gives a request a seat of its caller's; false when that desk, or the sandbox, has none left. */
    takeSeat: (reply: FastifyReply, owner: SeatOwner) => boolean;
  }
  interface FastifyContextConfig {
    /** The scope that the caller must have; every route declares this or `keyless`. */
    demand?: Demand;
    /** Another scope, or others, each of which is enough by itself. */
    orDemand?: Exclude<Scope, "*"> | readonly Exclude<Scope, "*">[];
    /** The permission that the role of an operator must have, on the operators' listener. */
    permission?: Permission;
    /** An act that a machine may do, too, which has the permission; what reads takes machines anyway. */
    machines?: true;
    /** It takes calls without a key; `admit.ts` takes from the budget. */
    keyless?: Keyless;
    /** Its answers are public and change: each gets an ETag (`caching.ts`) and is compressed. */
    tagged?: true;
    /** A creating POST honours an Idempotency-Key. */
    creates?: true;
    /** A read that may answer 409; every write may. */
    conflicts?: true;
    /** A read whose query may name something unknown: 404. */
    names?: true;
    /** The answer stays open; `sse.ts` or `ndjson.ts` bounds it, and it does not count as in flight. */
    streams?: true;
    /** A POST that changes no tenant data: like a read, its success is not logged. */
    quiet?: true;
    /** The route's name in usage, metrics and logs, such as `GET /v1/keys/{key_id}`. */
    label?: string;
  }
  interface FastifyRequest {
    /** The config of the route; Fastify's own accessor makes a new object on each access. */
    declared: Readonly<FastifyContextConfig>;
    /** Set for every route that demands a key, before its handler runs. */
    caller: Caller;
    /** Set for every route that needs a signed-in operator. */
    operator: { readonly actor: Actor; readonly token: string } | undefined;
    metered: Metered;
    chunkedBody: Buffer | undefined;
    /** Why it was refused. */
    refused: { readonly code: string; readonly reason: string | null } | undefined;
    /** The id of what it made. */
    made: string | undefined;
    /** Our part of the caller's trace, which is logged and passed on. */
    trace: Trace | undefined;
  }
}

type ServerOptions = {
  readonly log: FastifyBaseLogger;
  readonly now: () => Date;
  readonly trustProxy: readonly string[];
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly inFlightMax: number;
};

const headersTimeoutMs = 5_000;
const requestTimeoutMs = 10_000;
const connectionsCheckingIntervalMs = 1_000;
const unreadLookMs = 5_000;
/** An answer is read within a minute; this is 17 kB a second for one of a megabyte. */
const unreadLooksMax = 12;
/** Parsing a body of this size takes about a millisecond; larger ones wait for their turn. */
const largeBodyBytes = 65_536;
/** Longer than any request line, so an id of any length is answered 404 by its use case. */
const pathParameterLengthMax = 65_536;
/** With any parameters, such as a charset; the parser checks that the bytes are UTF-8. */
const jsonContentType = /^(?:application\/json|[^\s/;]+\/[^\s/;]+\+json)\s*(?:;.*)?$/i;
/** Under these prefixes, undeclared query parameters are refused. */
const strictPrefixes = ["/v1/", "/ops/"];

export function createServer(options: ServerOptions): App {
  const { log, now, trustProxy, tls, inFlightMax } = options;
  const inFlight = new InFlight();
  const seats = new Seats(inFlightMax);
  const open = requestOpener({ inFlight, seats, isTls: tls !== undefined });
  const broken = brokenRequests(now);
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (!isAdmitted(request)) inFlight.leave(reply.raw);
    return sendError(error, request, reply);
  };
  const listener = {
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: connectionsCheckingIntervalMs,
    // Node's own refusal has no request id and no body; `requestOpener` refuses instead.
    requireHostHeader: false,
  };
  const app = fastify({
    loggerInstance: undivided(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (message) => readRequestId(message, now()),
    requestIdHeader: false,
    rewriteUrl: ({ url = "/" }) => plainColons(url),
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    http: listener,
    ...(tls && { https: { ...tls, ...listener } }),
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: pathParameterLengthMax },
    clientErrorHandler: (error, socket) => broken.answer(error, socket),
    // A path that cannot be decoded has no route. Fastify runs no hooks for it, so `open` runs here.
    frameworkErrors: (_error, request, reply) => {
      open(request, reply, (error) => void refuse(error ?? noRoute(), request, reply));
    },
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App; // The type for https differs in its socket only.

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.setErrorHandler(refuse);
  app.setNotFoundHandler(() => {
    throw new Error("the edge refuses unknown routes before they are handled");
  });
  app.decorate("routes", []);
  app.decorate("constants", []);
  app.decorate("budgets", new Set<string>());
  app.decorate("findSeatOwner");
  app.decorate("meterRefused");
  app.decorate("takeSeat", ({ raw }: FastifyReply, owner: SeatOwner) =>
    inFlight.seat(raw, seats.findShare(owner)),
  );
  app.decorateRequest("declared");
  app.decorateRequest("caller");
  app.decorateRequest("operator");
  app.decorateRequest("metered");
  app.decorateRequest("chunkedBody");
  app.decorateRequest("refused");
  app.decorateRequest("made");
  app.decorateRequest("trace");
  app.addHook("onRoute", (route) => {
    const config = { ...route.config };
    const title = `${String(route.method)} ${route.url}`;
    refuseUndeclaredDoor(title, config, app.budgets);
    const budget = findBudget(config.keyless);
    const path = documentedPath(route.url);
    route.config = { ...config, label: `${String(route.method)} ${path}` };
    const isContract = strictPrefixes.some((prefix) => path.startsWith(prefix));
    if (isContract || config.demand !== undefined || budget !== undefined) {
      const refuse = refuseUndeclared(route.schema, { refusesQuery: isContract });
      route.preValidation = [refuse, route.preValidation ?? []].flat();
    }
    if (route.method !== "GET") route.onSend = [markDryRun, route.onSend ?? []].flat();
    const operationId = route.schema?.operationId;
    for (const method of [route.method].flat()) {
      app.routes.push({ method, path, operationId, config: route.config, schema: route.schema });
    }
  });
  app.addHook("onRequest", open);
  const looking = setInterval(() => inFlight.cutUnread(unreadLooksMax), unreadLookMs).unref();
  app.addHook("onClose", async () => clearInterval(looking));
  const cutQuietSoon = watchConnections(app.server, (does) => inFlight.forEach(does));
  // Responses in flight at shutdown close their connection: an idle one would delay the end until the
  // deadline. For later requests Fastify sends `connection: close` itself.
  app.addHook("preClose", (done) => {
    inFlight.forEach((response) => (response.shouldKeepAlive = false));
    cutQuietSoon();
    done();
  });
  app.server.on("request", broken.note);
  // Any Expect but 100-continue would be answered by Node, without a request id: it is ignored.
  app.server.on("checkExpectation", (message, response) => {
    app.server.emit("request", message, response);
  });
  parseOnlyStrictJson(app);
  return app;
}

/** Nobody forgets who may call a route, and what pays for the calls of strangers. */
function refuseUndeclaredDoor(
  title: string,
  { demand, permission, keyless }: FastifyContextConfig,
  budgets: ReadonlySet<string>,
): void {
  if (demand !== undefined || permission !== undefined) return;
  if (keyless === undefined) throw new Error(`${title} must say what it demands of a key`);
  const budget = findBudget(keyless);
  if (keyless === "constant" || keyless === "free") return;
  if (budget !== undefined && budgets.has(budget)) return;
  throw new Error(
    `${title} must say what pays for calls without a key: constant, free or a budget`,
  );
}

/** A logger per request would cost more than the line it writes; lines name their request. */
function undivided(log: FastifyBaseLogger): FastifyBaseLogger {
  const one = Object.create(log) as FastifyBaseLogger;
  one.child = () => one;
  return one;
}

/** `/v1/keys/:key_id` as the contract and OpenAPI write it; `::` is how a route spells a colon. */
export function documentedPath(url: string): string {
  return url
    .replaceAll("::", "\u0000")
    .replace(/:(\w+)/g, "{$1}")
    .replaceAll("\u0000", ":");
}

type Open = (request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void) => void;

function requestOpener({
  inFlight,
  seats,
  isTls,
}: {
  readonly inFlight: InFlight;
  readonly seats: Seats;
  readonly isTls: boolean;
}): Open {
  const keylessRoom = openKeylessRoom();
  const discarding = openDiscarding();
  /** One function for all responses: a closure per response would cost more than the other work. */
  function forget(this: ServerResponse): void {
    inFlight.delete(this);
  }
  return (request, reply, next) => {
    request.declared = request.routeOptions.config;
    request.trace = readTrace(request.headers);
    reply.header("x-request-id", request.id);
    reply.header("cache-control", "no-store");
    reply.header("x-content-type-options", "nosniff");
    // Behind a proxy that terminates TLS, the proxy sends this header.
    if (isTls) reply.header("strict-transport-security", "max-age=31536000");
    if (!request.declared.streams) {
      inFlight.add(reply.raw);
      reply.raw.on("close", forget);
    }
    if (!giveSeat(request, reply)) {
      next(new Overloaded());
      return;
    }
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      next(badRequest("the Host header is missing"));
      return;
    }
    if (isTooLong(request.headers["content-length"])) {
      refuse(request, reply, { error: tooLarge(), next });
      return;
    }
    const goOn = () => {
      if (request.is404) refuse(request, reply, { error: noRoute(), next });
      else next();
    };
    if (request.headers["transfer-encoding"] === undefined) {
      goOn();
      return;
    }
    readChunked(request, reply).then(
      (body) => {
        request.chunkedBody = body;
        if (body.length === 0) delete request.headers["transfer-encoding"];
        goOn();
      },
      (error: Error) => refuse(request, reply, { error, next }),
    );
  };

  /** Whoever has a key is told what is left of its limits, also where there is no such route. */
  function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    { error, next }: { readonly error: Error; readonly next: (error: Error) => void },
  ): void {
    const { meterRefused } = request.server;
    if (!meterRefused || request.declared.keyless !== undefined) next(error);
    else
      meterRefused(request, reply).then(
        (limited) => next(limited ?? error),
        () => next(error),
      );
  }

  function giveSeat({ declared: { keyless } }: FastifyRequest, { raw }: FastifyReply): boolean {
    if (keyless === "free") return true;
    return inFlight.seat(raw, keyless === undefined ? seats.all : seats.strangers);
  }

  async function readChunked(request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
    const { is404, raw, server } = request;
    const { keyless } = request.declared;
    if (findBudget(keyless) !== undefined) return await readBody(raw, { room: keylessRoom });
    const owner = keyless === undefined && !is404 ? await server.findSeatOwner(request) : undefined;
    if (owner && !server.takeSeat(reply, owner)) throw new Overloaded();
    if (owner) return await readBody(raw);
    return await discarding.count(raw, () => void reply.header("connection", "close"));
  }
}

function parseOnlyStrictJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(notJson()));
  app.addContentTypeParser(jsonContentType, async (request: FastifyRequest) => {
    const encoding = request.headers["content-encoding"] ?? "identity";
    if (encoding !== "identity") throw notJson();
    const bytes = request.chunkedBody ?? (await readBody(request.raw));
    if (bytes.length === 0) return undefined;
    if (bytes.length <= largeBodyBytes) return parseBody(bytes);
    const queue = request.caller?.environment === "live" ? "live bodies" : "bodies";
    await takePiece(queue);
    const value = parseBody(bytes);
    await takePiece(queue); // Its validation is another piece.
    return value;
  });
}

function parseBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw badRequest("the body is not UTF-8");
  const verdict = parseStrictJson(bytes.toString());
  if (!verdict.ok) throw badRequest(verdict.problem);
  return verdict.value;
}

/**
 * Refuses a query or a body that the operation does not declare, so that nothing sent is ignored. On
 * public pages unknown query parameters are allowed: links often carry tracking parameters.
 */
function refuseUndeclared(
  schema: FastifySchema | undefined,
  { refusesQuery }: { readonly refusesQuery: boolean },
): preValidationHookHandler {
  const takesQuery = !refusesQuery || schema?.querystring !== undefined;
  const takesBody = schema?.body !== undefined;
  return (request, _reply, next) => {
    if (!takesQuery && hasMembers(request.query)) next(unknownParameters(request.query));
    else if (!takesBody && hasMembers(request.body)) next(unknownFields(request.body));
    else next();
  };
}

function hasMembers(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function isAdmitted({ metered, operator }: FastifyRequest): boolean {
  return metered?.admitted || operator !== undefined;
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const surface = isAdmitted(request) ? "trading" : "edge";
  const { status, headers, body, fault } = toErrorReply(error, request.id, surface);
  const { code = body.error, detail } = body;
  const reason = detail?.["reason"];
  request.refused = { code, reason: typeof reason === "string" ? reason : null };
  if (fault !== undefined) {
    request.log.error({ ...nameRequest(request), err: fault }, "request failed");
  }
  return reply.code(status).headers(headers).type("application/json").send(body);
}

/** Decodes `%3A` in a path: an encoded colon means the same as a plain one. */
function plainColons(url: string): string {
  if (!url.includes("%3")) return url;
  const [path = "", ...query] = url.split("?");
  return [path.replaceAll(/%3a/gi, ":"), ...query].join("?");
}

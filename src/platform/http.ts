// The edge: what holds for every request before any capability sees it.
//
//   1  request id      echoed when well-formed, made otherwise; on every answer
//   2  load            more than `inFlightMax` requests at once are shed
//   3  size            over 1 MiB is refused; a chunked body is counted as it arrives
//   4  route           unknown paths and methods
//   5  key, meter, scope     `admit.ts`, for routes that demand a key
//   6  content type, JSON, shape
//
// A slow sender is cut by Node's own timeouts, which are checked every second.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import {
  fastify,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from "fastify";

import type { Caller, Demand } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import type { Metered } from "../kernel/metered.ts";
import { parseStrictJson } from "../kernel/json.ts";
import { Overloaded } from "./coalesce.ts";
import { toErrorReply } from "./http-errors.ts";
import { compileValidator } from "./http-validation.ts";

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the caller must have; every route says this or that it is `keyless`. */
    demand?: Demand;
    keyless?: true;
    /** A creating POST honours an Idempotency-Key. */
    creates?: true;
    /** A read that the state can refuse; every write can be. */
    conflicts?: true;
    /** `GET /v1/keys/{key_id}`: how the route is named in usage, metrics and logs. */
    label?: string;
  }
  interface FastifyRequest {
    /** Set for every route that demands a key, before its handler runs. */
    caller: Caller;
    metered: Metered;
    chunkedBody: Buffer | undefined;
  }
}

export type ServerOptions = {
  readonly log: FastifyBaseLogger;
  readonly now: () => Date;
  readonly trustProxy: readonly string[];
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly inFlightMax: number;
  /** Where a plugin serves pages for people: public, and not operations of the API. */
  readonly pagesUnder: string;
};

export const bodyBytesMax = 1_048_576;

const headersTimeoutMs = 5_000;
const requestTimeoutMs = 10_000;
const connectionsCheckingIntervalMs = 1_000;
const requestIdForm = /^[A-Za-z0-9._:-]{1,128}$/;
const jsonContentType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export function createServer(options: ServerOptions): App {
  const { log, now, trustProxy, tls, inFlightMax, pagesUnder } = options;
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request would cost more than the line it writes; lines name their request.
    childLoggerFactory: (logger) => logger,
    genReqId: (message) => requestIdOf(message, now),
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: connectionsCheckingIntervalMs,
    },
    ...(tls && { https: { ...tls, headersTimeout: headersTimeoutMs } }),
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { ignoreTrailingSlash: false },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, now),
    frameworkErrors: (_error, request, reply) => {
      reply.header("x-request-id", request.id);
      void sendError(
        new Failure("not_found", "no such route", { form: "transport" }),
        request,
        reply,
      );
    },
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App; // https differs only in its socket.

  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler(() => {
    throw new Error("the edge refuses unknown routes before they are handled");
  });
  app.decorateRequest("caller");
  app.decorateRequest("metered");
  app.decorateRequest("chunkedBody");
  app.addHook("onRoute", (route) => {
    const config = { ...route.config };
    const isPage = route.url.startsWith(pagesUnder);
    if (config.demand === undefined && !config.keyless && !isPage) {
      throw new Error(`${String(route.method)} ${route.url} must say what it demands of a key`);
    }
    route.config = { ...config, label: `${String(route.method)} ${documentedPath(route.url)}` };
  });
  openEveryRequest(app, inFlightMax);
  parseOnlyStrictJson(app);
  return app;
}

/** `/v1/keys/:key_id` as the contract and OpenAPI write it; `::` is how a route spells a colon. */
export function documentedPath(url: string): string {
  return url
    .replaceAll("::", "\u0000")
    .replace(/:(\w+)/g, "{$1}")
    .replaceAll("\u0000", ":");
}

function openEveryRequest(app: App, inFlightMax: number): void {
  let inFlight = 0;
  app.addHook("onRequest", (request, reply, next) => {
    reply.header("x-request-id", request.id);
    reply.header("cache-control", "no-store");
    reply.header("x-content-type-options", "nosniff");
    inFlight += 1;
    reply.raw.once("close", () => (inFlight -= 1));
    if (inFlight > inFlightMax) {
      next(new Overloaded());
      return;
    }
    if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax) {
      next(tooLarge());
      return;
    }
    if (request.headers["transfer-encoding"] === undefined) {
      next(request.is404 ? noRoute() : undefined);
      return;
    }
    readBody(request.raw).then(
      (body) => {
        request.chunkedBody = body;
        if (body.length === 0) delete request.headers["transfer-encoding"];
        next(request.is404 ? noRoute() : undefined);
      },
      (error: Error) => next(error),
    );
  });
}

function parseOnlyStrictJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(notJson()));
  app.addContentTypeParser(/^application\/json/i, async (request: FastifyRequest) => {
    const { headers } = request;
    const encoding = headers["content-encoding"] ?? "identity";
    if (!jsonContentType.test(headers["content-type"] ?? "")) throw notJson();
    if (encoding !== "identity") throw notJson();
    const bytes = request.chunkedBody ?? (await readBody(request.raw));
    if (bytes.length === 0) return undefined;
    if (!isUtf8(bytes)) throw badRequest("the body is not UTF-8");
    const verdict = parseStrictJson(bytes.toString());
    if (!verdict.ok) throw badRequest(verdict.problem);
    return verdict.value;
  });
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer; // No encoding is set on the message.
    size += bytes.length;
    if (size > bodyBytesMax) throw tooLarge();
    chunks.push(bytes);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body, fault } = toErrorReply(error, request.id);
  if (fault !== undefined) {
    request.log.error({ request_id: request.id, err: fault }, "request failed");
  }
  return reply.code(status).headers(headers).type("application/json").send(body);
}

/** What never became a request: bad framing, endless headers, or a sender that was too slow. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, now: () => Date): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const requestId = newId("req", now());
  const { status, body } = toErrorReply(
    badRequest(
      error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "the request did not arrive in time"
        : "the request is malformed",
    ),
    requestId,
  );
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\n` +
      `X-Request-ID: ${requestId}\r\n` +
      "Content-Type: application/json\r\n" +
      `Content-Length: ${Buffer.byteLength(text)}\r\n` +
      `Connection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}

function requestIdOf({ headers }: IncomingMessage, now: () => Date): string {
  const inbound = headers["x-request-id"];
  if (typeof inbound === "string" && requestIdForm.test(inbound)) return inbound;
  return newId("req", now());
}

function badRequest(message: string): Failure {
  return new Failure("bad_request", message, { form: "transport" });
}

function notJson(): Failure {
  return new Failure("unsupported_media_type", "send the body as application/json", {
    form: "transport",
  });
}

function noRoute(): Failure {
  return new Failure("not_found", "no such route", { form: "transport" });
}

function tooLarge(): Failure {
  return new Failure("request_too_large", `the body exceeds ${bodyBytesMax} bytes`, {
    form: "transport",
  });
}

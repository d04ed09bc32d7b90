// Helpers of routes: the call (caller, request id, idempotency key, dry run) of a request, and the
// answers to creations and lists.

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

import type { FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import type { TObject } from "typebox";

import type { Call, Visit } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import { newId } from "../../kernel/ids.ts";
import { forwardedAddress } from "../../kernel/networks.ts";
import type { Page } from "../../kernel/page.ts";
import { maskSecrets } from "../../kernel/secrets.ts";
import { continueTrace, type Trace } from "../trace.ts";
import { openPace } from "../heavy/pace.ts";
import { writeInPieces } from "./serialization.ts";

const idempotencyKeyForm = /^[!-~]{1,255}$/;

export function toCall(request: FastifyRequest, reply: FastifyReply): Call {
  const dryRun = isDryRun(request);
  if (dryRun) reply.header("x-dry-run", "1");
  return { ...toReading(request, reply), idempotencyKey: readIdempotencyKey(request), dryRun };
}

/** The call of a read, which has no dry run and no idempotency key. */
export function toReading(request: FastifyRequest, reply: FastifyReply): Required<Call> {
  let gone: AbortSignal | undefined;
  return {
    caller: request.caller,
    requestId: request.id,
    traceparent: request.trace?.traceparent ?? null,
    idempotencyKey: undefined,
    dryRun: false,
    gone: () => (gone ??= whenGone(reply)),
  };
}

/** Aborts when the connection closes before the response is sent; it may have closed already. */
function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const close = () => {
    if (!raw.writableFinished) gone.abort();
  };
  if (raw.closed) close();
  else raw.once("close", close);
  return gone.signal;
}

/** The address of the caller; "unknown" when a trusted proxy forwards something that is no address. */
export function findAddress(request: FastifyRequest): string {
  return forwardedAddress(request.ip) ?? "unknown";
}

/** For an action without required fields: a missing body counts as an empty one. */
export async function takeNoBodyAsEmpty(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {};
}

/** The outcome of a creation: created, found by its idempotency key, or a dry run. */
export type Creation<Resource> = {
  readonly outcome: "created" | "replayed" | "dry_run";
  readonly resource: Resource;
};

/** Sets 201 for a new resource, and 200 for a replay or a dry run. */
export function sendCreation<Resource>(
  reply: FastifyReply,
  { outcome, resource }: Creation<Resource>,
): Resource {
  if (outcome === "replayed") reply.header("idempotent-replayed", "true");
  if (outcome !== "dry_run") reply.request.made = findFirstId(resource);
  reply.code(outcome === "created" ? 201 : 200);
  return resource;
}

/** A resource begins with what it is named by. */
function findFirstId(resource: unknown): string | undefined {
  for (const value of Object.values(resource as object)) {
    return typeof value === "string" ? value : undefined;
  }
  return undefined;
}

/** Lists with more items than this are serialized in pieces. */
const longFrom = 100;

/** Sends rows under this name, with the paging fields if any, and more fields. */
export async function sendPage<Name extends string, Row, More extends object>(
  reply: FastifyReply,
  name: Name,
  { rows, paging, truncated }: Page<Row>,
  more?: More,
): Promise<PageAnswer<Name, Row> & More> {
  if (truncated) reply.header("x-truncated", "true");
  const answer = { [name]: rows, ...paging, ...more };
  // TypeScript widens a computed name.
  return await sendLong(reply, answer as PageAnswer<Name, Row> & More);
}

/** The rows under their name, and the fields of paging beside them. */
export type PageAnswer<Name extends string, Row> = { [N in Name]: Row[] } & NonNullable<
  Page<Row>["paging"]
>;

/** Serializes an answer with a long list in pieces, so that it does not block the event loop. */
export async function sendLong<Answer extends object>(
  reply: FastifyReply,
  answer: Answer,
): Promise<Answer> {
  const isLong = (member: unknown) => Array.isArray(member) && member.length > longFrom;
  if (!Object.values(answer).some(isLong)) return answer;
  const schema = findJsonSchema(reply.request.routeOptions.schema?.response);
  if (!schema) return answer;
  const pace = openPace();
  await pace.turn();
  const text = await writeInPieces(schema, answer as Readonly<Record<string, unknown>>, pace);
  reply.type("application/json; charset=utf-8");
  return text as unknown as Answer; // Fastify sends a string as it is, without the serializer.
}

type AnswerSchema =
  | TObject
  | { readonly content: Readonly<Record<string, { readonly schema: TObject }>> };

/** The shape of a good answer as JSON; it may have other forms. */
function findJsonSchema(response: unknown): TObject | undefined {
  const declared = (response as Readonly<Record<string, AnswerSchema>>)["200"]; // Our routes declare objects.
  if (declared === undefined || !("content" in declared)) return declared;
  return declared.content["application/json"]?.schema;
}

function readIdempotencyKey({ headers }: FastifyRequest): string | undefined {
  const text = headers["idempotency-key"];
  if (text === undefined) return undefined;
  if (typeof text === "string" && idempotencyKeyForm.test(text)) return text;
  throw new Failure("bad_request", "Idempotency-Key must be 1 to 255 visible ASCII characters", {
    detail: { field: "Idempotency-Key", problem: "1 to 255 visible ASCII characters" },
  });
}

/** The call of a public write: without a caller, but with a dry run. */
export function toVisit(request: FastifyRequest, reply: FastifyReply): Visit {
  const dryRun = isDryRun(request);
  if (dryRun) reply.header("x-dry-run", "1");
  return { requestId: request.id, dryRun };
}

/** Refuses other values than 0 and 1: a misspelt dry run must not become a real call. */
function isDryRun({ headers }: FastifyRequest): boolean {
  const text = headers["x-dry-run"];
  if (text === undefined || text === "0") return false;
  if (text === "1") return true;
  throw new Failure("bad_request", "X-Dry-Run must be 1 or 0", {
    detail: { field: "X-Dry-Run", allowed: ["1", "0"] },
  });
}

/** Says in the body of a dry run, beside its header, that nothing was written. */
export const markDryRun: onSendHookHandler = (_request, reply, payload, next) => {
  const isTried = reply.hasHeader("x-dry-run") && reply.statusCode < 300;
  if (!isTried || typeof payload !== "string" || !payload.startsWith("{")) next(null, payload);
  else next(null, `{"dry_run":true${payload === "{}" ? "" : ","}${payload.slice(1)}`);
};

/** Sends an answer, and marks it when it replays an earlier call with the same idempotency key. */
export function sendReplayable<Answer>(
  reply: FastifyReply,
  { replayed, answer }: { readonly replayed: boolean; readonly answer: Answer },
): Answer {
  if (replayed) reply.header("idempotent-replayed", "true");
  return answer;
}

const spanBytes = 8;

/** Our part of the trace that the caller named. */
export function readTrace({ traceparent }: IncomingMessage["headers"]): Trace | undefined {
  if (traceparent === undefined) return undefined;
  return continueTrace(traceparent, randomBytes(spanBytes).toString("hex"));
}

/** What a line of the log names a request by. */
export function nameRequest({ id, trace }: Pick<FastifyRequest, "id" | "trace">) {
  if (!trace) return { request_id: id };
  return { request_id: id, trace_id: trace.traceId, span_id: trace.spanId };
}

/** Visible ASCII, which a header carries unchanged. */
const requestIdForm = /^[!-~]{1,200}$/;

/** The id that the caller sent, or a new one. A value that looks like a secret is not echoed. */
export function readRequestId({ headers }: Pick<IncomingMessage, "headers">, now: Date): string {
  const inbound = headers["x-request-id"];
  const isUsable = typeof inbound === "string" && requestIdForm.test(inbound);
  return isUsable && maskSecrets(inbound) === inbound ? inbound : newId("req", now);
}

// What a route reads from a request besides its body, and how it answers a creation.

import type { IncomingMessage } from "node:http";

import type { FastifyReply, FastifyRequest } from "fastify";
import type { TObject } from "typebox";

import type { Call, Visit } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import { newId } from "../../kernel/ids.ts";
import type { Page } from "../../kernel/page.ts";
import { maskSecrets } from "../../kernel/secrets.ts";
import { openPace } from "../heavy/pace.ts";
import { writeInPieces } from "./serialization.ts";

const idempotencyKeyForm = /^[!-~]{1,255}$/;

export function callOf(request: FastifyRequest, reply: FastifyReply): Call {
  const dryRun = isDryRun(request);
  if (dryRun) reply.header("x-dry-run", "1");
  let gone: AbortSignal | undefined;
  return {
    caller: request.caller,
    requestId: request.id,
    idempotencyKey: idempotencyKeyOf(request),
    dryRun,
    gone: () => (gone ??= whenGone(reply)),
  };
}

/** Aborts when the connection ends before it has been answered; it may have done so already. */
export function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const close = () => {
    if (!raw.writableFinished) gone.abort();
  };
  if (raw.closed) close();
  else raw.once("close", close);
  return gone.signal;
}

/** An action whose every field is optional may be sent without a body. */
export async function takeNoBodyAsEmpty(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {};
}

/** What a creating use case did: made it, found what an earlier call made, or only tried. */
export type Creation<Resource> = {
  readonly outcome: "created" | "replayed" | "tried";
  readonly resource: Resource;
};

/** 201 for what is new; 200 for what was there already or was only tried. */
export function sendCreation<Resource>(
  reply: FastifyReply,
  { outcome, resource }: Creation<Resource>,
): Resource {
  if (outcome === "replayed") reply.header("idempotent-replayed", "true");
  reply.code(outcome === "created" ? 201 : 200);
  return resource;
}

/** With more rows or items than this an answer is written in pieces. */
const longFrom = 100;

/** The named array, with paging fields when they were asked for, and what else there is to say. */
export async function sendPage<Name extends string, Row, More extends object>(
  reply: FastifyReply,
  name: Name,
  { rows, paging, truncated }: Page<Row>,
  more?: More,
) {
  if (truncated) reply.header("x-truncated", "true");
  const answer = { [name]: rows, ...paging, ...more };
  // A computed name.
  return await sendLong(
    reply,
    answer as { [N in Name]: Row[] } & NonNullable<typeof paging> & More,
  );
}

/** An answer that may have a long list, which is written by the route's schema with turns for others. */
export async function sendLong<Answer extends object>(
  reply: FastifyReply,
  answer: Answer,
): Promise<Answer> {
  const isLong = (member: unknown) => Array.isArray(member) && member.length > longFrom;
  if (!Object.values(answer).some(isLong)) return answer;
  const response = reply.request.routeOptions.schema?.response;
  const schema = (response as Readonly<Record<string, TObject>>)["200"]; // As our routes declare it.
  if (!schema) return answer;
  const pace = openPace();
  await pace.turn();
  const text = await writeInPieces(schema, answer as Readonly<Record<string, unknown>>, pace);
  reply.type("application/json; charset=utf-8");
  return text as unknown as Answer; // A text is sent as it is, past the schema it was written by.
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const text = headers["idempotency-key"];
  if (text === undefined) return undefined;
  if (typeof text === "string" && idempotencyKeyForm.test(text)) return text;
  throw new Failure("bad_request", "Idempotency-Key must be 1 to 255 visible ASCII characters", {
    detail: { field: "Idempotency-Key", problem: "1 to 255 visible ASCII characters" },
  });
}

/** A visitor's write: no caller, but the same right to try it. */
export function visitOf(request: FastifyRequest, reply: FastifyReply): Visit {
  const dryRun = isDryRun(request);
  if (dryRun) reply.header("x-dry-run", "1");
  return { requestId: request.id, dryRun };
}

/** A dry run that was misspelt must not happen for real. */
function isDryRun({ headers }: FastifyRequest): boolean {
  const text = headers["x-dry-run"];
  if (text === undefined || text === "0") return false;
  if (text === "1") return true;
  throw new Failure("bad_request", "X-Dry-Run must be 1 or 0", {
    detail: { field: "X-Dry-Run", allowed: ["1", "0"] },
  });
}

/** The answer to a set, which may be what an earlier call with the same idempotency key stands at. */
export function sendReplayable<Answer>(
  reply: FastifyReply,
  { replayed, answer }: { readonly replayed: boolean; readonly answer: Answer },
): Answer {
  if (replayed) reply.header("idempotent-replayed", "true");
  return answer;
}

/** Visible ASCII: what a header carries unchanged. */
const requestIdForm = /^[!-~]{1,200}$/;

/** The caller's own id, or one made here. A key that was sent in its place is not repeated. */
export function readRequestId({ headers }: Pick<IncomingMessage, "headers">, now: Date): string {
  const inbound = headers["x-request-id"];
  const isUsable = typeof inbound === "string" && requestIdForm.test(inbound);
  return isUsable && maskSecrets(inbound) === inbound ? inbound : newId("req", now);
}

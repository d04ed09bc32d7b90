// Maps errors to HTTP answers: one table of statuses and one body form per layer. No other file knows
// both failure codes and statuses, and no answer shows anything internal.

import { Failure, type FailureCode, type FailureDetail } from "../../kernel/failure.ts";
import { maskSecrets, maskWithin } from "../../kernel/secrets.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { isLockTimeout, TransactionIdle } from "../postgres/postgres.ts";

type ErrorBody = {
  readonly error: string;
  readonly code?: string;
  readonly message: string;
  readonly request_id?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
};

type ErrorReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
  /** Set for a bug of ours; it is logged with its stack. */
  readonly fault?: unknown;
};

export const statusByCode: Readonly<Record<FailureCode, number>> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  request_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  validation_error: 422,
  rate_limited: 429,
  internal: 500,
  internal_error: 500,
};

/** The contract's Retry-After of a keyed 429; a public 429 has its own in the detail. */
const rateLimitedRetryS = 60;

/** Where a request failed: before its key was accepted (edge), or after (trading). */
type ErrorSurface = "edge" | "trading";

const faultCodes = { edge: "internal_error", trading: "internal" } as const;

export function toErrorReply(
  error: unknown,
  requestId: string,
  surface: ErrorSurface = "edge",
): ErrorReply {
  if (error instanceof Failure) return failureReply(error, requestId);
  if (error instanceof Overloaded || error instanceof TransactionIdle || isLockTimeout(error)) {
    return overloadedReply(requestId, surface);
  }
  const status = findFrameworkStatus(error);
  if (status !== undefined) return frameworkReply(status, requestId);
  return { ...faultReply(requestId, surface), fault: error };
}

/** What one item of a set is answered, where a call with it alone would be refused. */
export function toItemError(error: unknown, requestId: string) {
  const { status, body, fault } = toErrorReply(error, requestId, "trading");
  const { error: slug, code = slug, message } = body;
  const ofItem = body.code === undefined ? { error: "request_error", code, message } : body;
  return { refused: { ok: false as const, status, error: ofItem }, fault };
}

function failureReply(failure: Failure, requestId: string): ErrorReply {
  const { code, form } = failure;
  // A secret in a name, a value or a path is not echoed.
  const message = maskSecrets(failure.message);
  const detail = failure.detail && (maskWithin(failure.detail) as FailureDetail);
  const status = statusByCode[code];
  const headers: Record<string, string> = {};
  if (code === "rate_limited") {
    headers["retry-after"] = String(Number(detail?.["retry_after_s"] ?? rateLimitedRetryS));
  }
  const extra = detail && { detail };
  switch (form) {
    case "trading":
      return { status, headers, body: { error: "request_error", code, message, ...extra } };
    case "edge":
      return { status, headers, body: { error: code, code, message, ...extra } };
    case "transport":
      return {
        status,
        headers,
        body: { error: code, message, request_id: requestId, ...extra },
      };
  }
}

/** Work that was refused before it began, or did not get what it waited for: the caller may retry. */
function overloadedReply(requestId: string, surface: ErrorSurface): ErrorReply {
  const failure = new Failure(faultCodes[surface], "the service is busy; try again", {
    form: "transport",
  });
  return failureReply(failure, requestId);
}

function faultReply(requestId: string, surface: ErrorSurface): ErrorReply {
  const failure = new Failure(faultCodes[surface], "something went wrong on our side; try again", {
    form: "transport",
  });
  return failureReply(failure, requestId);
}

/** The status of an error of Fastify itself, if it is a 4xx. */
function findFrameworkStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("statusCode" in error) || !("code" in error)) return undefined;
  if (typeof error.code !== "string" || !error.code.startsWith("FST_ERR_")) return undefined;
  const status = Number(error.statusCode);
  return status >= 400 && status < 500 ? status : undefined;
}

function frameworkReply(status: number, requestId: string): ErrorReply {
  const failure = { 404: noRoute(), 415: notJson() }[status];
  const fallback = new Failure("bad_request", "the request is malformed", { form: "transport" });
  return failureReply(failure ?? fallback, requestId);
}

export function notJson(): Failure {
  return new Failure("unsupported_media_type", "send the body as application/json", {
    form: "transport",
  });
}

export function noRoute(): Failure {
  return new Failure("not_found", "no such route", { form: "transport" });
}

/** The service cannot run; the message says why and is printed without a stack. */
export class Unusable extends Error {}

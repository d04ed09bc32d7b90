/** Slugs of the contract and of this client. Open set: handle what you know, and the rest by status. */
export type Slug =
  | "bad_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "request_too_large"
  | "unsupported_media_type"
  | "unprocessable"
  | "validation_error"
  | "rate_limited"
  | "internal"
  | "internal_error"
  /** No whole answer came: nobody knows whether the call was carried out. */
  | "connection_broken"
  /** No answer came in time: nobody knows whether the call was carried out. */
  | "timed_out"
  /** An answer that is not the service's, such as a gateway's page. */
  | "unexpected_answer"
  /** A delivery that the service did not sign, or not lately. */
  | "forged_webhook"
  | (string & {});

export type ErrorFields = {
  readonly slug: Slug;
  readonly message: string;
  readonly status?: number | undefined;
  readonly code?: Slug | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly request_id?: string | undefined;
  readonly retry_after_s?: number | undefined;
  readonly cause?: unknown;
};

/** Everything that this client throws, but for the reason of your own signal. Switch on `slug`. */
export class ScripdeskError extends Error {
  override readonly name = "ScripdeskError";
  /** The answer's `code` if it has one, otherwise its `error`. */
  readonly slug: Slug;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly code: Slug | undefined;
  readonly detail: Readonly<Record<string, unknown>> | undefined;
  /** What to quote when you ask for help. */
  readonly request_id: string | undefined;
  /** How long the service wants to be left alone. */
  readonly retry_after_s: number | undefined;
  /** The operation that was called. */
  operation: string | undefined;
  /** How often it was sent. */
  attempts = 0;
  /** What it was sent under: call again with it, and nothing is done twice. */
  idempotency_key: string | undefined;

  constructor({ message, cause, ...fields }: ErrorFields) {
    super(message, cause === undefined ? {} : { cause });
    this.slug = fields.slug;
    this.status = fields.status;
    this.code = fields.code;
    this.detail = fields.detail;
    this.request_id = fields.request_id;
    this.retry_after_s = fields.retry_after_s;
  }
}

type ErrorBody = {
  readonly error?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly detail?: unknown;
  readonly request_id?: unknown;
};

/** What an answer that is no success says. */
export function readError(status: number, headers: Headers, text: string): ScripdeskError {
  const body = readBody(headers, text);
  const code = readText(body.code);
  const slug = code ?? readText(body.error);
  const detail =
    typeof body.detail === "object" && body.detail !== null
      ? (body.detail as Record<string, unknown>)
      : undefined;
  return new ScripdeskError({
    slug: slug ?? "unexpected_answer",
    message: readText(body.message) ?? `the answer was ${status}`,
    status,
    code,
    detail,
    request_id: readText(body.request_id) ?? headers.get("x-request-id") ?? undefined,
    retry_after_s: readSeconds(headers.get("retry-after") ?? detail?.["retry_after_s"]),
  });
}

function readBody(headers: Headers, text: string): ErrorBody {
  if (!headers.get("content-type")?.startsWith("application/json")) return {};
  try {
    return (JSON.parse(text) ?? {}) as ErrorBody;
  } catch {
    return {};
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readSeconds(value: unknown): number | undefined {
  const seconds = value === undefined || value === null ? Number.NaN : Number(value);
  return seconds >= 0 ? seconds : undefined;
}

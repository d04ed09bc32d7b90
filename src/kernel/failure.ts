// A Failure tells the caller what they can change. A broken invariant of our own is a plain Error,
// which is logged with its stack and answered with 500.

/** The closed set of reasons a request is refused; `platform/http-errors.ts` gives each a status. */
export type FailureCode =
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
  | "internal_error";

/**
 * Which layer refuses, and so which body form the caller gets.
 *
 *   trading     a business rule:  `error: "request_error"`, the slug in `code`
 *   edge        key and meter:    the same slug in `error` and `code`
 *   transport   HTTP itself:      the slug in `error`, no `code`, with `request_id`
 */
type FailureForm = "trading" | "edge" | "transport";

export type FailureDetail = Readonly<Record<string, unknown>>;

export class Failure extends Error {
  readonly code: FailureCode;
  readonly detail: FailureDetail | undefined;
  readonly form: FailureForm;

  constructor(
    code: FailureCode,
    message: string,
    { detail, form = "trading" }: { detail?: FailureDetail; form?: FailureForm } = {},
  ) {
    super(message);
    this.code = code;
    this.detail = detail;
    this.form = form;
  }
}

/** One rule a field of the request breaks. */
export type FieldProblem = { readonly path: string; readonly problem: string };

/** The answer to well-formed but invalid values: every field that is wrong, and why. */
export function unprocessable(...fields: readonly FieldProblem[]): Failure {
  const [first] = fields;
  const message = first ? `${first.path}: ${first.problem}` : "the request is not valid";
  return new Failure("unprocessable", message, { detail: { fields } });
}

/** The answer to a query string with an invalid parameter. */
export function invalidQuery(path: string, problem: string): Failure {
  return new Failure("validation_error", `${path}: ${problem}`, {
    form: "transport",
    detail: { fields: [{ path, problem }] },
  });
}

/** Says of a value of a query string whose + arrived as a space how it is written. */
export function hintAtPlus(value: unknown): string {
  const isOffset = typeof value === "string" && /\d \d\d:?\d\d$/.test(value);
  return isOffset ? "; a + in a query string is a space, so write it as %2B" : "";
}

/**
 * "Not yours" and "not there" are one answer, so that existence is never revealed. `field` is what the
 * request calls the thing.
 */
export function notFound(field?: string): Failure {
  const detail = field === undefined ? undefined : { field };
  return new Failure("not_found", "no such resource on your desk", detail && { detail });
}

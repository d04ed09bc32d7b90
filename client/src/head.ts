// What an answer says beside its body, by the answer itself.

/** What the key may still call. */
export type RateLimit = {
  readonly plan: string | undefined;
  /** Calls allowed in 60 seconds. */
  readonly limit: number | undefined;
  /** Calls left of them. */
  readonly remaining: number | undefined;
  /** Seconds until all of them are free again. */
  readonly reset_s: number | undefined;
  /** Calls allowed in the month, and made in it. */
  readonly quota: number | undefined;
  readonly quota_used: number | undefined;
};

export type AnswerHead = {
  readonly status: number;
  /** What to quote when you ask for help. */
  readonly request_id: string | undefined;
  readonly rate_limit: RateLimit;
  /** Whether an earlier call with this idempotency key made it. */
  readonly replayed: boolean;
  /** Whether a list has more rows than it shows. */
  readonly truncated: boolean;
  /** Until when the price of a quote binds, on both sides. */
  readonly quote_valid_until: string | undefined;
  /** All of them. */
  readonly headers: Headers;
};

const heads = new WeakMap<object, AnswerHead>();

/** The head of an answer that a method has returned, of a page too; a file as text has none. */
export function readHead(answer: object): AnswerHead {
  const head = heads.get(answer);
  if (!head) throw new TypeError("this is no answer of a method");
  return head;
}

/** Keeps the head for as long as the answer is kept. */
export function keepHead(
  answer: unknown,
  { status, headers }: { status: number; headers: Headers },
): void {
  if (typeof answer !== "object" || answer === null) return;
  const text = (name: string) => headers.get(name) ?? undefined;
  const count = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined);
  heads.set(answer, {
    status,
    request_id: text("x-request-id"),
    rate_limit: {
      plan: text("x-ratelimit-plan"),
      limit: count("x-ratelimit-limit"),
      remaining: count("x-ratelimit-remaining"),
      reset_s: count("x-ratelimit-reset"),
      quota: count("x-ratelimit-quota"),
      quota_used: count("x-ratelimit-quota-used"),
    },
    replayed: text("idempotent-replayed") === "true",
    truncated: text("x-truncated") === "true",
    quote_valid_until: text("x-quote-valid-until"),
    headers,
  });
}

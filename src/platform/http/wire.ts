// The building blocks of wire shapes: what money, times, enumerations and pages look like in JSON.

import { type Static, type TObject, type TProperties, Type } from "typebox";

import type { PaiseSum } from "../../kernel/money.ts";

/** An amount of money in a request: a positive whole number that every JSON reader keeps exact. */
export function paise(description: string) {
  return Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    examples: [25_000_000],
  });
}

/**
 * A sum of amounts in an answer: a JSON integer with all its digits, which a reader of doubles keeps
 * exact up to 2^53 - 1.
 */
export function paiseSum(description: string, example = 25_000_000) {
  return Type.Unsafe<PaiseSum>({ type: "integer", description, examples: [example] });
}

export function timestamp(description: string) {
  return Type.String({
    format: "date-time",
    description: `${description} ISO 8601, IST.`,
    examples: ["2026-11-15T09:30:00.000+05:30"],
  });
}

/** A request takes exactly these values. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  options: { description?: string; examples?: readonly string[] } = {},
) {
  return Type.Unsafe<Values[number]>({ type: "string", enum: [...values], ...options });
}

/** An answer knows these values today; readers treat the set as open. */
export function openEnum<const Values extends readonly string[]>(
  values: Values,
  description: string,
) {
  return Type.Unsafe<Values[number]>({
    type: "string",
    "x-extensible-enum": [...values],
    description: `${description} Open set; known today: ${values.join(", ")}.`,
    examples: [values[0]],
  });
}

export function nullable<T>(schema: { type: "string" | "integer"; [keyword: string]: unknown }) {
  return Type.Unsafe<T | null>({ ...schema, type: [schema.type, "null"] });
}

/** Every state that a thing came to, as it shows them. */
export function historyOf<const States extends readonly string[]>(states: States) {
  const reason = { type: "string", description: "Why, where that is not obvious." } as const;
  const step = Type.Object({
    status: openEnum(states, "The state it came to."),
    at: timestamp("When."),
    reason: nullable<string>(reason),
  });
  return Type.Array(step, { description: "Every state it came to, in order." });
}

/** A query's wish for what belongs to one thing. */
export function idFilter(description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }));
}

export function nullableObject<Properties extends TProperties>(
  properties: Properties,
  options: { title?: string; description?: string } = {},
) {
  return Type.Unsafe<Static<TObject<Properties>> | null>({
    ...Type.Object(properties, options),
    type: ["object", "null"],
  });
}

/** A request body: unknown fields are refused, because a misspelt limit must not be no limit. */
export function body<Properties extends TProperties>(
  properties: Properties,
  options: { title?: string; description?: string } = {},
) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      description: "Page size; asks for paging. Default 100.",
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: "The next_cursor of the previous page, with the same filters.",
    }),
  ),
};

/** What a paged list adds to its array; absent when neither limit nor cursor was given. */
export const pageFields = {
  count: Type.Optional(Type.Integer({ description: "Rows on this page.", examples: [1] })),
  total: Type.Optional(
    Type.Integer({ description: "Rows in the list when paging began.", examples: [1] }),
  ),
  next_cursor: Type.Optional(
    nullable<string>({
      type: "string",
      description: "Ask for the next page with this; null on the last page.",
    }),
  ),
  has_more: Type.Optional(Type.Boolean({ description: "Whether there is a next page." })),
};

/** The error body of one item of a set, as a call with that item alone would get it. */
export type ItemError = {
  readonly error: string;
  readonly code?: string;
  readonly message: string;
  readonly request_id?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
};

export const itemError = Type.Unsafe<ItemError | null>({
  type: ["object", "null"],
  title: "ItemError",
  description:
    "The whole error body that a call with this item alone would get, an object; null when ok. " +
    "The slug is in its code or, where it has none, in its error: the field of the same name within.",
  properties: {
    error: { type: "string", description: "request_error, or a slug as in any error body." },
    code: { type: "string", description: "Stable slug; when present, prefer it." },
    message: { type: "string", description: "For people; its wording may change." },
    request_id: { type: "string", description: "Of a fault of ours: as the X-Request-ID header." },
    detail: { type: "object", additionalProperties: true, description: "Structured context." },
  },
  required: ["error", "message"],
});

// The building blocks of wire shapes: money, times, enumerations and pages in JSON.

import { type Static, type TObject, type TProperties, Type } from "typebox";

import type { PaiseSum } from "../../kernel/money.ts";

/** An amount of money in a request: a positive integer that a double holds exactly. */
export function paise(description: string) {
  return Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    examples: [25_000_000],
  });
}

/**
 * A sum of amounts in an answer: a JSON integer with all its digits. A client that parses numbers as
 * doubles reads it exactly up to 2^53 - 1.
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

/** A day of the calendar, in a request. */
export function calendarDay(description: string) {
  return Type.String({
    format: "date",
    pattern: "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$",
    description: `${description} A day in IST.`,
    examples: ["2026-12-31"],
  });
}

/** A closed enumeration, for requests. */
export function closedEnum<const Values extends readonly string[]>(
  values: Values,
  options: { description?: string; examples?: readonly string[] } = {},
) {
  return Type.Unsafe<Values[number]>({ type: "string", enum: [...values], ...options });
}

/** An open enumeration, for answers: clients must accept new values. */
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

/** A text of a request that changes something, which can be taken away. */
export function removable(field: { readonly type: "string"; readonly description: string }) {
  return nullable<string>({ ...field, description: `${field.description} null takes it away.` });
}

export const text = (description: string) => Type.String({ description });
export const maybeText = (description: string) => nullable<string>({ type: "string", description });
export const count = (description: string) => Type.Integer({ description });
export const maybeCount = (description: string) =>
  nullable<number>({ type: "integer", description });
export const flag = (description: string) => Type.Boolean({ description });
export const maybeTime = (description: string) =>
  nullable<string>({
    type: "string",
    format: "date-time",
    description: `${description} ISO 8601, IST.`,
  });
export const version = Type.Integer({
  description: "The number of the version, raised by every change.",
  examples: [1],
});

/** The history of a resource: every state it came to. */
export function historySchema<const States extends readonly string[]>(states: States) {
  const reason = {
    type: "string",
    description: "Why it came to this state; null where that is obvious.",
  } as const;
  const step = Type.Object({
    status: openEnum(states, "The state it came to."),
    at: timestamp("When it came to this state."),
    reason: nullable<string>(reason),
  });
  return Type.Array(step, { description: "Every state it came to, in order." });
}

/** A query parameter that filters by an id. */
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

/** A form that some fields of a body come in. */
type Form = {
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
};

/**
 * The fields that a form must have, and those that it may have; a list is what the field may be there.
 * A field that only other forms of the same list have is absent. Clients' types are made of it.
 */
export function form(
  fields: Readonly<Record<string, true | readonly string[]>>,
  optional: Readonly<Record<string, true | readonly string[]>> = {},
): Form {
  const properties = Object.entries({ ...fields, ...optional }).map(([name, values]) => [
    name,
    values === true ? {} : { enum: [...values] },
  ]);
  return { properties: Object.fromEntries(properties), required: Object.keys(fields) };
}

type BodyOptions = {
  readonly title?: string;
  readonly description?: string;
  /** Of each list, the body has one form. */
  readonly "x-forms"?: readonly (readonly Form[])[];
};

/** A request body: unknown fields are refused, because a misspelt limit must not be ignored. */
export function body<Properties extends TProperties>(
  properties: Properties,
  options: BodyOptions = {},
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

/** The paging fields of a list; absent when neither limit nor cursor was given. */
export const pageFields = {
  count: Type.Optional(
    Type.Integer({ description: "The number of rows on this page.", examples: [1] }),
  ),
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
    detail: {
      type: "object",
      additionalProperties: true,
      description: "Facts about the error, by reason.",
    },
  },
  required: ["error", "message"],
});

/** The query parameter that chooses between JSON and files. */
export function formatQuery<const Formats extends readonly string[]>(formats: Formats) {
  return Type.Optional(
    closedEnum(formats, {
      description: "As what; json unless given, or what the Accept header prefers.",
    }),
  );
}

/** What descriptions of lists say of files. */
export const filesText =
  "As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where " +
  "limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor " +
  "that they begin with.";

/** The formats of lists and tables. */
export const listFormats = ["json", "csv", "xlsx"] as const;

/** What OpenAPI can say of tables. */
export function tableContent(row: string) {
  return {
    "text/csv": {
      schema: Type.String({
        contentMediaType: "text/csv",
        description: `${row} Amounts are rupees, prices per cent of face, times ISO 8601 in IST.`,
      }),
    },
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": {
      schema: Type.String({
        contentMediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        description: `${row} Amounts are numbers of rupees, times are dates in IST, scrip numbers are text.`,
      }),
    },
  };
}

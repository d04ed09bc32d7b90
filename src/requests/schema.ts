import { type Static, type TProperties, Type } from "typebox";

import { idFilter, nullable, pageFields, pageQuery, timestamp } from "../platform/http/wire.ts";

const maybe = (description: string, example: string) =>
  nullable<string>({ type: "string", description, examples: [example] });

const requestId = Type.String({
  description: "As in the X-Request-ID of the answer.",
  examples: ["req_01jd2m7q4x8r5v6w9y0abcdefg"],
});

const fields = {
  request_id: requestId,
  at: timestamp("When it came."),
  method: Type.String({ description: "The HTTP method.", examples: ["POST"] }),
  route: maybe("The path, with the names of its parts; null for none of ours.", "/v1/orders"),
  status: Type.Integer({ description: "The answer's HTTP status.", examples: [201] }),
  code: maybe("Why it was refused: the slug of its error body; null for a success.", "conflict"),
  reason: maybe("The `detail.reason` of its error body; null without one.", "no_price"),
  duration_ms: Type.Number({
    description: "How long it took us, in milliseconds; of a stream, how long it was open.",
    examples: [4.2],
  }),
  key_id: Type.String({
    description: "The key that it came with.",
    examples: ["key_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
  idempotency_key: maybe("The request's Idempotency-Key; null without one.", "invoice-2026-0042"),
  made: maybe(
    "What it made, or had made already under its Idempotency-Key; null for what made nothing, and for a set.",
    "ord_01jd2m7q4x8r5v6w9y0abcdefg",
  ),
};

export const Request = Type.Object(fields, {
  title: "AnsweredRequest",
  description: "A call that was answered, without what was in it.",
});
export type Request = Static<typeof Request>;

export const RequestParams = Type.Object({ request_id: requestId });

/** What narrows a list of calls, besides whose they are and when they came. */
export const requestFilters = {
  status: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 599, description: "Only those answered with this." }),
  ),
  code: idFilter("Only those refused with this code."),
  reason: idFilter("Only those refused with this reason."),
  route: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "Only of this route: `/v1/orders/{order_id}`, or `POST /v1/orders`.",
    }),
  ),
  key_id: idFilter("Only those that came with this key."),
  request_id: Type.Optional(
    Type.String({ pattern: "^[!-~]{1,200}$", description: "Only those of this id." }),
  ),
} satisfies TProperties;

export const ListRequestsQuery = Type.Object(
  {
    ...requestFilters,
    from: Type.Optional(timestamp("Only those that came in this second or later.")),
    to: Type.Optional(timestamp("Only those that came before this second.")),
    ...pageQuery,
  },
  { additionalProperties: false },
);
export type ListRequestsQuery = Static<typeof ListRequestsQuery>;

export const RequestList = Type.Object(
  { requests: Type.Array(Request, { description: "Newest first." }), ...pageFields },
  { title: "AnsweredRequestList" },
);

import { type Static, Type } from "typebox";

import { timestamp } from "../platform/wire.ts";

const calls = Type.Integer({ description: "Calls that were let in.", examples: [42] });

export const ReadUsageQuery = Type.Object(
  {
    month: Type.Optional(
      Type.String({
        pattern: "^2[0-9]{3}-(0[1-9]|1[0-2])$",
        description: "The IST month whose history is shown; this month by default.",
        examples: ["2026-11"],
      }),
    ),
  },
  { additionalProperties: false },
);
export type ReadUsageQuery = Static<typeof ReadUsageQuery>;

export const Usage = Type.Object(
  {
    plan: Type.String({ description: "As X-RateLimit-Plan.", examples: ["growth"] }),
    limit: Type.Integer({ description: "As X-RateLimit-Limit.", examples: [300] }),
    remaining: Type.Integer({ description: "As X-RateLimit-Remaining.", examples: [299] }),
    reset: Type.Integer({ description: "As X-RateLimit-Reset.", examples: [60] }),
    quota: Type.Optional(
      Type.Integer({
        description: "As X-RateLimit-Quota; absent when unmetered.",
        examples: [500_000],
      }),
    ),
    quota_used: Type.Integer({ description: "As X-RateLimit-Quota-Used.", examples: [42] }),
    window_s: Type.Integer({ description: "Length of the sliding window.", examples: [60] }),
    quota_resets_at: timestamp("When the month ends and the quota starts again."),
    by_day: Type.Array(
      Type.Object({ day: Type.String({ format: "date", examples: ["2026-11-15"] }), calls }),
      { description: "A child key sees its own calls, a root key those of its whole family." },
    ),
    by_route: Type.Array(
      Type.Object({ route: Type.String({ examples: ["GET /v1/whoami"] }), calls }),
    ),
    by_key: Type.Array(
      Type.Object({
        key_id: Type.String({ examples: ["key_01jd2m7q4x8r5v6w9y0abcdefg"] }),
        calls,
      }),
    ),
  },
  {
    title: "Usage",
    description: "The numbers of the response's own headers, and the month behind them.",
  },
);
export type Usage = Static<typeof Usage>;

import { type Static, Type } from "typebox";

import { environments, scopes } from "../kernel/caller.ts";
import {
  body,
  closedEnum,
  count,
  flag,
  form,
  maybeText,
  nullable,
  openEnum,
  paise,
  timestamp,
  version,
} from "../platform/http/wire.ts";

const keyId = Type.String({
  description: "The key's id.",
  examples: ["key_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const firmId = Type.String({
  description: "The firm the key is bound to.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const scope = openEnum(scopes, "What a key may do.");
const environment = openEnum(environments, "Chosen by the key's prefix.");

const KeyLimits = body(
  {
    per_minute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "Calls per 60 seconds.",
        examples: [30],
      }),
    ),
    monthly_quota: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000_000,
        description: "Calls per IST month.",
        examples: [10_000],
      }),
    ),
    max_order_paise: Type.Optional(
      paise("Largest single deal: an order or a cross by face, a withdrawal by amount."),
    ),
    daily_notional_paise: Type.Optional(
      paise("Largest sum of what the key commits per IST day, counted alike."),
    ),
    withdrawals: Type.Optional(
      flag(
        "false: the key may not withdraw money, change a firm's bank account, or have a firm drained and paid. Default true.",
      ),
    ),
  },
  { description: "Limits of this key, within those of its parent." },
);

export const MintKeyBody = body(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      description: "What the key is for.",
      examples: ["ERP Pune"],
    }),
    kind: closedEnum(["sub_account", "app"], {
      description: "A sub_account key acts for one client firm; an app key for the whole desk.",
      examples: ["app"],
    }),
    scopes: Type.Array(closedEnum(scopes), {
      minItems: 1,
      maxItems: scopes.length,
      description: "A subset of the parent's scopes.",
      examples: [["quote", "orders:read"]],
    }),
    firm_id: Type.Optional(
      Type.String({ maxLength: 64, description: "The client firm of a sub_account key." }),
    ),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 40,
        format: "date-time",
        description: "The key stops matching at this instant. ISO 8601 with an offset.",
        examples: ["2027-03-31T23:59:59+05:30"],
      }),
    ),
    ip_allowlist: Type.Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 49 }), {
        maxItems: 50,
        description: "Addresses or networks the key may be used from; anywhere when empty.",
        examples: [["203.0.113.0/24"]],
      }),
    ),
    limits: Type.Optional(KeyLimits),
    buy_side: Type.Optional(flag("Whether the key may take buy quotes. Default false.")),
  },
  { "x-forms": [[form({ kind: ["app"] }), form({ kind: ["sub_account"], firm_id: true })]] },
);
export type MintKeyBody = Static<typeof MintKeyBody>;

const keyFields = {
  key_id: keyId,
  name: Type.String({ description: "What the key is for, in your words.", examples: ["ERP Pune"] }),
  kind: openEnum(
    ["root", "sub_account", "app"],
    "A root key is the firm's own; others are minted from it.",
  ),
  environment,
  firm_id: firmId,
  parent_key_id: maybeText("The key it was minted from; null for a root key."),
  scopes: Type.Array(scope, { description: "The scopes that the key was granted." }),
  buy_side: flag("Whether the key may take buy quotes."),
  plan: nullable<string>({
    type: "string",
    description: "The plan of a root key; null for a child, which shares its root's.",
    examples: ["growth"],
  }),
  limits: Type.Object(
    {
      per_minute: Type.Optional(count("The calls allowed in 60 seconds.")),
      monthly_quota: Type.Optional(count("The calls allowed in an IST month.")),
      max_order_paise: Type.Optional(count("The largest single deal in paise.")),
      daily_notional_paise: Type.Optional(
        count("Largest sum of what the key commits per IST day."),
      ),
      withdrawals: Type.Optional(flag("false where the key may not move money out.")),
    },
    { description: "Limits of its own; absent ones are the plan's." },
  ),
  ip_allowlist: Type.Array(Type.String(), {
    description: "Where it may be used from; anywhere when empty.",
  }),
  masked_key: Type.String({
    description: "The key with its secret left out.",
    examples: ["service_test_…x3Kq"],
  }),
  status: openEnum(["active", "expired", "revoked"], "Only an active key matches."),
  expires_at: nullable<string>({
    type: "string",
    format: "date-time",
    description: "When it stops matching; null for never.",
  }),
  revoked_at: nullable<string>({
    type: "string",
    format: "date-time",
    description: "When it was revoked; null while it counts.",
  }),
  created_at: timestamp("When it was issued."),
  updated_at: timestamp("When it last changed."),
  last_used_at: nullable<string>({
    type: "string",
    format: "date-time",
    description:
      "The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use.",
  }),
  version,
  allowed_actions: Type.Array(Type.String(), {
    description: "What its state allows now; see GET /v1/meta/states.",
    examples: [["reissue", "revoke"]],
  }),
};

export const Key = Type.Object(keyFields, {
  title: "Key",
  description: "An API key, without its secret.",
});
export type Key = Static<typeof Key>;

const apiKey = Type.String({
  description: "The key itself. Shown here and never again.",
  examples: ["service_test_01jd2m7q4x8r5v6w9y0abcdefg…"],
});

export const MintedKey = Type.Object(
  { ...keyFields, api_key: apiKey },
  { title: "MintedKey", description: "An API key at the one moment it is shown." },
);
export type MintedKey = Static<typeof MintedKey>;

export const ReissuedKey = Type.Object(
  { ...keyFields, api_key: Type.Optional(apiKey) },
  {
    title: "ReissuedKey",
    description: "An API key with its new secret; without it when this was a dry run.",
  },
);
export type ReissuedKey = Static<typeof ReissuedKey>;

export const UpdateKeyBody = body(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "What the key is for.",
        examples: ["ERP Pune"],
      }),
    ),
    scopes: Type.Optional(
      Type.Array(closedEnum(scopes), {
        minItems: 1,
        maxItems: scopes.length,
        description: "Some of the scopes it holds; the others are taken away.",
        examples: [["orders:read"]],
      }),
    ),
    buy_side: Type.Optional(flag("false takes buy quotes away.")),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 40,
        format: "date-time",
        description: "An end, or an earlier one. ISO 8601 with an offset.",
        examples: ["2027-03-31T23:59:59+05:30"],
      }),
    ),
    ip_allowlist: Type.Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 49 }), {
        maxItems: 50,
        description: "Where it may be used from, within where it may be used from now.",
        examples: [["203.0.113.7"]],
      }),
    ),
    limits: Type.Optional(KeyLimits),
  },
  { description: "What is given is narrowed; an absent field, or limit, stays as it is." },
);
export type UpdateKeyBody = Static<typeof UpdateKeyBody>;

export const KeyParams = Type.Object({ key_id: keyId });

export const WhoAmI = Type.Object(
  {
    key_id: keyId,
    kind: openEnum(["root", "sub_account", "app"], "What kind of key this is."),
    environment,
    firm_id: firmId,
    desk_id: Type.String({
      description: "The firm whose desk this is.",
      examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
    }),
    parent_key_id: maybeText("The id of the parent key; null for a root key."),
    scopes: Type.Array(scope, {
      description: "What the key may do now: its own scopes within its parent's.",
    }),
    buy_side: flag("Whether the key may take buy quotes."),
  },
  { title: "WhoAmI", description: "Who the service takes the caller for." },
);
export type WhoAmI = Static<typeof WhoAmI>;

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

export const Usage = Type.Object(
  {
    plan: Type.String({ description: "The key's plan.", examples: ["growth"] }),
    limit: Type.Integer({ description: "The calls allowed in the window.", examples: [300] }),
    remaining: Type.Integer({ description: "The calls left in the window.", examples: [299] }),
    reset: Type.Integer({
      description: "Seconds until the window has room again.",
      examples: [60],
    }),
    quota: Type.Optional(
      Type.Integer({
        description: "As X-RateLimit-Quota; absent when unmetered.",
        examples: [500_000],
      }),
    ),
    quota_used: Type.Integer({ description: "The calls of this month.", examples: [42] }),
    window_s: Type.Integer({ description: "Length of the sliding window.", examples: [60] }),
    quota_resets_at: timestamp("When the month ends and the quota starts again."),
    by_day: Type.Array(
      Type.Object({
        day: Type.String({
          format: "date",
          description: "The day in IST.",
          examples: ["2026-11-15"],
        }),
        calls,
      }),
      { description: "A child key sees its own calls, a root key those of its whole family." },
    ),
    by_route: Type.Array(
      Type.Object({
        route: Type.String({ description: "Method and path.", examples: ["GET /v1/whoami"] }),
        calls,
      }),
      { description: "The month's calls by operation." },
    ),
    by_key: Type.Array(
      Type.Object({
        key_id: Type.String({
          description: "The key's id.",
          examples: ["key_01jd2m7q4x8r5v6w9y0abcdefg"],
        }),
        calls,
      }),
      { description: "The month's calls by key." },
    ),
  },
  {
    title: "Usage",
    description: "The numbers of the response's own headers, and the month behind them.",
  },
);
export type Usage = Static<typeof Usage>;

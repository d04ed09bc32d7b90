// Written by `npm run golden` from docs/openapi.json. Do not edit.

import type { OneOf } from "./one-of.ts";

/** A business rule refused: error is request_error, the slug is in code. */
export type TradingError = {
  /** The stable name of the error. */
  error: string;
  /** For people; its wording may change. */
  message: string;
  /** Stable slug; prefer it to error when present. Open set. */
  code: string;
  /** Facts about the error, by reason. */
  detail?: { [name: string]: unknown };
};

/** The key or the meter refused: the slug is in both error and code. */
export type EdgeError = {
  /** The stable name of the error. */
  error: string;
  /** For people; its wording may change. */
  message: string;
  /** Stable slug; prefer it to error when present. Open set. */
  code: string;
  /** Facts about the error, by reason. */
  detail?: { [name: string]: unknown };
};

/** HTTP itself refused or the service failed: the slug is in error, no code. */
export type TransportError = {
  /** The stable name of the error. */
  error: string;
  /** For people; its wording may change. */
  message: string;
  /** As the X-Request-ID header. */
  request_id: string;
  /** Facts about the error, by reason. */
  detail?: { [name: string]: unknown };
};

/** Every state and every move of every resource, as data. */
export type StateTables = {
  /** One table per lifecycle; the service decides by the same tables. */
  lifecycles: ({
    /** The kind of thing that has these states. */
    noun: string;
    /** The states that it can begin in. */
    initial: string[];
    /** Every state that it can be in. */
    states: string[];
    /** What can happen to it, and who does it. */
    moves: ({
      /** The action, as allowed_actions names it. */
      action: string;
      /** The states that it can start from. */
      from: string[];
      /** The state that it leads to. */
      to: string;
      /** Who makes the move, such as the caller, the operator, the bank or the clock. */
      by: string;
    })[];
  })[];
};

/** Who the service takes the caller for. */
export type WhoAmI = {
  /** The key's id. */
  key_id: string;
  /** What kind of key this is. */
  kind: "root" | "sub_account" | "app" | (string & {});
  /** Chosen by the key's prefix. */
  environment: "live" | "sandbox" | (string & {});
  /** The firm the key is bound to. */
  firm_id: string;
  /** The firm whose desk this is. */
  desk_id: string;
  /** The id of the parent key; null for a root key. */
  parent_key_id: string | null;
  /** What the key may do now: its own scopes within its parent's. */
  scopes: ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*" | (string & {}))[];
  /** Whether the key may take buy quotes. */
  buy_side: boolean;
};

export type MintKey = {
  /** What the key is for. */
  name: string;
  /** A subset of the parent's scopes. */
  scopes: readonly ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*")[];
  /** The key stops matching at this instant. ISO 8601 with an offset. */
  expires_at?: string | undefined;
  /** Addresses or networks the key may be used from; anywhere when empty. */
  ip_allowlist?: readonly string[] | undefined;
  /** Limits of this key, within those of its parent. */
  limits?: {
    /** Calls per 60 seconds. */
    per_minute?: number | undefined;
    /** Calls per IST month. */
    monthly_quota?: number | undefined;
    /** Largest single deal: an order or a cross by face, a withdrawal by amount. */
    max_order_paise?: number | undefined;
    /** Largest sum of what the key commits per IST day, counted alike. */
    daily_notional_paise?: number | undefined;
    /** false: the key may not withdraw money, change a firm's bank account, or have a firm drained and paid. Default true. */
    withdrawals?: boolean | undefined;
  } | undefined;
  /** Whether the key may take buy quotes. Default false. */
  buy_side?: boolean | undefined;
} & OneOf<
  | {
    /** A sub_account key acts for one client firm; an app key for the whole desk. */
    kind: "app";
  }
  | {
    /** A sub_account key acts for one client firm; an app key for the whole desk. */
    kind: "sub_account";
    /** The client firm of a sub_account key. */
    firm_id: string;
  }
>;

/** An API key, without its secret. */
export type Key = {
  /** The key's id. */
  key_id: string;
  /** What the key is for, in your words. */
  name: string;
  /** A root key is the firm's own; others are minted from it. */
  kind: "root" | "sub_account" | "app" | (string & {});
  /** Chosen by the key's prefix. */
  environment: "live" | "sandbox" | (string & {});
  /** The firm the key is bound to. */
  firm_id: string;
  /** The key it was minted from; null for a root key. */
  parent_key_id: string | null;
  /** The scopes that the key was granted. */
  scopes: ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*" | (string & {}))[];
  /** Whether the key may take buy quotes. */
  buy_side: boolean;
  /** The plan of a root key; null for a child, which shares its root's. */
  plan: string | null;
  /** Limits of its own; absent ones are the plan's. */
  limits: {
    /** The calls allowed in 60 seconds. */
    per_minute?: number;
    /** The calls allowed in an IST month. */
    monthly_quota?: number;
    /** The largest single deal in paise. */
    max_order_paise?: number;
    /** Largest sum of what the key commits per IST day. */
    daily_notional_paise?: number;
    /** false where the key may not move money out. */
    withdrawals?: boolean;
  };
  /** Where it may be used from; anywhere when empty. */
  ip_allowlist: string[];
  /** The key with its secret left out. */
  masked_key: string;
  /** Only an active key matches. */
  status: "active" | "expired" | "revoked" | (string & {});
  /** When it stops matching; null for never. */
  expires_at: string | null;
  /** When it was revoked; null while it counts. */
  revoked_at: string | null;
  /** When it was issued. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use. */
  last_used_at: string | null;
  /** The number of the version, raised by every change. */
  version: number;
  /** What its state allows now; see GET /v1/meta/states. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** An API key at the one moment it is shown. */
export type MintedKey = {
  /** The key's id. */
  key_id: string;
  /** What the key is for, in your words. */
  name: string;
  /** A root key is the firm's own; others are minted from it. */
  kind: "root" | "sub_account" | "app" | (string & {});
  /** Chosen by the key's prefix. */
  environment: "live" | "sandbox" | (string & {});
  /** The firm the key is bound to. */
  firm_id: string;
  /** The key it was minted from; null for a root key. */
  parent_key_id: string | null;
  /** The scopes that the key was granted. */
  scopes: ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*" | (string & {}))[];
  /** Whether the key may take buy quotes. */
  buy_side: boolean;
  /** The plan of a root key; null for a child, which shares its root's. */
  plan: string | null;
  /** Limits of its own; absent ones are the plan's. */
  limits: {
    /** The calls allowed in 60 seconds. */
    per_minute?: number;
    /** The calls allowed in an IST month. */
    monthly_quota?: number;
    /** The largest single deal in paise. */
    max_order_paise?: number;
    /** Largest sum of what the key commits per IST day. */
    daily_notional_paise?: number;
    /** false where the key may not move money out. */
    withdrawals?: boolean;
  };
  /** Where it may be used from; anywhere when empty. */
  ip_allowlist: string[];
  /** The key with its secret left out. */
  masked_key: string;
  /** Only an active key matches. */
  status: "active" | "expired" | "revoked" | (string & {});
  /** When it stops matching; null for never. */
  expires_at: string | null;
  /** When it was revoked; null while it counts. */
  revoked_at: string | null;
  /** When it was issued. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use. */
  last_used_at: string | null;
  /** The number of the version, raised by every change. */
  version: number;
  /** What its state allows now; see GET /v1/meta/states. */
  allowed_actions: string[];
  /** The key itself. Shown here and never again. */
  api_key: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** What is given is narrowed; an absent field, or limit, stays as it is. */
export type UpdateKey = {
  /** What the key is for. */
  name?: string | undefined;
  /** Some of the scopes it holds; the others are taken away. */
  scopes?: readonly ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*")[] | undefined;
  /** false takes buy quotes away. */
  buy_side?: boolean | undefined;
  /** An end, or an earlier one. ISO 8601 with an offset. */
  expires_at?: string | undefined;
  /** Where it may be used from, within where it may be used from now. */
  ip_allowlist?: readonly string[] | undefined;
  /** Limits of this key, within those of its parent. */
  limits?: {
    /** Calls per 60 seconds. */
    per_minute?: number | undefined;
    /** Calls per IST month. */
    monthly_quota?: number | undefined;
    /** Largest single deal: an order or a cross by face, a withdrawal by amount. */
    max_order_paise?: number | undefined;
    /** Largest sum of what the key commits per IST day, counted alike. */
    daily_notional_paise?: number | undefined;
    /** false: the key may not withdraw money, change a firm's bank account, or have a firm drained and paid. Default true. */
    withdrawals?: boolean | undefined;
  } | undefined;
};

/** An API key with its new secret; without it when this was a dry run. */
export type ReissuedKey = {
  /** The key's id. */
  key_id: string;
  /** What the key is for, in your words. */
  name: string;
  /** A root key is the firm's own; others are minted from it. */
  kind: "root" | "sub_account" | "app" | (string & {});
  /** Chosen by the key's prefix. */
  environment: "live" | "sandbox" | (string & {});
  /** The firm the key is bound to. */
  firm_id: string;
  /** The key it was minted from; null for a root key. */
  parent_key_id: string | null;
  /** The scopes that the key was granted. */
  scopes: ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*" | (string & {}))[];
  /** Whether the key may take buy quotes. */
  buy_side: boolean;
  /** The plan of a root key; null for a child, which shares its root's. */
  plan: string | null;
  /** Limits of its own; absent ones are the plan's. */
  limits: {
    /** The calls allowed in 60 seconds. */
    per_minute?: number;
    /** The calls allowed in an IST month. */
    monthly_quota?: number;
    /** The largest single deal in paise. */
    max_order_paise?: number;
    /** Largest sum of what the key commits per IST day. */
    daily_notional_paise?: number;
    /** false where the key may not move money out. */
    withdrawals?: boolean;
  };
  /** Where it may be used from; anywhere when empty. */
  ip_allowlist: string[];
  /** The key with its secret left out. */
  masked_key: string;
  /** Only an active key matches. */
  status: "active" | "expired" | "revoked" | (string & {});
  /** When it stops matching; null for never. */
  expires_at: string | null;
  /** When it was revoked; null while it counts. */
  revoked_at: string | null;
  /** When it was issued. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use. */
  last_used_at: string | null;
  /** The number of the version, raised by every change. */
  version: number;
  /** What its state allows now; see GET /v1/meta/states. */
  allowed_actions: string[];
  /** The key itself. Shown here and never again. */
  api_key?: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** The numbers of the response's own headers, and the month behind them. */
export type Usage = {
  /** The key's plan. */
  plan: string;
  /** The calls allowed in the window. */
  limit: number;
  /** The calls left in the window. */
  remaining: number;
  /** Seconds until the window has room again. */
  reset: number;
  /** As X-RateLimit-Quota; absent when unmetered. */
  quota?: number;
  /** The calls of this month. */
  quota_used: number;
  /** Length of the sliding window. */
  window_s: number;
  /** When the month ends and the quota starts again. ISO 8601, IST. */
  quota_resets_at: string;
  /** A child key sees its own calls, a root key those of its whole family. */
  by_day: ({
    /** The day in IST. */
    day: string;
    /** Calls that were let in. */
    calls: number;
  })[];
  /** The month's calls by operation. */
  by_route: ({
    /** Method and path. */
    route: string;
    /** Calls that were let in. */
    calls: number;
  })[];
  /** The month's calls by key. */
  by_key: ({
    /** The key's id. */
    key_id: string;
    /** Calls that were let in. */
    calls: number;
  })[];
};

/** A call that was answered, without what was in it. */
export type AnsweredRequest = {
  /** As in the X-Request-ID of the answer. */
  request_id: string;
  /** When it came. ISO 8601, IST. */
  at: string;
  /** The HTTP method. */
  method: string;
  /** The path, with the names of its parts; null for none of ours. */
  route: string | null;
  /** The answer's HTTP status. */
  status: number;
  /** Why it was refused: the slug of its error body; null for a success. */
  code: string | null;
  /** The `detail.reason` of its error body; null without one. */
  reason: string | null;
  /** How long it took us, in milliseconds; of a stream, how long it was open. */
  duration_ms: number;
  /** The key that it came with. */
  key_id: string;
  /** The request's Idempotency-Key; null without one. */
  idempotency_key: string | null;
  /** What it made, or had made already under its Idempotency-Key; null for what made nothing, and for a set. */
  made: string | null;
};

export type AnsweredRequestList = {
  /** Newest first. */
  requests: AnsweredRequest[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type RegisterFirm = {
  /** As registered with customs. */
  legal_name: string;
  /** Importer-exporter code: the PAN, or ten digits for an old one. */
  iec: string;
  /** Permanent account number (PAN). */
  pan: string;
  /** The number of the GST registration; it holds the PAN, and its last character is a check. */
  gstin?: string | undefined;
  /** Corporate identity number (CIN), of companies only. */
  cin?: string | undefined;
  /** Where people of the firm are reached. */
  email: string;
  /** Ten Indian digits, or with + and a country code. */
  phone?: string | undefined;
  /** The bank account that its money goes to. */
  bank?: {
    /** 9 to 18 digits. Never shown again. */
    account_no: string;
    /** The branch's IFSC. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | undefined;
  /** What the firm does: exporter, importer or both. */
  role: "exporter" | "importer" | "both";
  /** The group of your desk that it belongs to. */
  group_id?: string | undefined;
  /** Your own name for the firm, unique on your desk. */
  external_id?: string | undefined;
};

/** A company that your desk trades for. */
export type Firm = {
  /** The firm's id. */
  firm_id: string;
  /** Chosen by the key's prefix. */
  environment: "live" | "sandbox" | (string & {});
  /** The name it is registered under with customs. */
  legal_name: string;
  /** The importer-exporter code (IEC); null while none is given. */
  iec: string | null;
  /** Permanent account number (PAN); null while none is given. */
  pan: string | null;
  /** The number of the GST registration (GSTIN); null without one. */
  gstin: string | null;
  /** Corporate identity number (CIN); null without one. */
  cin: string | null;
  /** Masked after offboarding; null while none is given. */
  email: string | null;
  /** Masked after offboarding; null while none is given. */
  phone: string | null;
  /** What the firm does: exporter, importer or both. */
  role: "exporter" | "importer" | "both" | (string & {});
  /** Where its money goes; null before it is given. */
  bank: {
    /** The account number, of which the last four digits are shown. */
    account_no_masked: string;
    /** The branch's IFSC. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | null;
  /** The group it belongs to; null for a firm of none. */
  group_id: string | null;
  /** Your own name for the firm; null when it has none. */
  external_id: string | null;
  /** How far the connection has come. */
  connection_state: "registered" | "verifying" | "action_required" | "verified" | "authorized" | "suspended" | "rejected" | "offboarding" | "offboarded" | (string & {});
  /** What the registry and the bank said about the firm. */
  checks: ({
    /** What was asked. */
    check: "IEC_ACTIVE" | "PAN_MATCH" | "GSTIN_MATCH" | "BANK_NAME_MATCH" | "FLAGGED_IEC" | (string & {});
    /** What was found. */
    outcome: "pass" | "fail" | "pending" | (string & {});
    /** What to do about a failure; null for a check that has not failed. */
    cure: string | null;
    /** When it was found; null while pending. */
    as_of: string | null;
  })[];
  /** What is held back for now, and until when. */
  holds: ({
    /** What is held back. */
    on: "payouts" | (string & {});
    /** Why it is held back. */
    reason: "firm_suspended" | "firm_rejected" | "firm_flagged" | "firm_offboarded" | "beneficiary_change" | "bank_not_verified" | (string & {});
    /** When it ends by itself; null when the bank or a person decides first. */
    until: string | null;
  })[];
  /** The firm's permission to trade for it; null before it is given. */
  mandate: {
    /** Who signed it for the firm. */
    signatory_name: string;
    /** The mandate's reference. */
    reference: string;
    /** When it ends. ISO 8601, IST. */
    valid_until: string;
    /** Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is proved; what the house does late is nobody's default. */
    transfers: "house" | "firm" | (string & {});
  } | null;
  /** Who suspended the firm, and why; null while it is not suspended. */
  suspension: {
    /** Who suspended it; the operator's only they can lift. */
    by: "desk" | "operator" | (string & {});
    /** The reason in words. */
    reason: string;
  } | null;
  /** When it was registered. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What its state allows now; see GET /v1/meta/states. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type FirmList = {
  /** Newest first; your desk's own firm is one of them. */
  firms: Firm[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type UpdateFirm = {
  /** As registered with customs. */
  legal_name?: string | undefined;
  /** Importer-exporter code: the PAN, or ten digits for an old one. */
  iec?: string | undefined;
  /** Permanent account number (PAN). */
  pan?: string | undefined;
  /** The number of the GST registration; it holds the PAN, and its last character is a check. null takes it away. */
  gstin?: string | null | undefined;
  /** Corporate identity number (CIN), of companies only. null takes it away. */
  cin?: string | null | undefined;
  /** Where people of the firm are reached. */
  email?: string | undefined;
  /** Ten Indian digits, or with + and a country code. null takes it away. */
  phone?: string | null | undefined;
  /** Where its money goes; null takes it away. */
  bank?: {
    /** 9 to 18 digits. Never shown again. */
    account_no: string;
    /** The branch's IFSC. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | null | undefined;
  /** What the firm does: exporter, importer or both. */
  role?: "exporter" | "importer" | "both" | undefined;
  /** The group of your desk that it belongs to. null takes it away. */
  group_id?: string | null | undefined;
  /** Your own name for the firm, unique on your desk. null takes it away. */
  external_id?: string | null | undefined;
};

/** How far a firm's connection has come, and what it waits for. */
export type Connection = {
  /** The firm's id. */
  firm_id: string;
  /** How far the connection has come. */
  connection_state: "registered" | "verifying" | "action_required" | "verified" | "authorized" | "suspended" | "rejected" | "offboarding" | "offboarded" | (string & {});
  /** What the registry and the bank said about the firm. */
  checks: ({
    /** What was asked. */
    check: "IEC_ACTIVE" | "PAN_MATCH" | "GSTIN_MATCH" | "BANK_NAME_MATCH" | "FLAGGED_IEC" | (string & {});
    /** What was found. */
    outcome: "pass" | "fail" | "pending" | (string & {});
    /** What to do about a failure; null for a check that has not failed. */
    cure: string | null;
    /** When it was found; null while pending. */
    as_of: string | null;
  })[];
  /** What is held back for now, and until when. */
  holds: ({
    /** What is held back. */
    on: "payouts" | (string & {});
    /** Why it is held back. */
    reason: "firm_suspended" | "firm_rejected" | "firm_flagged" | "firm_offboarded" | "beneficiary_change" | "bank_not_verified" | (string & {});
    /** When it ends by itself; null when the bank or a person decides first. */
    until: string | null;
  })[];
  /** The firm's permission to trade for it; null before it is given. */
  mandate: {
    /** Who signed it for the firm. */
    signatory_name: string;
    /** The mandate's reference. */
    reference: string;
    /** When it ends. ISO 8601, IST. */
    valid_until: string;
    /** Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is proved; what the house does late is nobody's default. */
    transfers: "house" | "firm" | (string & {});
  } | null;
  /** Who suspended the firm, and why; null while it is not suspended. */
  suspension: {
    /** Who suspended it; the operator's only they can lift. */
    by: "desk" | "operator" | (string & {});
    /** The reason in words. */
    reason: string;
  } | null;
  /** Whether the world outside answers. */
  ports: ({
    /** Who answers outside. */
    port: "registry" | "bank" | (string & {});
    /** During an outage questions wait. */
    state: "up" | "outage" | (string & {});
    /** When the outage began; null without one. */
    since: string | null;
  })[];
  /** The number of the version, raised by every change. */
  version: number;
  /** What its state allows now; see GET /v1/meta/states. */
  allowed_actions: string[];
  /** When this was read. ISO 8601, IST. */
  as_of: string;
};

/** An empty object: the call takes no fields. */
export type VerifyFirm = Record<string, never>;

export type AuthorizeFirm = {
  /** The firm's permission to trade for it. */
  mandate: {
    /** Who signed for the firm. */
    signatory_name: string;
    /** Where the signed mandate is found. */
    reference: string;
    /** ISO 8601 with an offset, or a day: then to the end of it, IST. */
    valid_until: string;
    /** Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is proved; what the house does late is nobody's default. The house where it is left out. */
    transfers?: "house" | "firm" | undefined;
  };
};

export type SuspendFirm = {
  /** Why, for whoever looks later. */
  reason: string;
};

/** An empty object: the call takes no fields. */
export type ResumeFirm = Record<string, never>;

export type OffboardFirm = {
  /** Take no new business, and leave by itself when the open business is done. */
  mode?: "drain" | undefined;
};

export type CreateGroup = {
  /** What the group is called; one group of that name on a desk. */
  name: string;
};

/** Firms of your desk under common ownership. */
export type Group = {
  /** The group's id. */
  group_id: string;
  /** What the group is called. */
  name: string;
  /** At most 500. */
  member_count: number;
  /** When it was created. ISO 8601, IST. */
  created_at: string;
  /** When it or its membership last changed. ISO 8601, IST. */
  updated_at: string;
  /** Raised by every change, membership included. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type GroupList = {
  /** Newest first. */
  groups: Group[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type UpdateGroup = {
  /** What the group is called; one group of that name on a desk. */
  name: string;
};

/** A firm that is in the group. */
export type GroupMember = {
  /** A firm of your desk. */
  firm_id: string;
  /** The firm's legal name. */
  legal_name: string;
  /** How far the firm's connection has come. */
  connection_state: string;
};

export type GroupMemberList = {
  /** Newest firm first. */
  members: GroupMember[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** What the group's firms hold against the basic customs duty they will owe. */
export type GroupPositions = {
  /** The group's id. */
  group_id: string;
  /** The one moment that every figure is of. ISO 8601, IST. */
  as_of: string;
  /** Credits and requirements of each scheme. */
  schemes: ({
    /** Always one line for each scheme. */
    scheme: "RODTEP" | "ROSCTL" | (string & {});
    /** How many credits are held. */
    credit_count: number;
    /** Face of the credits that are listed, reserved or in settlement. */
    face_paise: number;
    /** The part of it that is listed, and so free to be moved or sold. */
    available_paise: number;
    /** How many are still to come. */
    requirement_count: number;
    /** Declared basic customs duty that is due today or later. */
    requirement_paise: number;
    /** Face less requirements; below zero, duty is uncovered. */
    net_paise: number;
    /** Always every bucket, soonest first. */
    buckets: ({
      /** Days until the credits lapse. */
      bucket: "0-30" | "31-60" | "61-90" | "91-180" | "181-365" | "over-365" | (string & {});
      /** The bucket's last day; null for the one without end. */
      days_max: number | null;
      /** How many credits are held. */
      credit_count: number;
      /** Face of the credits that are listed, reserved or in settlement. */
      face_paise: number;
      /** The part of it that is listed, and so free to be moved or sold. */
      available_paise: number;
    })[];
  })[];
  /** Requirements that name no scheme: credits of either can cover them. */
  any_scheme: {
    /** How many are still to come. */
    requirement_count: number;
    /** Declared basic customs duty that is due today or later. */
    requirement_paise: number;
  };
  /** The same per member; the members add up to the group. */
  members: ({
    /** A firm of your desk. */
    firm_id: string;
    /** The firm's legal name. */
    legal_name: string;
    /** Credits and requirements of each scheme. */
    schemes: ({
      /** Always one line for each scheme. */
      scheme: "RODTEP" | "ROSCTL" | (string & {});
      /** How many credits are held. */
      credit_count: number;
      /** Face of the credits that are listed, reserved or in settlement. */
      face_paise: number;
      /** The part of it that is listed, and so free to be moved or sold. */
      available_paise: number;
      /** How many are still to come. */
      requirement_count: number;
      /** Declared basic customs duty that is due today or later. */
      requirement_paise: number;
      /** Face less requirements; below zero, duty is uncovered. */
      net_paise: number;
      /** Always every bucket, soonest first. */
      buckets: ({
        /** Days until the credits lapse. */
        bucket: "0-30" | "31-60" | "61-90" | "91-180" | "181-365" | "over-365" | (string & {});
        /** The bucket's last day; null for the one without end. */
        days_max: number | null;
        /** How many credits are held. */
        credit_count: number;
        /** Face of the credits that are listed, reserved or in settlement. */
        face_paise: number;
        /** The part of it that is listed, and so free to be moved or sold. */
        available_paise: number;
      })[];
    })[];
    /** Requirements that name no scheme: credits of either can cover them. */
    any_scheme: {
      /** How many are still to come. */
      requirement_count: number;
      /** Declared basic customs duty that is due today or later. */
      requirement_paise: number;
    };
  })[];
};

export type DeclareRequirement = {
  /** Which credits are to cover it; absent: either scheme. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** The basic customs duty that will have to be paid: credits pay no other. */
  amount_paise: number;
  /** When it is due; today or later. A day in IST. */
  due_on: string;
  /** Your own name for it, such as a bill of entry; one per firm. */
  reference: string;
};

/** Basic customs duty that a firm will have to pay. */
export type Requirement = {
  /** The requirement's id. */
  requirement_id: string;
  /** A firm of your desk. */
  firm_id: string;
  /** Which credits are to cover it; null: either. */
  scheme: string | null;
  /** The basic customs duty to be paid. */
  amount_paise: number;
  /** What its orders have bought for it: matched, and not failed. */
  covered_paise: number;
  /** amount_paise less covered_paise; 0 where more was bought than is needed now. */
  uncovered_paise: number;
  /** What an order for it still rests with; a part of what is uncovered. */
  resting_paise: number;
  /** The orders that were placed to cover it, oldest first; at most 100. */
  order_ids: string[];
  /** When it is due, in IST. */
  due_on: string;
  /** Your own name for it, such as the bill of entry. */
  reference: string;
  /** When it was declared. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: ("update" | "delete" | (string & {}))[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type RequirementList = {
  /** Newest first. */
  requirements: Requirement[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type UpdateRequirement = {
  /** Which credits are to cover it; null: either scheme. */
  scheme?: "RODTEP" | "ROSCTL" | null | undefined;
  /** The basic customs duty that will have to be paid: credits pay no other. */
  amount_paise?: number | undefined;
  /** When it is due; today or later. A day in IST. */
  due_on?: string | undefined;
  /** Your own name for it, such as a bill of entry; one per firm. */
  reference?: string | undefined;
};

/** How a group covers its basic customs duty with its own credits, and what is left over. */
export type Netting = {
  /** A group of your desk. */
  group_id: string;
  /** The one moment that every figure is of. ISO 8601, IST. */
  as_of: string;
  /** Names these proposals until their time is over. */
  netting_ref: string;
  /** Whether it is proven that no other moves leave less duty uncovered. */
  proven_optimal: boolean;
  /** One line per scheme. */
  schemes: ({
    /** Always one line for each scheme. */
    scheme: "RODTEP" | "ROSCTL" | (string & {});
    /** Face of the credits that are listed or on their way to a member, and have not lapsed. */
    gross_credit_paise: number;
    /** Basic customs duty that is due today or later. What either scheme may pay counts where it is paid, and what is left of it where cover costs least. */
    gross_requirement_paise: number;
    /** What of it the group's own credits pay, moved or not. */
    internal_match_paise: number;
    /** Face that is left to sell: gross credit less the match. */
    net_sell_paise: number;
    /** Duty that is left to buy cover for or pay: gross requirement less the match. */
    net_buy_paise: number;
    /** What the moves keep from the market: buying them at today's ask less selling them at its bid. */
    spread_saved_paise: number;
  })[];
  /** Every member, newest firm first. */
  entities: ({
    /** A member of the group. */
    firm_id: string;
    /** Face of the credits that it gives to other members. */
    give_paise: number;
    /** Face of the credits that it takes from other members. */
    take_paise: number;
    /** What it is paid less what it pays for the moves; sums to zero over the members. */
    net_cash_paise: number;
    /** Duty of its own that no credit of the group pays. */
    uncovered_paise: number;
  })[];
  /** Whole credits that change hands, by giver, taker and scheme. */
  proposals: ({
    /** The id of the firm that gives the credit. */
    from_firm_id: string;
    /** Who takes it, to pay its own duty with. */
    to_firm_id: string;
    /** Which scheme the credits are of. */
    scheme: "RODTEP" | "ROSCTL" | (string & {});
    /** A credit's number. */
    scrip_no: string;
    /** The credit's face value in paise. */
    face_paise: number;
    /** The card's mid, in basis points of face. */
    price_bps: number;
  })[];
};

export type CrossNetting = {
  /** Names these proposals until their time is over. */
  netting_ref: string;
};

/** The crosses that a netting was turned into. */
export type NettingCrosses = {
  /** A group of your desk. */
  group_id: string;
  /** Names these proposals until their time is over. */
  netting_ref: string;
  /** One for each giver, taker and scheme, agreed by both sides. */
  crosses: ({
    /** The cross; its buyer funds it and its seller releases it. */
    cross_id: string;
    /** The id of the firm that sells. */
    from_firm_id: string;
    /** The id of the firm that buys. */
    to_firm_id: string;
    /** Which scheme the credits are of. */
    scheme: "RODTEP" | "ROSCTL" | (string & {});
    /** All credits that the one gives the other. */
    scrip_nos: string[];
    /** The sum of their faces. */
    face_paise: number;
    /** The card's mid, in basis points of face. */
    price_bps: number;
    /** What the buyer pays and the seller is paid. */
    all_in_paise: number;
    /** How far the cross has come. */
    status: "proposed" | "agreed" | "funded" | "released" | "settled" | "declined" | "cancelled" | "expired" | "refunded" | "failed" | (string & {});
    /** Raised by every change of the cross. */
    version: number;
  })[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** A part of a credit that paid basic customs duty. */
export type CreditUse = {
  /** The bill of entry; null where the credit was only marked as used. */
  bill_of_entry: string | null;
  /** The day it paid; null without a bill. */
  used_on: string | null;
  /** The customs port of the bill; null without a bill. */
  port: string | null;
  /** The part of the credit that paid, in paise. */
  amount_paise: number;
  /** What was left on the credit after it, in paise. */
  balance_paise: number;
};

/** One firm's holding of one scrip. */
export type Credit = {
  /** This firm's holding of the scrip, as events name it. */
  credit_id: string;
  /** The credit's number: opaque, taken trimmed and in capitals. */
  scrip_no: string;
  /** The scheme it was issued under. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The firm that holds it. */
  firm_id: string;
  /** What it was issued with. */
  issued_paise: number;
  /** The balance that can be transferred: what is priced and sold. 0 once it is used. */
  face_paise: number;
  /** The code of its customs port; null while it is unknown. */
  port_code: string | null;
  /** The day it was issued. YYYY-MM-DD. */
  issued_on: string;
  /** The last day it can be used, IST. YYYY-MM-DD. */
  expires_on: string;
  /** Days from today, IST, to expires_on; 0 on the last day and after it. */
  days_left: number;
  /** Declared until the registry confirms it, then listed. */
  status: "declared" | "listed" | "reserved" | "in_settlement" | "transferred" | "suspended" | "cancelled" | "expired" | "used" | "withdrawn" | "rejected" | (string & {});
  /** Whether it can be sold now. */
  sellable: boolean;
  /** Null when sellable. Its status when that is not listed; firm_not_authorized when its firm may not trade; too_short with fewer than 30 days left. Open set. */
  not_sellable_reason: "declared" | "reserved" | "in_settlement" | "transferred" | "suspended" | "cancelled" | "expired" | "used" | "withdrawn" | "rejected" | "firm_not_authorized" | "too_short" | (string & {}) | null;
  /** The parts that its firm has told, in that order. */
  uses: CreditUse[];
  /** What was used and is not told in uses: before it was declared, or seen in a report of customs. issued_paise is face_paise, uses and this. */
  used_elsewhere_paise: number;
  /** The day on which customs showed this balance, by confirming the holding or its transfer; null for one that only its firm has told, as after a part was used. */
  balance_shown_on: string | null;
  /** When the registry, or the firm before it, last spoke about it. ISO 8601, IST. */
  as_of: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What its state allows you now; see GET /v1/meta/states. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type CreditList = {
  /** Newest first. */
  credits: Credit[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** What a firm says about a credit it holds. */
export type CreditDeclaration = {
  /** The credit's number: opaque, taken trimmed and in capitals. */
  scrip_no: string;
  /** The scheme it was issued under. */
  scheme: "RODTEP" | "ROSCTL";
  /** The balance that can be transferred: what is priced and sold. */
  face_paise: number;
  /** What it was issued with; the balance when it is not given. */
  issued_paise?: number | undefined;
  /** Its customs port. */
  port_code?: string | undefined;
  /** The day it was issued. YYYY-MM-DD. */
  issued_on: string;
  /** The last day it can be used, IST. YYYY-MM-DD. */
  expires_on: string;
};

export type DeclareCredits = {
  /** Each is answered by itself. */
  credits: readonly CreditDeclaration[];
};

/** The whole error body that a call with this item alone would get, an object; null when ok. The slug is in its code or, where it has none, in its error: the field of the same name within. */
export type ItemError = {
  /** request_error, or a slug as in any error body. */
  error: string;
  /** Stable slug; when present, prefer it. */
  code?: string;
  /** For people; its wording may change. */
  message: string;
  /** Of a fault of ours: as the X-Request-ID header. */
  request_id?: string;
  /** Facts about the error, by reason. */
  detail?: { [name: string]: unknown };
} | null;

export type CreditDeclarationResults = {
  /** One per item, in the order of the request. */
  results: ({
    /** Its place in the request, from 0. */
    index: number;
    /** Whether the credit stands as declared. */
    ok: boolean;
    /** The status a call with this item alone would have: 201 new, 200 known, or 4xx. */
    status: number;
    error: ItemError;
    credit?: Credit;
  })[];
  /** The number of items that were accepted. */
  accepted: number;
  /** The number of items that were refused. */
  failed: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type ImportCredits = OneOf<
  | {
    /** A report of the customs portal, at most 5000 rows. Amounts are rupees. This or xlsx. */
    csv: string;
  }
  | {
    /** The same as a workbook, in base64. Scrip numbers are stored as text there. This or csv. */
    xlsx: string;
  }
>;

export type CreditImportResults = {
  /** One per row with content, in the order of the file. */
  results: ({
    /** Its row in the file as a spreadsheet counts: the heading is row 1. */
    row: number;
    /** Whether the credit stands as declared. */
    ok: boolean;
    /** The status a call with this item alone would have: 201 new, 200 known, or 4xx. */
    status: number;
    error: ItemError;
    credit?: Credit;
  })[];
  /** The number of items that were accepted. */
  accepted: number;
  /** The number of items that were refused. */
  failed: number;
  /** Blank rows, rows above the heading and the totals row, which say nothing of a credit. */
  skipped: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** The bill, the day and the port together; none of them to mark all as used. */
export type UseCredit = {
  /** The bill of entry whose basic customs duty it paid; one part per bill. */
  bill_of_entry?: string | undefined;
  /** The day it paid; today or before. YYYY-MM-DD. */
  used_on?: string | undefined;
  /** The customs port of the bill. */
  port?: string | undefined;
  /** The part that was used; all that is left when it is left out. */
  amount_paise?: number | undefined;
};

/** Sell: scrip_no alone, or scheme and face_paise. Buy: scheme and requirement_paise. */
export type QuoteRequest = OneOf<
  | {
    /** Whether you sell credits or buy cover. */
    side: "sell";
    /** Sell, and alone: the one credit to price. */
    scrip_no: string;
  }
  | {
    /** Whether you sell credits or buy cover. */
    side: "sell";
    /** Required unless scrip_no is given. */
    scheme: "RODTEP" | "ROSCTL";
    /** Sell, with scheme: the face value to price. */
    face_paise: number;
  }
  | {
    /** Whether you sell credits or buy cover. */
    side: "buy";
    /** Required unless scrip_no is given. */
    scheme: "RODTEP" | "ROSCTL";
    /** Buy, with scheme: the basic customs duty to cover. */
    requirement_paise: number;
  }
>;

/** A binding price for an exact amount, or that there is none: a SellQuote, a BuyQuote or a NoQuote. */
export type Quote = OneOf<SellQuote | BuyQuote | NoQuote>;

export type TakeQuoteBatch = {
  /** 1 to 200; each has its own result. */
  quotes: readonly QuoteRequest[];
};

export type QuoteBatchResults = {
  /** One per quote, in the order of the request. */
  results: ({
    /** Its place in the request, from 0. */
    index: number;
    /** Whether there is an answer, be it that there is no price. */
    ok: boolean;
    /** The status a call with this quote alone would have. */
    status: number;
    error: ItemError;
    /** Until when its price binds, on both sides; null without a price. ISO 8601, IST. */
    valid_until: string | null;
    quote?: Quote;
  })[];
  /** Quotes that were answered. */
  quoted: number;
  /** Quotes that were refused. */
  failed: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** A quote as it was answered, with its present state. */
export type StoredQuote = {
  /** The side that was asked for. */
  side?: "sell" | "buy" | (string & {});
  /** The scheme that was priced. */
  scheme?: "RODTEP" | "ROSCTL" | (string & {});
  /** Sell by scrip_no: the credit that was priced. */
  scrip_no?: string;
  /** Sell: the face value that was priced. */
  face_paise?: number;
  /** Buy: the basic customs duty to cover. */
  requirement_paise?: number;
  /** Your price, in basis points of face. */
  price_bps?: number;
  /** The single amount that changes hands, everything included. */
  all_in_paise?: number;
  /** Buy: saved against paying the duty in cash. */
  savings_paise?: number;
  /** Buy: the whole credits that cover the requirement. */
  scrip_nos?: string[];
  /** Buy: the duty that the bundle covers. */
  covered_paise?: number;
  /** Buy: the duty left to pay in cash. */
  residual_paise?: number;
  /** Buy: whether nothing is left to pay in cash. */
  fully_covered?: boolean;
  /** Until when the price binds, on either side. ISO 8601, IST. */
  valid_until: string;
  /** The quote's reference: order with it, or ask support about it. */
  quote_ref: string;
  /** Open until an order uses it or its time is over. */
  status: "open" | "used" | "expired" | (string & {});
  /** The order that was placed on it; null before one is. */
  order_id: string | null;
  /** Whose credit it prices; the firm of the key when no credit was named. */
  firm_id: string;
  /** The version of the rate card it was made from. */
  card_version: number;
  /** What else a deal on it comes with. */
  terms: {
    /** At most so much of face does a side that is proved late pay the other. */
    default_bps: number;
  };
  /** When it was given. ISO 8601, IST. */
  created_at: string;
  /** 2 once an order uses it, 1 before. */
  version: number;
  /** What its state allows you now; see GET /v1/meta/states. */
  allowed_actions: string[];
};

export type PlaceOrder = {
  /** The firm of your desk that is acted for; the key's own when absent. */
  firm_id?: string | undefined;
  /** Your own name for the order. */
  client_ref?: string | undefined;
  /** Your own names and values; up to 20, kept as they are. Every value is a string. */
  metadata?: { [name: string]: string } | undefined;
} & OneOf<
  | {
    /** Takes a quote at its price, as long as it is valid; a quote is used once. */
    quote_ref: string;
  }
  | {
    /** Required without quote_ref. */
    side: "sell";
    /** Sell: this one credit. */
    scrip_no: string;
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | "GTC" | "GTD" | undefined;
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at?: string | undefined;
  }
  | {
    /** Required without quote_ref. */
    side: "sell";
    /** With face_paise or requirement_paise. */
    scheme: "RODTEP" | "ROSCTL";
    /** Sell: the firm's own whole credits whose sum is the largest within this. */
    face_paise: number;
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | "GTC" | "GTD" | undefined;
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at?: string | undefined;
  }
  | {
    /** Required without quote_ref. */
    side: "buy";
    /** With face_paise or requirement_paise. */
    scheme: "RODTEP" | "ROSCTL";
    /** Buy: the basic customs duty to cover with whole credits. */
    requirement_paise: number;
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | "GTC" | "GTD" | undefined;
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at?: string | undefined;
  }
> & OneOf<
  | {
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | undefined;
  }
  | {
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps: number;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force: "GTC";
  }
  | {
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps: number;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force: "GTD";
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at: string;
  }
>;

/** An instruction to sell credits or to buy cover. */
export type Order = {
  /** The order's id. */
  order_id: string;
  /** Your own name for the order; null when it has none. */
  client_ref: string | null;
  /** The id of the firm that the order is for. */
  firm_id: string;
  /** Which side. */
  side: "sell" | "buy" | (string & {});
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Sell: the credits it sells. Buy: the credits that cover it so far. */
  scrip_nos: string[];
  /** Sell: the face that was asked for. */
  face_paise?: number;
  /** Buy: the basic customs duty to cover. */
  requirement_paise?: number;
  /** Sell: the face of its credits. Buy: the duty covered so far. */
  covered_paise: number;
  /** The part of the request that is not covered. */
  residual_paise: number;
  /** The one price of the order; null until something of it is dealt. */
  price_bps: number | null;
  /** The limit it was placed with; null without one. */
  limit_bps: number | null;
  /** The amount that changes hands for the dealt part, everything included; null before anything of it is dealt. */
  all_in_paise: number | null;
  /** Buy: the saving against paying the covered duty in cash; null before anything of it is dealt, and for sells. */
  savings_paise: number | null;
  /** How long it may rest. */
  time_in_force: "IOC" | "GTC" | "GTD" | (string & {});
  /** When it expires; null for an order that does not. ISO 8601, IST. */
  expires_at: string | null;
  /** The quote that the order took; null without one. */
  quote_ref: string | null;
  /** The pairs that were given with it. */
  metadata: { [name: string]: string };
  /** Its state. */
  status: "open" | "matched" | "cancelled" | "expired" | "failed" | (string & {});
  /** The id of its latest settlement; null before there is a deal. */
  settlement_id: string | null;
  /** All of its settlements; an order that rested can be dealt in parts. */
  settlement_ids: string[];
  /** The state of its own credits in its latest settlement; null before there is one. */
  settlement_status: string | null;
  /** The part of all_in_paise that has changed hands for delivered credits; null before a deal. */
  settled_paise: number | null;
  /** The number of the version, raised by every change. */
  version: number;
  /** The actions that its state allows. */
  allowed_actions: string[];
  /** Every state it has had, in sequence. */
  history: ({
    /** The new state. */
    status: "open" | "matched" | "cancelled" | "expired" | "failed" | (string & {});
    /** When it came to this state. ISO 8601, IST. */
    at: string;
    /** Why it came to this state; null where that is obvious. */
    reason: string | null;
  })[];
  /** When it was placed. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type OrderList = {
  /** Newest first. */
  orders: Order[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** With a limit it rests until it is cancelled, or until expires_at; without one it buys now, at the current binding price. */
export type CoverRequirement = {
  /** Which credits are to cover it; required where the requirement names none. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
  limit_bps?: number | undefined;
  /** When a GTD order ends. ISO 8601, IST. */
  expires_at?: string | undefined;
};

export type BatchOrder = {
  /** The firm of your desk that is acted for; the key's own when absent. */
  firm_id?: string | undefined;
  /** Your own name for the order. */
  client_ref?: string | undefined;
  /** Your own names and values; up to 20, kept as they are. Every value is a string. */
  metadata?: { [name: string]: string } | undefined;
  /** This order's own key; otherwise the header's with # and the index. */
  idempotency_key?: string | undefined;
} & OneOf<
  | {
    /** Takes a quote at its price, as long as it is valid; a quote is used once. */
    quote_ref: string;
  }
  | {
    /** Required without quote_ref. */
    side: "sell";
    /** Sell: this one credit. */
    scrip_no: string;
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | "GTC" | "GTD" | undefined;
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at?: string | undefined;
  }
  | {
    /** Required without quote_ref. */
    side: "sell";
    /** With face_paise or requirement_paise. */
    scheme: "RODTEP" | "ROSCTL";
    /** Sell: the firm's own whole credits whose sum is the largest within this. */
    face_paise: number;
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | "GTC" | "GTD" | undefined;
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at?: string | undefined;
  }
  | {
    /** Required without quote_ref. */
    side: "buy";
    /** With face_paise or requirement_paise. */
    scheme: "RODTEP" | "ROSCTL";
    /** Buy: the basic customs duty to cover with whole credits. */
    requirement_paise: number;
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | "GTC" | "GTD" | undefined;
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at?: string | undefined;
  }
> & OneOf<
  | {
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps?: number | undefined;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force?: "IOC" | undefined;
  }
  | {
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps: number;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force: "GTC";
  }
  | {
    /** Sell: no less than this. Buy: no more. Without it, the current binding price. */
    limit_bps: number;
    /** IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at. */
    time_in_force: "GTD";
    /** When a GTD order ends. ISO 8601, IST. */
    expires_at: string;
  }
>;

export type PlaceOrderBatch = {
  /** 1 to 500; each has its own result. */
  orders: readonly BatchOrder[];
};

export type OrderBatchResults = {
  /** One per order, in the order of the request. */
  results: ({
    /** Its place in the request, from 0. */
    index: number;
    /** Whether the order stands. */
    ok: boolean;
    /** The status a call with this order alone would have. */
    status: number;
    error: ItemError;
    order?: Order;
  })[];
  /** The number of orders that were placed. */
  submitted: number;
  /** The number of orders that were refused. */
  failed: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** scrip_nos, or scheme and face_paise; one of the two counterparty fields. */
export type CrossQuoteRequest = {
  /** A block with anybody, or a transfer between firms of one of your groups. */
  kind: "block" | "intra_group";
  /** The side of the firm that is acted for. */
  side: "sell" | "buy";
  /** The firm of your desk that is acted for; the key's when absent. */
  firm_id?: string | undefined;
  /** The price between the two; the rate card's mid when absent. */
  price_bps?: number | undefined;
} & OneOf<
  | {
    /** The other side, when it is a firm of your desk. */
    counterparty_firm_id: string;
  }
  | {
    /** The other side by its importer-exporter code, whoever acts for it. */
    counterparty_iec: string;
  }
> & OneOf<
  | {
    /** The credits. A buyer that names credits of another desk gives scheme and face_paise too. */
    scrip_nos: readonly string[];
  }
  | {
    /** The scheme; needed with face_paise. */
    scheme: "RODTEP" | "ROSCTL";
    /** Whole credits of this face, with at least 365 days left. Where the seller is on your desk, those of its own whose sum is the largest within this; otherwise exactly this. */
    face_paise: number;
    /** The credits. A buyer that names credits of another desk gives scheme and face_paise too. */
    scrip_nos?: readonly string[] | undefined;
  }
>;

/** The terms of a cross, your side of them. */
export type CrossQuote = {
  /** Propose the cross with it, once and in time. */
  cross_quote_ref?: string;
  /** The kind that was asked for. */
  kind?: "block" | "intra_group" | (string & {});
  /** The firm that is acted for. */
  firm_id?: string;
  /** Its side. */
  side?: "sell" | "buy" | (string & {});
  /** The importer-exporter code of the other side. */
  counterparty_iec?: string;
  /** Which scheme. */
  scheme?: "RODTEP" | "ROSCTL" | (string & {});
  /** The credits that the terms name; none where the seller is to choose. */
  scrip_nos?: string[];
  /** The face value in paise. */
  face_paise?: number;
  /** The price between the two sides. */
  price_bps?: number;
  /** The fee within the all-in amount. */
  fee_paise?: number;
  /** GST on the fee, within the all-in amount. */
  gst_paise?: number;
  /** What you pay or get, everything included. */
  all_in_paise?: number;
  /** Names the terms. The other side accepts this very text. */
  terms_hash?: string;
  /** Until when it can be proposed. ISO 8601, IST. */
  valid_until?: string;
  /** True, and beside it only a reason. */
  no_quote?: boolean;
  /** With no_quote: market_unavailable, wait; size_unavailable, change the amount. */
  reason?: "market_unavailable" | "size_unavailable" | (string & {});
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type ProposeCross = {
  /** The quote whose terms are proposed. */
  cross_quote_ref: string;
};

/** A deal of two named firms, away from the market. */
export type Cross = {
  /** The cross's id. */
  cross_id: string;
  /** Block or intra-group. */
  kind: "block" | "intra_group" | (string & {});
  /** Your side; the proposing one where your desk has both. */
  side: "sell" | "buy" | (string & {});
  /** The firm of your desk that is on it. */
  firm_id: string;
  /** The importer-exporter code of the other side. */
  counterparty_iec: string;
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The credits; none before the seller has chosen. */
  scrip_nos: string[];
  /** The face value in paise. */
  face_paise: number;
  /** The price between the two. */
  price_bps: number;
  /** The fee within the all-in amount. */
  fee_paise: number;
  /** GST on the fee, within the all-in amount. */
  gst_paise: number;
  /** What you pay or get, everything included. */
  all_in_paise: number;
  /** What your firms do in it, and nothing of anybody else. */
  sides: ({
    /** Which side. */
    side: "sell" | "buy" | (string & {});
    /** The firm of your desk that is on it. */
    firm_id: string;
    /** The fee within the all-in amount. */
    fee_paise: number;
    /** GST on the fee, within the all-in amount. */
    gst_paise: number;
    /** What it pays or gets, everything included. */
    all_in_paise: number;
  })[];
  /** Names the terms that both sides agree to. */
  terms_hash: string;
  /** The state it is in. */
  status: "proposed" | "agreed" | "funded" | "released" | "settled" | "declined" | "cancelled" | "expired" | "refunded" | "failed" | (string & {});
  /** Why it ended; null while it has not, and where that is obvious. */
  reason: string | null;
  /** Whose move it is. */
  waiting_on: "buyer" | "seller" | "customs" | "bank" | "none" | (string & {});
  /** By when that must have happened; null where nothing is awaited. ISO 8601, IST. */
  due_at: string | null;
  /** The reference that the buyer gave for its payment; null for the seller, and before it is funded. */
  payment_ref: string | null;
  /** The settlement of what was released; null before the release. */
  settlement_id: string | null;
  /** The state of that settlement; null before the release. */
  settlement_status: string | null;
  /** The netting of a group that it is a part of; null for a cross of its own. */
  netting_ref: string | null;
  /** Every state it came to, in order. */
  history: ({
    /** The state it came to. */
    status: "proposed" | "agreed" | "funded" | "released" | "settled" | "declined" | "cancelled" | "expired" | "refunded" | "failed" | (string & {});
    /** When it came to this state. ISO 8601, IST. */
    at: string;
    /** Why it came to this state; null where that is obvious. */
    reason: string | null;
  })[];
  /** The number of the version, raised by every change. */
  version: number;
  /** What you can do with it now. */
  allowed_actions: string[];
  /** When it was proposed. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type CrossList = {
  /** Newest first. */
  crosses: Cross[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type AcceptCross = {
  /** The terms you agree to, as the cross shows them. */
  terms_hash: string;
  /** Seller, where the terms name no credits: those you deliver, of exactly the face. Found among your own when absent. */
  scrip_nos?: readonly string[] | undefined;
};

export type DeclineCross = Record<string, never>;

export type FundCross = {
  /** Your own name for the payment. The same again is the same payment. */
  payment_ref: string;
};

export type ReleaseCross = Record<string, never>;

export type CancelCross = Record<string, never>;

/** What is held and what is owed, as one snapshot. */
export type Positions = {
  /** Whose; null for the whole desk. */
  firm_id: string | null;
  /** By scheme; a scheme of which nothing is held is left out. */
  schemes: ({
    /** Which scheme. */
    scheme: "RODTEP" | "ROSCTL" | (string & {});
    /** How many credits are held. */
    count: number;
    /** Their faces: available, reserved and in settlement together. */
    held_paise: number;
    /** Free to be sold or used. */
    available_paise: number;
    /** Promised to an order or a deal. */
    reserved_paise: number;
    /** What is on its way to a buyer, in paise. */
    in_settlement_paise: number;
    /** Of what is held, what lapses within 30 days. */
    expiring_30_paise: number;
    /** What expires within 60 days, in paise. */
    expiring_60_paise: number;
    /** What expires within 90 days, in paise. */
    expiring_90_paise: number;
    /** Of what is held, balances that customs has shown; the rest is as your firms told it. */
    shown_by_customs_paise: number;
    /** The earliest day on which customs showed one of these; null without any. */
    shown_from: string | null;
  })[];
  /** What the firms have with us. */
  cash: {
    /** What can be spent or paid out. */
    available_paise: number;
    /** Held for deals that have not settled. */
    escrow_paise: number;
    /** What deals under way will bring. */
    pending_in_paise: number;
    /** What is on its way to the bank, in paise. */
    pending_out_paise: number;
    /** What the firms owe the house; nothing is available before it is paid. */
    dues_paise: number;
  };
  /** The one moment that every figure is of. ISO 8601, IST. */
  as_of: string;
  /** The sequence of the last event that is in these figures. */
  version: number;
};

/** One scheme's market. It names no firm and no credit. */
export type Market = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Whether there are prices; unavailable until a first card. */
  state: "open" | "halted" | "unavailable" | (string & {});
  /** What a seller gets for a credit of ₹10 lakh with at least 365 days left. Indicative: a quote binds. Null while the market is not open. */
  sell_price_bps: number | null;
  /** What a buyer pays for cover of ₹10 lakh. Only for keys with the buy side; null while the market is not open. */
  buy_price_bps?: number | null;
  /** The last published index; null before there is one. */
  index_bps: number | null;
  /** The last credit that changed hands; null before there was one. */
  last_deal: {
    /** What the seller got, in basis points of face. */
    price_bps: number;
    /** Its face, rounded to two digits. */
    face_paise: number;
    /** When it was agreed. ISO 8601, IST. */
    at: string;
  } | null;
  /** Face dealt in the last 24 hours, each rounded to two digits. */
  volume_24h_paise: number;
  /** Credits dealt in that time. */
  deals_24h: number;
  /** What the house could sell now, by the size bands of its card. */
  depth: ({
    /** Faces below this and not below the band before; null for the last band. */
    below_paise: number | null;
    /** The number of credits. */
    count: number;
    /** What they add up to, rounded to two digits. */
    face_paise: number;
  })[];
  /** Since when this holds; nothing has changed in between. ISO 8601, IST. */
  as_of: string;
  /** Names the log; another one when it was restarted. */
  epoch: string;
  /** The place in the log: `<epoch>-<seq>` as Last-Event-ID continues from here. */
  seq: number;
};

export type MarketList = {
  /** One per scheme. */
  markets: Market[];
  /** Since when this holds; nothing has changed in between. ISO 8601, IST. */
  as_of: string;
  /** Names the log; another one when it was restarted. */
  epoch: string;
  /** The place in the log: `<epoch>-<seq>` as Last-Event-ID continues from here. */
  seq: number;
};

/** What a firm, or the house for it, does outside. */
export type Task = {
  /** The task's id. */
  task_id: string;
  /** pay: send the money to the house. initiate: initiate the transfer on the customs portal. accept: accept it there. */
  kind: "pay" | "initiate" | "accept" | (string & {});
  /** Whose side it is of. */
  side: "sell" | "buy" | (string & {});
  /** The firm of your desk. */
  firm_id: string;
  /** The credit; null for the payment. */
  scrip_no: string | null;
  /** Who does it: the firm, or the house for it by its mandate. */
  by: "firm" | "house" | (string & {});
  /** late: its deadline has passed and it still waits. void: the deal ended without it. */
  status: "waiting" | "done" | "late" | "void" | (string & {});
  /** By when it is to be done; null once it is done. ISO 8601, IST. */
  due_at: string | null;
  /** When it was done, as a party said or customs showed; null before. ISO 8601, IST. */
  done_at: string | null;
  /** The reference that was given with it; null without one. */
  reference: string | null;
  /** What to enter where it is done; null unless the task is open and there is something to tell. */
  instructions: {
    /** For pay: who gets the money; null for the other kinds. */
    beneficiary?: string | null;
    /** For pay: the account number to pay to; null for the other kinds. */
    account_no?: string | null;
    /** For pay: the IFSC of that account; null for the other kinds. */
    ifsc?: string | null;
    /** For pay: the bank of that account; null for the other kinds. */
    bank?: string | null;
    /** For pay: the exact amount in paise. */
    amount_paise?: number;
    /** For pay: what to give as the reference; null for the other kinds. */
    reference?: string | null;
    /** initiate and accept: the credit. */
    scrip_no?: string;
    /** initiate and accept: its face. */
    face_paise?: number;
    /** For initiate: the IEC of the receiver; null for the other kinds. */
    to_iec?: string | null;
    /** For initiate: the name of the receiving firm; null for the other kinds. */
    to_name?: string | null;
    /** For accept: the IEC of the holder; null for the other kinds. */
    from_iec?: string | null;
    /** For accept: the name of the holding firm; null for the other kinds. */
    from_name?: string | null;
  } | null;
};

/** Delivery of whole credits against payment. */
export type Settlement = {
  /** The settlement's id. */
  settlement_id: string;
  /** The cross whose credits it delivers; null for a settlement of orders. */
  cross_id: string | null;
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Where your side stands; with several, `settled` if anything of them was delivered. */
  status: "pending" | "funded" | "transfer_initiated" | "transfer_confirmed" | "settled" | "failed" | "reversed" | (string & {});
  /** Why it failed or was reversed; null otherwise. */
  reason: string | null;
  /** What was awaited when it failed: pay, initiate, accept or customs. New ones may appear; null where it did not fail while waiting. */
  failed_step: string | null;
  /** Whose move it is. */
  waiting_on: "buyer" | "seller" | "customs" | "bank" | "none" | (string & {});
  /** By when that must have happened; null where nothing is awaited. ISO 8601, IST. */
  due_at: string | null;
  /** Whether that is over. A transfer that may be open at customs ends only by what customs says. */
  late: boolean;
  /** What your firms deliver or buy in it, and nothing of anybody else. */
  sides: ({
    /** Which side. */
    side: "sell" | "buy" | (string & {});
    /** The firm of your desk that is on it. */
    firm_id: string;
    /** The orders that it dealt by. */
    order_ids: string[];
    /** Where this side stands, by its own credits. */
    status: "pending" | "funded" | "transfer_initiated" | "transfer_confirmed" | "settled" | "failed" | "reversed" | (string & {});
    /** The face of its credits. */
    face_paise: number;
    /** What was agreed to change hands. */
    all_in_paise: number;
    /** What of it has changed hands, for credits that were delivered. */
    settled_paise: number;
    /** What of it will not, for credits that were not. */
    undelivered_paise: number;
    /** What your side owes for having been late; kept back or set off. */
    default_owed_paise: number;
    /** What the other side owes yours for that; yours once it is collected. */
    default_due_paise: number;
    /** One per credit. */
    legs: ({
      /** The credit's number. */
      scrip_no: string;
      /** The order that it was dealt by; null for a cross. */
      order_id: string | null;
      /** The credit's face value in paise. */
      face_paise: number;
      /** Your price in basis points of face. */
      price_bps: number;
      /** What you pay or get for it with fees and tax, in paise. */
      all_in_paise: number;
      /** Where the credit stands. */
      status: "pending" | "to_initiate" | "to_accept" | "missing" | "transferring" | "delivered" | "failed" | (string & {});
      /** Why it was not delivered; null otherwise. */
      reason: string | null;
      /** The side that pays the other because it is proved to be late at the portal; null where none is. */
      default_by: string | null;
      /** How much it pays; 0 where nobody does. */
      default_paise: number;
    })[];
  })[];
  /** What your side does, or the house for it: the payment, then credit by credit. */
  tasks: Task[];
  /** Every state it came to, in order. */
  history: ({
    /** The state it came to. */
    status: "pending" | "funded" | "transfer_initiated" | "transfer_confirmed" | "settled" | "failed" | "reversed" | (string & {});
    /** When it came to this state. ISO 8601, IST. */
    at: string;
    /** Why it came to this state; null where that is obvious. */
    reason: string | null;
  })[];
  /** The number of the version, raised by every change. */
  version: number;
  /** What you can do with it now. */
  allowed_actions: string[];
  /** When it was dealt. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type SettlementList = {
  /** Newest first. */
  settlements: Settlement[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** A task and the settlement that it carries out. */
export type TaskOfList = {
  /** The settlement's id. */
  settlement_id: string;
  /** The task's id. */
  task_id: string;
  /** pay: send the money to the house. initiate: initiate the transfer on the customs portal. accept: accept it there. */
  kind: "pay" | "initiate" | "accept" | (string & {});
  /** Whose side it is of. */
  side: "sell" | "buy" | (string & {});
  /** The firm of your desk. */
  firm_id: string;
  /** The credit; null for the payment. */
  scrip_no: string | null;
  /** Who does it: the firm, or the house for it by its mandate. */
  by: "firm" | "house" | (string & {});
  /** late: its deadline has passed and it still waits. void: the deal ended without it. */
  status: "waiting" | "done" | "late" | "void" | (string & {});
  /** By when it is to be done; null once it is done. ISO 8601, IST. */
  due_at: string | null;
  /** When it was done, as a party said or customs showed; null before. ISO 8601, IST. */
  done_at: string | null;
  /** The reference that was given with it; null without one. */
  reference: string | null;
  /** What to enter where it is done; null unless the task is open and there is something to tell. */
  instructions: {
    /** For pay: who gets the money; null for the other kinds. */
    beneficiary?: string | null;
    /** For pay: the account number to pay to; null for the other kinds. */
    account_no?: string | null;
    /** For pay: the IFSC of that account; null for the other kinds. */
    ifsc?: string | null;
    /** For pay: the bank of that account; null for the other kinds. */
    bank?: string | null;
    /** For pay: the exact amount in paise. */
    amount_paise?: number;
    /** For pay: what to give as the reference; null for the other kinds. */
    reference?: string | null;
    /** initiate and accept: the credit. */
    scrip_no?: string;
    /** initiate and accept: its face. */
    face_paise?: number;
    /** For initiate: the IEC of the receiver; null for the other kinds. */
    to_iec?: string | null;
    /** For initiate: the name of the receiving firm; null for the other kinds. */
    to_name?: string | null;
    /** For accept: the IEC of the holder; null for the other kinds. */
    from_iec?: string | null;
    /** For accept: the name of the holding firm; null for the other kinds. */
    from_name?: string | null;
  } | null;
};

export type TaskList = {
  /** The soonest due first. */
  tasks: TaskOfList[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type FinishTask = {
  /** What the portal or the bank gave you for it: a number that can be looked up. */
  reference: string;
};

export type ReportMissing = {
  /** What the portal or the bank gave you for it: a number that can be looked up. */
  reference?: string | undefined;
  /** What whoever looks should know. */
  note?: string | undefined;
};

export type AdvanceSettlement = Record<string, never>;

/** Where a firm pays ahead of its deals. */
export type Funding = {
  /** The firm that pays. */
  firm_id: string;
  /** Whom to pay: the house. */
  beneficiary: string;
  /** Which account to pay to. */
  account_no: string;
  /** The IFSC of the account's branch. */
  ifsc: string;
  /** The account's bank. */
  bank: string;
  /** Whether the number is this firm's alone, so that money to it is found without a reference. It is the firm's money once it came from a confirmed account of the firm. */
  is_own_number: boolean;
  /** What to write with the payment: it says for whom the money is. */
  reference: string;
};

/** Money on its way to a firm's bank. */
export type Payout = {
  /** The payout's id. */
  payout_id: string;
  /** The firm that is paid. */
  firm_id: string;
  /** Where it comes from: a settlement, or the firm's balance. */
  kind: "settlement" | "withdrawal" | (string & {});
  /** The settlement that it comes from; null for a withdrawal. */
  settlement_id: string | null;
  /** The payout that came back and is sent again by this one; null for a first attempt. */
  resend_of: string | null;
  /** How much: the sum of its lines, less `set_off_paise`. */
  amount_paise: number;
  /** What of its lines was set off from what the firm owed the house. */
  set_off_paise: number;
  /** How it goes: by the amount of its remittance, once it has one. */
  rail: "RTGS" | "NEFT" | "IMPS" | (string & {});
  /** What it leaves in: all that is due to one payee in one run reaches its account as one amount, under one `utr`. Null until then. */
  remittance: {
    /** The payout that names it: the first of those that leave together. */
    payout_id: string;
    /** What reaches the account under one reference. */
    amount_paise: number;
  } | null;
  /** Where it goes; null while the firm has given no account. */
  bank: {
    /** The branch's IFSC. */
    ifsc: string;
    /** The last digits of the account number. */
    account_no_masked: string;
  } | null;
  /** The state it is in. */
  status: "scheduled" | "held" | "instructed" | "sent" | "paid" | "returned" | (string & {});
  /** Why it is held or came back; null otherwise. */
  reason: string | null;
  /** When the hold ends by itself; null without a hold, or where something else ends it. ISO 8601, IST. */
  held_until: string | null;
  /** The bank's reference (UTR); null before it is sent. */
  utr: string | null;
  /** Which order each paisa comes from; a withdrawal has none. */
  lines: ({
    /** The order that sold it; null where a cross did. */
    order_id: string | null;
    /** The cross that sold it; null where an order did. */
    cross_id: string | null;
    /** The credit's number. */
    scrip_no: string;
    /** What this credit brought. */
    amount_paise: number;
  })[];
  /** Every state it came to, in order. */
  history: ({
    /** The state it came to. */
    status: "scheduled" | "held" | "instructed" | "sent" | "paid" | "returned" | (string & {});
    /** When it came to this state. ISO 8601, IST. */
    at: string;
    /** Why it came to this state; null where that is obvious. */
    reason: string | null;
  })[];
  /** The number of the version, raised by every change. */
  version: number;
  /** What you can do with it now. */
  allowed_actions: string[];
  /** When it was scheduled. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type PayoutList = {
  /** Newest first. */
  payouts: Payout[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** Money that came from a firm. */
export type Deposit = {
  /** The bank's reference of the payment. */
  reference: string;
  /** The firm whose money it is. */
  firm_id: string;
  /** The amount that came, in paise. */
  amount_paise: number;
  /** The settlement that it came for; null where it became balance. */
  settlement_id: string | null;
  /** Whether it is the firm's, or was taken back. */
  status: "received" | "returned" | (string & {});
  /** Why it was taken back; null while it was not. */
  reason: string | null;
  /** When it was booked. ISO 8601, IST. */
  received_at: string;
  /** When it was taken back; null while it was not. */
  returned_at: string | null;
};

export type DepositList = {
  /** Newest first. */
  deposits: Deposit[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type WithdrawMoney = {
  /** How much of what the firm has available. */
  amount_paise: number;
};

/** What your desk says takes two of its keys. */
export type ApprovalRules = {
  /** Whether another bank account of a firm takes two keys. */
  bank_changes: boolean;
  /** Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none. */
  withdrawals_from_paise: number | null;
  /** When they were set; null before the first time. ISO 8601, IST. */
  updated_at: string | null;
  /** Raised by every change; 0 before the first. */
  version: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type SetApprovalRules = {
  /** Whether another bank account of a firm takes two keys. */
  bank_changes: boolean;
  /** Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none. */
  withdrawals_from_paise: number | null;
};

export type ProposeAct = OneOf<
  | {
    /** bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`. */
    kind: "bank_change";
    /** The firm that it is about. */
    firm_id: string;
    /** The account that its money shall go to; null for none. */
    bank: {
      /** 9 to 18 digits. Never shown again. */
      account_no: string;
      /** The branch's IFSC. */
      ifsc: string;
      /** The name the account bears. */
      name: string;
    } | null;
  }
  | {
    /** bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`. */
    kind: "withdrawal";
    /** The firm that it is about. */
    firm_id: string;
    /** What is to be paid out, in paise. */
    amount_paise: number;
  }
  | {
    /** bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`. */
    kind: "offboarding";
    /** The firm that it is about. */
    firm_id: string;
  }
  | {
    /** bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`. */
    kind: "rules";
    /** What shall take two keys. */
    rules: {
      /** Whether another bank account of a firm takes two keys. */
      bank_changes: boolean;
      /** Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none. */
      withdrawals_from_paise: number | null;
    };
  }
>;

/** An act that one key proposed and another one decides. */
export type DeskApproval = {
  /** The approval's id. */
  approval_id: string;
  /** What it does once it is approved. */
  kind: "bank_change" | "withdrawal" | "offboarding" | "rules" | (string & {});
  /** The firm that it is about; your own for rules. */
  firm_id: string;
  /** Only what is proposed can be decided. */
  status: "proposed" | "approved" | "rejected" | "voided" | "expired" | (string & {});
  /** What is decided: the account in part, the sum or the rules. */
  shown: {
    /** The account that the firm's money shall go to; null for none. */
    bank?: {
      /** The account number, of which the last four digits are shown. */
      account_no_masked: string;
      /** The branch's IFSC. */
      ifsc: string;
      /** The name the account bears. */
      name: string;
    } | null;
    /** What is paid out, in paise. */
    amount_paise?: number;
    /** What shall take two keys. */
    rules?: {
      /** Whether another bank account of a firm takes two keys. */
      bank_changes: boolean;
      /** Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none. */
      withdrawals_from_paise: number | null;
    };
  };
  /** The name that the key bore which proposed it. */
  proposed_by: string;
  /** The name that the key bore which approved or rejected it; null while none has. */
  decided_by: string | null;
  /** Why it was rejected or became void; null otherwise. */
  reason: string | null;
  /** The payout of a withdrawal that was approved; null otherwise. */
  payout_id: string | null;
  /** When it was proposed. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** When it ends by itself, 72 hours after it was proposed. ISO 8601, IST. */
  expires_at: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type DeskApprovalList = {
  /** Newest first. */
  approvals: DeskApproval[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type ApproveAct = {
  /** Of a bank_change: the account as you know it from the firm, null for none; another is not approved. */
  bank?: {
    /** 9 to 18 digits. Never shown again. */
    account_no: string;
    /** The branch's IFSC. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | null | undefined;
};

export type RejectAct = {
  /** The reason in words. */
  reason: string;
};

export type AdvanceClock = {
  /** By how many seconds your desk's clock goes forward. It never goes back, but for a reset, and is at most ten years ahead. */
  advance_s: number;
};

export type DeskClock = {
  /** What your desk's clock shows. ISO 8601, IST. */
  clock: string;
  /** How far it is ahead of the service's, in all, since the last reset. */
  ahead_s: number;
  /** What ends sooner by that much: how many of each. */
  brought_nearer: {
    /** Orders that rest until a given time. */
    orders: number;
    /** Quotes that can still be ordered on. */
    quotes: number;
    /** Your proposals, and open crosses among your firms. */
    crosses: number;
    /** Open settlements among your firms and with the house. */
    settlements: number;
    /** Payouts that have not been sent. */
    payouts: number;
    /** The number of holds on your firms' payouts. */
    holds: number;
    /** Credits, by whole days. */
    credits: number;
    /** What your firms will have to pay, by whole days. */
    requirements: number;
  };
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type SetScenario = {
  /** transfer_timeout: customs says nothing before the deadline, and then that nothing is pending. transfer_refused: it refuses. credit_suspended: it suspends the credit. payout_returned: the bank sends the money back. market_halt: you get no quotes until market_open. */
  scenario: "transfer_timeout" | "transfer_refused" | "credit_suspended" | "wrong_iec" | "never_initiates" | "never_accepts" | "accepts_late" | "tasks_manual" | "payout_returned" | "market_halt" | "market_open";
};

export type ScenarioList = {
  /** What has been set and has not happened yet, in the order it was set. */
  scenarios: ("transfer_timeout" | "transfer_refused" | "credit_suspended" | "wrong_iec" | "never_initiates" | "never_accepts" | "accepts_late" | "tasks_manual" | "payout_returned" | "market_halt" | "market_open" | (string & {}))[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type SeedSandbox = {
  /** The firm of your desk that gets them; the key's own when absent. */
  firm_id?: string | undefined;
  /** How many credits. */
  count: number;
  /** All of this scheme; mixed when absent. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** The same text makes the same credits for a firm; other credits otherwise. */
  seed?: string | undefined;
};

export type SeededCredits = {
  /** The id of the firm that holds them. */
  firm_id: string;
  /** The credits' numbers. */
  scrip_nos: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type ResetSandbox = Record<string, never>;

export type SandboxReset = {
  /** The number of resting orders that were cancelled. */
  orders_cancelled: number;
  /** Your proposals, and open crosses among your firms. */
  crosses_ended: number;
  /** Open settlements among your firms and with the house. */
  settlements_failed: number;
  /** Credits that no deal had. */
  credits_withdrawn: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** A desk's commission on its clients' deals. */
export type Earnings = {
  /** What was added up by. */
  by: "day" | "firm" | "scheme" | (string & {});
  /** The first day. IST. */
  from: string;
  /** The last day. IST. */
  to: string;
  /** In the order of day, firm or scheme; only what was earned on is listed. */
  earnings: ({
    /** When the credits were delivered. IST. */
    day?: string;
    /** Your client firm that dealt. */
    firm_id?: string;
    /** The scheme of the credits. */
    scheme?: "RODTEP" | "ROSCTL" | (string & {});
    /** How many credits it was earned on, less those taken back. */
    credits: number;
    /** The sum of the credits' face values, in paise. */
    face_paise: number;
    /** What was earned on them, less what was taken back. */
    commission_paise: number;
  })[];
  /** The commission of the month, in paise. */
  commission_paise: number;
  /** What you earn on deals that settle now, in bps of face. */
  commission_bps: number;
  /** What of your commission is with us now. */
  balance_paise: number;
  /** Raised by everything that moves. */
  version: number;
  /** Always empty: a paper has no actions. */
  allowed_actions: string[];
};

export type StatementSummary = {
  /** The statement's number. */
  statement_no: string;
  /** Whose statement it is. */
  firm_id: string;
  /** The month in IST. */
  period: string;
  /** running until the month is over, provisional until what was under way at its end is in the books, then final and never changed. */
  status: "running" | "provisional" | "final" | (string & {});
  /** The balance at the beginning: what the statement before closed with. */
  opening_paise: number;
  /** The balance at the end, or by now. */
  closing_paise: number;
  /** Since when it is final; null while the month runs. ISO 8601, IST. */
  frozen_at: string | null;
  /** SHA-256 of a final statement, as it is kept; null before it is final. */
  digest: string | null;
  /** The last entry of the books that was seen: raised by everything that moves. */
  version: number;
  /** Always empty: a paper has no actions. */
  allowed_actions: string[];
};

export type StatementList = {
  /** Newest first. */
  statements: StatementSummary[];
};

/** What a firm had with us, what moved and what is left. */
export type Statement = {
  /** The statement's number. */
  statement_no: string;
  /** Whose statement it is. */
  firm_id: string;
  /** The month in IST. */
  period: string;
  /** running until the month is over, provisional until what was under way at its end is in the books, then final and never changed. */
  status: "running" | "provisional" | "final" | (string & {});
  /** The balance at the beginning: what the statement before closed with. */
  opening_paise: number;
  /** The balance at the end, or by now. */
  closing_paise: number;
  /** Since when it is final; null while the month runs. ISO 8601, IST. */
  frozen_at: string | null;
  /** SHA-256 of a final statement, as it is kept; null before it is final. */
  digest: string | null;
  /** The last entry of the books that was seen: raised by everything that moves. */
  version: number;
  /** Always empty: a paper has no actions. */
  allowed_actions: string[];
  /** The first instant of the month. ISO 8601, IST. */
  from: string;
  /** The first instant after it. ISO 8601, IST. */
  to: string;
  /** When this was made. ISO 8601, IST. */
  as_of: string;
  /** Whose account it is. */
  firm: {
    /** The legal name as it is registered. */
    legal_name: string;
    /** The firm's PAN; null until it is told. */
    pan: string | null;
    /** The GSTIN; null until it is told. */
    gstin: string | null;
  };
  /** Who keeps the account. */
  house: {
    /** Who keeps the account. */
    name: string;
    /** The address, line by line. */
    address: string[];
    /** The GSTIN; null until it is told. */
    gstin: string | null;
    /** Its number in the register of companies (CIN); null where none is told. */
    cin?: string | null;
  };
  /** What moved, in the order it took effect: opening_paise and all of them sum to closing_paise. */
  lines: ({
    /** The place of the line, from 1. */
    line_no: number;
    /** When it took effect. ISO 8601, IST. */
    at: string;
    /** The kind of line. */
    kind: "sale" | "purchase" | "fee" | "gst" | "cgst" | "sgst" | "igst" | "tds" | "deposit" | "payout" | "refund" | "reversal" | "dues" | "default" | "commission" | "adjustment" | (string & {});
    /** The same in words. */
    description: string;
    /** The settlement or payout it is about, or the bank's reference of a deposit. */
    reference: string;
    /** The bank's reference (UTR) of money that came or went; null for other lines. */
    utr: string | null;
    /** The tariff heading of what changed hands: scrips are 4907 and exempt from GST; null for lines of no credits. */
    hsn: string | null;
    /** The scheme of the credits; null for lines of no credits. */
    scheme: "RODTEP" | "ROSCTL" | (string & {}) | null;
    /** The credits' numbers. */
    scrip_nos: string[];
    /** The sum of the credits' face values; null for lines of no credits. */
    face_paise: number | null;
    /** Your price; null where the credits had several. */
    price_bps: number | null;
    /** What it adds to the balance; below zero where it takes. */
    amount_paise: number;
    /** The balance after the line, in paise. */
    balance_paise: number;
  })[];
  /** How many lines there are, on this page and all others. */
  line_count: number;
  /** What the lines of each kind add up to. */
  totals: ({
    /** Of which lines. */
    kind: "sale" | "purchase" | "fee" | "gst" | "cgst" | "sgst" | "igst" | "tds" | "deposit" | "payout" | "refund" | "reversal" | "dues" | "default" | "commission" | "adjustment" | (string & {});
    /** The number of lines. */
    lines: number;
    /** The sum of their amounts, in paise. */
    amount_paise: number;
  })[];
  /** What of the closing balance was earned as a desk. */
  commission_paise: number;
  /** What the firm owes the house, beside the balance. */
  dues_paise: number;
};

export type ContractNote = {
  /** The number of the note. */
  note_no: string;
  /** The id of the firm whose deal it is. */
  firm_id: string;
  /** Which side it was on. */
  side: "sell" | "buy" | (string & {});
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Where the settlement stands. */
  status: string;
  /** When it was dealt. ISO 8601, IST. */
  dealt_at: string;
  /** The orders that it was dealt by. */
  order_ids: string[];
  /** Whose side it is. */
  firm: {
    /** The legal name as it is registered. */
    legal_name: string;
    /** The firm's PAN; null until it is told. */
    pan: string | null;
    /** The GSTIN; null until it is told. */
    gstin: string | null;
  };
  /** One per credit. */
  legs: ({
    /** The credit's number. */
    scrip_no: string;
    /** Your price in basis points of face. */
    price_bps: number;
    /** The tariff heading of scrips. */
    hsn: string;
    /** The face value in paise. */
    face_paise: number;
    /** What the scrips are worth at your price; HSN 4907, exempt from GST. */
    value_paise: number;
    /** The fee within the all-in amount. */
    fee_paise: number;
    /** GST on the fee, within the all-in amount. */
    gst_paise: number;
    /** What changes hands: value less fee and GST when you sell, plus both when you buy. */
    all_in_paise: number;
    /** Where the credit stands, as in its settlement. */
    status: string;
    /** The side that pays the other for being late, sell or buy; null where none does. */
    default_by: string | null;
    /** How much it pays; 0 where nobody does. */
    default_paise: number;
  })[];
  /** The face value in paise. */
  face_paise: number;
  /** What the scrips are worth at your price; HSN 4907, exempt from GST. */
  value_paise: number;
  /** The fee within the all-in amount. */
  fee_paise: number;
  /** GST on the fee, within the all-in amount. */
  gst_paise: number;
  /** What changes hands: value less fee and GST when you sell, plus both when you buy. */
  all_in_paise: number;
  /** What of the all-in amount has changed hands. */
  settled_paise: number;
  /** What of the price will not be delivered, in paise. */
  undelivered_paise: number;
  /** Money that the banks moved for it. */
  payments: ({
    /** To the firm's bank, or from it. */
    direction: "out" | "in" | (string & {});
    /** The bank's reference; null until it was sent. */
    utr: string | null;
    /** The amount in paise. */
    amount_paise: number;
    /** received, or where the payout stands. */
    status: string;
  })[];
  /** Of credits delivered while tax lines were set, and not reversed. */
  taxes?: ({
    /** A part of gst_paise by the place of supply, or tax deducted at source from what you get. */
    kind: "cgst" | "sgst" | "igst" | "tds" | (string & {});
    /** The same for people, with its rate. */
    name: string;
    /** Its rate in basis points. */
    rate_bps: number;
    /** The amount in paise. */
    amount_paise: number;
  })[];
  /** What a seller is paid for what was settled, less tax deducted at source. */
  net_paise?: number;
  /** What was issued for the fee of this side. */
  invoices?: ({
    /** Its number, without a gap in the financial year. */
    invoice_no: string;
    /** A credit note takes back what was invoiced. */
    kind: "invoice" | "credit_note" | (string & {});
    /** When it was issued. ISO 8601, IST. */
    issued_at: string;
    /** The state code by which the tax was divided. */
    place_of_supply: string;
    /** The code of the service; null on papers from before it was kept. */
    sac: string | null;
    /** The fee before tax, in paise. */
    fee_paise: number;
    /** All tax on the fee, in paise. */
    gst_paise: number;
    /** Central tax, within the house's state. */
    cgst_paise: number;
    /** The state's tax, within the house's state. */
    sgst_paise: number;
    /** Integrated tax, across a border. */
    igst_paise: number;
    /** The rate of cgst_paise. */
    cgst_bps: number;
    /** The rate of sgst_paise. */
    sgst_bps: number;
    /** The rate of igst_paise. */
    igst_bps: number;
    /** Of a credit note, the invoices that it takes back. */
    against: string[];
  })[];
};

/** What your firms dealt in a settlement, on paper. */
export type ContractNotes = {
  /** The settlement's id. */
  settlement_id: string;
  /** When this was made. ISO 8601, IST. */
  as_of: string;
  /** Who stands between the sides. */
  house: {
    /** Who stands between the sides. */
    name: string;
    /** The address, line by line. */
    address: string[];
    /** The GSTIN; null until it is told. */
    gstin: string | null;
    /** Its number in the register of companies (CIN); null where none is told. */
    cin?: string | null;
  };
  /** One for each of your firms that has a side in it, and nothing of anybody else. */
  notes: ContractNote[];
  /** The settlement's version. */
  version: number;
  /** Always empty: a paper has no actions. */
  allowed_actions: string[];
};

export type BillOfSupply = {
  /** A supply, or its return after a reversal. */
  kind: "bill_of_supply" | "supply_return" | (string & {});
  /** The house's number, without a gap in its series; null on a draft. */
  number: string | null;
  /** The series of the number, one for each financial year; null on a draft. */
  series: string | null;
  /** The day of the supply, IST. */
  date: string;
  /** Who supplies the credits. */
  supplier: {
    /** Its legal name. */
    name: string;
    /** Its importer-exporter code (IEC); null where none is told. */
    iec: string | null;
    /** Its GSTIN; null of who is not registered. */
    gstin: string | null;
    /** In lines; empty where we do not know it. */
    address: string[];
    /** The two digits of its state, as a GSTIN begins; null where none is told. */
    state_code: string | null;
  };
  /** Who receives them. */
  recipient: {
    /** Its legal name. */
    name: string;
    /** Its importer-exporter code (IEC); null where none is told. */
    iec: string | null;
    /** Its GSTIN; null of who is not registered. */
    gstin: string | null;
    /** In lines; empty where we do not know it. */
    address: string[];
    /** The two digits of its state, as a GSTIN begins; null where none is told. */
    state_code: string | null;
  };
  /** The state code of the recipient's GSTIN, or of the supplier's for a recipient without; null where neither has one. */
  place_of_supply: string | null;
  /** One per credit. */
  lines: ({
    /** The credit's number. */
    scrip_no: string;
    /** The tariff heading of scrips. */
    hsn: string;
    /** What it is, in words. */
    description: string;
    /** Its value in paise. */
    value_paise: number;
  })[];
  /** The sum of the lines; nothing is rounded. */
  total_paise: number;
  /** The total in words, as it is printed. */
  total_words: string;
  /** The citation by which no GST is charged. */
  exemption: string;
  /** Who signs for the supplier; null on a draft in a client's name. */
  signatory: string | null;
  /** Of a return, the house's bills that it takes back. */
  against: string[];
  /** Whether the supplier has to number and sign it: your firm, or the seller of what you bought. The house's own is a draft for the seconds until it has its number. */
  draft: boolean;
};

/** The bills of supply of a settlement. */
export type BillsOfSupply = {
  /** The settlement's id. */
  settlement_id: string;
  /** When this was made. ISO 8601, IST. */
  as_of: string;
  /** Of what was delivered and your firms supplied or received. */
  bills: BillOfSupply[];
  /** The settlement's version. */
  version: number;
  /** Always empty: a paper has no actions. */
  allowed_actions: string[];
};

/** A fact, recorded once with the change it tells of. */
export type AnyEvent = {
  /** The event's id. */
  id: string;
  /** The event's name. */
  event: "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled" | (string & {});
  /** When it happened. ISO 8601, IST. */
  created_at: string;
  /** Where it happened. */
  environment: "live" | "sandbox" | (string & {});
  /** The firm it happened to. */
  firm_id: string;
  /** Gap-free per desk, from 1. */
  sequence: number;
  /** The thing it happened to. */
  entity: {
    /** What kind of thing it is. */
    type: string;
    /** The thing's id. */
    id: string;
    /** The thing's version after it. */
    version: number;
    /** Read it again here for what holds now. */
    href: string;
  };
  /** The state before; null when there was none. */
  from: string | null;
  /** The state after; null when there is none. */
  to: string | null;
  /** The facts of this event; the catalog says which. */
  data: { [name: string]: unknown };
  /** The request that caused it; null where a worker did. */
  request_id: string | null;
};

export type EventList = {
  /** In the order that was asked for. */
  events: Event[];
  /** Of the desk's last event; 0 before the first. */
  latest_sequence: number;
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** One change: who, what, when, and digests of the thing. */
export type AuditEntry = {
  /** Its place in the desk's chain, from 1. */
  seq: number;
  /** The record's id. */
  record_id: string;
  /** Where it happened. */
  environment: "live" | "sandbox" | (string & {});
  /** When it happened. ISO 8601, IST. */
  at: string;
  /** Who changed it. A counterparty is another desk, which stays unnamed. */
  actor_kind: "key" | "operator" | "worker" | "visitor" | "counterparty" | (string & {});
  /** Key id, operator's name or worker's name. */
  actor_id: string;
  /** The request that did it; null where a worker did. */
  request_id: string | null;
  /** What was done. */
  action: string;
  /** What kind of thing was changed. */
  entity_type: string;
  /** The thing's id. */
  entity_id: string;
  /** The thing's version after it. */
  entity_version: number;
  /** The thing before. Null when it is new, and in a block, where it is not recorded. SHA-256, hex. */
  before_hash: string | null;
  /** The thing after. Null when it is gone, and in a block where event_hash is given. SHA-256, hex. */
  after_hash: string | null;
  /** The event that told of it: in a block without the digits of its sequence, otherwise as it was sent. Null when nobody was told, and in records of form 1. SHA-256, hex. */
  event_hash: string | null;
  /** Of everything up to here, as exported: of its whole block where block is given, otherwise of this record. SHA-256, hex. */
  hash: string;
  /** The records that are hashed as one with this. Null for a record with a hash of its own. */
  block: {
    /** The first record of the block. */
    first_seq: number;
    /** The last record of the block. */
    last_seq: number;
  } | null;
};

export type AuditList = {
  /** Newest first. */
  audit: AuditEntry[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** What checkpoints of exports are signed with, and below it what they were signed with before. */
export type AuditKeys = {
  /** The key in use first, then those of earlier master keys. */
  keys: ({
    /** How checkpoints are signed. */
    algorithm: "Ed25519" | (string & {});
    /** 32 bytes, hex, as in checkpoints. */
    public_key: string;
  })[];
};

export type RegisterWebhook = {
  /** What it is for, in words. */
  description?: string | undefined;
} & OneOf<
  | {
    /** Where events are sent, by POST. https only in production; no private address. */
    url: string;
    /** One event name, or * for all of them; or else `events`. */
    event: "*" | "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled";
  }
  | {
    /** Where events are sent, by POST. https only in production; no private address. */
    url: string;
    /** What is sent: names of events, or * for all of them. */
    events: readonly ("*" | "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled")[];
  }
>;

/** A subscription: which events go to which address. */
export type Webhook = {
  /** The subscription's id. */
  webhook_id: string;
  /** Where it is. */
  environment: "live" | "sandbox" | (string & {});
  /** The firm whose events it gets; null: those of the whole desk. */
  firm_id: string | null;
  /** Where events are sent, by POST. https only in production; no private address. */
  url: string;
  /** Its event, or * for all; of several the first. */
  event: string;
  /** What is sent: names of events, or * for all. */
  events: string[];
  /** What it is for, in words; null without any. */
  description: string | null;
  /** Shown whole once, when it is made; masked in every later view. */
  signing_secret: string;
  /** Until when deliveries are signed with the previous secret too; null without one. ISO 8601, IST. */
  previous_secret_until: string | null;
  /** Whether it is sent to. */
  status: "active" | "failing" | "disabled" | "paused" | (string & {});
  /** When a test was last asked for; null before the first. ISO 8601, IST. */
  tested_at: string | null;
  /** When it was registered. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type WebhookList = {
  /** Newest first. */
  webhooks: Webhook[];
  /** Every event that can be subscribed to. */
  events: ("firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled" | (string & {}))[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type UpdateWebhook = {
  /** Where events are sent, by POST. https only in production; no private address. */
  url?: string | undefined;
  /** What is sent: names of events, or * for all of them. */
  events?: readonly ("*" | "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled")[] | undefined;
  /** What it is for, in words. null takes it away. */
  description?: string | null | undefined;
  /** A paused one is sent nothing. What happens meanwhile is sent when it is active again, as far as it is not older than 7 days by then. */
  status?: "active" | "paused" | undefined;
};

export type TestedWebhook = {
  /** The subscription's id. */
  webhook_id: string;
  /** What is sent. */
  event: "webhook.ping" | (string & {});
  /** As in X-Service-Delivery; its attempts are in the list of deliveries. */
  delivery_id: string;
  /** The event's number on your desk. */
  sequence: number;
  /** The number of the version, raised by every change. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: string[];
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type RotateSecret = {
  /** For so many seconds deliveries are also signed with the old secret. Default 86400. */
  grace_s?: number | undefined;
};

/** One POST of a delivery. */
export type Attempt = {
  /** When it began. ISO 8601, IST. */
  at: string;
  /** How long the answer took, in milliseconds. */
  duration_ms: number;
  /** What it was. */
  outcome: "delivered" | "transient" | "permanent" | (string & {});
  /** The HTTP status of the answer; null without an answer. */
  status: number | null;
  /** Why it was not delivered; null when it was. */
  reason: string | null;
  /** The first bytes of the answer. */
  answer: string;
};

/** A delivery with its attempts. */
export type LoggedDelivery = {
  /** As in X-Service-Delivery: the same on every attempt and replay. */
  delivery_id: string;
  /** The webhook it is for. */
  webhook_id: string;
  /** The event's name. */
  event: string;
  /** The event's id. */
  event_id: string;
  /** The event's number on your desk. */
  sequence: number;
  /** The state it is in. */
  status: "pending" | "delivered" | "dead" | (string & {});
  /** Why it was not taken; null where it was, or was not yet tried. */
  reason: string | null;
  /** The number of times it was sent. */
  attempts: number;
  /** The HTTP status of the last answer; null without an answer. */
  last_status: number | null;
  /** When it is tried again; null once it is delivered or given up on. ISO 8601, IST. */
  next_attempt_at: string | null;
  /** When it was queued. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: string[];
  /** Oldest first. */
  attempt_log: Attempt[];
};

export type DeliveryList = {
  /** Newest first. */
  deliveries: LoggedDelivery[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

/** One event for one webhook. */
export type Delivery = {
  /** As in X-Service-Delivery: the same on every attempt and replay. */
  delivery_id: string;
  /** The webhook it is for. */
  webhook_id: string;
  /** The event's name. */
  event: string;
  /** The event's id. */
  event_id: string;
  /** The event's number on your desk. */
  sequence: number;
  /** The state it is in. */
  status: "pending" | "delivered" | "dead" | (string & {});
  /** Why it was not taken; null where it was, or was not yet tried. */
  reason: string | null;
  /** The number of times it was sent. */
  attempts: number;
  /** The HTTP status of the last answer; null without an answer. */
  last_status: number | null;
  /** When it is tried again; null once it is delivered or given up on. ISO 8601, IST. */
  next_attempt_at: string | null;
  /** When it was queued. ISO 8601, IST. */
  created_at: string;
  /** When it last changed. ISO 8601, IST. */
  updated_at: string;
  /** The number of the version, raised by every change. */
  version: number;
  /** What can be done with it now. */
  allowed_actions: string[];
};

export type FailureList = {
  /** Newest first. */
  failures: Delivery[];
  /** The number of rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type ReplayDeliveries = OneOf<
  | {
    /** These dead letters; given alone. */
    delivery_ids: readonly string[];
  }
  | {
    /** Those of this webhook. */
    webhook_id?: string | undefined;
    /** Only of this event. */
    event?: "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled" | undefined;
    /** Those of events from then on. */
    since?: string | undefined;
    /** Those of events before then. */
    until?: string | undefined;
  }
>;

export type Replay = {
  /** Dead letters that are sent again. */
  queued: number;
  /** What is no dead letter of yours, or whose webhook is disabled. */
  skipped: number;
  /** Left for the next call; one call takes at most 1000. */
  remaining: number;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** What credits of a scheme are worth today. */
export type Rate = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The day of the figure. A day in IST. */
  date: string;
  /** What sellers received, in bps of face; null before there is an index. */
  index_bps: number | null;
  /** Where the figure comes from: the day's own deals, an earlier day's because there were too few, or nowhere yet. */
  basis: "deals" | "carried" | "none" | (string & {});
  /** Whether the figure is not made of the day's own deals. */
  stale: boolean;
  /** The day whose deals the figure is made of; null where it is not made of deals. */
  deals_on: string | null;
  /** Whether the day is over and its figure fixed for good. */
  final: boolean;
  /** The number of deals that count; null for a day that is not fixed or has too few sellers. */
  deal_count: number | null;
  /** The number of different sellers; null for a day that is not fixed or has too few of them. */
  seller_count: number | null;
  /** The face value that was dealt; null for a day that is not fixed or has too few sellers. */
  face_paise: number | null;
  /** The last fixed day before this one; null before there is one. */
  previous_date: string | null;
  /** The difference from the figure of that day; null without one. */
  change_bps: number | null;
  /** Whether the desk gives prices now; null without a rate card. */
  market_state: string | null;
  /** The middle of the house's rate card, in bps of face; null before there is a card. */
  mid_bps: number | null;
};

export type RateList = {
  /** One per scheme. */
  rates: Rate[];
};

/** How the index is made. */
export type Methodology = {
  /** Raised when the method changes. */
  version: number;
  /** The method in a sentence. */
  summary: string;
  /** The environment whose deals count. */
  environment: string;
  /** What there is an index for. */
  schemes: string[];
  /** The unit of index_bps. */
  unit: string;
  /** Fewer sellers make no figure. */
  sellers_min: number;
  /** Share of the day's face that is cut at each end. */
  trim_bps: number;
  /** Seconds after the IST day's end from which its figure is fixed. */
  fixed_after_s: number;
  /** The method, step by step. */
  steps: string[];
};

/** The index of one scheme for one day. */
export type RateFigure = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The day of the figure. A day in IST. */
  date: string;
  /** What sellers received, in bps of face; null before there is an index. */
  index_bps: number | null;
  /** Where the figure comes from: the day's own deals, an earlier day's because there were too few, or nowhere yet. */
  basis: "deals" | "carried" | "none" | (string & {});
  /** Whether the figure is not made of the day's own deals. */
  stale: boolean;
  /** The day whose deals the figure is made of; null where it is not made of deals. */
  deals_on: string | null;
  /** Whether the day is over and its figure fixed for good. */
  final: boolean;
  /** The number of deals that count; null for a day that is not fixed or has too few sellers. */
  deal_count: number | null;
  /** The number of different sellers; null for a day that is not fixed or has too few of them. */
  seller_count: number | null;
  /** The face value that was dealt; null for a day that is not fixed or has too few sellers. */
  face_paise: number | null;
};

/** The fixed figures of a scheme. */
export type RateHistory = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The first day asked for. A day in IST. */
  from: string;
  /** The last day asked for. A day in IST. */
  to: string;
  /** Fixed days, oldest first. */
  days: RateFigure[];
};

/** Between what and what a price would lie; never a price. */
export type Estimate = {
  /** The side that was asked for. */
  side: "sell" | "buy" | (string & {});
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The amount that was asked for, in paise. */
  amount_paise: number;
  /** Whose rate card it is made by. */
  environment: "live" | "sandbox" | (string & {});
  /** Sell: as asked. A day in IST. */
  expires_on?: string;
  /** Sell: days from today to that one. */
  days_left?: number;
  /** The lower end of the price, in bps of face. */
  low_bps?: number;
  /** The upper end of the price, in bps of face. */
  high_bps?: number;
  /** The lower end of what changes hands. */
  low_paise?: number;
  /** The upper end of what changes hands. */
  high_paise?: number;
  /** Buy: the least that is saved against cash. */
  savings_low_paise?: number;
  /** Buy: the most that is saved against cash. */
  savings_high_paise?: number;
  /** True when there is no range now; then nothing else is given. */
  no_estimate?: boolean;
  /** Why there is none: wait, change the amount, or the credit lapses too soon. */
  reason?: "market_unavailable" | "size_unavailable" | "validity_unavailable" | (string & {});
  /** Always false: nobody is bound to an estimate. */
  binding: boolean;
  /** The same in words, for people. */
  note: string;
  /** When it was made. ISO 8601, IST. */
  as_of: string;
};

export type SubmitSellEnquiry = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL";
  /** The face you want to sell. */
  face_paise: number;
  /** Your name, or your firm's. */
  name: string;
  /** Where you are answered. */
  email: string;
  /** Ten Indian digits, or with + and a country code. */
  phone?: string | undefined;
  /** Your importer-exporter code. */
  iec?: string | undefined;
  /** That you agree to be contacted and to your data being kept for that, for a time. */
  consent: true;
};

/** How far an enquiry has come; nothing that was said in it. */
export type Enquiry = {
  /** Keep it to ask how far the enquiry has come. */
  enquiry_ref: string;
  /** How far it has come. */
  status: "received" | "closed" | (string & {});
  /** When it was received. ISO 8601, IST. */
  created_at: string;
  /** When its status last changed. ISO 8601, IST. */
  updated_at: string;
  /** When it is deleted, with all personal data in it. ISO 8601, IST. */
  kept_until: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

export type SubmitBuyEnquiry = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL";
  /** The basic customs duty you want to cover. */
  requirement_paise: number;
  /** Your name, or your firm's. */
  name: string;
  /** Where you are answered. */
  email: string;
  /** Ten Indian digits, or with + and a country code. */
  phone?: string | undefined;
  /** Your importer-exporter code. */
  iec?: string | undefined;
  /** That you agree to be contacted and to your data being kept for that, for a time. */
  consent: true;
};

export type SubmitContactEnquiry = {
  /** Your name, or your firm's. */
  name: string;
  /** Where you are answered. */
  email: string;
  /** What you want to know. */
  message: string;
  /** That you agree to be contacted and to your data being kept for that, for a time. */
  consent: true;
};

/** The terms on which the house deals in a scheme. */
export type HouseScheme = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Whether the house gives prices now; null without a rate card. */
  market_state: string | null;
  /** The house's fee in bps of face, inside every price it gives; null before there is a card. */
  fee_bps: number | null;
  /** What a side that is proved late on the customs portal pays the other, in bps of face; null before there is a card. */
  default_bps: number | null;
  /** For how many seconds a quote binds the house; null before there is a card. */
  quote_window_s: number | null;
  /** The largest face it gives a price for; null before there is a card. */
  face_max_paise: number | null;
  /** Credits with fewer days left get no price; null before there is a card. */
  days_left_min: number | null;
};

/** When credits and money move, for a deal agreed now. */
export type Timetable = {
  /** The moment that the days below count from. ISO 8601, IST. */
  as_of: string;
  /** What comes after this time of day, IST, counts as of the next working day. */
  cut_off: string;
  /** When deadlines end, IST. */
  closes: string;
  /** Working days of customs after which a transfer is late. */
  transfer_working_days: number;
  /** The last moment for the transfer of a credit sold to the house now. ISO 8601, IST. */
  transferred_by: string;
  /** Working days of banks that a buyer has to pay. */
  payment_working_days: number;
  /** The last moment for the money of a purchase agreed now. ISO 8601, IST. */
  paid_by: string;
  /** Days of the coming month on which banks or customs are closed, by date. */
  holidays: ({
    /** Who is closed. */
    office: "bank" | "customs" | (string & {});
    /** The day, YYYY-MM-DD in IST. */
    date: string;
    /** What the day is called. */
    name: string;
  })[];
};

/** Who the house is, what dealing costs and when money comes. */
export type House = {
  /** Who runs this desk. */
  name: string;
  /** Its name in law; null until told. */
  legal_name: string | null;
  /** Its number in the register of companies (CIN); null where none is told. */
  cin: string | null;
  /** Its address by lines; empty until told. */
  address: string[];
  /** Its GSTIN; null until told. */
  gstin: string | null;
  /** The mail address; null when none is told. */
  email: string | null;
  /** The telephone number; null when none is told. */
  phone: string | null;
  /** Where its terms are; null until published. */
  terms_href: string | null;
  /** Where it says what becomes of personal data; null where nothing is told. */
  privacy_href: string | null;
  /** One per scheme. */
  schemes: HouseScheme[];
  /** Goods and services tax on a fee, in bps of it. */
  gst_bps: number;
  /** The heading under which credits are exempt from GST. */
  scrip_hsn: string;
  /** What each side of a block pays, tax included, in bps of face. */
  block_fee_bps: number;
  /** Tax that is withheld from sellers; null where none is. */
  withholding: {
    /** The section of the law. */
    section: string;
    /** In bps of what exceeds the threshold. */
    rate_bps: number;
    /** A seller's sales in a financial year without it. */
    threshold_paise: number;
  } | null;
  /** From this amount on money travels by RTGS. */
  rtgs_from_paise: number;
  timetable: Timetable;
};

/** Simulated figures for a desk without a live market. */
export type Preview = {
  /** Always the sandbox. */
  environment: string;
  /** What these figures are, for people. */
  note: string;
  /** One per scheme with a sandbox card. */
  schemes: ({
    /** The scheme of the credits. */
    scheme: "RODTEP" | "ROSCTL" | (string & {});
    /** Of the sandbox's market. */
    market_state: "open" | "halted" | (string & {});
    /** The middle of the sandbox's rate card, in bps of face. */
    mid_bps: number;
    /** A year of simulated figures, oldest first. */
    days: ({
      /** The day, YYYY-MM-DD in IST. */
      date: string;
      /** A simulated figure, in bps of face. */
      index_bps: number;
    })[];
  })[];
};

/** A Quote for selling, with a price. */
export type SellQuote = {
  side: "sell";
  /** Sell by scrip_no: the credit that was priced. */
  scrip_no?: string;
  /** The scheme that was priced. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Sell: the face value that was priced. */
  face_paise: number;
  /** Your price, in basis points of face. */
  price_bps: number;
  /** The single amount that changes hands, everything included. */
  all_in_paise: number;
  /** Sell: until when the price binds. ISO 8601, IST. */
  valid_until: string;
  /** The quote's reference: order with it, or ask support about it. */
  quote_ref: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** A Quote for buying cover, with a price. */
export type BuyQuote = {
  side: "buy";
  /** The scheme that was priced. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Buy: the basic customs duty to cover. */
  requirement_paise: number;
  /** Your price, in basis points of face. */
  price_bps: number;
  /** The single amount that changes hands, everything included. */
  all_in_paise: number;
  /** Buy: saved against paying the duty in cash. */
  savings_paise: number;
  /** Buy: the whole credits that cover the requirement. */
  scrip_nos: string[];
  /** Buy: the duty that the bundle covers. */
  covered_paise: number;
  /** Buy: the duty left to pay in cash. */
  residual_paise: number;
  /** Buy: whether nothing is left to pay in cash. */
  fully_covered: boolean;
  /** The quote's reference: order with it, or ask support about it. */
  quote_ref: string;
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** A Quote without a price. */
export type NoQuote = {
  no_quote: true;
  /** market_unavailable, wait; size_unavailable, change it. */
  reason: "market_unavailable" | "size_unavailable" | (string & {});
  /** In the answer to a dry run only: nothing was written. */
  dry_run?: true;
};

/** The data of an event. */
export type FirmRegisteredData = {
  /** The name it is registered under with customs. */
  legal_name: string;
  /** What the firm does: exporter, importer or both. */
  role: "exporter" | "importer" | "both" | (string & {});
  /** Your own name for the firm; null when it has none. */
  external_id: string | null;
};

/** The data of an event. */
export type FirmCheckedData = {
  /** What the registry and the bank said about the firm. */
  checks: ({
    /** What was asked. */
    check: "IEC_ACTIVE" | "PAN_MATCH" | "GSTIN_MATCH" | "BANK_NAME_MATCH" | "FLAGGED_IEC" | (string & {});
    /** What was found. */
    outcome: "pass" | "fail" | "pending" | (string & {});
    /** What to do about a failure; null for a check that has not failed. */
    cure: string | null;
    /** When it was found; null while pending. */
    as_of: string | null;
  })[];
};

/** The data of an event. */
export type FirmAuthorizedData = {
  /** The firm's permission to trade for it. */
  mandate: {
    /** The mandate's reference. */
    reference: string;
    /** The end of its validity. */
    valid_until: string;
  };
};

/** The data of an event. */
export type FirmBankChangedData = {
  /** Where its money goes; null before it is given. */
  bank: {
    /** The account number, of which the last four digits are shown. */
    account_no_masked: string;
    /** The branch's IFSC. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | null;
  /** The account until then, in part; null where there was none. */
  former_bank: {
    /** The account number, of which the last four digits are shown. */
    account_no_masked: string;
    /** The branch's IFSC. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | null;
};

/** The data of an event. */
export type FirmMandateExpiringData = {
  /** The mandate's reference. */
  reference: string;
  /** The end of its validity. ISO 8601, IST. */
  valid_until: string;
  /** Days until its last day. */
  days_left: number;
};

/** The data of an event. */
export type FirmSuspendedData = {
  /** Who suspended it: the desk or the operator. */
  by: string;
  /** The reason in words; null without one. */
  reason: string | null;
};

/** The data of an event. */
export type FirmResumedData = {
  /** Who had suspended it: the desk or the operator; null where that is not recorded. */
  suspended_by: string | null;
};

/** The data of an event. */
export type FirmOffboardedData = { [name: string]: unknown };

/** The data of an event. */
export type RequirementUncoveredData = {
  /** The requirement's id. */
  requirement_id: string;
  /** Your own name for it, such as the bill of entry. */
  reference: string;
  /** Which credits are to cover it; null: either. */
  scheme: string | null;
  /** When it is due, in IST. */
  due_on: string;
  /** The basic customs duty to be paid. */
  amount_paise: number;
  /** What its orders have bought for it: matched, and not failed. */
  covered_paise: number;
  /** amount_paise less covered_paise; 0 where more was bought than is needed now. */
  uncovered_paise: number;
  /** What an order for it still rests with; a part of what is uncovered. */
  resting_paise: number;
};

/** The data of an event. */
export type CreditEventData = {
  /** The credit's number: opaque, taken trimmed and in capitals. */
  scrip_no: string;
  /** The scheme it was issued under. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The balance that can be transferred: what is priced and sold. 0 once it is used. */
  face_paise: number;
  /** The last day it can be used, IST. YYYY-MM-DD. */
  expires_on: string;
  /** Why it came to this state; null where that is obvious. */
  reason?: string | null;
};

/** The data of an event. */
export type CreditExpiringData = {
  /** The credit's number: opaque, taken trimmed and in capitals. */
  scrip_no: string;
  /** The scheme it was issued under. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The balance that can be transferred: what is priced and sold. 0 once it is used. */
  face_paise: number;
  /** The last day it can be used, IST. YYYY-MM-DD. */
  expires_on: string;
  /** The number of days until it expires. */
  days_left: number;
  /** The warning that this is: so many days before. */
  warning_days: number;
};

/** The data of an event. */
export type CreditUsedData = {
  /** The credit's number: opaque, taken trimmed and in capitals. */
  scrip_no: string;
  /** The scheme it was issued under. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The balance that can be transferred: what is priced and sold. 0 once it is used. */
  face_paise: number;
  /** The last day it can be used, IST. YYYY-MM-DD. */
  expires_on: string;
  /** The part that was used; face_paise is what it left. */
  amount_paise: number;
  /** The bill of entry that it paid; null where customs tells of it. */
  bill_of_entry: string | null;
  /** The day it paid duty. YYYY-MM-DD, IST; null where none was given. */
  used_on: string | null;
  /** The customs port of the bill of entry; null where none was given. */
  port: string | null;
  /** Why it came to this state; null where that is obvious. */
  reason?: string | null;
};

/** The data of an event. */
export type OrderEventData = {
  /** Your own name for the order; null when it has none. */
  client_ref: string | null;
  /** Which side. */
  side: "sell" | "buy" | (string & {});
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Sell: the credits it sells. Buy: the credits that cover it so far. */
  scrip_nos: string[];
  /** Sell: the face that was asked for. */
  face_paise?: number;
  /** Buy: the basic customs duty to cover. */
  requirement_paise?: number;
  /** Sell: the face of its credits. Buy: the duty covered so far. */
  covered_paise: number;
  /** The one price of the order; null until something of it is dealt. */
  price_bps: number | null;
  /** The limit it was placed with; null without one. */
  limit_bps: number | null;
  /** The amount that changes hands for the dealt part, everything included; null before anything of it is dealt. */
  all_in_paise: number | null;
  /** The quote that the order took; null without one. */
  quote_ref: string | null;
  /** The id of its latest settlement; null before there is a deal. */
  settlement_id: string | null;
  /** Its state. */
  status: "open" | "matched" | "cancelled" | "expired" | "failed" | (string & {});
  /** Why it came to this state; null where that is obvious. */
  reason: string | null;
};

/** The data of an event. */
export type SettlementEventData = {
  /** Which side. */
  side: "sell" | "buy" | (string & {});
  /** The orders that it dealt by. */
  order_ids: string[];
  /** The face of its credits. */
  face_paise: number;
  /** What was agreed to change hands. */
  all_in_paise: number;
  /** What of it has changed hands, for credits that were delivered. */
  settled_paise: number;
  /** What of it will not, for credits that were not. */
  undelivered_paise: number;
  /** What your side owes for having been late; kept back or set off. */
  default_owed_paise: number;
  /** What the other side owes yours for that; yours once it is collected. */
  default_due_paise: number;
  /** Where this side stands, by its own credits. */
  status: "pending" | "funded" | "transfer_initiated" | "transfer_confirmed" | "settled" | "failed" | "reversed" | (string & {});
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** Why it failed or was reversed; null otherwise. */
  reason: string | null;
  /** What was awaited when it failed: pay, initiate, accept or customs. New ones may appear; null where it did not fail while waiting. */
  failed_step: string | null;
  /** The credits of this side. */
  scrip_nos: string[];
};

/** The data of an event. */
export type TaskEventData = {
  /** The settlement that it carries out. */
  settlement_id: string;
  /** The task's id. */
  task_id: string;
  /** pay: send the money to the house. initiate: initiate the transfer on the customs portal. accept: accept it there. */
  kind: "pay" | "initiate" | "accept" | (string & {});
  /** Whose side it is of. */
  side: "sell" | "buy" | (string & {});
  /** The credit; null for the payment. */
  scrip_no: string | null;
  /** Who does it: the firm, or the house for it by its mandate. */
  by: "firm" | "house" | (string & {});
  /** late: its deadline has passed and it still waits. void: the deal ended without it. */
  status: "waiting" | "done" | "late" | "void" | (string & {});
  /** By when it is to be done; null once it is done. ISO 8601, IST. */
  due_at: string | null;
  /** When it was done, as a party said or customs showed; null before. ISO 8601, IST. */
  done_at: string | null;
  /** For pay: what is to be paid; null for the other kinds. */
  amount_paise: number | null;
  /** The credit's face; null for pay. */
  face_paise: number | null;
};

/** The data of an event. */
export type PayoutEventData = {
  /** Where it comes from: a settlement, or the firm's balance. */
  kind: "settlement" | "withdrawal" | (string & {});
  /** The settlement that it comes from; null for a withdrawal. */
  settlement_id: string | null;
  /** The payout that came back and is sent again by this one; null for a first attempt. */
  resend_of: string | null;
  /** How much: the sum of its lines, less `set_off_paise`. */
  amount_paise: number;
  /** What of its lines was set off from what the firm owed the house. */
  set_off_paise: number;
  /** How it goes: by the amount of its remittance, once it has one. */
  rail: "RTGS" | "NEFT" | "IMPS" | (string & {});
  /** What it leaves in: all that is due to one payee in one run reaches its account as one amount, under one `utr`. Null until then. */
  remittance: {
    /** The payout that names it: the first of those that leave together. */
    payout_id: string;
    /** What reaches the account under one reference. */
    amount_paise: number;
  } | null;
  /** The bank's reference (UTR); null before it is sent. */
  utr: string | null;
  /** The state it is in. */
  status: "scheduled" | "held" | "instructed" | "sent" | "paid" | "returned" | (string & {});
  /** Why it is held or came back; null otherwise. */
  reason: string | null;
};

/** The data of an event. */
export type DepositEventData = {
  /** The bank's reference of the payment. */
  reference: string;
  /** The amount that came, in paise. */
  amount_paise: number;
  /** The settlement that it came for; null where it became balance. */
  settlement_id: string | null;
  /** Whether it is the firm's, or was taken back. */
  status: "received" | "returned" | (string & {});
  /** When it was booked. ISO 8601, IST. */
  received_at: string;
  /** When it was taken back; null while it was not. */
  returned_at: string | null;
};

/** The data of an event. */
export type DepositQueuedData = {
  /** The amount that came, in paise. */
  amount_paise: number;
  /** Why it waits for a person. */
  reason: "no_reference" | "unknown_reference" | "ambiguous_reference" | "amount_differs" | "third_party" | "voided_file" | "already_answered" | "reference_used" | "firm_left" | "firm_rejected" | "firm_may_not_trade" | "perhaps_counted" | (string & {});
};

/** The data of an event. */
export type DuesEventData = {
  /** The settlement, payout, cross or deposit that it comes from. */
  reference: string;
  /** What was added to the dues, or paid on them. */
  amount_paise: number;
  /** What the firm owes the house after it. */
  dues_paise: number;
};

/** The data of an event. */
export type CrossEventData = {
  /** Block or intra-group. */
  kind: "block" | "intra_group" | (string & {});
  /** Your side; the proposing one where your desk has both. */
  side: "sell" | "buy" | (string & {});
  /** The importer-exporter code of the other side. */
  counterparty_iec: string;
  /** Which scheme. */
  scheme: "RODTEP" | "ROSCTL" | (string & {});
  /** The credits; none before the seller has chosen. */
  scrip_nos: string[];
  /** The face value in paise. */
  face_paise: number;
  /** The price between the two. */
  price_bps: number;
  /** What you pay or get, everything included. */
  all_in_paise: number;
  /** Names the terms that both sides agree to. */
  terms_hash: string;
  /** The reference that the buyer gave for its payment; null for the seller, and before it is funded. */
  payment_ref: string | null;
  /** The settlement of what was released; null before the release. */
  settlement_id: string | null;
  /** The netting of a group that it is a part of; null for a cross of its own. */
  netting_ref: string | null;
  /** The state it is in. */
  status: "proposed" | "agreed" | "funded" | "released" | "settled" | "declined" | "cancelled" | "expired" | "refunded" | "failed" | (string & {});
  /** Why it ended; null while it has not, and where that is obvious. */
  reason: string | null;
};

/** The data of an event. */
export type StatementReadyData = {
  /** The statement's number. */
  statement_no: string;
  /** Its month, YYYY-MM. */
  period: string;
};

/** The data of an event. */
export type SecondKeyData = {
  /** What it does once it is approved. */
  kind: "bank_change" | "withdrawal" | "offboarding" | "rules" | (string & {});
  /** The firm that it is about; your own for rules. */
  firm_id: string;
  /** What is decided: the account in part, the sum or the rules. */
  shown: {
    /** The account that the firm's money shall go to; null for none. */
    bank?: {
      /** The account number, of which the last four digits are shown. */
      account_no_masked: string;
      /** The branch's IFSC. */
      ifsc: string;
      /** The name the account bears. */
      name: string;
    } | null;
    /** What is paid out, in paise. */
    amount_paise?: number;
    /** What shall take two keys. */
    rules?: {
      /** Whether another bank account of a firm takes two keys. */
      bank_changes: boolean;
      /** Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none. */
      withdrawals_from_paise: number | null;
    };
  };
  /** The name that the key bore which proposed it. */
  proposed_by: string;
  /** The name that the key bore which approved or rejected it; null while none has. */
  decided_by: string | null;
  /** The payout of a withdrawal that was approved; null otherwise. */
  payout_id: string | null;
  /** Why it was rejected or became void; null otherwise. */
  reason: string | null;
};

/** The data of an event. */
export type KeyEventData = {
  /** What the key is for, in your words. */
  name: string;
  /** A root key is the firm's own; others are minted from it. */
  kind: "root" | "sub_account" | "app" | (string & {});
};

/** The data of an event. */
export type UsageThresholdData = {
  /** The key's id. */
  key_id: string;
  /** The IST month, YYYY-MM. */
  month: string;
  /** How much of the quota is used: 80 or 100. */
  threshold_percent: number;
  /** Calls allowed in the month. */
  quota: number;
  /** Calls made in the month. */
  quota_used: number;
  /** When the next month begins. ISO 8601, IST. */
  quota_resets_at: string;
};

/** The data of an event. */
export type AuditCheckpointData = {
  /** The place of the head in the chain. */
  seq: number;
  /** Of the head, SHA-256 as hex. */
  hash: string;
  /** What it was signed with, hex. */
  public_key: string;
  /** The Ed25519 signature as hex. */
  signature: string;
  /** The signed line, as in an export. */
  checkpoint: string;
};

/** The data of an event. */
export type WebhookPingData = {
  /** Where events are sent, by POST. https only in production; no private address. */
  url: string;
};

/** The data of an event. */
export type WebhookUpdatedData = {
  /** Where events are sent, by POST. https only in production; no private address. */
  url: string;
  /** What is sent: names of events, or * for all. */
  events: string[];
  /** What it is for, in words; null without any. */
  description: string | null;
};

/** The data of an event. */
export type WebhookFailingData = {
  /** Where events are sent, by POST. https only in production; no private address. */
  url: string;
  /** Since when nothing was taken. ISO 8601, IST. */
  failing_since: string;
  /** When it is disabled, or was. ISO 8601, IST. */
  disabled_at: string;
};

/** What each event carries. */
export type EventData = {
  "firm.registered": FirmRegisteredData;
  "firm.action_required": FirmCheckedData;
  "firm.rejected": FirmCheckedData;
  "firm.verified": FirmCheckedData;
  "firm.authorized": FirmAuthorizedData;
  "firm.bank_changed": FirmBankChangedData;
  "firm.mandate_expiring": FirmMandateExpiringData;
  "firm.suspended": FirmSuspendedData;
  "firm.resumed": FirmResumedData;
  "firm.offboarded": FirmOffboardedData;
  "requirement.uncovered": RequirementUncoveredData;
  "credit.listed": CreditEventData;
  "credit.withdrawn": CreditEventData;
  "credit.expiring": CreditExpiringData;
  "credit.expired": CreditEventData;
  "credit.suspended": CreditEventData;
  "credit.used": CreditUsedData;
  "order.accepted": OrderEventData;
  "order.matched": OrderEventData;
  "order.cancelled": OrderEventData;
  "order.expired": OrderEventData;
  "order.failed": OrderEventData;
  "settlement.created": SettlementEventData;
  "settlement.funded": SettlementEventData;
  "settlement.transfer_initiated": SettlementEventData;
  "settlement.transfer_confirmed": SettlementEventData;
  "settlement.settled": SettlementEventData;
  "settlement.failed": SettlementEventData;
  "settlement.reversed": SettlementEventData;
  "settlement.default_paid": SettlementEventData;
  "task.waiting": TaskEventData;
  "task.done": TaskEventData;
  "task.late": TaskEventData;
  "payout.scheduled": PayoutEventData;
  "payout.held": PayoutEventData;
  "payout.instructed": PayoutEventData;
  "payout.sent": PayoutEventData;
  "payout.paid": PayoutEventData;
  "payout.returned": PayoutEventData;
  "deposit.received": DepositEventData;
  "deposit.queued": DepositQueuedData;
  "deposit.returned": DepositEventData;
  "dues.raised": DuesEventData;
  "dues.set_off": DuesEventData;
  "cross.proposed": CrossEventData;
  "cross.agreed": CrossEventData;
  "cross.declined": CrossEventData;
  "cross.cancelled": CrossEventData;
  "cross.expired": CrossEventData;
  "cross.funded": CrossEventData;
  "cross.released": CrossEventData;
  "cross.refunded": CrossEventData;
  "cross.settled": CrossEventData;
  "cross.failed": CrossEventData;
  "statement.ready": StatementReadyData;
  "second_key.proposed": SecondKeyData;
  "second_key.approved": SecondKeyData;
  "second_key.rejected": SecondKeyData;
  "key.created": KeyEventData;
  "key.updated": KeyEventData;
  "key.revoked": KeyEventData;
  "usage.threshold": UsageThresholdData;
  "audit.checkpoint": AuditCheckpointData;
  "webhook.ping": WebhookPingData;
  "webhook.updated": WebhookUpdatedData;
  "webhook.failing": WebhookFailingData;
  "webhook.disabled": WebhookFailingData;
};

/** A fact, told by its name; ignore the ones you do not know, for more come. */
export type Event = {
  [Name in keyof EventData]: Omit<AnyEvent, "event" | "data"> & {
    /** What happened. */
    event: Name;
    /** Facts of this event. */
    data: EventData[Name];
  };
}[keyof EventData];

// Written by `npm run golden` from docs/openapi.json. Do not edit.

import type { List } from "./list.ts";
import type { Call, CallOptions, CreateOptions, Operation, StreamOptions, WriteOptions } from "./options.ts";
import type { AuditKeys, AuditList, BatchOrder, Connection, ContractNotes, Credit, CreditDeclaration, CreditDeclarationResults, CreditImportResults, CreditList, Cross, CrossList, CrossQuote, CrossQuoteRequest, DeliveryList, DeskClock, Earnings, Enquiry, Estimate, EventList, FailureList, Firm, FirmList, Group, GroupList, GroupMemberList, GroupPositions, Key, Market, MarketList, Methodology, MintedKey, Netting, NettingCrosses, Order, OrderBatchResults, OrderList, Payout, PayoutList, PlaceOrder, Positions, Quote, QuoteRequest, Rate, RateFigure, RateHistory, RateList, ReissuedKey, Replay, Requirement, RequirementList, SandboxReset, ScenarioList, SeededCredits, Settlement, SettlementList, StateTables, Statement, StatementList, StoredQuote, TestedWebhook, Usage, Webhook, WebhookList, WhoAmI } from "./schemas.ts";
import type { DeskEvent, MarketEvent } from "./streams.ts";

export type IsAliveAnswer = {
  /** ok, ready or not_ready. */
  status: string;
  /** What is missing. */
  reason?: string;
};

export type IsReadyAnswer = {
  /** ok, ready or not_ready. */
  status: string;
  /** What is missing. */
  reason?: string;
};

export type ReadOpenApiAnswer = { [name: string]: unknown };

export type MintKeyBody = {
  /** What the key is for. */
  name: string;
  /** A sub_account key acts for one client firm; an app key for the whole desk. */
  kind: "sub_account" | "app";
  /** A subset of the parent's scopes. */
  scopes: readonly ("firms" | "quote" | "orders:write" | "orders:read" | "market:read" | "webhooks:write" | "*")[];
  /** The client firm of a sub_account key. */
  firm_id?: string | undefined;
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
  } | undefined;
  /** Whether the key may take buy quotes. Default false. */
  buy_side?: boolean | undefined;
};

export type ListKeysQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListKeysAnswer = {
  /** Newest first. */
  keys: Key[];
  /** Rows on this page. */
  count?: number;
  /** Rows in the list when paging began. */
  total?: number;
  /** Ask for the next page with this; null on the last page. */
  next_cursor?: string | null;
  /** Whether there is a next page. */
  has_more?: boolean;
};

export type ReadUsageQuery = {
  /** The IST month whose history is shown; this month by default. */
  month?: string | undefined;
};

export type RegisterFirmBody = {
  /** As registered with customs. */
  legal_name: string;
  /** Importer-exporter code: the PAN, or ten digits for an old one. */
  iec: string;
  /** Permanent account number. */
  pan: string;
  /** Holds the PAN; its last character is a check. */
  gstin?: string | undefined;
  /** Corporate identity number; companies only. */
  cin?: string | undefined;
  /** Where people of the firm are reached. */
  email: string;
  /** Ten Indian digits, or with + and a country code. */
  phone?: string | undefined;
  /** Where its money goes. */
  bank?: {
    /** 9 to 18 digits. Never shown again. */
    account_no: string;
    /** The branch. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | undefined;
  /** What it does. */
  role: "exporter" | "importer" | "both";
  /** The group of your desk that it belongs to. */
  group_id?: string | undefined;
  /** Your own name for the firm; unique on your desk. */
  external_id?: string | undefined;
};

export type ListFirmsQuery = {
  /** Only in this state. */
  connection_state?: "registered" | "verifying" | "action_required" | "verified" | "authorized" | "suspended" | "rejected" | "offboarding" | "offboarded" | undefined;
  /** Only of this role. */
  role?: "exporter" | "importer" | "both" | undefined;
  /** Only of this group. */
  group_id?: string | undefined;
  /** The firm you call by this name. */
  external_id?: string | undefined;
  /** The firm of this IEC. */
  iec?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type UpdateFirmBody = {
  /** As registered with customs. */
  legal_name?: string | undefined;
  /** Importer-exporter code: the PAN, or ten digits for an old one. */
  iec?: string | undefined;
  /** Permanent account number. */
  pan?: string | undefined;
  /** Holds the PAN; its last character is a check. */
  gstin?: string | null | undefined;
  /** Corporate identity number; companies only. */
  cin?: string | null | undefined;
  /** Where people of the firm are reached. */
  email?: string | undefined;
  /** Ten Indian digits, or with + and a country code. */
  phone?: string | null | undefined;
  /** Where its money goes; null takes it away. */
  bank?: {
    /** 9 to 18 digits. Never shown again. */
    account_no: string;
    /** The branch. */
    ifsc: string;
    /** The name the account bears. */
    name: string;
  } | null | undefined;
  /** What it does. */
  role?: "exporter" | "importer" | "both" | undefined;
  /** The group of your desk that it belongs to. */
  group_id?: string | null | undefined;
  /** Your own name for the firm; unique on your desk. */
  external_id?: string | null | undefined;
};

export type AuthorizeFirmBody = {
  /** The firm's permission to trade for it. */
  mandate: {
    /** Who signed for the firm. */
    signatory_name: string;
    /** Where the signed mandate is found. */
    reference: string;
    /** ISO 8601 with an offset, or a day: then to the end of it, IST. */
    valid_until: string;
  };
};

export type SuspendFirmBody = {
  /** Why, for whoever looks later. */
  reason: string;
};

export type OffboardFirmBody = {
  /** Take no new business, and leave by itself when the open business is done. */
  mode?: "drain" | undefined;
};

export type CreateGroupBody = {
  /** What the group is called; one group of that name on a desk. */
  name: string;
};

export type ListGroupsQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type UpdateGroupBody = {
  /** What the group is called; one group of that name on a desk. */
  name: string;
};

export type ListMembersQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type DeclareRequirementBody = {
  /** Which credits are to cover it; absent: either scheme. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** The duty that will have to be paid. */
  amount_paise: number;
  /** When it is due; today or later. A day in IST. */
  due_on: string;
  /** Your own name for it, such as a bill of entry; one per firm. */
  reference: string;
};

export type ListRequirementsQuery = {
  /** Only those that name this scheme. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** Only those due before this day. A day in IST. */
  due_before?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type UpdateRequirementBody = {
  /** Which credits are to cover it; null: either scheme. */
  scheme?: "RODTEP" | "ROSCTL" | null | undefined;
  /** The duty that will have to be paid. */
  amount_paise?: number | undefined;
  /** When it is due; today or later. A day in IST. */
  due_on?: string | undefined;
  /** Your own name for it, such as a bill of entry; one per firm. */
  reference?: string | undefined;
};

export type CrossNettingBody = {
  /** Names these proposals until their time is over. */
  netting_ref: string;
};

export type ListCreditsQuery = {
  /** Only this scheme. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** Only this status. */
  status?: "declared" | "listed" | "reserved" | "in_settlement" | "transferred" | "suspended" | "cancelled" | "expired" | "used" | "withdrawn" | "rejected" | undefined;
  /** Only credits whose last day is before this one. YYYY-MM-DD. */
  expiring_before?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type DeclareCreditsBody = {
  /** Each is answered by itself. */
  credits: readonly CreditDeclaration[];
};

export type ImportCreditsBody = {
  /** A report of the customs portal, at most 5000 rows. Amounts are rupees. */
  csv: string;
};

export type ListOrdersQuery = {
  /** Only those in this state. */
  status?: "open" | "matched" | "cancelled" | "expired" | "failed" | undefined;
  side?: "sell" | "buy" | undefined;
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  firm_id?: string | undefined;
  client_ref?: string | undefined;
  idempotency_key?: string | undefined;
  /** Only those placed at this time or later. ISO 8601, IST. */
  from?: string | undefined;
  /** Only those placed before this time. ISO 8601, IST. */
  to?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type PlaceOrderBatchBody = {
  /** 1 to 500; each has its own result. */
  orders: readonly BatchOrder[];
};

export type ProposeCrossBody = {
  /** The quote whose terms are proposed. */
  cross_quote_ref: string;
};

export type ListCrossesQuery = {
  /** Only those in this state. */
  status?: "proposed" | "agreed" | "funded" | "released" | "settled" | "declined" | "cancelled" | "expired" | "refunded" | "failed" | undefined;
  kind?: "block" | "intra_group" | undefined;
  /** Only those that this firm has a side in. */
  firm_id?: string | undefined;
  /** Only those of this netting. */
  netting_ref?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type AcceptCrossBody = {
  /** The terms you agree to, as the cross shows them. */
  terms_hash: string;
  /** Seller, where the terms name no credits: those you deliver, of exactly the face. Found among your own when absent. */
  scrip_nos?: readonly string[] | undefined;
};

export type FundCrossBody = {
  /** Your own name for the payment. The same again is the same payment. */
  payment_ref: string;
};

export type ReadPositionsQuery = {
  /** Only this firm of your desk; all of them when absent. */
  firm_id?: string | undefined;
};

export type ListSettlementsQuery = {
  /** Only those in this state. */
  status?: "pending" | "funded" | "transfer_initiated" | "transfer_confirmed" | "settled" | "failed" | "reversed" | undefined;
  /** Only those of this firm. */
  firm_id?: string | undefined;
  /** Only those of this order. */
  order_id?: string | undefined;
  /** Only those dealt at this time or later. ISO 8601, IST. */
  from?: string | undefined;
  /** Only those dealt before this time. ISO 8601, IST. */
  to?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListPayoutsQuery = {
  /** Only those in this state. */
  status?: "scheduled" | "held" | "instructed" | "sent" | "paid" | "returned" | undefined;
  /** Only those of this kind. */
  kind?: "settlement" | "withdrawal" | undefined;
  /** Only those of this firm. */
  firm_id?: string | undefined;
  /** Only those of this order. */
  order_id?: string | undefined;
  /** Only those of this settlement. */
  settlement_id?: string | undefined;
  /** Only those scheduled at this time or later. ISO 8601, IST. */
  from?: string | undefined;
  /** Only those scheduled before this time. ISO 8601, IST. */
  to?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type WithdrawMoneyBody = {
  /** How much of what the firm has available. */
  amount_paise: number;
};

export type AdvanceClockBody = {
  /** By how many seconds your desk's clock goes forward; it never goes back. */
  advance_s: number;
};

export type SetScenarioBody = {
  /** transfer_timeout: customs never answers. transfer_refused: it refuses. credit_suspended: it suspends the credit. payout_returned: the bank sends the money back. market_halt: you get no quotes until market_open. */
  scenario: "transfer_timeout" | "transfer_refused" | "credit_suspended" | "payout_returned" | "market_halt" | "market_open";
};

export type SeedSandboxBody = {
  /** The firm of your desk that gets them; the key's own when absent. */
  firm_id?: string | undefined;
  /** How many credits. */
  count: number;
  /** All of this scheme; mixed when absent. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** The same text makes the same credits for a firm; other credits otherwise. */
  seed?: string | undefined;
};

export type ReadEarningsQuery = {
  /** What to add up by; day unless given. */
  by?: "day" | "firm" | "scheme" | undefined;
  /** The first day; that of the month of `to` unless given. IST. */
  from?: string | undefined;
  /** The last day; today unless given. IST. */
  to?: string | undefined;
};

export type ListStatementsQuery = {
  /** Of this firm of your desk; your key's own unless given. */
  firm_id?: string | undefined;
};

export type ReadStatementQuery = {
  /** Of this firm of your desk; your key's own unless given. */
  firm_id?: string | undefined;
  /** As what; json unless given. */
  format?: "json" | "csv" | "pdf" | undefined;
  /** Only the lines after this one; as json or csv. */
  after_line?: number | undefined;
  /** At most so many lines; as json or csv. 2000 where after_line alone is given. */
  limit?: number | undefined;
};

export type ReadContractNoteQuery = {
  /** As what; json unless given. */
  format?: "json" | "pdf" | undefined;
};

export type ListEventsQuery = {
  /** Show events after this one; 0, the default, shows from the first. */
  after_sequence?: number | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type StreamEventsQuery = {
  /** Begin after this event, when there is no Last-Event-ID; absent: from now on. */
  after_sequence?: number | undefined;
};

export type ListAuditQuery = {
  /** Only changes of this kind of thing. */
  entity_type?: string | undefined;
  /** Only changes of this thing. */
  entity_id?: string | undefined;
  /** Only changes by this actor_id. */
  actor?: string | undefined;
  /** Only this action. */
  action?: string | undefined;
  /** Only changes at or after this time. ISO 8601 with an offset. */
  from?: string | undefined;
  /** Only changes before this time. ISO 8601 with an offset. */
  to?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ExportAuditQuery = {
  /** Export what follows this place: last_seq of the export before. Default 0. */
  after_seq?: number | undefined;
};

export type RegisterWebhookBody = {
  /** Where events are sent, by POST. https only in production; no private address. */
  url: string;
  /** One event name, or * for all of them. */
  event: "*" | "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "key.created" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.failing" | "webhook.disabled";
};

export type ListWebhooksQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type RotateSecretBody = {
  /** For so many seconds deliveries are also signed with the old secret. Default 86400. */
  grace_s?: number | undefined;
};

export type ListDeliveriesQuery = {
  /** Only those. */
  status?: "pending" | "delivered" | "dead" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListFailuresQuery = {
  /** Only of this webhook. */
  webhook_id?: string | undefined;
  /** Only of this event. */
  event?: "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "key.created" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.failing" | "webhook.disabled" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ReplayDeliveriesBody = {
  /** These dead letters; given alone. */
  delivery_ids?: readonly string[] | undefined;
  /** Those of this webhook. */
  webhook_id?: string | undefined;
  /** Only of this event. */
  event?: "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "key.created" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.failing" | "webhook.disabled" | undefined;
  /** Those of events from then on. */
  since?: string | undefined;
  /** Those of events before then. */
  until?: string | undefined;
};

export type ReadRateHistoryQuery = {
  /** The first day; a year before the last one unless given. A day in IST. */
  from?: string | undefined;
  /** The last day; today unless given. A day in IST. */
  to?: string | undefined;
};

export type ExportRateHistoryQuery = {
  /** The first day; a year before the last one unless given. A day in IST. */
  from?: string | undefined;
  /** The last day; today unless given. A day in IST. */
  to?: string | undefined;
};

export type EstimateEnquiryQuery = {
  /** What you want to do. */
  side: "sell" | "buy";
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL";
  /** The face to sell, or the duty to cover. */
  amount_paise: number;
};

export type SubmitSellEnquiryBody = {
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

export type SubmitBuyEnquiryBody = {
  /** The scheme of the credits. */
  scheme: "RODTEP" | "ROSCTL";
  /** The duty you want to cover. */
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

export type SubmitContactEnquiryBody = {
  /** Your name, or your firm's. */
  name: string;
  /** Where you are answered. */
  email: string;
  /** What you want to know. */
  message: string;
  /** That you agree to be contacted and to your data being kept for that, for a time. */
  consent: true;
};

export const api_version = "1.2.0";

/** What the methods send, by the operation's name in the document. */
export const operations = {
  isAlive: { id: "isAlive", method: "GET", path: "/healthz", kind: "json", is_keyless: true },
  isReady: { id: "isReady", method: "GET", path: "/readyz", kind: "json", is_keyless: true },
  readOpenApi: { id: "readOpenApi", method: "GET", path: "/v1/openapi.json", kind: "json", is_keyless: true },
  listStates: { id: "listStates", method: "GET", path: "/v1/meta/states", kind: "json" },
  whoAmI: { id: "whoAmI", method: "GET", path: "/v1/whoami", kind: "json" },
  mintKey: { id: "mintKey", method: "POST", path: "/v1/keys", kind: "json", takes_key: true },
  listKeys: { id: "listKeys", method: "GET", path: "/v1/keys", kind: "list", items: "keys" },
  readKey: { id: "readKey", method: "GET", path: "/v1/keys/{key_id}", kind: "json" },
  revokeKey: { id: "revokeKey", method: "DELETE", path: "/v1/keys/{key_id}", kind: "json" },
  reissueKey: { id: "reissueKey", method: "POST", path: "/v1/keys/{key_id}/reissue", kind: "json" },
  readUsage: { id: "readUsage", method: "GET", path: "/v1/usage", kind: "json" },
  registerFirm: { id: "registerFirm", method: "POST", path: "/v1/firms", kind: "json", takes_key: true },
  listFirms: { id: "listFirms", method: "GET", path: "/v1/firms", kind: "list", items: "firms" },
  readFirm: { id: "readFirm", method: "GET", path: "/v1/firms/{firm_id}", kind: "json" },
  updateFirm: { id: "updateFirm", method: "PATCH", path: "/v1/firms/{firm_id}", kind: "json" },
  readConnection: { id: "readConnection", method: "GET", path: "/v1/firms/{firm_id}/connection", kind: "json" },
  verifyFirm: { id: "verifyFirm", method: "POST", path: "/v1/firms/{firm_id}/verify", kind: "json" },
  authorizeFirm: { id: "authorizeFirm", method: "POST", path: "/v1/firms/{firm_id}/authorize", kind: "json" },
  suspendFirm: { id: "suspendFirm", method: "POST", path: "/v1/firms/{firm_id}/suspend", kind: "json" },
  resumeFirm: { id: "resumeFirm", method: "POST", path: "/v1/firms/{firm_id}/resume", kind: "json" },
  offboardFirm: { id: "offboardFirm", method: "POST", path: "/v1/firms/{firm_id}/offboard", kind: "json" },
  createGroup: { id: "createGroup", method: "POST", path: "/v1/groups", kind: "json", takes_key: true },
  listGroups: { id: "listGroups", method: "GET", path: "/v1/groups", kind: "list", items: "groups" },
  readGroup: { id: "readGroup", method: "GET", path: "/v1/groups/{group_id}", kind: "json" },
  updateGroup: { id: "updateGroup", method: "PATCH", path: "/v1/groups/{group_id}", kind: "json" },
  deleteGroup: { id: "deleteGroup", method: "DELETE", path: "/v1/groups/{group_id}", kind: "json" },
  listMembers: { id: "listMembers", method: "GET", path: "/v1/groups/{group_id}/members", kind: "list", items: "members" },
  addMember: { id: "addMember", method: "PUT", path: "/v1/groups/{group_id}/members/{firm_id}", kind: "json" },
  removeMember: { id: "removeMember", method: "DELETE", path: "/v1/groups/{group_id}/members/{firm_id}", kind: "json" },
  readGroupPositions: { id: "readGroupPositions", method: "GET", path: "/v1/groups/{group_id}/positions", kind: "json" },
  declareRequirement: { id: "declareRequirement", method: "POST", path: "/v1/firms/{firm_id}/requirements", kind: "json", takes_key: true },
  listRequirements: { id: "listRequirements", method: "GET", path: "/v1/firms/{firm_id}/requirements", kind: "list", items: "requirements" },
  readRequirement: { id: "readRequirement", method: "GET", path: "/v1/firms/{firm_id}/requirements/{requirement_id}", kind: "json" },
  updateRequirement: { id: "updateRequirement", method: "PATCH", path: "/v1/firms/{firm_id}/requirements/{requirement_id}", kind: "json" },
  deleteRequirement: { id: "deleteRequirement", method: "DELETE", path: "/v1/firms/{firm_id}/requirements/{requirement_id}", kind: "json" },
  proposeNetting: { id: "proposeNetting", method: "GET", path: "/v1/groups/{group_id}/netting", kind: "json" },
  crossNetting: { id: "crossNetting", method: "POST", path: "/v1/groups/{group_id}/netting/crosses", kind: "json", takes_key: true },
  listCredits: { id: "listCredits", method: "GET", path: "/v1/firms/{firm_id}/credits", kind: "list", items: "credits" },
  declareCredits: { id: "declareCredits", method: "POST", path: "/v1/firms/{firm_id}/credits", kind: "json", takes_key: true },
  importCredits: { id: "importCredits", method: "POST", path: "/v1/firms/{firm_id}/credits:import", kind: "json" },
  syncCredits: { id: "syncCredits", method: "POST", path: "/v1/firms/{firm_id}/credits:sync", kind: "json" },
  readCredit: { id: "readCredit", method: "GET", path: "/v1/credits/{scrip_no}", kind: "json" },
  withdrawCredit: { id: "withdrawCredit", method: "POST", path: "/v1/credits/{scrip_no}/withdraw", kind: "json" },
  useCredit: { id: "useCredit", method: "POST", path: "/v1/credits/{scrip_no}/use", kind: "json" },
  takeQuote: { id: "takeQuote", method: "POST", path: "/v1/quote", kind: "json" },
  readQuote: { id: "readQuote", method: "GET", path: "/v1/quotes/{quote_ref}", kind: "json" },
  placeOrder: { id: "placeOrder", method: "POST", path: "/v1/orders", kind: "json", takes_key: true },
  listOrders: { id: "listOrders", method: "GET", path: "/v1/orders", kind: "list", items: "orders" },
  placeOrderBatch: { id: "placeOrderBatch", method: "POST", path: "/v1/orders:batch", kind: "json", takes_key: true },
  readOrder: { id: "readOrder", method: "GET", path: "/v1/orders/{order_id}", kind: "json" },
  cancelOrder: { id: "cancelOrder", method: "POST", path: "/v1/orders/{order_id}/cancel", kind: "json" },
  quoteCross: { id: "quoteCross", method: "POST", path: "/v1/cross/quote", kind: "json" },
  proposeCross: { id: "proposeCross", method: "POST", path: "/v1/cross", kind: "json", takes_key: true },
  listCrosses: { id: "listCrosses", method: "GET", path: "/v1/cross", kind: "list", items: "crosses" },
  readCross: { id: "readCross", method: "GET", path: "/v1/cross/{cross_id}", kind: "json" },
  acceptCross: { id: "acceptCross", method: "POST", path: "/v1/cross/{cross_id}/accept", kind: "json" },
  declineCross: { id: "declineCross", method: "POST", path: "/v1/cross/{cross_id}/decline", kind: "json" },
  fundCross: { id: "fundCross", method: "POST", path: "/v1/cross/{cross_id}/fund", kind: "json" },
  releaseCross: { id: "releaseCross", method: "POST", path: "/v1/cross/{cross_id}/release", kind: "json" },
  cancelCross: { id: "cancelCross", method: "POST", path: "/v1/cross/{cross_id}/cancel", kind: "json" },
  readPositions: { id: "readPositions", method: "GET", path: "/v1/positions", kind: "json" },
  listMarkets: { id: "listMarkets", method: "GET", path: "/v1/market", kind: "json" },
  streamMarket: { id: "streamMarket", method: "GET", path: "/v1/market/stream", kind: "events" },
  readMarket: { id: "readMarket", method: "GET", path: "/v1/market/{scheme}", kind: "json" },
  listSettlements: { id: "listSettlements", method: "GET", path: "/v1/settlements", kind: "list", items: "settlements" },
  readSettlement: { id: "readSettlement", method: "GET", path: "/v1/settlements/{settlement_id}", kind: "json" },
  advanceSettlement: { id: "advanceSettlement", method: "POST", path: "/v1/sandbox/settlements/{settlement_id}/advance", kind: "json" },
  listPayouts: { id: "listPayouts", method: "GET", path: "/v1/payouts", kind: "list", items: "payouts" },
  readPayout: { id: "readPayout", method: "GET", path: "/v1/payouts/{payout_id}", kind: "json" },
  withdrawMoney: { id: "withdrawMoney", method: "POST", path: "/v1/firms/{firm_id}/withdrawals", kind: "json", takes_key: true },
  advanceClock: { id: "advanceClock", method: "POST", path: "/v1/sandbox/clock", kind: "json" },
  setScenario: { id: "setScenario", method: "POST", path: "/v1/sandbox/scenarios", kind: "json" },
  seedSandbox: { id: "seedSandbox", method: "POST", path: "/v1/sandbox/credits:seed", kind: "json" },
  resetSandbox: { id: "resetSandbox", method: "POST", path: "/v1/sandbox/reset", kind: "json" },
  readEarnings: { id: "readEarnings", method: "GET", path: "/v1/earnings", kind: "json" },
  listStatements: { id: "listStatements", method: "GET", path: "/v1/statements", kind: "json" },
  readStatement: { id: "readStatement", method: "GET", path: "/v1/statements/{period}", kind: "json" },
  readContractNote: { id: "readContractNote", method: "GET", path: "/v1/settlements/{settlement_id}/contract-note", kind: "json" },
  listEvents: { id: "listEvents", method: "GET", path: "/v1/events", kind: "list", items: "events" },
  streamEvents: { id: "streamEvents", method: "GET", path: "/v1/events/stream", kind: "events" },
  listAudit: { id: "listAudit", method: "GET", path: "/v1/audit", kind: "list", items: "audit" },
  exportAudit: { id: "exportAudit", method: "GET", path: "/v1/audit/export", kind: "lines" },
  listAuditKeys: { id: "listAuditKeys", method: "GET", path: "/v1/audit/keys", kind: "json" },
  registerWebhook: { id: "registerWebhook", method: "POST", path: "/v1/webhooks", kind: "json", takes_key: true },
  listWebhooks: { id: "listWebhooks", method: "GET", path: "/v1/webhooks", kind: "list", items: "webhooks" },
  readWebhook: { id: "readWebhook", method: "GET", path: "/v1/webhooks/{webhook_id}", kind: "json" },
  deleteWebhook: { id: "deleteWebhook", method: "DELETE", path: "/v1/webhooks/{webhook_id}", kind: "json" },
  testWebhook: { id: "testWebhook", method: "POST", path: "/v1/webhooks/{webhook_id}/test", kind: "json" },
  rotateSecret: { id: "rotateSecret", method: "POST", path: "/v1/webhooks/{webhook_id}/rotate-secret", kind: "json" },
  enableWebhook: { id: "enableWebhook", method: "POST", path: "/v1/webhooks/{webhook_id}/enable", kind: "json" },
  listDeliveries: { id: "listDeliveries", method: "GET", path: "/v1/webhooks/{webhook_id}/deliveries", kind: "list", items: "deliveries" },
  listFailures: { id: "listFailures", method: "GET", path: "/v1/webhooks/failures", kind: "list", items: "failures" },
  replayDeliveries: { id: "replayDeliveries", method: "POST", path: "/v1/webhooks/replay", kind: "json" },
  listRates: { id: "listRates", method: "GET", path: "/public/rates", kind: "json", is_keyless: true },
  readMethodology: { id: "readMethodology", method: "GET", path: "/public/rates/methodology", kind: "json", is_keyless: true },
  readRate: { id: "readRate", method: "GET", path: "/public/rates/{scheme}", kind: "json", is_keyless: true },
  readRateOfDay: { id: "readRateOfDay", method: "GET", path: "/public/rates/{scheme}/{date}", kind: "json", is_keyless: true },
  readRateHistory: { id: "readRateHistory", method: "GET", path: "/public/rates/{scheme}/history", kind: "json", is_keyless: true },
  exportRateHistory: { id: "exportRateHistory", method: "GET", path: "/public/rates/{scheme}/history.csv", kind: "text", is_keyless: true },
  estimateEnquiry: { id: "estimateEnquiry", method: "GET", path: "/public/enquiry/estimate", kind: "json", is_keyless: true },
  submitSellEnquiry: { id: "submitSellEnquiry", method: "POST", path: "/public/enquiry/sell", kind: "json", is_keyless: true },
  submitBuyEnquiry: { id: "submitBuyEnquiry", method: "POST", path: "/public/enquiry/buy", kind: "json", is_keyless: true },
  submitContactEnquiry: { id: "submitContactEnquiry", method: "POST", path: "/public/enquiry/contact", kind: "json", is_keyless: true },
  readEnquiry: { id: "readEnquiry", method: "GET", path: "/public/enquiry/{enquiry_ref}", kind: "json", is_keyless: true },
} as const satisfies Record<string, Operation>;

/** One method for each operation of the document. */
export abstract class Operations {
  protected abstract run(operation: Operation, call: Call): unknown;

  /**
   * Whether the process answers
   *
   * `GET /healthz`
   */
  isAlive(options: CallOptions = {}): Promise<IsAliveAnswer> {
    return this.run(operations.isAlive, { options }) as Promise<IsAliveAnswer>;
  }

  /**
   * Whether the process can serve
   *
   * `GET /readyz`
   */
  isReady(options: CallOptions = {}): Promise<IsReadyAnswer> {
    return this.run(operations.isReady, { options }) as Promise<IsReadyAnswer>;
  }

  /**
   * This document
   *
   * `GET /v1/openapi.json`
   */
  readOpenApi(options: CallOptions = {}): Promise<ReadOpenApiAnswer> {
    return this.run(operations.readOpenApi, { options }) as Promise<ReadOpenApiAnswer>;
  }

  /**
   * The state tables as data
   *
   * `GET /v1/meta/states`, scope `any key`
   */
  listStates(options: CallOptions = {}): Promise<StateTables> {
    return this.run(operations.listStates, { options }) as Promise<StateTables>;
  }

  /**
   * Who the service takes you for
   *
   * `GET /v1/whoami`, scope `any key`
   */
  whoAmI(options: CallOptions = {}): Promise<WhoAmI> {
    return this.run(operations.whoAmI, { options }) as Promise<WhoAmI>;
  }

  /**
   * Mint a child key. The secret is in this answer and in no other. The plan says how many child keys a desk may have at a time.
   *
   * `POST /v1/keys`, scope `root key`
   */
  mintKey(body: MintKeyBody, options: CreateOptions = {}): Promise<Key | MintedKey> {
    return this.run(operations.mintKey, { body, options }) as Promise<Key | MintedKey>;
  }

  /**
   * List the keys of your desk. Those that hold no more than yours does, and those it minted.
   *
   * `GET /v1/keys`, scope `root key`
   */
  listKeys(query: ListKeysQuery = {}, options: CallOptions = {}): List<ListKeysAnswer, "keys"> {
    return this.run(operations.listKeys, { query, options }) as List<ListKeysAnswer, "keys">;
  }

  /**
   * Read a key. One that holds no more than yours does, or that yours minted.
   *
   * `GET /v1/keys/{key_id}`, scope `root key`
   */
  readKey(key_id: string, options: CallOptions = {}): Promise<Key> {
    return this.run(operations.readKey, { path: { key_id }, options }) as Promise<Key>;
  }

  /**
   * Revoke a key and its children. A key that holds no more than yours does, or that yours minted. Acts on the next request. Revoking twice is no conflict.
   *
   * `DELETE /v1/keys/{key_id}`, scope `root key`
   */
  revokeKey(key_id: string, options: WriteOptions = {}): Promise<Key> {
    return this.run(operations.revokeKey, { path: { key_id }, options }) as Promise<Key>;
  }

  /**
   * Replace a key's secret. A key that holds no more than yours does, or that yours minted. The old secret stops matching at once. A dry run shows no secret.
   *
   * `POST /v1/keys/{key_id}/reissue`, scope `root key`
   */
  reissueKey(key_id: string, options: WriteOptions = {}): Promise<ReissuedKey> {
    return this.run(operations.reissueKey, { path: { key_id }, options }) as Promise<ReissuedKey>;
  }

  /**
   * Rate and quota numbers, and the month behind them
   *
   * `GET /v1/usage`, scope `any key`
   */
  readUsage(query: ReadUsageQuery = {}, options: CallOptions = {}): Promise<Usage> {
    return this.run(operations.readUsage, { query, options }) as Promise<Usage>;
  }

  /**
   * Register a client firm. The same IEC twice on a desk is a conflict that names the firm.
   *
   * `POST /v1/firms`, scope `firms`
   */
  registerFirm(body: RegisterFirmBody, options: CreateOptions = {}): Promise<Firm> {
    return this.run(operations.registerFirm, { body, options }) as Promise<Firm>;
  }

  /**
   * List the firms of your desk
   *
   * `GET /v1/firms`, scope `firms`
   */
  listFirms(query: ListFirmsQuery = {}, options: CallOptions = {}): List<FirmList, "firms"> {
    return this.run(operations.listFirms, { query, options }) as List<FirmList, "firms">;
  }

  /**
   * Read a firm
   *
   * `GET /v1/firms/{firm_id}`, scope `firms`
   */
  readFirm(firm_id: string, options: CallOptions = {}): Promise<Firm> {
    return this.run(operations.readFirm, { path: { firm_id }, options }) as Promise<Firm>;
  }

  /**
   * Correct a firm's particulars. A bank or IEC change holds payouts for 24 hours. A verified firm that changes who it is goes through verification again.
   *
   * `PATCH /v1/firms/{firm_id}`, scope `firms`
   */
  updateFirm(firm_id: string, body: UpdateFirmBody = {}, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.updateFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * How far a firm's connection has come
   *
   * `GET /v1/firms/{firm_id}/connection`, scope `firms`
   */
  readConnection(firm_id: string, options: CallOptions = {}): Promise<Connection> {
    return this.run(operations.readConnection, { path: { firm_id }, options }) as Promise<Connection>;
  }

  /**
   * Have a firm verified. The registry and the bank answer later; poll the connection.
   *
   * `POST /v1/firms/{firm_id}/verify`, scope `firms`
   */
  verifyFirm(firm_id: string, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.verifyFirm, { path: { firm_id }, body: {}, options }) as Promise<Firm>;
  }

  /**
   * Give the firm's mandate to trade for it
   *
   * `POST /v1/firms/{firm_id}/authorize`, scope `firms`
   */
  authorizeFirm(firm_id: string, body: AuthorizeFirmBody, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.authorizeFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * Stop trading for a firm
   *
   * `POST /v1/firms/{firm_id}/suspend`, scope `firms`
   */
  suspendFirm(firm_id: string, body: SuspendFirmBody, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.suspendFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * End a suspension
   *
   * `POST /v1/firms/{firm_id}/resume`, scope `firms`
   */
  resumeFirm(firm_id: string, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.resumeFirm, { path: { firm_id }, body: {}, options }) as Promise<Firm>;
  }

  /**
   * Let a firm go. Open business is a conflict that lists it, or is waited for with mode drain. Personal data is masked, the firm's own keys are revoked and its listed credits withdrawn.
   *
   * `POST /v1/firms/{firm_id}/offboard`, scope `firms`
   */
  offboardFirm(firm_id: string, body: OffboardFirmBody = {}, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.offboardFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * Create a group. A name that a group of your desk has is a conflict with its group_id.
   *
   * `POST /v1/groups`, scope `firms`
   */
  createGroup(body: CreateGroupBody, options: CreateOptions = {}): Promise<Group> {
    return this.run(operations.createGroup, { body, options }) as Promise<Group>;
  }

  /**
   * List the groups of your desk
   *
   * `GET /v1/groups`, scope `firms`
   */
  listGroups(query: ListGroupsQuery = {}, options: CallOptions = {}): List<GroupList, "groups"> {
    return this.run(operations.listGroups, { query, options }) as List<GroupList, "groups">;
  }

  /**
   * Read a group
   *
   * `GET /v1/groups/{group_id}`, scope `firms`
   */
  readGroup(group_id: string, options: CallOptions = {}): Promise<Group> {
    return this.run(operations.readGroup, { path: { group_id }, options }) as Promise<Group>;
  }

  /**
   * Rename a group
   *
   * `PATCH /v1/groups/{group_id}`, scope `firms`
   */
  updateGroup(group_id: string, body: UpdateGroupBody, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.updateGroup, { path: { group_id }, body, options }) as Promise<Group>;
  }

  /**
   * Delete a group without members. A group that has members is a conflict: take them out first.
   *
   * `DELETE /v1/groups/{group_id}`, scope `firms`
   */
  deleteGroup(group_id: string, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.deleteGroup, { path: { group_id }, options }) as Promise<Group>;
  }

  /**
   * List the members of a group
   *
   * `GET /v1/groups/{group_id}/members`, scope `firms`
   */
  listMembers(group_id: string, query: ListMembersQuery = {}, options: CallOptions = {}): List<GroupMemberList, "members"> {
    return this.run(operations.listMembers, { path: { group_id }, query, options }) as List<GroupMemberList, "members">;
  }

  /**
   * Put a firm into a group. A firm is in one group at a time. Putting a member in again is no conflict.
   *
   * `PUT /v1/groups/{group_id}/members/{firm_id}`, scope `firms`
   */
  addMember(group_id: string, firm_id: string, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.addMember, { path: { group_id, firm_id }, options }) as Promise<Group>;
  }

  /**
   * Take a firm out of a group. Taking out a firm that is not in it changes nothing.
   *
   * `DELETE /v1/groups/{group_id}/members/{firm_id}`, scope `firms`
   */
  removeMember(group_id: string, firm_id: string, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.removeMember, { path: { group_id, firm_id }, options }) as Promise<Group>;
  }

  /**
   * What a group holds against the duty it will owe. One consistent snapshot. Sums are exact: beyond 2^53-1 paise they have all their digits.
   *
   * `GET /v1/groups/{group_id}/positions`, scope `orders:read`
   */
  readGroupPositions(group_id: string, options: CallOptions = {}): Promise<GroupPositions> {
    return this.run(operations.readGroupPositions, { path: { group_id }, options }) as Promise<GroupPositions>;
  }

  /**
   * Declare duty that a firm will have to pay. A reference the firm has used is a conflict with its requirement_id.
   *
   * `POST /v1/firms/{firm_id}/requirements`, scope `firms`
   */
  declareRequirement(firm_id: string, body: DeclareRequirementBody, options: CreateOptions = {}): Promise<Requirement> {
    return this.run(operations.declareRequirement, { path: { firm_id }, body, options }) as Promise<Requirement>;
  }

  /**
   * List the requirements of a firm
   *
   * `GET /v1/firms/{firm_id}/requirements`, scope `firms`
   */
  listRequirements(firm_id: string, query: ListRequirementsQuery = {}, options: CallOptions = {}): List<RequirementList, "requirements"> {
    return this.run(operations.listRequirements, { path: { firm_id }, query, options }) as List<RequirementList, "requirements">;
  }

  /**
   * Read a requirement
   *
   * `GET /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
   */
  readRequirement(firm_id: string, requirement_id: string, options: CallOptions = {}): Promise<Requirement> {
    return this.run(operations.readRequirement, { path: { firm_id, requirement_id }, options }) as Promise<Requirement>;
  }

  /**
   * Change a requirement. Fields that are not named stay as they are.
   *
   * `PATCH /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
   */
  updateRequirement(firm_id: string, requirement_id: string, body: UpdateRequirementBody = {}, options: WriteOptions = {}): Promise<Requirement> {
    return this.run(operations.updateRequirement, { path: { firm_id, requirement_id }, body, options }) as Promise<Requirement>;
  }

  /**
   * Take a requirement back. A requirement that was met, or that never came to be.
   *
   * `DELETE /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
   */
  deleteRequirement(firm_id: string, requirement_id: string, options: WriteOptions = {}): Promise<Requirement> {
    return this.run(operations.deleteRequirement, { path: { firm_id, requirement_id }, options }) as Promise<Requirement>;
  }

  /**
   * Which credits to move inside a group. Whole credits pay the duty of the members so that the least is left uncovered; a firm's own credits pay its own duty without a move. Then the fewest moves, the fewest credits and the earliest expiry. A credit pays duty that is due no later than it expires.
   *
   * `GET /v1/groups/{group_id}/netting`, scope `orders:read`
   */
  proposeNetting(group_id: string, options: CallOptions = {}): Promise<Netting> {
    return this.run(operations.proposeNetting, { path: { group_id }, options }) as Promise<Netting>;
  }

  /**
   * Turn a netting into crosses. All of its proposals or none, at their prices. A netting is used once, within its time, and while its members, credits and requirements are what they were; otherwise it is a conflict that says why.
   *
   * `POST /v1/groups/{group_id}/netting/crosses`, scope `orders:write`
   */
  crossNetting(group_id: string, body: CrossNettingBody, options: CreateOptions = {}): Promise<NettingCrosses> {
    return this.run(operations.crossNetting, { path: { group_id }, body, options }) as Promise<NettingCrosses>;
  }

  /**
   * List a firm's credits
   *
   * `GET /v1/firms/{firm_id}/credits`, scope `firms`
   */
  listCredits(firm_id: string, query: ListCreditsQuery = {}, options: CallOptions = {}): List<CreditList, "credits"> {
    return this.run(operations.listCredits, { path: { firm_id }, query, options }) as List<CreditList, "credits">;
  }

  /**
   * Declare 1 to 500 credits that a firm holds. A declaration is a claim: declared until the registry confirms it, then listed. The same credit again is ok with 200; with other facts it is a 409.
   *
   * `POST /v1/firms/{firm_id}/credits`, scope `firms`
   */
  declareCredits(firm_id: string, body: DeclareCreditsBody, options: CreateOptions = {}): Promise<CreditDeclarationResults> {
    return this.run(operations.declareCredits, { path: { firm_id }, body, options }) as Promise<CreditDeclarationResults>;
  }

  /**
   * Import a report of the customs portal. Headings are known by many names, days as DD/MM/YYYY, DD-MM-YYYY, DD-MON-YYYY or ISO, amounts in rupees. A row whose balance fell lowers the credit's; otherwise a row is answered like a declaration, and sending the file again changes nothing.
   *
   * `POST /v1/firms/{firm_id}/credits:import`, scope `firms`
   */
  importCredits(firm_id: string, body: ImportCreditsBody, options: WriteOptions = {}): Promise<CreditImportResults> {
    return this.run(operations.importCredits, { path: { firm_id }, body, options }) as Promise<CreditImportResults>;
  }

  /**
   * Take a firm's credits from the registry. Sandbox only: customs offers no interface for this, so a live key is answered 409 with detail.reason registry_attested_only; declare or import instead.
   *
   * `POST /v1/firms/{firm_id}/credits:sync`, scope `firms`
   */
  syncCredits(firm_id: string, options: WriteOptions = {}): Promise<CreditDeclarationResults> {
    return this.run(operations.syncCredits, { path: { firm_id }, options }) as Promise<CreditDeclarationResults>;
  }

  /**
   * Read a credit of your desk. A / in the number is written as %2F.
   *
   * `GET /v1/credits/{scrip_no}`, scope `firms`
   */
  readCredit(scrip_no: string, options: CallOptions = {}): Promise<Credit> {
    return this.run(operations.readCredit, { path: { scrip_no }, options }) as Promise<Credit>;
  }

  /**
   * Take a credit off your desk. It may be declared again. Withdrawing twice is no conflict.
   *
   * `POST /v1/credits/{scrip_no}/withdraw`, scope `firms`
   */
  withdrawCredit(scrip_no: string, options: WriteOptions = {}): Promise<Credit> {
    return this.run(operations.withdrawCredit, { path: { scrip_no }, options }) as Promise<Credit>;
  }

  /**
   * Mark a credit as used for duty. Marking twice is no conflict.
   *
   * `POST /v1/credits/{scrip_no}/use`, scope `firms`
   */
  useCredit(scrip_no: string, options: WriteOptions = {}): Promise<Credit> {
    return this.run(operations.useCredit, { path: { scrip_no }, options }) as Promise<Credit>;
  }

  /**
   * Take a binding price for an exact amount. Sell by scrip_no, or by scheme and face_paise; buy by scheme and requirement_paise. A price by amount is for credits with at least 365 days left. An order with the quote_ref in time gets this price, whatever the market does, for the facts it was made from: where a credit or an offer has changed since, the answer is 409 with a fresh quote in detail. When there is no binding price, the answer is no_quote and its reason, and nothing else.
   *
   * `POST /v1/quote`, scope `quote`
   */
  takeQuote(body: QuoteRequest, options: WriteOptions = {}): Promise<Quote> {
    return this.run(operations.takeQuote, { body, options }) as Promise<Quote>;
  }

  /**
   * Read a quote and its state
   *
   * `GET /v1/quotes/{quote_ref}`, scope `quote`
   */
  readQuote(quote_ref: string, options: CallOptions = {}): Promise<StoredQuote> {
    return this.run(operations.readQuote, { path: { quote_ref }, options }) as Promise<StoredQuote>;
  }

  /**
   * Sell credits or buy cover. By a quote, at the current binding price, or with a limit. A sell names one credit or an amount; a buy names the duty to cover. A refused order is not stored.
   *
   * `POST /v1/orders`, scope `orders:write`
   */
  placeOrder(body: PlaceOrder = {}, options: CreateOptions = {}): Promise<Order> {
    return this.run(operations.placeOrder, { body, options }) as Promise<Order>;
  }

  /**
   * List your desk's orders
   *
   * `GET /v1/orders`, scope `orders:read`
   */
  listOrders(query: ListOrdersQuery = {}, options: CallOptions = {}): List<OrderList, "orders"> {
    return this.run(operations.listOrders, { query, options }) as List<OrderList, "orders">;
  }

  /**
   * Place 1 to 500 orders. Each order has its own result, in the sequence of the request: valid ones are placed, the others fail on their own. Of two orders for one credit the first wins.
   *
   * `POST /v1/orders:batch`, scope `orders:write`
   */
  placeOrderBatch(body: PlaceOrderBatchBody, options: CreateOptions = {}): Promise<OrderBatchResults> {
    return this.run(operations.placeOrderBatch, { body, options }) as Promise<OrderBatchResults>;
  }

  /**
   * Read an order
   *
   * `GET /v1/orders/{order_id}`, scope `orders:read`
   */
  readOrder(order_id: string, options: CallOptions = {}): Promise<Order> {
    return this.run(operations.readOrder, { path: { order_id }, options }) as Promise<Order>;
  }

  /**
   * Cancel the resting part of an order. Deals stand. Cancelling twice is no conflict.
   *
   * `POST /v1/orders/{order_id}/cancel`, scope `orders:write`
   */
  cancelOrder(order_id: string, options: WriteOptions = {}): Promise<Order> {
    return this.run(operations.cancelOrder, { path: { order_id }, options }) as Promise<Order>;
  }

  /**
   * Take the terms of a block or an intra-group transfer. A quote reserves nothing and tells nobody. A block has a least face. When there is no market, or the seller of your desk has nothing of the kind, the answer is no_quote and its reason, and nothing else.
   *
   * `POST /v1/cross/quote`, scope `quote`
   */
  quoteCross(body: CrossQuoteRequest, options: WriteOptions = {}): Promise<CrossQuote> {
    return this.run(operations.quoteCross, { body, options }) as Promise<CrossQuote>;
  }

  /**
   * Propose a cross on a quote. Between two firms of your desk it is agreed at once, with its credits reserved. Any other waits for the answer of the firm with that IEC, whichever desk acts for it, and expires without one.
   *
   * `POST /v1/cross`, scope `orders:write`
   */
  proposeCross(body: ProposeCrossBody, options: CreateOptions = {}): Promise<Cross> {
    return this.run(operations.proposeCross, { body, options }) as Promise<Cross>;
  }

  /**
   * List the crosses your desk has a side in, or is to answer
   *
   * `GET /v1/cross`, scope `orders:read`
   */
  listCrosses(query: ListCrossesQuery = {}, options: CallOptions = {}): List<CrossList, "crosses"> {
    return this.run(operations.listCrosses, { query, options }) as List<CrossList, "crosses">;
  }

  /**
   * Read a cross. Your side of it. A desk that is on both sides sees both of them.
   *
   * `GET /v1/cross/{cross_id}`, scope `orders:read`
   */
  readCross(cross_id: string, options: CallOptions = {}): Promise<Cross> {
    return this.run(operations.readCross, { path: { cross_id }, options }) as Promise<Cross>;
  }

  /**
   * Agree to the terms of a cross. For the side that did not propose. The seller's credits are reserved with it, all of them or none; when one is not available, it is a conflict.
   *
   * `POST /v1/cross/{cross_id}/accept`, scope `orders:write`
   */
  acceptCross(cross_id: string, body: AcceptCrossBody, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.acceptCross, { path: { cross_id }, body, options }) as Promise<Cross>;
  }

  /**
   * Decline a cross that was proposed to you
   *
   * `POST /v1/cross/{cross_id}/decline`, scope `orders:write`
   */
  declineCross(cross_id: string, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.declineCross, { path: { cross_id }, body: {}, options }) as Promise<Cross>;
  }

  /**
   * Put the money of a cross into escrow. For the buyer. Your balance is held when it reaches. Otherwise the money is waited for, which the sandbox's bank brings at once. The same payment_ref again changes nothing.
   *
   * `POST /v1/cross/{cross_id}/fund`, scope `orders:write`
   */
  fundCross(cross_id: string, body: FundCrossBody, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.fundCross, { path: { cross_id }, body, options }) as Promise<Cross>;
  }

  /**
   * Let the credits of a funded cross go. For the seller. From here on its settlement delivers credit against money.
   *
   * `POST /v1/cross/{cross_id}/release`, scope `orders:write`
   */
  releaseCross(cross_id: string, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.releaseCross, { path: { cross_id }, body: {}, options }) as Promise<Cross>;
  }

  /**
   * Call a cross off. The proposer while it is proposed, either side while it is agreed, and the seller while it is funded: then the buyer's money goes back.
   *
   * `POST /v1/cross/{cross_id}/cancel`, scope `orders:write`
   */
  cancelCross(cross_id: string, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.cancelCross, { path: { cross_id }, body: {}, options }) as Promise<Cross>;
  }

  /**
   * What your firms hold and have. Credits by scheme and cash, all of one moment.
   *
   * `GET /v1/positions`, scope `orders:read`
   */
  readPositions(query: ReadPositionsQuery = {}, options: CallOptions = {}): Promise<Positions> {
    return this.run(operations.readPositions, { query, options }) as Promise<Positions>;
  }

  /**
   * Every market now
   *
   * `GET /v1/market`, scope `market:read`
   */
  listMarkets(options: CallOptions = {}): Promise<MarketList> {
    return this.run(operations.listMarkets, { options }) as Promise<MarketList>;
  }

  /**
   * Every change of a market, as it happens. Server-sent events. First `retry`, then:
   *
   * | event | data | when |
   * |---|---|---|
   * | `snapshot` | MarketList | first, and after a reset |
   * | `update` | Market | a scheme's figures changed |
   * | `status` | Market | its state changed: halted, opened |
   * | `heartbeat` | `{epoch, seq}` | every 15 seconds: the last place you were told |
   * | `reset` | `{reason}` | what you know is no beginning any more; a snapshot follows |
   *
   * Every event but reset has the id `<epoch>-<seq>`, the same from every node. Come back with the last
   * one as `Last-Event-ID` and you get exactly what you missed, then what is new. An id that is malformed,
   * unknown, too old (some 10,000 updates) or of another epoch is answered with `reset` and a snapshot.
   *
   * A key has at most 5 of these streams open at a node; one more ends the oldest. A reader that does not keep up is
   * cut and resumes by its last id. A stream ends within a second when its key is revoked or expires.
   *
   * `GET /v1/market/stream`, scope `market:read`
   */
  streamMarket(options: StreamOptions = {}): AsyncIterable<MarketEvent> {
    return this.run(operations.streamMarket, { options }) as AsyncIterable<MarketEvent>;
  }

  /**
   * One market now
   *
   * `GET /v1/market/{scheme}`, scope `market:read`
   */
  readMarket(scheme: string, options: CallOptions = {}): Promise<Market> {
    return this.run(operations.readMarket, { path: { scheme }, options }) as Promise<Market>;
  }

  /**
   * List the settlements your desk has a side in
   *
   * `GET /v1/settlements`, scope `orders:read`
   */
  listSettlements(query: ListSettlementsQuery = {}, options: CallOptions = {}): List<SettlementList, "settlements"> {
    return this.run(operations.listSettlements, { query, options }) as List<SettlementList, "settlements">;
  }

  /**
   * Read a settlement. What your firms deliver or buy in it. A desk that is on both sides sees both of them.
   *
   * `GET /v1/settlements/{settlement_id}`, scope `orders:read`
   */
  readSettlement(settlement_id: string, options: CallOptions = {}): Promise<Settlement> {
    return this.run(operations.readSettlement, { path: { settlement_id }, options }) as Promise<Settlement>;
  }

  /**
   * Let the next step of a settlement happen now. What customs or the bank would say next is said now. Sandbox keys only.
   *
   * `POST /v1/sandbox/settlements/{settlement_id}/advance`, scope `orders:write`
   */
  advanceSettlement(settlement_id: string, options: WriteOptions = {}): Promise<Settlement> {
    return this.run(operations.advanceSettlement, { path: { settlement_id }, body: {}, options }) as Promise<Settlement>;
  }

  /**
   * List the payouts to your firms
   *
   * `GET /v1/payouts`, scope `orders:read`
   */
  listPayouts(query: ListPayoutsQuery = {}, options: CallOptions = {}): List<PayoutList, "payouts"> {
    return this.run(operations.listPayouts, { query, options }) as List<PayoutList, "payouts">;
  }

  /**
   * Read a payout. Its lines tie every paisa to the order it comes from.
   *
   * `GET /v1/payouts/{payout_id}`, scope `orders:read`
   */
  readPayout(payout_id: string, options: CallOptions = {}): Promise<Payout> {
    return this.run(operations.readPayout, { path: { payout_id }, options }) as Promise<Payout>;
  }

  /**
   * Pay a firm's available money to its bank account. By a payout of kind `withdrawal`, held for the reasons of any payout: a changed or unverified account, a suspended firm. Money that comes back is available again and is not sent anew by itself. More than is available is a conflict that says what is (`insufficient_funds`), and so is what the firm would be left owing us with less than it owes (`dues_outstanding`).
   *
   * `POST /v1/firms/{firm_id}/withdrawals`, scope `orders:write`
   */
  withdrawMoney(firm_id: string, body: WithdrawMoneyBody, options: CreateOptions = {}): Promise<Payout> {
    return this.run(operations.withdrawMoney, { path: { firm_id }, body, options }) as Promise<Payout>;
  }

  /**
   * Let time pass for your desk. Every deadline of your desk comes nearer by that much: of quotes, resting orders, crosses, settlements, payouts, holds and credits. The market and other desks stay in their own time, and so do the times on what has happened.
   *
   * `POST /v1/sandbox/clock`, scope `orders:write`
   */
  advanceClock(body: AdvanceClockBody, options: WriteOptions = {}): Promise<DeskClock> {
    return this.run(operations.advanceClock, { body, options }) as Promise<DeskClock>;
  }

  /**
   * Choose what happens to what your desk does next. It happens once, to the first settlement or payout that it fits. A market that is halted stays so, for your desk's quotes alone, until it is opened or the desk is reset.
   *
   * `POST /v1/sandbox/scenarios`, scope `orders:write`
   */
  setScenario(body: SetScenarioBody, options: WriteOptions = {}): Promise<ScenarioList> {
    return this.run(operations.setScenario, { body, options }) as Promise<ScenarioList>;
  }

  /**
   * Get synthetic credits to try things with
   *
   * `POST /v1/sandbox/credits:seed`, scope `orders:write`
   */
  seedSandbox(body: SeedSandboxBody, options: WriteOptions = {}): Promise<SeededCredits> {
    return this.run(operations.seedSandbox, { body, options }) as Promise<SeededCredits>;
  }

  /**
   * Let go of everything that is open on your desk. Resting orders are cancelled, open settlements fail, free credits are withdrawn. What has happened stays: the books and the events are only ever added to.
   *
   * `POST /v1/sandbox/reset`, scope `orders:write`
   */
  resetSandbox(options: WriteOptions = {}): Promise<SandboxReset> {
    return this.run(operations.resetSandbox, { body: {}, options }) as Promise<SandboxReset>;
  }

  /**
   * Read what your desk earned on its clients' deals. Commission is a share of face, earned when a credit is delivered and taken back when that is reversed; none on crosses and on your own firm's deals. At most 366 days at once.
   *
   * `GET /v1/earnings`, scope `orders:read`
   */
  readEarnings(query: ReadEarningsQuery = {}, options: CallOptions = {}): Promise<Earnings> {
    return this.run(operations.readEarnings, { query, options }) as Promise<Earnings>;
  }

  /**
   * List the monthly statements of a firm
   *
   * `GET /v1/statements`, scope `orders:read`
   */
  listStatements(query: ListStatementsQuery = {}, options: CallOptions = {}): Promise<StatementList> {
    return this.run(operations.listStatements, { query, options }) as Promise<StatementList>;
  }

  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json or csv.
   *
   * `GET /v1/statements/{period}`, scope `orders:read`
   */
  readStatement(period: string, query: ReadStatementQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json or csv.
   *
   * `GET /v1/statements/{period}`, scope `orders:read`
   */
  readStatement(period: string, query: ReadStatementQuery & { readonly format: "pdf" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json or csv.
   *
   * `GET /v1/statements/{period}`, scope `orders:read`
   */
  readStatement(period: string, query?: ReadStatementQuery & { readonly format?: "json" }, options?: CallOptions): Promise<Statement>;
  readStatement(period: string, query: ReadStatementQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.readStatement, { path: { period }, query, options });
  }

  /**
   * Read the contract note of a deal. Of your own sides only: each credit with its price and value, fee and GST on it, and the bank's references once money has moved.
   *
   * `GET /v1/settlements/{settlement_id}/contract-note`, scope `orders:read`
   */
  readContractNote(settlement_id: string, query: ReadContractNoteQuery & { readonly format: "pdf" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Read the contract note of a deal. Of your own sides only: each credit with its price and value, fee and GST on it, and the bank's references once money has moved.
   *
   * `GET /v1/settlements/{settlement_id}/contract-note`, scope `orders:read`
   */
  readContractNote(settlement_id: string, query?: ReadContractNoteQuery & { readonly format?: "json" }, options?: CallOptions): Promise<ContractNotes>;
  readContractNote(settlement_id: string, query: ReadContractNoteQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.readContractNote, { path: { settlement_id }, query, options });
  }

  /**
   * What happened on your desk, in order
   *
   * `GET /v1/events`, scope `orders:read`
   */
  listEvents(query: ListEventsQuery = {}, options: CallOptions = {}): List<EventList, "events"> {
    return this.run(operations.listEvents, { query, options }) as List<EventList, "events">;
  }

  /**
   * What happens on your desk, as it happens. Server-sent events on the same sequence, after an id alone that says where it begins. Come back with Last-Event-ID and nothing is missed. At most 5 streams a key; one more ends the oldest.
   *
   * `GET /v1/events/stream`, scope `orders:read`
   */
  streamEvents(query: StreamEventsQuery = {}, options: StreamOptions = {}): AsyncIterable<DeskEvent> {
    return this.run(operations.streamEvents, { query, options }) as AsyncIterable<DeskEvent>;
  }

  /**
   * Who changed what on your desk. Everything that was committed before the call. Not for sub_account keys.
   *
   * `GET /v1/audit`, scope `orders:read`
   */
  listAudit(query: ListAuditQuery = {}, options: CallOptions = {}): List<AuditList, "audit"> {
    return this.run(operations.listAudit, { query, options }) as List<AuditList, "audit">;
  }

  /**
   * Your desk's audit trail, to be verified without us. Lines of JSON, each with the hash of the one before; the last is a signed checkpoint. An export without one is not whole. At most 2 at a time a key; the next waits for its turn. Not for sub_account keys.
   *
   * `GET /v1/audit/export`, scope `orders:read`
   */
  exportAudit(query: ExportAuditQuery = {}, options: CallOptions = {}): AsyncIterable<string> {
    return this.run(operations.exportAudit, { query, options }) as AsyncIterable<string>;
  }

  /**
   * What exports are signed with
   *
   * `GET /v1/audit/keys`, scope `any key`
   */
  listAuditKeys(options: CallOptions = {}): Promise<AuditKeys> {
    return this.run(operations.listAuditKeys, { options }) as Promise<AuditKeys>;
  }

  /**
   * Have events sent to an address of yours. The signing secret is in this answer and in no other.
   *
   * `POST /v1/webhooks`, scope `webhooks:write`
   */
  registerWebhook(body: RegisterWebhookBody, options: CreateOptions = {}): Promise<Webhook> {
    return this.run(operations.registerWebhook, { body, options }) as Promise<Webhook>;
  }

  /**
   * List your webhooks, and every event there is
   *
   * `GET /v1/webhooks`, scope `webhooks:write`
   */
  listWebhooks(query: ListWebhooksQuery = {}, options: CallOptions = {}): List<WebhookList, "webhooks"> {
    return this.run(operations.listWebhooks, { query, options }) as List<WebhookList, "webhooks">;
  }

  /**
   * Read a webhook
   *
   * `GET /v1/webhooks/{webhook_id}`, scope `webhooks:write`
   */
  readWebhook(webhook_id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.run(operations.readWebhook, { path: { webhook_id }, options }) as Promise<Webhook>;
  }

  /**
   * Have nothing more sent to an address
   *
   * `DELETE /v1/webhooks/{webhook_id}`, scope `webhooks:write`
   */
  deleteWebhook(webhook_id: string, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.deleteWebhook, { path: { webhook_id }, options }) as Promise<Webhook>;
  }

  /**
   * Send a webhook.ping to this webhook. It is signed, retried and listed as any other delivery.
   *
   * `POST /v1/webhooks/{webhook_id}/test`, scope `webhooks:write`
   */
  testWebhook(webhook_id: string, options: WriteOptions = {}): Promise<TestedWebhook> {
    return this.run(operations.testWebhook, { path: { webhook_id }, options }) as Promise<TestedWebhook>;
  }

  /**
   * Replace a signing secret. The new secret is in this answer and in no other. A dry run shows no secret. During the grace period X-Service-Signature-Previous is signed with the old one.
   *
   * `POST /v1/webhooks/{webhook_id}/rotate-secret`, scope `webhooks:write`
   */
  rotateSecret(webhook_id: string, body: RotateSecretBody = {}, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.rotateSecret, { path: { webhook_id }, body, options }) as Promise<Webhook>;
  }

  /**
   * Send to a disabled webhook again. What it missed is among the failures and can be replayed.
   *
   * `POST /v1/webhooks/{webhook_id}/enable`, scope `webhooks:write`
   */
  enableWebhook(webhook_id: string, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.enableWebhook, { path: { webhook_id }, options }) as Promise<Webhook>;
  }

  /**
   * What was sent to a webhook, attempt by attempt
   *
   * `GET /v1/webhooks/{webhook_id}/deliveries`, scope `webhooks:write`
   */
  listDeliveries(webhook_id: string, query: ListDeliveriesQuery = {}, options: CallOptions = {}): List<DeliveryList, "deliveries"> {
    return this.run(operations.listDeliveries, { path: { webhook_id }, query, options }) as List<DeliveryList, "deliveries">;
  }

  /**
   * List dead-lettered deliveries
   *
   * `GET /v1/webhooks/failures`, scope `webhooks:write`
   */
  listFailures(query: ListFailuresQuery = {}, options: CallOptions = {}): List<FailureList, "failures"> {
    return this.run(operations.listFailures, { query, options }) as List<FailureList, "failures">;
  }

  /**
   * Send dead-lettered deliveries again. With the same delivery id and the same bytes. Without a filter all of them; the filters narrow together.
   *
   * `POST /v1/webhooks/replay`, scope `webhooks:write`
   */
  replayDeliveries(body: ReplayDeliveriesBody = {}, options: WriteOptions = {}): Promise<Replay> {
    return this.run(operations.replayDeliveries, { body, options }) as Promise<Replay>;
  }

  /**
   * What credits are worth today. The index of the running day and the middle of the desk's rate card, per scheme.
   *
   * `GET /public/rates`
   */
  listRates(options: CallOptions = {}): Promise<RateList> {
    return this.run(operations.listRates, { options }) as Promise<RateList>;
  }

  /**
   * How the index is made
   *
   * `GET /public/rates/methodology`
   */
  readMethodology(options: CallOptions = {}): Promise<Methodology> {
    return this.run(operations.readMethodology, { options }) as Promise<Methodology>;
  }

  /**
   * What credits of a scheme are worth today
   *
   * `GET /public/rates/{scheme}`
   */
  readRate(scheme: string, options: CallOptions = {}): Promise<Rate> {
    return this.run(operations.readRate, { path: { scheme }, options }) as Promise<Rate>;
  }

  /**
   * The index of a day. Fixed for good a quarter of an hour after the day has ended in IST.
   *
   * `GET /public/rates/{scheme}/{date}`
   */
  readRateOfDay(scheme: string, date: string, options: CallOptions = {}): Promise<RateFigure> {
    return this.run(operations.readRateOfDay, { path: { scheme, date }, options }) as Promise<RateFigure>;
  }

  /**
   * The fixed figures of a scheme. At most 3660 days at once.
   *
   * `GET /public/rates/{scheme}/history`
   */
  readRateHistory(scheme: string, query: ReadRateHistoryQuery = {}, options: CallOptions = {}): Promise<RateHistory> {
    return this.run(operations.readRateHistory, { path: { scheme }, query, options }) as Promise<RateHistory>;
  }

  /**
   * The fixed figures of a scheme as CSV
   *
   * `GET /public/rates/{scheme}/history.csv`
   */
  exportRateHistory(scheme: string, query: ExportRateHistoryQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.run(operations.exportRateHistory, { path: { scheme }, query, options }) as Promise<string>;
  }

  /**
   * Between what and what a price would lie. A range by the desk's rate card of the moment. It binds nobody.
   *
   * `GET /public/enquiry/estimate`
   */
  estimateEnquiry(query: EstimateEnquiryQuery, options: CallOptions = {}): Promise<Estimate> {
    return this.run(operations.estimateEnquiry, { query, options }) as Promise<Estimate>;
  }

  /**
   * Ask to sell credits. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.
   *
   * `POST /public/enquiry/sell`
   */
  submitSellEnquiry(body: SubmitSellEnquiryBody, options: WriteOptions = {}): Promise<Enquiry> {
    return this.run(operations.submitSellEnquiry, { body, options }) as Promise<Enquiry>;
  }

  /**
   * Ask to cover duty with credits. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.
   *
   * `POST /public/enquiry/buy`
   */
  submitBuyEnquiry(body: SubmitBuyEnquiryBody, options: WriteOptions = {}): Promise<Enquiry> {
    return this.run(operations.submitBuyEnquiry, { body, options }) as Promise<Enquiry>;
  }

  /**
   * Ask anything else. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.
   *
   * `POST /public/enquiry/contact`
   */
  submitContactEnquiry(body: SubmitContactEnquiryBody, options: WriteOptions = {}): Promise<Enquiry> {
    return this.run(operations.submitContactEnquiry, { body, options }) as Promise<Enquiry>;
  }

  /**
   * How far an enquiry has come
   *
   * `GET /public/enquiry/{enquiry_ref}`
   */
  readEnquiry(enquiry_ref: string, options: CallOptions = {}): Promise<Enquiry> {
    return this.run(operations.readEnquiry, { path: { enquiry_ref }, options }) as Promise<Enquiry>;
  }
}

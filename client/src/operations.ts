// Written by `npm run golden` from docs/openapi.json. Do not edit.

import type { List } from "./list.ts";
import type { OneOf } from "./one-of.ts";
import type { Call, CallOptions, CreateOptions, Operation, StreamOptions, WriteOptions } from "./options.ts";
import type { AcceptCross, AdvanceClock, AnsweredRequest, AnsweredRequestList, ApprovalRules, ApproveAct, AuditKeys, AuditList, AuthorizeFirm, BillsOfSupply, Connection, ContractNotes, CoverRequirement, CreateGroup, Credit, CreditDeclarationResults, CreditImportResults, CreditList, Cross, CrossList, CrossNetting, CrossQuote, CrossQuoteRequest, DeclareCredits, DeclareRequirement, DeliveryList, DepositList, DeskApproval, DeskApprovalList, DeskClock, Earnings, Enquiry, Estimate, Event, EventList, FailureList, FinishTask, Firm, FirmList, FundCross, Funding, Group, GroupList, GroupMemberList, GroupPositions, House, ImportCredits, Key, Market, MarketList, Methodology, MintKey, MintedKey, Netting, NettingCrosses, OffboardFirm, Order, OrderBatchResults, OrderList, Payout, PayoutList, PlaceOrder, PlaceOrderBatch, Positions, Preview, ProposeAct, ProposeCross, Quote, QuoteBatchResults, QuoteRequest, Rate, RateFigure, RateHistory, RateList, RegisterFirm, RegisterWebhook, ReissuedKey, RejectAct, Replay, ReplayDeliveries, ReportMissing, Requirement, RequirementList, RotateSecret, SandboxReset, ScenarioList, SeedSandbox, SeededCredits, SetApprovalRules, SetScenario, Settlement, SettlementList, StateTables, Statement, StatementList, StoredQuote, SubmitBuyEnquiry, SubmitContactEnquiry, SubmitSellEnquiry, SuspendFirm, TakeQuoteBatch, TaskList, TestedWebhook, UpdateFirm, UpdateGroup, UpdateKey, UpdateRequirement, UpdateWebhook, Usage, UseCredit, Webhook, WebhookList, WhoAmI, WithdrawMoney } from "./schemas.ts";
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

export type ListKeysQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListKeysAnswer = {
  /** Newest first. */
  keys: Key[];
  /** The number of rows on this page. */
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

export type ListRequestsQuery = {
  /** Only those answered with this. */
  status?: number | undefined;
  /** Only those refused with this code. */
  code?: string | undefined;
  /** Only those refused with this reason. */
  reason?: string | undefined;
  /** Only of this route: `/v1/orders/{order_id}`, or `POST /v1/orders`. */
  route?: string | undefined;
  /** Only those that came with this key. */
  key_id?: string | undefined;
  /** Only those of this id. */
  request_id?: string | undefined;
  /** Only those that came in this second or later. ISO 8601, IST. */
  from?: string | undefined;
  /** Only those that came before this second. ISO 8601, IST. */
  to?: string | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
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

export type ListGroupsQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListMembersQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
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

export type ListOrdersQuery = {
  /** Only those in this state. */
  status?: "open" | "matched" | "cancelled" | "expired" | "failed" | undefined;
  /** Only of this side. */
  side?: "sell" | "buy" | undefined;
  /** Only of this scheme. */
  scheme?: "RODTEP" | "ROSCTL" | undefined;
  /** Only those of this firm. */
  firm_id?: string | undefined;
  /** Only those that you gave this name. */
  client_ref?: string | undefined;
  /** Only those that were placed under this Idempotency-Key. */
  idempotency_key?: string | undefined;
  /** Only those placed at this time or later. ISO 8601, IST. */
  from?: string | undefined;
  /** Only those placed before this time. ISO 8601, IST. */
  to?: string | undefined;
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "csv" | "xlsx" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListCrossesQuery = {
  /** Only those in this state. */
  status?: "proposed" | "agreed" | "funded" | "released" | "settled" | "declined" | "cancelled" | "expired" | "refunded" | "failed" | undefined;
  /** Only of this kind. */
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

export type ReadPositionsQuery = {
  /** Only this firm of your desk; all of them when absent. */
  firm_id?: string | undefined;
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "csv" | "xlsx" | undefined;
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
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "csv" | "xlsx" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListTasksQuery = {
  /** Only in this status; without it those that are open, waiting or late. What is done or void is of deals of the last 92 days. */
  status?: "waiting" | "done" | "late" | "void" | undefined;
  /** Only those of this firm. */
  firm_id?: string | undefined;
  /** Only of this kind. */
  kind?: "pay" | "initiate" | "accept" | undefined;
  /** Only those that are due before this time. ISO 8601, IST. */
  due_before?: string | undefined;
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
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "csv" | "xlsx" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListDepositsQuery = {
  /** Only those of this firm. */
  firm_id?: string | undefined;
  /** Only those that came for this settlement. */
  settlement_id?: string | undefined;
  /** Only those received at this time or later. ISO 8601, IST. */
  from?: string | undefined;
  /** Only those received before this time. ISO 8601, IST. */
  to?: string | undefined;
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "csv" | "xlsx" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListDeskApprovalsQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
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
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "csv" | "xlsx" | "pdf" | undefined;
  /** Only the lines after this one; not as pdf. */
  after_line?: number | undefined;
  /** At most so many lines; not as pdf. 2000 where after_line alone is given. */
  limit?: number | undefined;
};

export type ReadContractNoteQuery = {
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "pdf" | undefined;
};

export type ReadBillOfSupplyQuery = {
  /** As what; json unless given, or what the Accept header prefers. */
  format?: "json" | "pdf" | undefined;
};

export type ListEventsQuery = {
  /** Show events after this one; 0, the default, shows from the first. */
  after_sequence?: number | undefined;
  /** Only those of this name. */
  event?: "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled" | undefined;
  /** Only those about this kind of thing. */
  entity_type?: string | undefined;
  /** Only those about this thing. */
  entity_id?: string | undefined;
  /** Only those at or after this time. ISO 8601 with an offset. */
  from?: string | undefined;
  /** Only those before this time. ISO 8601 with an offset. */
  to?: string | undefined;
  /** asc, the default, is the oldest first; desc is the newest first. */
  order?: "asc" | "desc" | undefined;
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
  /** Export what follows this place: last_seq of the export before. Inside a block of form 3 the export begins with that block, as first_seq of its first line and of the checkpoint say. Default 0. */
  after_seq?: number | undefined;
};

export type ListWebhooksQuery = {
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
};

export type ListDeliveriesQuery = {
  /** Only deliveries in this state. */
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
  event?: "firm.registered" | "firm.action_required" | "firm.rejected" | "firm.verified" | "firm.authorized" | "firm.bank_changed" | "firm.mandate_expiring" | "firm.suspended" | "firm.resumed" | "firm.offboarded" | "requirement.uncovered" | "credit.listed" | "credit.withdrawn" | "credit.expiring" | "credit.expired" | "credit.suspended" | "credit.used" | "order.accepted" | "order.matched" | "order.cancelled" | "order.expired" | "order.failed" | "settlement.created" | "settlement.funded" | "settlement.transfer_initiated" | "settlement.transfer_confirmed" | "settlement.settled" | "settlement.failed" | "settlement.reversed" | "settlement.default_paid" | "task.waiting" | "task.done" | "task.late" | "payout.scheduled" | "payout.held" | "payout.instructed" | "payout.sent" | "payout.paid" | "payout.returned" | "deposit.received" | "deposit.queued" | "deposit.returned" | "dues.raised" | "dues.set_off" | "cross.proposed" | "cross.agreed" | "cross.declined" | "cross.cancelled" | "cross.expired" | "cross.funded" | "cross.released" | "cross.refunded" | "cross.settled" | "cross.failed" | "statement.ready" | "second_key.proposed" | "second_key.approved" | "second_key.rejected" | "key.created" | "key.updated" | "key.revoked" | "usage.threshold" | "audit.checkpoint" | "webhook.ping" | "webhook.updated" | "webhook.failing" | "webhook.disabled" | undefined;
  /** Page size; asks for paging. Default 100. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  cursor?: string | undefined;
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
  /** The face to sell, or the basic customs duty to cover. */
  amount_paise: number;
  /** Sell: the last day of the credit's validity, which narrows the range. A day in IST. */
  expires_on?: string | undefined;
  /** Whose rate card; live unless given. The sandbox's prices bind nobody. */
  environment?: "live" | "sandbox" | undefined;
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
  updateKey: { id: "updateKey", method: "PATCH", path: "/v1/keys/{key_id}", kind: "json" },
  revokeKey: { id: "revokeKey", method: "DELETE", path: "/v1/keys/{key_id}", kind: "json" },
  reissueKey: { id: "reissueKey", method: "POST", path: "/v1/keys/{key_id}/reissue", kind: "json" },
  readUsage: { id: "readUsage", method: "GET", path: "/v1/usage", kind: "json" },
  listRequests: { id: "listRequests", method: "GET", path: "/v1/requests", kind: "list", items: "requests" },
  readRequest: { id: "readRequest", method: "GET", path: "/v1/requests/{request_id}", kind: "json" },
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
  takeQuoteBatch: { id: "takeQuoteBatch", method: "POST", path: "/v1/quotes:batch", kind: "json" },
  readQuote: { id: "readQuote", method: "GET", path: "/v1/quotes/{quote_ref}", kind: "json" },
  placeOrder: { id: "placeOrder", method: "POST", path: "/v1/orders", kind: "json", takes_key: true },
  listOrders: { id: "listOrders", method: "GET", path: "/v1/orders", kind: "list", items: "orders" },
  coverRequirement: { id: "coverRequirement", method: "POST", path: "/v1/firms/{firm_id}/requirements/{requirement_id}/cover", kind: "json", takes_key: true },
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
  listTasks: { id: "listTasks", method: "GET", path: "/v1/tasks", kind: "list", items: "tasks" },
  finishTask: { id: "finishTask", method: "POST", path: "/v1/settlements/{settlement_id}/tasks/{task_id}/done", kind: "json" },
  reportMissing: { id: "reportMissing", method: "POST", path: "/v1/settlements/{settlement_id}/tasks/{task_id}/missing", kind: "json" },
  advanceSettlement: { id: "advanceSettlement", method: "POST", path: "/v1/sandbox/settlements/{settlement_id}/advance", kind: "json" },
  readFunding: { id: "readFunding", method: "GET", path: "/v1/firms/{firm_id}/funding", kind: "json" },
  listPayouts: { id: "listPayouts", method: "GET", path: "/v1/payouts", kind: "list", items: "payouts" },
  listDeposits: { id: "listDeposits", method: "GET", path: "/v1/deposits", kind: "list", items: "deposits" },
  readPayout: { id: "readPayout", method: "GET", path: "/v1/payouts/{payout_id}", kind: "json" },
  withdrawMoney: { id: "withdrawMoney", method: "POST", path: "/v1/firms/{firm_id}/withdrawals", kind: "json", takes_key: true },
  readApprovalRules: { id: "readApprovalRules", method: "GET", path: "/v1/approvals/rules", kind: "json" },
  setApprovalRules: { id: "setApprovalRules", method: "PUT", path: "/v1/approvals/rules", kind: "json" },
  proposeAct: { id: "proposeAct", method: "POST", path: "/v1/approvals", kind: "json", takes_key: true },
  listDeskApprovals: { id: "listDeskApprovals", method: "GET", path: "/v1/approvals", kind: "list", items: "approvals" },
  readDeskApproval: { id: "readDeskApproval", method: "GET", path: "/v1/approvals/{approval_id}", kind: "json" },
  approveAct: { id: "approveAct", method: "POST", path: "/v1/approvals/{approval_id}/approve", kind: "json" },
  rejectAct: { id: "rejectAct", method: "POST", path: "/v1/approvals/{approval_id}/reject", kind: "json" },
  advanceClock: { id: "advanceClock", method: "POST", path: "/v1/sandbox/clock", kind: "json" },
  setScenario: { id: "setScenario", method: "POST", path: "/v1/sandbox/scenarios", kind: "json" },
  seedSandbox: { id: "seedSandbox", method: "POST", path: "/v1/sandbox/credits:seed", kind: "json" },
  resetSandbox: { id: "resetSandbox", method: "POST", path: "/v1/sandbox/reset", kind: "json" },
  readEarnings: { id: "readEarnings", method: "GET", path: "/v1/earnings", kind: "json" },
  listStatements: { id: "listStatements", method: "GET", path: "/v1/statements", kind: "json" },
  readStatement: { id: "readStatement", method: "GET", path: "/v1/statements/{period}", kind: "json" },
  readContractNote: { id: "readContractNote", method: "GET", path: "/v1/settlements/{settlement_id}/contract-note", kind: "json" },
  readBillOfSupply: { id: "readBillOfSupply", method: "GET", path: "/v1/settlements/{settlement_id}/bill-of-supply", kind: "json" },
  listEvents: { id: "listEvents", method: "GET", path: "/v1/events", kind: "list", items: "events" },
  readEvent: { id: "readEvent", method: "GET", path: "/v1/events/{event_id}", kind: "json" },
  streamEvents: { id: "streamEvents", method: "GET", path: "/v1/events/stream", kind: "events" },
  listAudit: { id: "listAudit", method: "GET", path: "/v1/audit", kind: "list", items: "audit" },
  exportAudit: { id: "exportAudit", method: "GET", path: "/v1/audit/export", kind: "lines" },
  listAuditKeys: { id: "listAuditKeys", method: "GET", path: "/v1/audit/keys", kind: "json" },
  registerWebhook: { id: "registerWebhook", method: "POST", path: "/v1/webhooks", kind: "json", takes_key: true },
  listWebhooks: { id: "listWebhooks", method: "GET", path: "/v1/webhooks", kind: "list", items: "webhooks" },
  readWebhook: { id: "readWebhook", method: "GET", path: "/v1/webhooks/{webhook_id}", kind: "json" },
  deleteWebhook: { id: "deleteWebhook", method: "DELETE", path: "/v1/webhooks/{webhook_id}", kind: "json" },
  updateWebhook: { id: "updateWebhook", method: "PATCH", path: "/v1/webhooks/{webhook_id}", kind: "json" },
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
  readHouse: { id: "readHouse", method: "GET", path: "/public/house", kind: "json", is_keyless: true },
  readPreview: { id: "readPreview", method: "GET", path: "/public/preview", kind: "json", is_keyless: true },
} as const satisfies Record<string, Operation>;

/** One method for each operation of the document. */
export abstract class Operations {
  protected abstract run(operation: Operation, call: Call): unknown;

  /**
   * Whether the process answers. Says that the process answers. It asks nothing of the database, so a failure means that the process should be started again.
   *
   * `GET /healthz`
   */
  isAlive(options: CallOptions = {}): Promise<IsAliveAnswer> {
    return this.run(operations.isAlive, { options }) as Promise<IsAliveAnswer>;
  }

  /**
   * Whether the process can serve. 200 when the service can take calls: migrations are applied and the database answers, as looked up every second. 503 while it starts, while it stops, and when the database is away; send no traffic then.
   *
   * `GET /readyz`
   */
  isReady(options: CallOptions = {}): Promise<IsReadyAnswer> {
    return this.run(operations.isReady, { options }) as Promise<IsReadyAnswer>;
  }

  /**
   * This document. The machine-readable contract, the same for every caller. It carries an ETag: ask again with If-None-Match.
   *
   * `GET /v1/openapi.json`
   */
  readOpenApi(options: CallOptions = {}): Promise<ReadOpenApiAnswer> {
    return this.run(operations.readOpenApi, { options }) as Promise<ReadOpenApiAnswer>;
  }

  /**
   * The state tables as data. Every lifecycle as a table: its states, its moves, and from where to where each leads. It is what the service itself decides by, so a client can draw buttons from it.
   *
   * `GET /v1/meta/states`, scope `any key`
   */
  listStates(options: CallOptions = {}): Promise<StateTables> {
    return this.run(operations.listStates, { options }) as Promise<StateTables>;
  }

  /**
   * Who the service takes you for. What the service knows about the key that was sent: its desk, firm, environment, scopes and limits. A good first call.
   *
   * `GET /v1/whoami`, scope `any key`
   */
  whoAmI(options: CallOptions = {}): Promise<WhoAmI> {
    return this.run(operations.whoAmI, { options }) as Promise<WhoAmI>;
  }

  /**
   * Mint a child key. The secret is in this answer and in no other. The plan says how many child keys a desk may have at a time.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_held`, `scope_not_held`; 409 `child_keys_used_up`, `firm_offboarded`, `idempotency_key_reused`.
   *
   * `POST /v1/keys`, scope `root key`
   */
  mintKey(body: MintKey, options: CreateOptions = {}): Promise<OneOf<Key | MintedKey>> {
    return this.run(operations.mintKey, { body, options }) as Promise<OneOf<Key | MintedKey>>;
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
   * Rename a key or narrow it. A key never grows: a field that would give it more than it has is 422. Its children are narrowed with it, and one of which nothing is left is revoked. Acts on the next request. A root key with limits of its own manages only itself and its children.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `PATCH /v1/keys/{key_id}`, scope `root key`
   */
  updateKey(key_id: string, body: UpdateKey = {}, options: WriteOptions = {}): Promise<Key> {
    return this.run(operations.updateKey, { path: { key_id }, body, options }) as Promise<Key>;
  }

  /**
   * Revoke a key and its children. A key that holds no more than yours does, or that yours minted. Acts on the next request. Revoking twice is no conflict.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `DELETE /v1/keys/{key_id}`, scope `root key`
   */
  revokeKey(key_id: string, options: WriteOptions = {}): Promise<Key> {
    return this.run(operations.revokeKey, { path: { key_id }, options }) as Promise<Key>;
  }

  /**
   * Replace a key's secret. A key that holds no more than yours does, or that yours minted. The old secret stops matching at once. A dry run shows no secret.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `POST /v1/keys/{key_id}/reissue`, scope `root key`
   */
  reissueKey(key_id: string, options: WriteOptions = {}): Promise<ReissuedKey> {
    return this.run(operations.reissueKey, { path: { key_id }, options }) as Promise<ReissuedKey>;
  }

  /**
   * Rate and quota numbers, and the month behind them. The numbers of the X-RateLimit headers as JSON, with the calls of the month by day, by route and by key. A child key sees its own calls, a root key those of the keys under it too.
   *
   * `GET /v1/usage`, scope `any key`
   */
  readUsage(query: ReadUsageQuery = {}, options: CallOptions = {}): Promise<Usage> {
    return this.run(operations.readUsage, { query, options }) as Promise<Usage>;
  }

  /**
   * List your calls of the last 30 days. Newest first: what was asked, what it was answered and what it made, without bodies and queries. A root key sees the calls of its desk, any other key its own. They are kept as well as we can: a crash may lose the last second.
   *
   * `GET /v1/requests`, scope `orders:read`
   */
  listRequests(query: ListRequestsQuery = {}, options: CallOptions = {}): List<AnsweredRequestList, "requests"> {
    return this.run(operations.listRequests, { query, options }) as List<AnsweredRequestList, "requests">;
  }

  /**
   * Read a call by the id of its answer. The newest, where your gateway gave several the same id.
   *
   * `GET /v1/requests/{request_id}`, scope `orders:read`
   */
  readRequest(request_id: string, options: CallOptions = {}): Promise<AnsweredRequest> {
    return this.run(operations.readRequest, { path: { request_id }, options }) as Promise<AnsweredRequest>;
  }

  /**
   * Register a client firm. The same IEC twice on a desk is a conflict that names the firm.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `group_full`, `idempotency_key_reused`, `in_another_group`.
   *
   * `POST /v1/firms`, scope `firms`
   */
  registerFirm(body: RegisterFirm, options: CreateOptions = {}): Promise<Firm> {
    return this.run(operations.registerFirm, { body, options }) as Promise<Firm>;
  }

  /**
   * List the firms of your desk. Newest first. Filters combine: a firm is shown when all of them fit. A sub_account key sees its own firm.
   *
   * `GET /v1/firms`, scope `firms`
   */
  listFirms(query: ListFirmsQuery = {}, options: CallOptions = {}): List<FirmList, "firms"> {
    return this.run(operations.listFirms, { query, options }) as List<FirmList, "firms">;
  }

  /**
   * Read a firm. A firm with its identifiers, its connection and what it can do next. The account number is masked.
   *
   * `GET /v1/firms/{firm_id}`, scope `firms`
   */
  readFirm(firm_id: string, options: CallOptions = {}): Promise<Firm> {
    return this.run(operations.readFirm, { path: { firm_id }, options }) as Promise<Firm>;
  }

  /**
   * Correct a firm's particulars. A bank or IEC change holds payouts for 24 hours. A verified firm that changes who it is goes through verification again.
   *
   * Refusals by `detail.reason` (open set): 403 `key_limit`, `own_firm`, `sub_account_key`; 409 `deal_unpaid`, `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `group_full`, `in_another_group`, `second_key_required`, `wrong_state`.
   *
   * `PATCH /v1/firms/{firm_id}`, scope `firms`
   */
  updateFirm(firm_id: string, body: UpdateFirm = {}, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.updateFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * How far a firm's connection has come. The part of a firm that changes while it is verified and authorized: its state, every check with its outcome and cure, holds on its payouts, and whether customs and bank answer.
   *
   * `GET /v1/firms/{firm_id}/connection`, scope `firms`
   */
  readConnection(firm_id: string, options: CallOptions = {}): Promise<Connection> {
    return this.run(operations.readConnection, { path: { firm_id }, options }) as Promise<Connection>;
  }

  /**
   * Have a firm verified. The registry and the bank answer later; poll the connection.
   *
   * Refusals by `detail.reason` (open set): 409 `identity_incomplete`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/verify`, scope `firms`
   */
  verifyFirm(firm_id: string, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.verifyFirm, { path: { firm_id }, body: {}, options }) as Promise<Firm>;
  }

  /**
   * Give the firm's mandate to trade for it. Records the mandate that lets your desk act for the firm, after it was verified. The same mandate again changes nothing; a new one replaces the old.
   *
   * Refusals by `detail.reason` (open set): 409 `firm_is_house`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/authorize`, scope `firms`
   */
  authorizeFirm(firm_id: string, body: AuthorizeFirm, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.authorizeFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * Stop trading for a firm. Stops quotes, orders and crosses of the firm, and holds its payouts. Deals that were made are settled. Suspending twice is no conflict.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/suspend`, scope `firms`
   */
  suspendFirm(firm_id: string, body: SuspendFirm, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.suspendFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * End a suspension. Ends a suspension by your desk. One by the operator is ended by the operator.
   *
   * Refusals by `detail.reason` (open set): 403 `suspended_by_operator`; 409 `firm_is_house`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/resume`, scope `firms`
   */
  resumeFirm(firm_id: string, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.resumeFirm, { path: { firm_id }, body: {}, options }) as Promise<Firm>;
  }

  /**
   * Let a firm go. Open business is a conflict that lists it, or is waited for with mode drain. Personal data is masked, the firm's own keys are revoked and its listed credits withdrawn.
   *
   * Refusals by `detail.reason` (open set): 403 `key_limit`, `own_firm`, `sub_account_key`, `suspended_by_operator`; 409 `open_business`, `second_key_required`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/offboard`, scope `firms`
   */
  offboardFirm(firm_id: string, body: OffboardFirm = {}, options: WriteOptions = {}): Promise<Firm> {
    return this.run(operations.offboardFirm, { path: { firm_id }, body, options }) as Promise<Firm>;
  }

  /**
   * Create a group. A name that a group of your desk has is a conflict with its group_id.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `deleted`, `idempotency_key_reused`, `name_taken`.
   *
   * `POST /v1/groups`, scope `firms`
   */
  createGroup(body: CreateGroup, options: CreateOptions = {}): Promise<Group> {
    return this.run(operations.createGroup, { body, options }) as Promise<Group>;
  }

  /**
   * List the groups of your desk. The groups of your desk, newest first.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/groups`, scope `firms` or `orders:read`
   */
  listGroups(query: ListGroupsQuery = {}, options: CallOptions = {}): List<GroupList, "groups"> {
    return this.run(operations.listGroups, { query, options }) as List<GroupList, "groups">;
  }

  /**
   * Read a group. A group of your desk. Its firms are in its members.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/groups/{group_id}`, scope `firms`
   */
  readGroup(group_id: string, options: CallOptions = {}): Promise<Group> {
    return this.run(operations.readGroup, { path: { group_id }, options }) as Promise<Group>;
  }

  /**
   * Rename a group. Renames a group. A name is unique on your desk.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `name_taken`.
   *
   * `PATCH /v1/groups/{group_id}`, scope `firms`
   */
  updateGroup(group_id: string, body: UpdateGroup, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.updateGroup, { path: { group_id }, body, options }) as Promise<Group>;
  }

  /**
   * Delete a group without members. A group that has members is a conflict: take them out first.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `group_not_empty`.
   *
   * `DELETE /v1/groups/{group_id}`, scope `firms`
   */
  deleteGroup(group_id: string, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.deleteGroup, { path: { group_id }, options }) as Promise<Group>;
  }

  /**
   * List the members of a group. The firms of a group with their connection state, newest first.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/groups/{group_id}/members`, scope `firms`
   */
  listMembers(group_id: string, query: ListMembersQuery = {}, options: CallOptions = {}): List<GroupMemberList, "members"> {
    return this.run(operations.listMembers, { path: { group_id }, query, options }) as List<GroupMemberList, "members">;
  }

  /**
   * Put a firm into a group. A firm is in one group at a time. Putting a member in again is no conflict.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `firm_offboarded`, `group_full`, `in_another_group`.
   *
   * `PUT /v1/groups/{group_id}/members/{firm_id}`, scope `firms`
   */
  addMember(group_id: string, firm_id: string, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.addMember, { path: { group_id, firm_id }, options }) as Promise<Group>;
  }

  /**
   * Take a firm out of a group. Taking out a firm that is not in it changes nothing.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `DELETE /v1/groups/{group_id}/members/{firm_id}`, scope `firms`
   */
  removeMember(group_id: string, firm_id: string, options: WriteOptions = {}): Promise<Group> {
    return this.run(operations.removeMember, { path: { group_id, firm_id }, options }) as Promise<Group>;
  }

  /**
   * What a group holds against the basic customs duty it will owe. One consistent snapshot. Sums are exact: beyond 2^53-1 paise they have all their digits.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/groups/{group_id}/positions`, scope `orders:read`
   */
  readGroupPositions(group_id: string, options: CallOptions = {}): Promise<GroupPositions> {
    return this.run(operations.readGroupPositions, { path: { group_id }, options }) as Promise<GroupPositions>;
  }

  /**
   * Declare basic customs duty that a firm will have to pay. A reference the firm has used is a conflict with its requirement_id.
   *
   * Refusals by `detail.reason` (open set): 409 `deleted`, `firm_offboarded`, `idempotency_key_reused`, `reference_taken`.
   *
   * `POST /v1/firms/{firm_id}/requirements`, scope `firms`
   */
  declareRequirement(firm_id: string, body: DeclareRequirement, options: CreateOptions = {}): Promise<Requirement> {
    return this.run(operations.declareRequirement, { path: { firm_id }, body, options }) as Promise<Requirement>;
  }

  /**
   * List the requirements of a firm. The basic customs duty that a firm has declared, newest first, and what its orders have bought of it.
   *
   * `GET /v1/firms/{firm_id}/requirements`, scope `firms` or `orders:read`
   */
  listRequirements(firm_id: string, query: ListRequirementsQuery = {}, options: CallOptions = {}): List<RequirementList, "requirements"> {
    return this.run(operations.listRequirements, { path: { firm_id }, query, options }) as List<RequirementList, "requirements">;
  }

  /**
   * Read a requirement. A firm's declared basic customs duty: how much, when it is due, which scheme is to cover it, and how much of it is covered.
   *
   * `GET /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms` or `orders:read`
   */
  readRequirement(firm_id: string, requirement_id: string, options: CallOptions = {}): Promise<Requirement> {
    return this.run(operations.readRequirement, { path: { firm_id, requirement_id }, options }) as Promise<Requirement>;
  }

  /**
   * Change a requirement. Fields that are not named stay as they are. While an order rests for it, neither its scheme changes nor its amount below what the order may still buy: a conflict with its order_id.
   *
   * Refusals by `detail.reason` (open set): 409 `cover_rests`, `reference_taken`.
   *
   * `PATCH /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
   */
  updateRequirement(firm_id: string, requirement_id: string, body: UpdateRequirement = {}, options: WriteOptions = {}): Promise<Requirement> {
    return this.run(operations.updateRequirement, { path: { firm_id, requirement_id }, body, options }) as Promise<Requirement>;
  }

  /**
   * Take a requirement back. A requirement that was met, or that never came to be. While an order rests for it this is a conflict with its order_id: cancel that first.
   *
   * Refusals by `detail.reason` (open set): 409 `cover_rests`.
   *
   * `DELETE /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
   */
  deleteRequirement(firm_id: string, requirement_id: string, options: WriteOptions = {}): Promise<Requirement> {
    return this.run(operations.deleteRequirement, { path: { firm_id, requirement_id }, options }) as Promise<Requirement>;
  }

  /**
   * Which credits to move inside a group. Whole credits pay the basic customs duty of the members so that the least is left uncovered; a firm's own credits pay its own duty without a move. Then the fewest moves, the fewest credits and the earliest expiry. A credit pays duty that is due no later than it expires.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `firm_not_authorized`, `group_too_large`, `mandate_expired`, `sum_too_large`.
   *
   * `GET /v1/groups/{group_id}/netting`, scope `orders:read`
   */
  proposeNetting(group_id: string, options: CallOptions = {}): Promise<Netting> {
    return this.run(operations.proposeNetting, { path: { group_id }, options }) as Promise<Netting>;
  }

  /**
   * Turn a netting into crosses. All of its proposals or none, at their prices. A netting is used once, within its time, and while its members, credits and requirements are what they were; otherwise it is a conflict that says why.
   *
   * Refusals by `detail.reason` (open set): 403 `key_limit`, `sub_account_key`; 409 `counterparty_unavailable`, `credit_unavailable`, `dues_outstanding`, `firm_not_authorized`, `idempotency_key_reused`, `mandate_expired`, `netting_expired`, `netting_outdated`, `netting_used`, `nothing_to_cross`.
   *
   * `POST /v1/groups/{group_id}/netting/crosses`, scope `orders:write`
   */
  crossNetting(group_id: string, body: CrossNetting, options: CreateOptions = {}): Promise<NettingCrosses> {
    return this.run(operations.crossNetting, { path: { group_id }, body, options }) as Promise<NettingCrosses>;
  }

  /**
   * List a firm's credits. What a firm holds and held, newest first. `not_sellable_reason` says of each why it cannot be sold now.
   *
   * `GET /v1/firms/{firm_id}/credits`, scope `firms` or `quote,orders:read`
   */
  listCredits(firm_id: string, query: ListCreditsQuery = {}, options: CallOptions = {}): List<CreditList, "credits"> {
    return this.run(operations.listCredits, { path: { firm_id }, query, options }) as List<CreditList, "credits">;
  }

  /**
   * Declare 1 to 500 credits that a firm holds. A declaration is a claim: declared until the registry confirms it, then listed. The same credit again is ok with 200; with other facts it is a 409.
   *
   * Refusals by `detail.reason` (open set): 409 `ended`, `facts_differ`, `firm_has_no_iec`, `firm_offboarded`, `firm_state`, `held_elsewhere`, `idempotency_key_reused`, `not_declared`, `used_up`, `was_used`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/credits`, scope `firms`
   */
  declareCredits(firm_id: string, body: DeclareCredits, options: CreateOptions = {}): Promise<CreditDeclarationResults> {
    return this.run(operations.declareCredits, { path: { firm_id }, body, options }) as Promise<CreditDeclarationResults>;
  }

  /**
   * Import a report of the customs portal. As csv, or as xlsx in base64. Headings are known by many names, days as DD/MM/YYYY, DD-MM-YYYY, DD-MON-YYYY or ISO, amounts in rupees. A row whose balance fell lowers the credit's, one with nothing left marks it used; otherwise a row is answered like a declaration, and sending the file again changes nothing.
   *
   * Refusals by `detail.reason` (open set): 409 `ended`, `facts_differ`, `firm_has_no_iec`, `firm_offboarded`, `firm_state`, `held_elsewhere`, `not_declared`, `used_up`, `was_used`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/credits:import`, scope `firms`
   */
  importCredits(firm_id: string, body: ImportCredits, options: WriteOptions = {}): Promise<CreditImportResults> {
    return this.run(operations.importCredits, { path: { firm_id }, body, options }) as Promise<CreditImportResults>;
  }

  /**
   * Take a firm's credits from the registry. Sandbox only: customs offers no interface for this, so a live key is answered 409 with detail.reason registry_attested_only; declare or import instead.
   *
   * Refusals by `detail.reason` (open set): 409 `ended`, `facts_differ`, `firm_has_no_iec`, `firm_offboarded`, `firm_state`, `held_elsewhere`, `not_declared`, `registry_attested_only`, `registry_outage`, `used_up`, `was_used`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/credits:sync`, scope `firms`
   */
  syncCredits(firm_id: string, options: WriteOptions = {}): Promise<CreditDeclarationResults> {
    return this.run(operations.syncCredits, { path: { firm_id }, options }) as Promise<CreditDeclarationResults>;
  }

  /**
   * Read a credit of your desk. By its number, where a / is written as %2F, or by its credit_id. A number names the live holding, otherwise the latest.
   *
   * `GET /v1/credits/{scrip_no}`, scope `firms` or `quote,orders:read`
   */
  readCredit(scrip_no: string, options: CallOptions = {}): Promise<Credit> {
    return this.run(operations.readCredit, { path: { scrip_no }, options }) as Promise<Credit>;
  }

  /**
   * Take a credit off your desk. It may be declared again. Withdrawing twice is no conflict.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `POST /v1/credits/{scrip_no}/withdraw`, scope `firms`
   */
  withdrawCredit(scrip_no: string, options: WriteOptions = {}): Promise<Credit> {
    return this.run(operations.withdrawCredit, { path: { scrip_no }, options }) as Promise<Credit>;
  }

  /**
   * Use a credit, or a part of it, for basic customs duty. A part by its bill of entry lowers the balance, face_paise; uses tells the parts. Without an amount all that is left is used. The same bill again is no conflict where nothing of it differs, nor is marking a used credit as used. Only a credit that no deal holds is used; a quote on it binds the balance that it was given for.
   *
   * Refusals by `detail.reason` (open set): 409 `above_balance`, `bill_of_entry_told`, `too_many_uses`, `wrong_state`.
   *
   * `POST /v1/credits/{scrip_no}/use`, scope `firms`
   */
  useCredit(scrip_no: string, body: UseCredit = {}, options: WriteOptions = {}): Promise<Credit> {
    return this.run(operations.useCredit, { path: { scrip_no }, body, options }) as Promise<Credit>;
  }

  /**
   * Take a binding price for an exact amount. Sell by scrip_no, or by scheme and face_paise; buy by scheme and requirement_paise. A price by amount is for credits with at least 365 days left. An order with the quote_ref in time gets this price, whatever the market does, for the facts it was made from: where a credit or an offer has changed since, the answer is 409 with a fresh quote in detail. When there is no binding price, the answer is no_quote and its reason, and nothing else.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`; 409 `cancelled`, `declared`, `expired`, `firm_not_authorized`, `in_settlement`, `rejected`, `reserved`, `suspended`, `too_short`, `transferred`, `used`, `withdrawn`.
   *
   * `POST /v1/quote`, scope `quote`
   */
  takeQuote(body: QuoteRequest, options: WriteOptions = {}): Promise<Quote> {
    return this.run(operations.takeQuote, { body, options }) as Promise<Quote>;
  }

  /**
   * Take 1 to 200 quotes. Each is answered as if it were asked for alone, in the sequence of the request: valid ones have a quote, the others fail on their own. It is metered as one call.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`; 409 `cancelled`, `declared`, `expired`, `firm_not_authorized`, `in_settlement`, `rejected`, `reserved`, `suspended`, `too_short`, `transferred`, `used`, `withdrawn`.
   *
   * `POST /v1/quotes:batch`, scope `quote`
   */
  takeQuoteBatch(body: TakeQuoteBatch, options: WriteOptions = {}): Promise<QuoteBatchResults> {
    return this.run(operations.takeQuoteBatch, { body, options }) as Promise<QuoteBatchResults>;
  }

  /**
   * Read a quote and its state. The quote as it was answered, whether it is open, used or expired, and the order that used it.
   *
   * `GET /v1/quotes/{quote_ref}`, scope `quote`
   */
  readQuote(quote_ref: string, options: CallOptions = {}): Promise<StoredQuote> {
    return this.run(operations.readQuote, { path: { quote_ref }, options }) as Promise<StoredQuote>;
  }

  /**
   * Sell credits or buy cover. By a quote, at the current binding price, or with a limit. A sell names one credit or an amount; a buy names the basic customs duty to cover. A refused order is not stored.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `bundle_gone`, `cancelled`, `cover_rests`, `credit_not_sellable`, `declared`, `expired`, `facts_changed`, `firm_not_authorized`, `funds_first`, `idempotency_key_reused`, `in_settlement`, `mandate_expired`, `no_cover`, `no_price`, `nothing_to_deliver`, `quote_expired`, `quote_used`, `rejected`, `requirement_covered`, `reserved`, `suspended`, `too_many_covers`, `too_short`, `transferred`, `unfunded_desk_limit`, `unfunded_limit`, `used`, `withdrawn`, `wrong_state`.
   *
   * `POST /v1/orders`, scope `orders:write`
   */
  placeOrder(body: PlaceOrder, options: CreateOptions = {}): Promise<Order> {
    return this.run(operations.placeOrder, { body, options }) as Promise<Order>;
  }

  /**
   * List your desk's orders. Newest first. Filters combine. `idempotency_key` finds the order of a call whose answer was lost. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/orders`, scope `orders:read`
   */
  listOrders(query: ListOrdersQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * List your desk's orders. Newest first. Filters combine. `idempotency_key` finds the order of a call whose answer was lost. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/orders`, scope `orders:read`
   */
  listOrders(query: ListOrdersQuery & { readonly format: "xlsx" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * List your desk's orders. Newest first. Filters combine. `idempotency_key` finds the order of a call whose answer was lost. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/orders`, scope `orders:read`
   */
  listOrders(query?: ListOrdersQuery & { readonly format?: "json" }, options?: CallOptions): List<OrderList, "orders">;
  listOrders(query: ListOrdersQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.listOrders, { query, options });
  }

  /**
   * Buy what covers a requirement. Places a buy for the basic customs duty that is uncovered. While an order rests for the requirement, another cover is 409; so is one for a requirement that is covered. The requirement shows what its orders have bought.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `bundle_gone`, `cancelled`, `cover_rests`, `credit_not_sellable`, `declared`, `expired`, `facts_changed`, `firm_not_authorized`, `funds_first`, `idempotency_key_reused`, `in_settlement`, `mandate_expired`, `no_cover`, `no_price`, `nothing_to_deliver`, `quote_expired`, `quote_used`, `rejected`, `requirement_covered`, `reserved`, `suspended`, `too_many_covers`, `too_short`, `transferred`, `unfunded_desk_limit`, `unfunded_limit`, `used`, `withdrawn`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/requirements/{requirement_id}/cover`, scope `orders:write`
   */
  coverRequirement(firm_id: string, requirement_id: string, body: CoverRequirement = {}, options: CreateOptions = {}): Promise<Order> {
    return this.run(operations.coverRequirement, { path: { firm_id, requirement_id }, body, options }) as Promise<Order>;
  }

  /**
   * Place 1 to 500 orders. Each order has its own result, in the sequence of the request: valid ones are placed, the others fail on their own. Of two orders for one credit the first wins.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `bundle_gone`, `cancelled`, `cover_rests`, `credit_not_sellable`, `declared`, `expired`, `facts_changed`, `firm_not_authorized`, `funds_first`, `idempotency_key_reused`, `in_settlement`, `mandate_expired`, `no_cover`, `no_price`, `nothing_to_deliver`, `quote_expired`, `quote_used`, `rejected`, `requirement_covered`, `reserved`, `suspended`, `too_many_covers`, `too_short`, `transferred`, `unfunded_desk_limit`, `unfunded_limit`, `used`, `withdrawn`, `wrong_state`.
   *
   * `POST /v1/orders:batch`, scope `orders:write`
   */
  placeOrderBatch(body: PlaceOrderBatch, options: CreateOptions = {}): Promise<OrderBatchResults> {
    return this.run(operations.placeOrderBatch, { body, options }) as Promise<OrderBatchResults>;
  }

  /**
   * Read an order. An order with its price, its credits, its settlement and every state it has had.
   *
   * `GET /v1/orders/{order_id}`, scope `orders:read`
   */
  readOrder(order_id: string, options: CallOptions = {}): Promise<Order> {
    return this.run(operations.readOrder, { path: { order_id }, options }) as Promise<Order>;
  }

  /**
   * Cancel the resting part of an order. Deals stand. Cancelling twice is no conflict.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `POST /v1/orders/{order_id}/cancel`, scope `orders:write`
   */
  cancelOrder(order_id: string, options: WriteOptions = {}): Promise<Order> {
    return this.run(operations.cancelOrder, { path: { order_id }, options }) as Promise<Order>;
  }

  /**
   * Take the terms of a block or an intra-group transfer. A quote reserves nothing and tells nobody. A block has a least face. When there is no market, or the seller of your desk has nothing of the kind, the answer is no_quote and its reason, and nothing else.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`; 409 `cancelled`, `declared`, `expired`, `firm_not_authorized`, `in_settlement`, `mandate_expired`, `rejected`, `reserved`, `suspended`, `too_short`, `transferred`, `used`, `withdrawn`.
   *
   * `POST /v1/cross/quote`, scope `quote`
   */
  quoteCross(body: CrossQuoteRequest, options: WriteOptions = {}): Promise<CrossQuote> {
    return this.run(operations.quoteCross, { body, options }) as Promise<CrossQuote>;
  }

  /**
   * Propose a cross on a quote. Between two firms of your desk it is agreed at once, with its credits reserved. Any other waits for the answer of the firm with that IEC, whichever desk acts for it, and expires without one.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `counterparty_unavailable`, `credit_unavailable`, `dues_outstanding`, `firm_not_authorized`, `idempotency_key_reused`, `mandate_expired`, `quote_expired`, `quote_used`.
   *
   * `POST /v1/cross`, scope `orders:write`
   */
  proposeCross(body: ProposeCross, options: CreateOptions = {}): Promise<Cross> {
    return this.run(operations.proposeCross, { body, options }) as Promise<Cross>;
  }

  /**
   * List the crosses your desk has a side in, or is to answer. Crosses in which a firm of yours has a side, newest first, and proposals that name an IEC of yours.
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
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`, `wrong_side`; 409 `counterparty_unavailable`, `credit_unavailable`, `dues_outstanding`, `firm_not_authorized`, `mandate_expired`, `nothing_to_deliver`, `terms_differ`, `wrong_state`.
   *
   * `POST /v1/cross/{cross_id}/accept`, scope `orders:write`
   */
  acceptCross(cross_id: string, body: AcceptCross, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.acceptCross, { path: { cross_id }, body, options }) as Promise<Cross>;
  }

  /**
   * Decline a cross that was proposed to you. Refuses a proposal. It ends for both sides; declining twice is no conflict.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `wrong_state`.
   *
   * `POST /v1/cross/{cross_id}/decline`, scope `orders:write`
   */
  declineCross(cross_id: string, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.declineCross, { path: { cross_id }, body: {}, options }) as Promise<Cross>;
  }

  /**
   * Put the money of a cross into escrow. For the buyer. Your balance is held when it reaches. Otherwise the money is waited for, which the sandbox's bank brings at once. The same payment_ref again changes nothing.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `credit_not_sellable`, `deadline_passed`, `firm_not_authorized`, `mandate_expired`, `payment_pending`, `payment_ref_used`, `reference_used`, `wrong_state`.
   *
   * `POST /v1/cross/{cross_id}/fund`, scope `orders:write`
   */
  fundCross(cross_id: string, body: FundCross, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.fundCross, { path: { cross_id }, body, options }) as Promise<Cross>;
  }

  /**
   * Let the credits of a funded cross go. For the seller. From here on its settlement delivers credit against money.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `credit_not_sellable`, `credit_unavailable`, `firm_not_authorized`, `mandate_expired`, `wrong_state`.
   *
   * `POST /v1/cross/{cross_id}/release`, scope `orders:write`
   */
  releaseCross(cross_id: string, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.releaseCross, { path: { cross_id }, body: {}, options }) as Promise<Cross>;
  }

  /**
   * Call a cross off. The proposer while it is proposed, either side while it is agreed, and the seller while it is funded: then the buyer's money goes back.
   *
   * Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `wrong_state`.
   *
   * `POST /v1/cross/{cross_id}/cancel`, scope `orders:write`
   */
  cancelCross(cross_id: string, options: WriteOptions = {}): Promise<Cross> {
    return this.run(operations.cancelCross, { path: { cross_id }, body: {}, options }) as Promise<Cross>;
  }

  /**
   * What your firms hold and have. Credits by scheme and cash, all of one moment. As csv or xlsx, a row for each scheme and one for the cash.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/positions`, scope `orders:read`
   */
  readPositions(query: ReadPositionsQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * What your firms hold and have. Credits by scheme and cash, all of one moment. As csv or xlsx, a row for each scheme and one for the cash.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/positions`, scope `orders:read`
   */
  readPositions(query: ReadPositionsQuery & { readonly format: "xlsx" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * What your firms hold and have. Credits by scheme and cash, all of one moment. As csv or xlsx, a row for each scheme and one for the cash.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/positions`, scope `orders:read`
   */
  readPositions(query?: ReadPositionsQuery & { readonly format?: "json" }, options?: CallOptions): Promise<Positions>;
  readPositions(query: ReadPositionsQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.readPositions, { query, options });
  }

  /**
   * Every market now. One row for each scheme: its state, its prices and its last deal, and what the house could sell now. It names no firm and no credit.
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
   * A key has at most 5 of these streams open at a node; one more ends the oldest. A desk has at most 2500
   * streams open at a node, those of events included; one more is answered 500. A reader that does not keep
   * up is cut and resumes by its last id. A stream ends within a second when its key is revoked or expires.
   *
   * `GET /v1/market/stream`, scope `market:read`
   */
  streamMarket(options: StreamOptions = {}): AsyncIterable<MarketEvent> {
    return this.run(operations.streamMarket, { options }) as AsyncIterable<MarketEvent>;
  }

  /**
   * One market now. The state of one scheme's market, its prices, its last deal, and what the house could sell now.
   *
   * `GET /v1/market/{scheme}`, scope `market:read`
   */
  readMarket(scheme: string, options: CallOptions = {}): Promise<Market> {
    return this.run(operations.readMarket, { path: { scheme }, options }) as Promise<Market>;
  }

  /**
   * List the settlements your desk has a side in. Settlements in which a firm of yours delivers or buys, newest first. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/settlements`, scope `orders:read`
   */
  listSettlements(query: ListSettlementsQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * List the settlements your desk has a side in. Settlements in which a firm of yours delivers or buys, newest first. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/settlements`, scope `orders:read`
   */
  listSettlements(query: ListSettlementsQuery & { readonly format: "xlsx" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * List the settlements your desk has a side in. Settlements in which a firm of yours delivers or buys, newest first. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/settlements`, scope `orders:read`
   */
  listSettlements(query?: ListSettlementsQuery & { readonly format?: "json" }, options?: CallOptions): List<SettlementList, "settlements">;
  listSettlements(query: ListSettlementsQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.listSettlements, { query, options });
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
   * List what your firms have to do for their deals. The day's work: payments, transfers to initiate and transfers to accept, the soonest due first. Without `status`, what is open.
   *
   * `GET /v1/tasks`, scope `orders:read`
   */
  listTasks(query: ListTasksQuery = {}, options: CallOptions = {}): List<TaskList, "tasks"> {
    return this.run(operations.listTasks, { query, options }) as List<TaskList, "tasks">;
  }

  /**
   * Say that a task of your firm is done. A claim of `initiate` starts `accept` and its clock; it proves nothing. A claim of `pay` is noted: the bank's line funds the deal. A second one is answered as the first, whatever its reference.
   *
   * Refusals by `detail.reason` (open set): 409 `task_of_house`, `wrong_state`.
   *
   * `POST /v1/settlements/{settlement_id}/tasks/{task_id}/done`, scope `orders:write`
   */
  finishTask(settlement_id: string, task_id: string, body: FinishTask, options: WriteOptions = {}): Promise<Settlement> {
    return this.run(operations.finishTask, { path: { settlement_id, task_id }, body, options }) as Promise<Settlement>;
  }

  /**
   * Say that the portal shows no transfer to accept. The holder's task waits again, the deal stays open whatever its deadline, and an operator looks. A second one is answered as the first.
   *
   * Refusals by `detail.reason` (open set): 409 `nothing_to_miss`, `wrong_state`.
   *
   * `POST /v1/settlements/{settlement_id}/tasks/{task_id}/missing`, scope `orders:write`
   */
  reportMissing(settlement_id: string, task_id: string, body: ReportMissing = {}, options: WriteOptions = {}): Promise<Settlement> {
    return this.run(operations.reportMissing, { path: { settlement_id, task_id }, body, options }) as Promise<Settlement>;
  }

  /**
   * Let the next step of a settlement happen now. What customs or the bank would say next is said now. Sandbox keys only.
   *
   * Refusals by `detail.reason` (open set): 409 `balance_moved`, `begun_since`, `credit_not_sellable`, `reference_used`, `wrong_state`.
   *
   * `POST /v1/sandbox/settlements/{settlement_id}/advance`, scope `orders:write`
   */
  advanceSettlement(settlement_id: string, options: WriteOptions = {}): Promise<Settlement> {
    return this.run(operations.advanceSettlement, { path: { settlement_id }, body: {}, options }) as Promise<Settlement>;
  }

  /**
   * Read where a firm pays ahead. What comes from a confirmed account of the firm becomes its balance and funds its deals. Read it anew before you pay, and trust no account that comes by mail: we never send ours that way. While the house has no account yet it is a conflict (`house_incomplete`).
   *
   * Refusals by `detail.reason` (open set): 409 `firm_offboarded`, `house_incomplete`.
   *
   * `GET /v1/firms/{firm_id}/funding`, scope `orders:read`
   */
  readFunding(firm_id: string, options: CallOptions = {}): Promise<Funding> {
    return this.run(operations.readFunding, { path: { firm_id }, options }) as Promise<Funding>;
  }

  /**
   * List the payouts to your firms. Money on its way to your firms' banks, newest first. Filter by `settlement_id` or `order_id` to find what a sale was paid with. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/payouts`, scope `orders:read`
   */
  listPayouts(query: ListPayoutsQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * List the payouts to your firms. Money on its way to your firms' banks, newest first. Filter by `settlement_id` or `order_id` to find what a sale was paid with. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/payouts`, scope `orders:read`
   */
  listPayouts(query: ListPayoutsQuery & { readonly format: "xlsx" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * List the payouts to your firms. Money on its way to your firms' banks, newest first. Filter by `settlement_id` or `order_id` to find what a sale was paid with. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/payouts`, scope `orders:read`
   */
  listPayouts(query?: ListPayoutsQuery & { readonly format?: "json" }, options?: CallOptions): List<PayoutList, "payouts">;
  listPayouts(query: ListPayoutsQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.listPayouts, { query, options });
  }

  /**
   * List the money that came from your firms. Newest first, each with the bank's reference; money that waits in our queue is no deposit yet. Where to pay is at `GET /v1/firms/{firm_id}/funding`. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/deposits`, scope `orders:read`
   */
  listDeposits(query: ListDepositsQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * List the money that came from your firms. Newest first, each with the bank's reference; money that waits in our queue is no deposit yet. Where to pay is at `GET /v1/firms/{firm_id}/funding`. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/deposits`, scope `orders:read`
   */
  listDeposits(query: ListDepositsQuery & { readonly format: "xlsx" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * List the money that came from your firms. Newest first, each with the bank's reference; money that waits in our queue is no deposit yet. Where to pay is at `GET /v1/firms/{firm_id}/funding`. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.
   *
   * `GET /v1/deposits`, scope `orders:read`
   */
  listDeposits(query?: ListDepositsQuery & { readonly format?: "json" }, options?: CallOptions): List<DepositList, "deposits">;
  listDeposits(query: ListDepositsQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.listDeposits, { query, options });
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
   * Refusals by `detail.reason` (open set): 403 `key_limit`; 409 `balance_moved`, `dues_outstanding`, `firm_not_authorized`, `idempotency_key_reused`, `insufficient_funds`, `no_bank_account`, `second_key_required`, `wrong_state`.
   *
   * `POST /v1/firms/{firm_id}/withdrawals`, scope `orders:write`
   */
  withdrawMoney(firm_id: string, body: WithdrawMoney, options: CreateOptions = {}): Promise<Payout> {
    return this.run(operations.withdrawMoney, { path: { firm_id }, body, options }) as Promise<Payout>;
  }

  /**
   * What takes two keys of your desk. Nothing does until a root key sets it.
   *
   * `GET /v1/approvals/rules`, scope `any key`
   */
  readApprovalRules(options: CallOptions = {}): Promise<ApprovalRules> {
    return this.run(operations.readApprovalRules, { options }) as Promise<ApprovalRules>;
  }

  /**
   * Say what takes two keys of your desk. Asking for more acts at once, where two keys could approve for one another (`no_second_key`). Asking for less takes two keys itself (`rules_take_two`): propose it with kind `rules`.
   *
   * Refusals by `detail.reason` (open set): 409 `no_second_key`, `rules_take_two`, `wrong_state`.
   *
   * `PUT /v1/approvals/rules`, scope `root key`
   */
  setApprovalRules(body: SetApprovalRules, options: WriteOptions = {}): Promise<ApprovalRules> {
    return this.run(operations.setApprovalRules, { body, options }) as Promise<ApprovalRules>;
  }

  /**
   * Propose what another key shall approve. The act is tried and taken back, so what cannot be done is refused now. It waits for 72 hours. Anything of these kinds may be proposed, also where one key would be enough.
   *
   * Refusals by `detail.reason` (open set): 403 `key_lacks`, `key_limit`, `own_firm`, `sub_account_key`, `suspended_by_operator`; 409 `balance_moved`, `deal_unpaid`, `dues_outstanding`, `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `firm_not_authorized`, `group_full`, `idempotency_key_reused`, `in_another_group`, `insufficient_funds`, `no_bank_account`, `no_second_key`, `nothing_changes`, `open_business`, `rules_take_two`, `second_key_required`, `too_many_open`, `wrong_state`.
   *
   * `POST /v1/approvals`, scope `firms` or `orders:write`
   */
  proposeAct(body: ProposeAct, options: CreateOptions = {}): Promise<DeskApproval> {
    return this.run(operations.proposeAct, { body, options }) as Promise<DeskApproval>;
  }

  /**
   * List what was proposed, and what became of it. Newest first. A sub_account key sees what is about its own firm.
   *
   * `GET /v1/approvals`, scope `firms` or `orders:write`
   */
  listDeskApprovals(query: ListDeskApprovalsQuery = {}, options: CallOptions = {}): List<DeskApprovalList, "approvals"> {
    return this.run(operations.listDeskApprovals, { query, options }) as List<DeskApprovalList, "approvals">;
  }

  /**
   * Read an approval. What was proposed, by which key, and what became of it; an account in part.
   *
   * `GET /v1/approvals/{approval_id}`, scope `firms` or `orders:write`
   */
  readDeskApproval(approval_id: string, options: CallOptions = {}): Promise<DeskApproval> {
    return this.run(operations.readDeskApproval, { path: { approval_id }, options }) as Promise<DeskApproval>;
  }

  /**
   * Approve what another key proposed; it is carried out at once. By a key that could do it alone, of another name, where neither minted the other (`not_a_second_key`); in live both keys were neither minted nor changed within 24 hours (`key_changed_lately`). It is refused for what would refuse the act, and void where the account is another than when it was proposed (`approval_voided`). Only the end of a proposed account is shown, so give the `bank` that you expect: another is 409 `account_differs`.
   *
   * Refusals by `detail.reason` (open set): 403 `key_changed_lately`, `key_lacks`, `key_limit`, `not_a_second_key`, `own_firm`, `sub_account_key`, `suspended_by_operator`; 409 `account_differs`, `approval_voided`, `balance_moved`, `deal_unpaid`, `dues_outstanding`, `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `firm_not_authorized`, `group_full`, `idempotency_key_reused`, `in_another_group`, `insufficient_funds`, `no_bank_account`, `no_second_key`, `open_business`, `rules_take_two`, `second_key_required`, `wrong_state`.
   *
   * `POST /v1/approvals/{approval_id}/approve`, scope `firms` or `orders:write`
   */
  approveAct(approval_id: string, body: ApproveAct = {}, options: WriteOptions = {}): Promise<DeskApproval> {
    return this.run(operations.approveAct, { path: { approval_id }, body, options }) as Promise<DeskApproval>;
  }

  /**
   * Reject what was proposed, or take it back. By any key that could do it alone, the proposing one included.
   *
   * Refusals by `detail.reason` (open set): 403 `key_lacks`, `sub_account_key`; 409 `wrong_state`.
   *
   * `POST /v1/approvals/{approval_id}/reject`, scope `firms` or `orders:write`
   */
  rejectAct(approval_id: string, body: RejectAct, options: WriteOptions = {}): Promise<DeskApproval> {
    return this.run(operations.rejectAct, { path: { approval_id }, body, options }) as Promise<DeskApproval>;
  }

  /**
   * Let time pass for your desk. Every deadline of your desk comes nearer by that much: of quotes, resting orders, crosses, settlements, payouts, holds and credits. The market and other desks stay in their own time, and so do the times on what has happened. A clock is at most ten years ahead of real time; what is made while it is put forward keeps its deadlines.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `clock_in_use`, `clock_too_far`.
   *
   * `POST /v1/sandbox/clock`, scope `orders:write`
   */
  advanceClock(body: AdvanceClock, options: WriteOptions = {}): Promise<DeskClock> {
    return this.run(operations.advanceClock, { body, options }) as Promise<DeskClock>;
  }

  /**
   * Choose what happens to what your desk does next. It happens once, to the first settlement or payout that it fits. A market that is halted stays so, for your desk's quotes alone, until it is opened or the desk is reset.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `POST /v1/sandbox/scenarios`, scope `orders:write`
   */
  setScenario(body: SetScenario, options: WriteOptions = {}): Promise<ScenarioList> {
    return this.run(operations.setScenario, { body, options }) as Promise<ScenarioList>;
  }

  /**
   * Get synthetic credits to try things with. Gives a firm synthetic credits, so that there is something to trade. The same seed makes the same faces and days.
   *
   * Refusals by `detail.reason` (open set): 409 `firm_offboarded`.
   *
   * `POST /v1/sandbox/credits:seed`, scope `orders:write`
   */
  seedSandbox(body: SeedSandbox, options: WriteOptions = {}): Promise<SeededCredits> {
    return this.run(operations.seedSandbox, { body, options }) as Promise<SeededCredits>;
  }

  /**
   * Let go of everything that is open on your desk. Resting orders are cancelled, open settlements fail, free credits are withdrawn. What has happened stays: the books and the events are only ever added to.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `balance_moved`, `wrong_state`.
   *
   * `POST /v1/sandbox/reset`, scope `orders:write`
   */
  resetSandbox(options: WriteOptions = {}): Promise<SandboxReset> {
    return this.run(operations.resetSandbox, { body: {}, options }) as Promise<SandboxReset>;
  }

  /**
   * Read what your desk earned on its clients' deals. Commission is a share of face, earned when a credit is delivered and taken back when that is reversed; none on crosses and on your own firm's deals. At most 366 days at once.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/earnings`, scope `orders:read`
   */
  readEarnings(query: ReadEarningsQuery = {}, options: CallOptions = {}): Promise<Earnings> {
    return this.run(operations.readEarnings, { query, options }) as Promise<Earnings>;
  }

  /**
   * List the monthly statements of a firm. The months for which a firm has a statement, newest first, without their lines.
   *
   * `GET /v1/statements`, scope `orders:read`
   */
  listStatements(query: ListStatementsQuery = {}, options: CallOptions = {}): Promise<StatementList> {
    return this.run(operations.listStatements, { query, options }) as Promise<StatementList>;
  }

  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, pdf is `application/pdf`.
   *
   * Refusals by `detail.reason` (open set): 409 `too_many_lines`.
   *
   * `GET /v1/statements/{period}`, scope `orders:read`
   */
  readStatement(period: string, query: ReadStatementQuery & { readonly format: "csv" }, options?: CallOptions): Promise<string>;
  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, pdf is `application/pdf`.
   *
   * Refusals by `detail.reason` (open set): 409 `too_many_lines`.
   *
   * `GET /v1/statements/{period}`, scope `orders:read`
   */
  readStatement(period: string, query: ReadStatementQuery & { readonly format: "xlsx" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, pdf is `application/pdf`.
   *
   * Refusals by `detail.reason` (open set): 409 `too_many_lines`.
   *
   * `GET /v1/statements/{period}`, scope `orders:read`
   */
  readStatement(period: string, query: ReadStatementQuery & { readonly format: "pdf" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.
   *
   * Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, pdf is `application/pdf`.
   *
   * Refusals by `detail.reason` (open set): 409 `too_many_lines`.
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
   * Formats: json is `application/json`, pdf is `application/pdf`.
   *
   * `GET /v1/settlements/{settlement_id}/contract-note`, scope `orders:read`
   */
  readContractNote(settlement_id: string, query: ReadContractNoteQuery & { readonly format: "pdf" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Read the contract note of a deal. Of your own sides only: each credit with its price and value, fee and GST on it, and the bank's references once money has moved.
   *
   * Formats: json is `application/json`, pdf is `application/pdf`.
   *
   * `GET /v1/settlements/{settlement_id}/contract-note`, scope `orders:read`
   */
  readContractNote(settlement_id: string, query?: ReadContractNoteQuery & { readonly format?: "json" }, options?: CallOptions): Promise<ContractNotes>;
  readContractNote(settlement_id: string, query: ReadContractNoteQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.readContractNote, { path: { settlement_id }, query, options });
  }

  /**
   * Read the bills of supply of a deal. Scrips are exempt goods, so whoever supplies them issues a bill of supply: the house, numbered, for what it sold, and the seller for what a client sold, as a draft that the seller numbers. One per supplier, recipient and day, of what was delivered and is yours; none before (as PDF 409 `nothing_delivered`). What the house keeps is a fee: see the contract note.
   *
   * Formats: json is `application/json`, pdf is `application/pdf`.
   *
   * Refusals by `detail.reason` (open set): 409 `nothing_delivered`.
   *
   * `GET /v1/settlements/{settlement_id}/bill-of-supply`, scope `orders:read`
   */
  readBillOfSupply(settlement_id: string, query: ReadBillOfSupplyQuery & { readonly format: "pdf" }, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Read the bills of supply of a deal. Scrips are exempt goods, so whoever supplies them issues a bill of supply: the house, numbered, for what it sold, and the seller for what a client sold, as a draft that the seller numbers. One per supplier, recipient and day, of what was delivered and is yours; none before (as PDF 409 `nothing_delivered`). What the house keeps is a fee: see the contract note.
   *
   * Formats: json is `application/json`, pdf is `application/pdf`.
   *
   * Refusals by `detail.reason` (open set): 409 `nothing_delivered`.
   *
   * `GET /v1/settlements/{settlement_id}/bill-of-supply`, scope `orders:read`
   */
  readBillOfSupply(settlement_id: string, query?: ReadBillOfSupplyQuery & { readonly format?: "json" }, options?: CallOptions): Promise<BillsOfSupply>;
  readBillOfSupply(settlement_id: string, query: ReadBillOfSupplyQuery = {}, options: CallOptions = {}): unknown {
    return this.run(operations.readBillOfSupply, { path: { settlement_id }, query, options });
  }

  /**
   * What happened on your desk, in order. The desk's log, from `after_sequence` on and the oldest first, unless `order=desc`. Sequences have no gap: keep the last one you handled, and you miss nothing; `latest_sequence` is where the log ends. A sub_account key sees the events of its firm.
   *
   * `GET /v1/events`, scope `orders:read`
   */
  listEvents(query: ListEventsQuery = {}, options: CallOptions = {}): List<EventList, "events"> {
    return this.run(operations.listEvents, { query, options }) as List<EventList, "events">;
  }

  /**
   * Read an event. As it was delivered: the same bytes, whoever asks and whenever.
   *
   * `GET /v1/events/{event_id}`, scope `orders:read`
   */
  readEvent(event_id: string, options: CallOptions = {}): Promise<Event> {
    return this.run(operations.readEvent, { path: { event_id }, options }) as Promise<Event>;
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
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/audit`, scope `orders:read`
   */
  listAudit(query: ListAuditQuery = {}, options: CallOptions = {}): List<AuditList, "audit"> {
    return this.run(operations.listAudit, { query, options }) as List<AuditList, "audit">;
  }

  /**
   * Your desk's audit trail, to be verified without us. Lines of JSON, in which each record or block of records has the hash of what is before; the last is a signed checkpoint. An export without one is not whole. At most 2 at a time a key; the next waits for its turn. Not for sub_account keys.
   *
   * Refusals by `detail.reason` (open set): 403 `sub_account_key`.
   *
   * `GET /v1/audit/export`, scope `orders:read`
   */
  exportAudit(query: ExportAuditQuery = {}, options: CallOptions = {}): AsyncIterable<string> {
    return this.run(operations.exportAudit, { query, options }) as AsyncIterable<string>;
  }

  /**
   * What exports are signed with. The public keys that verify checkpoints of exports.
   *
   * `GET /v1/audit/keys`, scope `any key`
   */
  listAuditKeys(options: CallOptions = {}): Promise<AuditKeys> {
    return this.run(operations.listAuditKeys, { options }) as Promise<AuditKeys>;
  }

  /**
   * Have events sent to an address of yours. The signing secret is in this answer and in no other.
   *
   * Refusals by `detail.reason` (open set): 409 `deleted`, `idempotency_key_reused`, `too_many_webhooks`, `webhook_exists`.
   *
   * `POST /v1/webhooks`, scope `webhooks:write`
   */
  registerWebhook(body: RegisterWebhook, options: CreateOptions = {}): Promise<Webhook> {
    return this.run(operations.registerWebhook, { body, options }) as Promise<Webhook>;
  }

  /**
   * List your webhooks, and every event there is. Your subscriptions, and in `events` the name of every event there is.
   *
   * `GET /v1/webhooks`, scope `webhooks:write`
   */
  listWebhooks(query: ListWebhooksQuery = {}, options: CallOptions = {}): List<WebhookList, "webhooks"> {
    return this.run(operations.listWebhooks, { query, options }) as List<WebhookList, "webhooks">;
  }

  /**
   * Read a webhook. A subscription with its state. Its secret is masked.
   *
   * `GET /v1/webhooks/{webhook_id}`, scope `webhooks:write`
   */
  readWebhook(webhook_id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.run(operations.readWebhook, { path: { webhook_id }, options }) as Promise<Webhook>;
  }

  /**
   * Have nothing more sent to an address. Nothing more is sent to it.
   *
   * `DELETE /v1/webhooks/{webhook_id}`, scope `webhooks:write`
   */
  deleteWebhook(webhook_id: string, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.deleteWebhook, { path: { webhook_id }, options }) as Promise<Webhook>;
  }

  /**
   * Change a webhook, pause it, or let it go on. It keeps its id and its secret. A new address is pinged, and your other webhooks are told by `webhook.updated`.
   *
   * Refusals by `detail.reason` (open set): 409 `webhook_exists`, `wrong_state`.
   *
   * `PATCH /v1/webhooks/{webhook_id}`, scope `webhooks:write`
   */
  updateWebhook(webhook_id: string, body: UpdateWebhook = {}, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.updateWebhook, { path: { webhook_id }, body, options }) as Promise<Webhook>;
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
  rotateSecret(webhook_id: string, body: RotateSecret = {}, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.rotateSecret, { path: { webhook_id }, body, options }) as Promise<Webhook>;
  }

  /**
   * Send to a disabled webhook again. What it missed is among the failures and can be replayed.
   *
   * Refusals by `detail.reason` (open set): 409 `wrong_state`.
   *
   * `POST /v1/webhooks/{webhook_id}/enable`, scope `webhooks:write`
   */
  enableWebhook(webhook_id: string, options: WriteOptions = {}): Promise<Webhook> {
    return this.run(operations.enableWebhook, { path: { webhook_id }, options }) as Promise<Webhook>;
  }

  /**
   * What was sent to a webhook, attempt by attempt. What was sent to a webhook, newest first, with every attempt: when, the status, how long it took and the first bytes of the answer.
   *
   * `GET /v1/webhooks/{webhook_id}/deliveries`, scope `webhooks:write`
   */
  listDeliveries(webhook_id: string, query: ListDeliveriesQuery = {}, options: CallOptions = {}): List<DeliveryList, "deliveries"> {
    return this.run(operations.listDeliveries, { path: { webhook_id }, query, options }) as List<DeliveryList, "deliveries">;
  }

  /**
   * List dead-lettered deliveries. Deliveries that were given up, newest first, with the reason. Send them again with `POST /v1/webhooks/replay`.
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
  replayDeliveries(body: ReplayDeliveries = {}, options: WriteOptions = {}): Promise<Replay> {
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
   * How the index is made. How the index is made, in words and as figures.
   *
   * `GET /public/rates/methodology`
   */
  readMethodology(options: CallOptions = {}): Promise<Methodology> {
    return this.run(operations.readMethodology, { options }) as Promise<Methodology>;
  }

  /**
   * What credits of a scheme are worth today. What credits of one scheme are worth today. `stale` says that the figure is not made of the day's own deals.
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
   * The fixed figures of a scheme as CSV. The figures of `history` as CSV, one day a row.
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
  submitSellEnquiry(body: SubmitSellEnquiry, options: WriteOptions = {}): Promise<Enquiry> {
    return this.run(operations.submitSellEnquiry, { body, options }) as Promise<Enquiry>;
  }

  /**
   * Ask to cover basic customs duty with credits. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.
   *
   * `POST /public/enquiry/buy`
   */
  submitBuyEnquiry(body: SubmitBuyEnquiry, options: WriteOptions = {}): Promise<Enquiry> {
    return this.run(operations.submitBuyEnquiry, { body, options }) as Promise<Enquiry>;
  }

  /**
   * Ask anything else. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.
   *
   * `POST /public/enquiry/contact`
   */
  submitContactEnquiry(body: SubmitContactEnquiry, options: WriteOptions = {}): Promise<Enquiry> {
    return this.run(operations.submitContactEnquiry, { body, options }) as Promise<Enquiry>;
  }

  /**
   * How far an enquiry has come. How far an enquiry has come, by the reference that its sender got.
   *
   * `GET /public/enquiry/{enquiry_ref}`
   */
  readEnquiry(enquiry_ref: string, options: CallOptions = {}): Promise<Enquiry> {
    return this.run(operations.readEnquiry, { path: { enquiry_ref }, options }) as Promise<Enquiry>;
  }

  /**
   * Who the house is, what dealing costs, when money comes. The house's name, address and papers, its fees and limits by the live rate cards, and the deadlines of a deal agreed now by the calendar of banks and customs.
   *
   * `GET /public/house`
   */
  readHouse(options: CallOptions = {}): Promise<House> {
    return this.run(operations.readHouse, { options }) as Promise<House>;
  }

  /**
   * Simulated figures of the sandbox. What the page shows, labelled, until there is a live market: the sandbox's rate cards and simulated figures around them. Nobody has dealt at them.
   *
   * `GET /public/preview`
   */
  readPreview(options: CallOptions = {}): Promise<Preview> {
    return this.run(operations.readPreview, { options }) as Promise<Preview>;
  }
}

export { Scripdesk } from "./client.ts";
export { ScripdeskError, type Slug } from "./errors.ts";
export { List, type ListPage } from "./list.ts";
export { operations } from "./operations.ts";
export type * from "./operations.ts";
export type {
  Answer,
  CallOptions,
  ClientOptions,
  CreateOptions,
  Operation,
  StreamOptions,
  WriteOptions,
} from "./options.ts";
export type * from "./schemas.ts";
export type { DeskEvent, MarketEvent, StreamEvent } from "./streams.ts";
export {
  verifyWebhook,
  type VerifiedWebhook,
  type VerifyOptions,
  type WebhookHeaders,
} from "./webhooks.ts";

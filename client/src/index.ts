export { Scripdesk } from "./client.ts";
export { ScripdeskError, type Slug } from "./errors.ts";
export { type AnswerHead, readHead, type RateLimit } from "./head.ts";
export { List, type ListPage } from "./list.ts";
export type { OneOf } from "./one-of.ts";
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
export {
  type FastifyLike,
  type NodeRequest,
  type NodeResponse,
  type ReceiverOptions,
  webhookListener,
  webhookPlugin,
} from "./receive-webhooks.ts";
export type * from "./schemas.ts";
export type { DeskEvent, MarketEvent, StreamEvent } from "./streams.ts";
export type { SettledOrder, WaitOptions } from "./until-settled.ts";
export {
  type SignedWebhook,
  signWebhook,
  verifyWebhook,
  type VerifiedWebhook,
  type VerifyOptions,
  type WebhookHeaders,
} from "./webhooks.ts";

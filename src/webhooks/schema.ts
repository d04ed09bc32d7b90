import { type Static, Type } from "typebox";

import { eventCatalog } from "../events/rules.ts";
import { environments } from "../kernel/caller.ts";
import {
  body,
  nullable,
  oneOf,
  openEnum,
  pageFields,
  pageQuery,
  timestamp,
} from "../platform/wire.ts";
import {
  everyEvent,
  graceSDefault,
  graceSMax,
  urlLengthMax,
  webhookActions,
  webhookLifecycle,
} from "./rules.ts";

const webhookId = Type.String({
  description: "The subscription's id.",
  examples: ["whk_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const url = Type.String({
  minLength: 1,
  maxLength: urlLengthMax,
  description: "Where events are sent, by POST. https only in production; no private address.",
  examples: ["https://erp.example/hooks/scripdesk"],
});

export const RegisterWebhookBody = body({
  url,
  event: oneOf([everyEvent, ...eventCatalog], {
    description: "One event name, or * for all of them.",
    examples: [everyEvent],
  }),
});
export type RegisterWebhookBody = Static<typeof RegisterWebhookBody>;

export const RotateSecretBody = body({
  grace_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: graceSMax,
      description: `For so many seconds deliveries are also signed with the old secret. Default ${graceSDefault}.`,
    }),
  ),
});
export type RotateSecretBody = Static<typeof RotateSecretBody>;

export const WebhookParams = Type.Object({ webhook_id: webhookId });

export const ListWebhooksQuery = Type.Object(pageQuery, { additionalProperties: false });
export type ListWebhooksQuery = Static<typeof ListWebhooksQuery>;

const fields = {
  webhook_id: webhookId,
  environment: openEnum(environments, "Where it is."),
  firm_id: nullable<string>({
    type: "string",
    description: "The firm whose events it gets; null: those of the whole desk.",
  }),
  url,
  event: Type.String({ description: "One event name, or * for all.", examples: [everyEvent] }),
  signing_secret: Type.String({
    description: "Shown whole once, when it is made; masked in every later view.",
    examples: ["whsec_…x3Kq"],
  }),
  previous_secret_until: nullable<string>({
    type: "string",
    description: "Until then deliveries are signed with the previous secret too. ISO 8601, IST.",
  }),
  status: openEnum(webhookLifecycle.states, "Whether it is sent to."),
  tested_at: nullable<string>({
    type: "string",
    description: "When a test was last asked for. ISO 8601, IST.",
  }),
  created_at: timestamp("When it was registered."),
  updated_at: timestamp("When it last changed."),
  version: Type.Integer({ description: "Raised by every change.", examples: [1] }),
  allowed_actions: Type.Array(Type.String(), {
    description: "What can be done with it now.",
    examples: [[...webhookActions]],
  }),
};

export const Webhook = Type.Object(fields, {
  title: "Webhook",
  description: "A subscription: which events go to which address.",
});
export type Webhook = Static<typeof Webhook>;

export const TestedWebhook = Type.Object(
  {
    webhook_id: webhookId,
    event: openEnum(["webhook.ping"], "What is sent."),
    delivery_id: Type.String({
      description: "As in X-Service-Delivery; its attempts are in the list of deliveries.",
      examples: ["dlv_0f1e2d3c4b5a69788796a5b4c3"],
    }),
    sequence: Type.Integer({ description: "The event's number on your desk.", examples: [42] }),
    version: fields.version,
    allowed_actions: fields.allowed_actions,
  },
  { title: "TestedWebhook" },
);
export type TestedWebhook = Static<typeof TestedWebhook>;

export const WebhookList = Type.Object(
  {
    webhooks: Type.Array(Webhook, { description: "Newest first." }),
    events: Type.Array(openEnum(eventCatalog, "The name of an event."), {
      description: "Every event that can be subscribed to.",
    }),
    ...pageFields,
  },
  { title: "WebhookList" },
);

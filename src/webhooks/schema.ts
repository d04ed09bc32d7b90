import { type Static, Type } from "typebox";

import { eventCatalog } from "../journal/event-rules.ts";
import { environments } from "../kernel/caller.ts";
import {
  body,
  closedEnum,
  form,
  maybeCount,
  maybeText,
  nullable,
  openEnum,
  pageFields,
  removable,
  text,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import {
  deliveryLifecycle,
  outcomes,
  type Reason,
  reasons,
  replayedMax,
} from "./delivery-rules.ts";
import {
  descriptionLengthMax,
  everyEvent,
  graceSDefault,
  graceSMax,
  pausedDaysMax,
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

const eventNames = [everyEvent, ...eventCatalog] as const;
const events = Type.Array(closedEnum(eventNames), {
  minItems: 1,
  maxItems: eventNames.length,
  description: "What is sent: names of events, or * for all of them.",
  examples: [["order.matched", "settlement.settled"]],
});
const description = { maxLength: descriptionLengthMax, description: "What it is for, in words." };

export const RegisterWebhookBody = body(
  {
    url,
    event: Type.Optional(
      closedEnum(eventNames, {
        description: "One event name, or * for all of them; or else `events`.",
        examples: [everyEvent],
      }),
    ),
    events: Type.Optional(events),
    description: Type.Optional(Type.String(description)),
  },
  { "x-forms": [[form({ url: true, event: true }), form({ url: true, events: true })]] },
);
export type RegisterWebhookBody = Static<typeof RegisterWebhookBody>;

export const UpdateWebhookBody = body({
  url: Type.Optional(url),
  events: Type.Optional(events),
  description: Type.Optional(removable({ type: "string", ...description })),
  status: Type.Optional(
    closedEnum(["active", "paused"], {
      description: `A paused one is sent nothing. What happens meanwhile is sent when it is active again, as far as it is not older than ${pausedDaysMax} days by then.`,
    }),
  ),
});
export type UpdateWebhookBody = Static<typeof UpdateWebhookBody>;

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

const webhookFields = {
  webhook_id: webhookId,
  environment: openEnum(environments, "Where it is."),
  firm_id: maybeText("The firm whose events it gets; null: those of the whole desk."),
  url,
  event: Type.String({
    description: "Its event, or * for all; of several the first.",
    examples: [everyEvent],
  }),
  events: Type.Array(Type.String(), {
    description: "What is sent: names of events, or * for all.",
    examples: [[everyEvent]],
  }),
  description: maybeText("What it is for, in words; null without any."),
  signing_secret: Type.String({
    description: "Shown whole once, when it is made; masked in every later view.",
    examples: ["whsec_…x3Kq"],
  }),
  previous_secret_until: maybeText(
    "Until when deliveries are signed with the previous secret too; null without one. ISO 8601, IST.",
  ),
  status: openEnum(webhookLifecycle.states, "Whether it is sent to."),
  tested_at: maybeText("When a test was last asked for; null before the first. ISO 8601, IST."),
  created_at: timestamp("When it was registered."),
  updated_at: timestamp("When it last changed."),
  version,
  allowed_actions: Type.Array(Type.String(), {
    description: "What can be done with it now.",
    examples: [[...webhookActions]],
  }),
};

export const Webhook = Type.Object(webhookFields, {
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
    version: webhookFields.version,
    allowed_actions: webhookFields.allowed_actions,
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

const deliveryId = Type.String({
  description: "As in X-Service-Delivery: the same on every attempt and replay.",
  examples: ["dlv_0f1e2d3c4b5a69788796a5b4c3"],
});
const webhookIdOfDelivery = Type.String({
  description: "The webhook it is for.",
  examples: ["whk_01jd2m7q4x8r5v6w9y0abcdefg"],
});
export const DeliveriesParams = Type.Object({ webhook_id: webhookIdOfDelivery });

export const ReplayBody = body(
  {
    delivery_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: replayedMax,
        description: "These dead letters; given alone.",
      }),
    ),
    webhook_id: Type.Optional(text("Those of this webhook.")),
    event: Type.Optional(closedEnum(eventCatalog, { description: "Only of this event." })),
    since: Type.Optional(
      Type.String({ format: "date-time", description: "Those of events from then on." }),
    ),
    until: Type.Optional(
      Type.String({ format: "date-time", description: "Those of events before then." }),
    ),
  },
  {
    "x-forms": [
      [
        form({ delivery_ids: true }),
        form({}, { webhook_id: true, event: true, since: true, until: true }),
      ],
    ],
  },
);
export type ReplayBody = Static<typeof ReplayBody>;

export const Replay = Type.Object(
  {
    queued: Type.Integer({ description: "Dead letters that are sent again.", examples: [3] }),
    skipped: Type.Integer({
      description: "What is no dead letter of yours, or whose webhook is disabled.",
      examples: [0],
    }),
    remaining: Type.Integer({
      description: `Left for the next call; one call takes at most ${replayedMax}.`,
      examples: [0],
    }),
  },
  { title: "Replay" },
);
export type Replay = Static<typeof Replay>;

const Attempt = Type.Object(
  {
    at: timestamp("When it began."),
    duration_ms: Type.Integer({
      description: "How long the answer took, in milliseconds.",
      examples: [87],
    }),
    outcome: openEnum(outcomes, "What it was."),
    status: maybeCount("The HTTP status of the answer; null without an answer."),
    reason: nullable<Reason>({
      type: "string",
      description: "Why it was not delivered; null when it was.",
    }),
    answer: Type.String({ description: "The first bytes of the answer.", examples: ["ok"] }),
  },
  { title: "Attempt", description: "One POST of a delivery." },
);
export type Attempt = Static<typeof Attempt>;

const deliveryFields = {
  delivery_id: deliveryId,
  webhook_id: webhookIdOfDelivery,
  event: Type.String({ description: "The event's name.", examples: ["credit.listed"] }),
  event_id: Type.String({
    description: "The event's id.",
    examples: ["evt_01jd2m7q4x8r5v6w9y0abcdefg"],
  }),
  sequence: Type.Integer({ description: "The event's number on your desk.", examples: [42] }),
  status: openEnum(deliveryLifecycle.states, "The state it is in."),
  reason: nullable<Reason>({
    type: "string",
    description: `Why it was not taken; null where it was, or was not yet tried. Open set; known today: ${reasons.join(", ")}.`,
  }),
  attempts: Type.Integer({ description: "The number of times it was sent.", examples: [1] }),
  last_status: maybeCount("The HTTP status of the last answer; null without an answer."),
  next_attempt_at: maybeText(
    "When it is tried again; null once it is delivered or given up on. ISO 8601, IST.",
  ),
  created_at: timestamp("When it was queued."),
  updated_at: timestamp("When it last changed."),
  version,
  allowed_actions: Type.Array(Type.String(), {
    description: "What can be done with it now.",
    examples: [["replay"]],
  }),
};

export const Delivery = Type.Object(deliveryFields, {
  title: "Delivery",
  description: "One event for one webhook.",
});
export type Delivery = Static<typeof Delivery>;

export const LoggedDelivery = Type.Object(
  { ...deliveryFields, attempt_log: Type.Array(Attempt, { description: "Oldest first." }) },
  { title: "LoggedDelivery", description: "A delivery with its attempts." },
);
export type LoggedDelivery = Static<typeof LoggedDelivery>;

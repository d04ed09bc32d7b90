import { type Operation, operation } from "../platform/http/operation.ts";
import type { Outbound } from "../platform/outbound.ts";
import {
  deleteWebhook,
  enableWebhook,
  registerWebhook,
  testWebhook,
  updateWebhook,
} from "./change-webhooks.ts";
import { deliveriesOfWebhook, failuresOfDesk } from "./read-deliveries.ts";
import { readWebhook, webhooksOfDesk } from "./read-webhooks.ts";
import { replayDeliveries } from "./replay-deliveries.ts";
import {
  RegisterWebhookBody,
  Replay,
  ReplayBody,
  RotateSecretBody,
  TestedWebhook,
  UpdateWebhookBody,
  Webhook,
  WebhookParams,
} from "./schema.ts";
import { rotateSecret } from "./signing-secrets.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring {
    readonly outbound: Outbound;
  }
}

const webhooks = { demand: "webhooks:write", tag: "Webhooks" } as const;

export const webhookOperations: readonly Operation[] = [
  operation({
    id: "registerWebhook",
    method: "POST",
    path: "/v1/webhooks",
    ...webhooks,
    summary: "Have events sent to an address of yours",
    description: "The signing secret is in this answer and in no other.",
    body: RegisterWebhookBody,
    creates: true,
    answer: Webhook,
    run: (call, body) =>
      registerWebhook({ ...call.ctx, outbound: call.wiring.outbound }, call, body),
  }),
  operation({
    id: "listWebhooks",
    method: "GET",
    path: "/v1/webhooks",
    ...webhooks,
    summary: "List your webhooks, and every event there is",
    description: "Your subscriptions, and in `events` the name of every event there is.",
    list: webhooksOfDesk,
  }),
  operation({
    id: "readWebhook",
    method: "GET",
    path: "/v1/webhooks/:webhook_id",
    ...webhooks,
    summary: "Read a webhook",
    description: "A subscription with its state. Its secret is masked.",
    params: WebhookParams,
    answer: Webhook,
    run: ({ ctx, caller }, { webhook_id }) => readWebhook(ctx, caller, webhook_id),
  }),
  operation({
    id: "deleteWebhook",
    method: "DELETE",
    path: "/v1/webhooks/:webhook_id",
    ...webhooks,
    summary: "Have nothing more sent to an address",
    description: "Nothing more is sent to it.",
    params: WebhookParams,
    answer: Webhook,
    run: (call, { webhook_id }) => deleteWebhook(call.ctx, call, webhook_id),
  }),
  operation({
    id: "updateWebhook",
    method: "PATCH",
    path: "/v1/webhooks/:webhook_id",
    ...webhooks,
    summary: "Change a webhook, pause it, or let it go on",
    description:
      "It keeps its id and its secret. A new address is pinged, and your other webhooks are told by `webhook.updated`.",
    params: WebhookParams,
    body: UpdateWebhookBody,
    answer: Webhook,
    run: (call, asked) =>
      updateWebhook({ ...call.ctx, outbound: call.wiring.outbound }, call, asked),
  }),
  operation({
    id: "testWebhook",
    method: "POST",
    path: "/v1/webhooks/:webhook_id/test",
    ...webhooks,
    summary: "Send a webhook.ping to this webhook",
    description: "It is signed, retried and listed as any other delivery.",
    params: WebhookParams,
    answer: TestedWebhook,
    run: (call, { webhook_id }) => testWebhook(call.ctx, call, webhook_id),
  }),
  operation({
    id: "rotateSecret",
    method: "POST",
    path: "/v1/webhooks/:webhook_id/rotate-secret",
    ...webhooks,
    summary: "Replace a signing secret",
    description:
      "The new secret is in this answer and in no other. A dry run shows no secret. During the grace period X-Service-Signature-Previous is signed with the old one.",
    params: WebhookParams,
    body: RotateSecretBody,
    takesNoBody: true,
    answer: Webhook,
    run: (call, asked) => rotateSecret(call.ctx, call, asked),
  }),
  operation({
    id: "enableWebhook",
    method: "POST",
    path: "/v1/webhooks/:webhook_id/enable",
    ...webhooks,
    summary: "Send to a disabled webhook again",
    description: "What it missed is among the failures and can be replayed.",
    params: WebhookParams,
    answer: Webhook,
    run: (call, { webhook_id }) => enableWebhook(call.ctx, call, webhook_id),
  }),
  operation({
    id: "listDeliveries",
    method: "GET",
    path: "/v1/webhooks/:webhook_id/deliveries",
    ...webhooks,
    summary: "What was sent to a webhook, attempt by attempt",
    description:
      "What was sent to a webhook, newest first, with every attempt: when, the status, how long it took and the first bytes of the answer.",
    list: deliveriesOfWebhook,
  }),
  operation({
    id: "listFailures",
    method: "GET",
    path: "/v1/webhooks/failures",
    ...webhooks,
    summary: "List dead-lettered deliveries",
    description:
      "Deliveries that were given up, newest first, with the reason. Send them again with `POST /v1/webhooks/replay`.",
    list: failuresOfDesk,
  }),
  operation({
    id: "replayDeliveries",
    method: "POST",
    path: "/v1/webhooks/replay",
    ...webhooks,
    summary: "Send dead-lettered deliveries again",
    description:
      "With the same delivery id and the same bytes. Without a filter all of them; the filters narrow together.",
    body: ReplayBody,
    takesNoBody: true,
    answer: Replay,
    run: (call, body) => replayDeliveries(call.ctx, call, body),
  }),
];

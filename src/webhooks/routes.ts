import { type Context, contextFor } from "../platform/context.ts";
import { toCall, sendCreation, sendPage, takeNoBodyAsEmpty } from "../platform/http/calls.ts";
import type { App } from "../platform/http/server.ts";
import type { Outbound } from "../platform/outbound.ts";
import { listDeliveries, listFailures } from "./read-deliveries.ts";
import { listEventNames, listWebhooks, readWebhook } from "./read-webhooks.ts";
import { deleteWebhook, enableWebhook, registerWebhook, testWebhook } from "./change-webhooks.ts";
import { replayDeliveries } from "./replay-deliveries.ts";
import {
  DeliveriesParams,
  DeliveryList,
  FailureList,
  ListDeliveriesQuery,
  ListFailuresQuery,
  ListWebhooksQuery,
  RegisterWebhookBody,
  Replay,
  ReplayBody,
  RotateSecretBody,
  TestedWebhook,
  Webhook,
  WebhookList,
  WebhookParams,
} from "./schema.ts";
import { rotateSecret } from "./signing-secrets.ts";

export function webhookRoutes(app: App, ctx: Context, outbound: Outbound): void {
  app.post(
    "/v1/webhooks",
    {
      config: { demand: "webhooks:write", creates: true },
      schema: {
        operationId: "registerWebhook",
        tags: ["Webhooks"],
        summary: "Have events sent to an address of yours",
        description: "The signing secret is in this answer and in no other.",
        body: RegisterWebhookBody,
        response: { 201: Webhook, 200: Webhook },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await registerWebhook(
          { ...contextFor(ctx, request.caller), outbound },
          toCall(request, reply),
          request.body,
        ),
      ),
  );

  app.get(
    "/v1/webhooks",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "listWebhooks",
        tags: ["Webhooks"],
        summary: "List your webhooks, and every event there is",
        description: "Your subscriptions, and in `events` the name of every event there is.",
        querystring: ListWebhooksQuery,
        response: { 200: WebhookList },
      },
    },
    async (request, reply) =>
      await sendPage(
        reply,
        "webhooks",
        await listWebhooks(contextFor(ctx, request.caller), request.caller, request.query),
        { events: listEventNames() },
      ),
  );

  app.get(
    "/v1/webhooks/:webhook_id",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "readWebhook",
        tags: ["Webhooks"],
        summary: "Read a webhook",
        description: "A subscription with its state. Its secret is masked.",
        params: WebhookParams,
        response: { 200: Webhook },
      },
    },
    async (request) =>
      await readWebhook(contextFor(ctx, request.caller), request.caller, request.params.webhook_id),
  );

  app.delete(
    "/v1/webhooks/:webhook_id",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "deleteWebhook",
        tags: ["Webhooks"],
        summary: "Have nothing more sent to an address",
        description: "Nothing more is sent to it.",
        params: WebhookParams,
        response: { 200: Webhook },
      },
    },
    async (request, reply) =>
      await deleteWebhook(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.webhook_id,
      ),
  );

  app.post(
    "/v1/webhooks/:webhook_id/test",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "testWebhook",
        tags: ["Webhooks"],
        summary: "Send a webhook.ping to this webhook",
        description: "It is signed, retried and listed as any other delivery.",
        params: WebhookParams,
        response: { 200: TestedWebhook },
      },
    },
    async (request, reply) =>
      await testWebhook(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.webhook_id,
      ),
  );

  app.post(
    "/v1/webhooks/:webhook_id/rotate-secret",
    {
      config: { demand: "webhooks:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "rotateSecret",
        tags: ["Webhooks"],
        summary: "Replace a signing secret",
        description:
          "The new secret is in this answer and in no other. A dry run shows no secret. During the grace period X-Service-Signature-Previous is signed with the old one.",
        params: WebhookParams,
        body: RotateSecretBody,
        response: { 200: Webhook },
      },
    },
    async (request, reply) =>
      await rotateSecret(contextFor(ctx, request.caller), toCall(request, reply), {
        webhookId: request.params.webhook_id,
        ...request.body,
      }),
  );

  app.post(
    "/v1/webhooks/:webhook_id/enable",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "enableWebhook",
        tags: ["Webhooks"],
        summary: "Send to a disabled webhook again",
        description: "What it missed is among the failures and can be replayed.",
        params: WebhookParams,
        response: { 200: Webhook },
      },
    },
    async (request, reply) =>
      await enableWebhook(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.webhook_id,
      ),
  );
}

export function deliveryRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/webhooks/:webhook_id/deliveries",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "listDeliveries",
        tags: ["Webhooks"],
        summary: "What was sent to a webhook, attempt by attempt",
        description:
          "What was sent to a webhook, newest first, with every attempt: when, the status, how long it took and the first bytes of the answer.",
        params: DeliveriesParams,
        querystring: ListDeliveriesQuery,
        response: { 200: DeliveryList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "deliveries",
        await listDeliveries(contextFor(ctx, request.caller), request.caller, {
          webhookId: request.params.webhook_id,
          ...request.query,
        }),
      ),
  );

  app.get(
    "/v1/webhooks/failures",
    {
      config: { demand: "webhooks:write" },
      schema: {
        operationId: "listFailures",
        tags: ["Webhooks"],
        summary: "List dead-lettered deliveries",
        description:
          "Deliveries that were given up, newest first, with the reason. Send them again with `POST /v1/webhooks/replay`.",
        querystring: ListFailuresQuery,
        response: { 200: FailureList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "failures",
        await listFailures(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.post(
    "/v1/webhooks/replay",
    {
      config: { demand: "webhooks:write" },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: "replayDeliveries",
        tags: ["Webhooks"],
        summary: "Send dead-lettered deliveries again",
        description:
          "With the same delivery id and the same bytes. Without a filter all of them; the filters narrow together.",
        body: ReplayBody,
        response: { 200: Replay },
      },
    },
    async (request, reply) =>
      await replayDeliveries(contextFor(ctx, request.caller), toCall(request, reply), request.body),
  );
}

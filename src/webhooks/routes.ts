import { callOf, sendCreation, sendPage, takeNoBodyAsEmpty } from "../platform/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import type { Outbound } from "../platform/outbound.ts";
import { deleteWebhook } from "./delete-webhook.ts";
import { enableWebhook } from "./enable-webhook.ts";
import { listEventNames, listWebhooks } from "./list-webhooks.ts";
import { readWebhook } from "./read-webhook.ts";
import { registerWebhook } from "./register-webhook.ts";
import { rotateSecret } from "./rotate-secret.ts";
import {
  ListWebhooksQuery,
  RegisterWebhookBody,
  RotateSecretBody,
  TestedWebhook,
  Webhook,
  WebhookList,
  WebhookParams,
} from "./schema.ts";
import { testWebhook } from "./test-webhook.ts";

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
          callOf(request, reply),
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
        params: WebhookParams,
        response: { 200: Webhook },
      },
    },
    async (request, reply) =>
      await deleteWebhook(
        contextFor(ctx, request.caller),
        callOf(request, reply),
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
        callOf(request, reply),
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
      await rotateSecret(contextFor(ctx, request.caller), callOf(request, reply), {
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
        callOf(request, reply),
        request.params.webhook_id,
      ),
  );
}

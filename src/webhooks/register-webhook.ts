import { recordChanges } from "../journal/record-changes.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import type { Outbound } from "../platform/outbound.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { seal } from "../platform/seal.ts";
import { changeOfWebhook, lockWebhookOfCaller, viewWebhook } from "./read-webhooks.ts";
import { newSigningSecret, urlProblem, webhookLifecycle, webhooksPerDeskMax } from "./rules.ts";
import type { RegisterWebhookBody, Webhook } from "./schema.ts";
import { sealPurpose } from "./signing-secrets.ts";
import {
  countWebhooks,
  findWebhook,
  insertWebhook,
  lockDesk,
  setDeleted,
  setEnabled,
  type WebhookRow,
} from "./store.ts";

/** Its signing secret is in this one answer and in no other. */
export async function registerWebhook(
  ctx: Context & { readonly outbound: Pick<Outbound, "permitsHost"> },
  call: Call,
  body: RegisterWebhookBody,
): Promise<Creation<Webhook>> {
  const now = ctx.now();
  const { caller } = call;
  const { environment } = caller;
  const problem = urlProblem(body.url, { environment, permitsHost: ctx.outbound.permitsHost });
  if (problem) throw unprocessable(problem);
  const { secret, hint } = newSigningSecret();
  const row: WebhookRow = {
    webhook_id: newId("whk", now),
    environment,
    desk_id: caller.deskId,
    firm_id: visibleTo(caller).firmId,
    url: body.url,
    event: body.event,
    state: "active",
    warnings: 0,
    secret_hint: hint,
    previous_secret_until: null,
    tested_at: null,
    enabled_at: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  return await ctx.db.transaction(
    async (tx) => {
      const registeredBefore = await claimIdempotencyKey(tx, {
        call,
        operation: "registerWebhook",
        body,
        idField: "webhook_id",
        newId: row.webhook_id,
        now,
      });
      if (registeredBefore) {
        return {
          outcome: "replayed",
          resource: await registeredEarlier(tx, call, registeredBefore),
        };
      }
      await lockDesk(tx, row.desk_id);
      await refuseTooMany(tx, row.desk_id);
      await insertWebhook(tx, row, seal(secret, sealPurpose(row.webhook_id), ctx.sealKey));
      const change = changeOfWebhook("register", { before: null, after: row });
      await recordChanges(tx, actorOf(call), [change], now);
      const webhook = viewWebhook(row);
      // A subscription that was only tried does not exist, so there is no secret to show.
      if (call.dryRun) return { outcome: "tried", resource: webhook };
      return { outcome: "created", resource: { ...webhook, signing_secret: secret } };
    },
    { rollBack: call.dryRun },
  );
}

async function refuseTooMany(tx: Tx, deskId: string): Promise<void> {
  if ((await countWebhooks(tx, { deskId, firmId: null })) < webhooksPerDeskMax) return;
  throw new Failure("conflict", `a desk has at most ${webhooksPerDeskMax} webhooks`, {
    detail: { reason: "too_many_webhooks", webhooks_max: webhooksPerDeskMax },
  });
}

async function registeredEarlier(tx: Tx, { caller }: Call, webhookId: string): Promise<Webhook> {
  const row = await findWebhook(tx, visibleTo(caller), webhookId);
  if (row) return viewWebhook(row);
  throw new Failure("conflict", "the webhook this idempotency key created has been deleted", {
    detail: { reason: "deleted", webhook_id: webhookId },
  });
}

/** Nothing is sent to it any more; the answer is what it was. */
export async function deleteWebhook(ctx: Context, call: Call, webhookId: string): Promise<Webhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockWebhookOfCaller(tx, call.caller, webhookId);
      await setDeleted(tx, webhookId, now);
      const change = changeOfWebhook("delete", { before, after: null });
      await recordChanges(tx, actorOf(call), [change], now);
      return viewWebhook(before);
    },
    { rollBack: call.dryRun },
  );
}

/** A receiver that was given up is sent to again; what it missed waits to be replayed. */
export async function enableWebhook(ctx: Context, call: Call, webhookId: string): Promise<Webhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockWebhookOfCaller(tx, call.caller, webhookId);
      if (before.state !== "disabled") return viewWebhook(before);
      const state = advance(webhookLifecycle, before.state, "enable");
      const after = await setEnabled(tx, webhookId, { state, now });
      if (!after) throw new Error("a locked row is there");
      const change = changeOfWebhook("enable", { before, after });
      await recordChanges(tx, actorOf(call), [change], now);
      return viewWebhook(after);
    },
    { rollBack: call.dryRun },
  );
}

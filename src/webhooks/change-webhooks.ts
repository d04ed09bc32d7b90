// Registers, tests, enables and deletes webhooks for their desk. The sender warns a desk whose
// deliveries fail, disables the webhook in the end, and records its recovery.

import { readEventHead } from "../journal/event-rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey, createdWasDeleted } from "../platform/http/idempotency.ts";
import type { Outbound } from "../platform/outbound.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { seal } from "../platform/seal.ts";
import { describeChange, lockVisibleWebhook, viewWebhook } from "./read-webhooks.ts";
import {
  buildDeliveryId,
  decideOnFailing,
  disabledAt,
  findUrlProblem,
  isWarningDue,
  newSigningSecret,
  webhookLifecycle,
  webhooksPerDeskMax,
} from "./rules.ts";
import type { RegisterWebhookBody, TestedWebhook, Webhook } from "./schema.ts";
import { sealPurpose } from "./signing-secrets.ts";
import {
  countWebhooks,
  findWebhook,
  insertWebhook,
  lockDesk,
  lockWebhookById,
  setDeleted,
  setEnabled,
  setState,
  setTested,
  type WebhookRow,
} from "./store.ts";

const sender: Actor = { kind: "worker", id: "webhooks", requestId: null };

/** The signing secret is shown in this response only. */
export async function registerWebhook(
  ctx: Context & { readonly outbound: Pick<Outbound, "permitsHost"> },
  call: Call,
  body: RegisterWebhookBody,
): Promise<Creation<Webhook>> {
  const now = ctx.now();
  const { caller } = call;
  const { environment } = caller;
  const problem = findUrlProblem(body.url, { environment, permitsHost: ctx.outbound.permitsHost });
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
          resource: await findRegistered(tx, call, registeredBefore),
        };
      }
      await lockDesk(tx, row.desk_id);
      await refuseTooMany(tx, row.desk_id);
      await insertWebhook(tx, row, seal(secret, sealPurpose(row.webhook_id), ctx.sealKey));
      const change = describeChange("register", { before: null, after: row });
      await recordChanges(tx, toActor(call), [change], now);
      const webhook = viewWebhook(row);
      // A dry run creates no subscription, so there is no secret to show.
      if (call.dryRun) return { outcome: "tried", resource: webhook };
      return { outcome: "created", resource: { ...webhook, signing_secret: secret } };
    },
    { rollBack: call.dryRun },
  );
}

/** Enables a disabled webhook. The deliveries it missed can be replayed. */
export async function enableWebhook(ctx: Context, call: Call, webhookId: string): Promise<Webhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockVisibleWebhook(tx, call.caller, webhookId);
      if (before.state !== "disabled") return viewWebhook(before);
      const state = advance(webhookLifecycle, before.state, "enable");
      const after = await setEnabled(tx, webhookId, { state, now });
      if (!after) throw new Error("a locked row is there");
      const change = describeChange("enable", { before, after });
      await recordChanges(tx, toActor(call), [change], now);
      return viewWebhook(after);
    },
    { rollBack: call.dryRun },
  );
}

/** Sends a ping to this subscription only, whatever its filter, by the same path as other events. */
export async function testWebhook(
  ctx: Context,
  call: Call,
  webhookId: string,
): Promise<TestedWebhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockVisibleWebhook(tx, call.caller, webhookId);
      const after = await setTested(tx, webhookId, now);
      if (!after) throw new Error("a locked row is there");
      const event = { name: "webhook.ping", data: { url: after.url } };
      const change = describeChange("test", { before, after, event });
      const [body] = await recordChanges(tx, toActor(call), [change], now);
      if (body === undefined) throw new Error("the ping was not recorded");
      const ping = readEventHead(body);
      const { version, allowed_actions } = viewWebhook(after);
      const { sequence } = ping;
      const delivery_id = buildDeliveryId(webhookId, ping);
      return {
        webhook_id: webhookId,
        event: "webhook.ping",
        delivery_id,
        sequence,
        version,
        allowed_actions,
      };
    },
    { rollBack: call.dryRun },
  );
}

/** Deletes a subscription and answers its last state. */
export async function deleteWebhook(ctx: Context, call: Call, webhookId: string): Promise<Webhook> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const before = await lockVisibleWebhook(tx, call.caller, webhookId);
      await setDeleted(tx, webhookId, now);
      const change = describeChange("delete", { before, after: null });
      await recordChanges(tx, toActor(call), [change], now);
      return viewWebhook(before);
    },
    { rollBack: call.dryRun },
  );
}

/** After another failure: warns the desk when a warning is due, and disables the webhook in the end. */
export async function warnOrDisable(
  ctx: Pick<Context, "db" | "now">,
  webhookId: string,
  since: Date,
): Promise<void> {
  const now = ctx.now();
  if (!isWarningDue(since, now)) return;
  await ctx.db.transaction(async (tx) => {
    const before = await lockWebhookById(tx, webhookId);
    if (!before) return;
    // Failures from before the webhook was enabled again do not count.
    const failingSince = before.enabled_at && before.enabled_at > since ? before.enabled_at : since;
    const verdict = decideOnFailing({ ...before, failingSince, now });
    if (verdict === "nothing") return;
    const isEnd = verdict === "disable";
    const after = await setState(tx, webhookId, {
      state: isEnd ? advance(webhookLifecycle, before.state, "disable") : "failing",
      warnings: before.warnings + (isEnd ? 0 : 1),
      now,
    });
    if (!after) throw new Error("a locked row is there");
    const data = {
      url: after.url,
      failing_since: istTimestamp(failingSince),
      disabled_at: istTimestamp(isEnd ? now : disabledAt(failingSince)),
    };
    const event = { name: isEnd ? "webhook.disabled" : "webhook.failing", data };
    const change = describeChange(isEnd ? "disable" : "warn", { before, after, event });
    const told = isEnd ? [change, tellHouse(change, event)] : [change];
    await recordChanges(tx, sender, told, now);
  });
}

/** The same on the house's desk, so that operators hear of it without reading every desk's journal. */
function tellHouse(
  change: Change,
  event: { readonly name: string; readonly data: object },
): Change {
  const house = houseFirmId[change.environment];
  const data = { desk_id: change.deskId, ...event.data };
  const states = { from: change.event?.from ?? null, to: change.event?.to ?? null };
  return { ...change, deskId: house, firmId: house, event: { ...event, ...states, data } };
}

/** Sets a failing webhook active again after a successful delivery. */
export async function recordRecovery(
  ctx: Pick<Context, "db" | "now">,
  webhookId: string,
): Promise<void> {
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    const before = await lockWebhookById(tx, webhookId);
    if (before?.state !== "failing") return;
    const state = advance(webhookLifecycle, before.state, "recover");
    const after = await setState(tx, webhookId, { state, warnings: 0, now });
    if (!after) throw new Error("a locked row is there");
    await recordChanges(tx, sender, [describeChange("recover", { before, after })], now);
  });
}

async function refuseTooMany(tx: Tx, deskId: string): Promise<void> {
  if ((await countWebhooks(tx, { deskId, firmId: null })) < webhooksPerDeskMax) return;
  throw new Failure("conflict", `a desk has at most ${webhooksPerDeskMax} webhooks`, {
    detail: { reason: "too_many_webhooks", webhooks_max: webhooksPerDeskMax },
  });
}

async function findRegistered(tx: Tx, { caller }: Call, webhookId: string): Promise<Webhook> {
  const row = await findWebhook(tx, visibleTo(caller), webhookId);
  if (row) return viewWebhook(row);
  throw createdWasDeleted("webhook", webhookId);
}

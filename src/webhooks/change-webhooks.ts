// Registers, tests, enables and deletes webhooks for their desk. The sender warns a desk whose
// deliveries fail, disables the webhook in the end, and records its recovery.

import { readEventHead } from "../journal/event-rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { exactJson } from "../kernel/json.ts";
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
  chooseEvents,
  decideOnFailing,
  disabledAt,
  findUrlProblem,
  isWarningDue,
  newSigningSecret,
  webhookLifecycle,
  webhooksPerDeskMax,
  type WebhookState,
} from "./rules.ts";
import type { RegisterWebhookBody, TestedWebhook, UpdateWebhookBody, Webhook } from "./schema.ts";
import { setReady } from "./fan-out-store.ts";
import { sealPurpose } from "./signing-secrets.ts";
import {
  countWebhooks,
  findTwin,
  findWebhook,
  insertWebhook,
  lockDesk,
  lockWebhookById,
  setDeleted,
  setEnabled,
  setState,
  setTested,
  setWebhook,
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
    events: chooseEvents(body),
    description: body.description ?? null,
    key_id: caller.keyId,
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
      await refuseTwin(tx, row);
      await insertWebhook(tx, row, seal(secret, sealPurpose(row.webhook_id), ctx.sealKey));
      const change = describeChange("register", { before: null, after: row });
      await recordChanges(tx, toActor(call), [change], now);
      const webhook = viewWebhook(row);
      // A dry run creates no subscription, so there is no secret to show.
      if (call.dryRun) return { outcome: "dry_run", resource: webhook };
      return { outcome: "created", resource: { ...webhook, signing_secret: secret } };
    },
    { rollBack: call.dryRun },
  );
}

/** Keeps id and secret. A new address is guarded as at registration, and pinged. */
export async function updateWebhook(
  ctx: Context & { readonly outbound: Pick<Outbound, "permitsHost"> },
  call: Call,
  { webhook_id: webhookId, ...asked }: UpdateWebhookBody & { readonly webhook_id: string },
): Promise<Webhook> {
  const now = ctx.now();
  const { environment, deskId } = call.caller;
  const problem =
    asked.url !== undefined &&
    findUrlProblem(asked.url, { environment, permitsHost: ctx.outbound.permitsHost });
  if (problem) throw unprocessable(problem);
  return await ctx.db.transaction(
    async (tx) => {
      await lockDesk(tx, deskId);
      const before = await lockVisibleWebhook(tx, call.caller, webhookId);
      const after = { ...before, ...moveTo(before, asked.status, now) };
      if (asked.url !== undefined) after.url = asked.url;
      if (asked.events) after.events = chooseEvents(asked);
      if (asked.description !== undefined) after.description = asked.description;
      if (exactJson(after) === exactJson(before)) return viewWebhook(before);
      const isMoved = after.url !== before.url;
      const updated = {
        ...after,
        version: before.version + 1,
        updated_at: now,
        ...(isMoved && { tested_at: now }),
      };
      await refuseTwin(tx, updated);
      await setWebhook(tx, updated);
      if (after.state !== before.state) {
        await setReady(tx, webhookId, after.state === "paused" ? null : now);
      }
      const { url, events, description } = viewWebhook(updated);
      const told = { name: "webhook.updated", data: { url, events, description } };
      const ping = { name: "webhook.ping", data: { url } };
      const changes = [describeChange("update", { before, after: updated, event: told })];
      if (isMoved) changes.push(describeChange("test", { before, after: updated, event: ping }));
      await recordChanges(tx, toActor(call), changes, now);
      return viewWebhook(updated);
    },
    { rollBack: call.dryRun },
  );
}

type Moved = { state: WebhookState; warnings: number; enabled_at: Date | null };

function moveTo(
  { state, warnings, enabled_at }: WebhookRow,
  wanted: "active" | "paused" | undefined,
  now: Date,
): Moved {
  if (wanted === "paused" && state !== "paused") {
    return { state: advance(webhookLifecycle, state, "pause"), warnings: 0, enabled_at };
  }
  const isStill = state === "paused" || state === "disabled";
  if (wanted !== "active" || !isStill) return { state, warnings, enabled_at };
  const action = state === "paused" ? "resume" : "enable";
  return { state: advance(webhookLifecycle, state, action), warnings: 0, enabled_at: now };
}

async function refuseTwin(tx: Tx, row: WebhookRow): Promise<void> {
  const webhook_id = await findTwin(tx, row);
  if (webhook_id === undefined) return;
  throw new Failure("conflict", "this key has a webhook for these events at this address", {
    detail: { reason: "webhook_exists", webhook_id },
  });
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

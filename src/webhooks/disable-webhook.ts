import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { decideOnFailing, disabledAt, isWarningDue, webhookLifecycle } from "./rules.ts";
import { lockWebhookById, setState } from "./store.ts";
import { describeChange } from "./read-webhooks.ts";

const sender: Actor = { kind: "worker", id: "webhooks", requestId: null };

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
    await recordChanges(tx, sender, [change], now);
  });
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

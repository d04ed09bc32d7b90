import type { Change, EventOfChange } from "../kernel/actor.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { maskedSecret, webhookActions, webhookLifecycle } from "./rules.ts";
import type { Webhook } from "./schema.ts";
import type { WebhookRow } from "./store.ts";

/** A subscription as its desk sees it: everything but the secret. */
export function viewWebhook(row: WebhookRow): Webhook {
  return {
    webhook_id: row.webhook_id,
    environment: row.environment,
    firm_id: row.firm_id,
    url: row.url,
    event: row.event,
    signing_secret: maskedSecret(row.secret_hint),
    previous_secret_until: row.previous_secret_until && istTimestamp(row.previous_secret_until),
    status: row.state,
    tested_at: row.tested_at && istTimestamp(row.tested_at),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: [...webhookActions, ...allowedActions(webhookLifecycle, row.state)],
  };
}

/** A change of a subscription as the audit trail and, where there is one, its event record it. */
export function changeOfWebhook(
  action: string,
  {
    before,
    after,
    event,
  }: {
    readonly before: WebhookRow | null;
    readonly after: WebhookRow | null;
    readonly event?: Pick<EventOfChange, "name" | "data">;
  },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change is of something");
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id ?? row.desk_id,
    action: `webhook.${action}`,
    entity: {
      type: "webhook",
      id: row.webhook_id,
      version: row.version,
      href: `/v1/webhooks/${row.webhook_id}`,
    },
    before: before && viewWebhook(before),
    after: after && viewWebhook(after),
    event: event && { ...event, from: before?.state ?? null, to: after?.state ?? null },
  };
}

import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { Webhook } from "./schema.ts";
import { listAllWebhooks as listRows } from "./store.ts";
import { viewWebhook } from "./view-webhook.ts";

/** Every desk's subscriptions, for the operator. */
export async function listAllWebhooks(
  ctx: Context,
  environment: Environment | null,
): Promise<{ legal_name: string; webhook: Webhook }[]> {
  const rows = await listRows(ctx.db, environment);
  return rows.map((row) => ({ legal_name: row.legal_name, webhook: viewWebhook(row) }));
}

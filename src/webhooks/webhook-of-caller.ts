import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { findWebhook, lockWebhook, type Owner, type WebhookRow } from "./store.ts";

/** A sub_account key has subscriptions of its own firm, and knows of no others. */
export function ownerOf(caller: Caller): Owner {
  return {
    deskId: caller.deskId,
    firmId: caller.kind === "sub_account" ? caller.firmId : null,
  };
}

export async function webhookOfCaller(
  db: Db,
  caller: Caller,
  webhookId: string,
): Promise<WebhookRow> {
  const known = isId("whk", webhookId);
  const row = known ? await findWebhook(db, ownerOf(caller), webhookId) : undefined;
  if (!row) throw notFound();
  return row;
}

export async function lockWebhookOfCaller(
  tx: Tx,
  caller: Caller,
  webhookId: string,
): Promise<WebhookRow> {
  const known = isId("whk", webhookId);
  const row = known ? await lockWebhook(tx, ownerOf(caller), webhookId) : undefined;
  if (!row) throw notFound();
  return row;
}

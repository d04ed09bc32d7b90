import type { Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { Visibility } from "../kernel/visibility.ts";
import type { ListedRows } from "../platform/postgres/list.ts";
import { type Db, fragment, part, sql, type Tx } from "../platform/postgres/postgres.ts";
import { sealedColumn } from "../platform/sealed-column.ts";
import { oneEvent, type WebhookState } from "./rules.ts";

export type WebhookRow = {
  readonly webhook_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  /** The firm whose events it gets; null for every firm of its desk. */
  readonly firm_id: string | null;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  /** The key that registered it; null of before it was kept. */
  readonly key_id: string | null;
  readonly state: WebhookState;
  readonly warnings: number;
  readonly secret_hint: string;
  readonly previous_secret_until: Date | null;
  readonly tested_at: Date | null;
  readonly enabled_at: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

const webhookColumns = fragment`
  webhook_id, environment, desk_id, firm_id, url,
  array_to_json(coalesce(events, array[event])) as events, description, key_id, state, warnings, secret_hint,
  previous_secret_until, tested_at, enabled_at, version, created_at, updated_at`;

const findOwned = ({ deskId, firmId }: Visibility) => part`
    from webhooks
    where desk_id = ${deskId} and deleted_at is null
      and (${firmId}::text is null or firm_id = ${firmId})`;

/** The subscription gets the events after the desk's last committed one. */
export async function insertWebhook(tx: Tx, row: WebhookRow, secretSealed: Buffer): Promise<void> {
  await tx.rows(sql`
    insert into webhooks (
      webhook_id, environment, desk_id, firm_id, url, event, events, description, key_id, state,
      warnings, secret_sealed, secret_hint, after_sequence, version, created_at, updated_at
    )
    values (
      ${row.webhook_id}, ${row.environment}, ${row.desk_id}, ${row.firm_id}, ${row.url},
      ${oneEvent(row.events)}, ${row.events}, ${row.description}, ${row.key_id}, ${row.state}, ${row.warnings}, ${secretSealed}, ${row.secret_hint},
      coalesce((select last_sequence from desk_sequences where desk_id = ${row.desk_id}), 0),
      ${row.version}, ${row.created_at}, ${row.updated_at}
    )`);
}

/** Serializes the registrations of a desk, so that its limit holds. */
export async function lockDesk(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended('webhooks:' || ${deskId}, 0))`);
}

export async function findWebhook(
  db: Db,
  owner: Visibility,
  webhookId: string,
): Promise<WebhookRow | undefined> {
  const [row] = await db.rows<WebhookRow>(sql`
    select ${webhookColumns}
    ${findOwned(owner)} and webhook_id = ${webhookId}`);
  return row;
}

export async function lockWebhook(
  tx: Tx,
  owner: Visibility,
  webhookId: string,
): Promise<WebhookRow | undefined> {
  const [row] = await tx.rows<WebhookRow>(sql`
    select ${webhookColumns}
    ${findOwned(owner)} and webhook_id = ${webhookId}
    for update`);
  return row;
}

/** For the sender, which has no caller. */
export async function lockWebhookById(tx: Tx, webhookId: string): Promise<WebhookRow | undefined> {
  const [row] = await tx.rows<WebhookRow>(sql`
    select ${webhookColumns}
    from webhooks
    where webhook_id = ${webhookId} and deleted_at is null
    for update`);
  return row;
}

/** Newest first. */
export const listWebhookRows = (owner: Visibility): ListedRows<WebhookRow> => ({
  columns: webhookColumns,
  found: findOwned(owner),
  newestFirst: ["created_at", "webhook_id"],
});

/** What the same key has registered for the same events at the same address. */
export async function findTwin(tx: Tx, row: WebhookRow): Promise<string | undefined> {
  const [twin] = await tx.rows<{ webhook_id: string }>(sql`
    select webhook_id
    from webhooks
    where desk_id = ${row.desk_id} and deleted_at is null and key_id = ${row.key_id}
      and url = ${row.url} and events @> ${row.events}::text[] and events <@ ${row.events}::text[]
      and webhook_id <> ${row.webhook_id}
    limit 1`);
  return twin?.webhook_id;
}

export async function countWebhooks(db: Db, owner: Visibility): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total ${findOwned(owner)}`);
  return row?.total ?? 0;
}

/** Every subscription of every desk, for the operator. */
export async function listAllWebhookRows(
  db: Db,
  { environment, deskId, firmId, from, to }: DeskSearch,
): Promise<(WebhookRow & { legal_name: string })[]> {
  return await db.rows(sql`
    select w.*, firms.legal_name
    from (select ${webhookColumns} from webhooks where deleted_at is null) as w
    join firms on firms.firm_id = w.desk_id
    where (${environment}::text is null or w.environment = ${environment})
      and (${deskId}::text is null or w.desk_id = ${deskId})
      and (${firmId}::text is null or w.firm_id = ${firmId})
      and (${from}::timestamptz is null or w.created_at >= ${from})
      and (${to}::timestamptz is null or w.created_at < ${to})
    order by w.created_at desc, w.webhook_id desc`);
}

export async function setDeleted(tx: Tx, webhookId: string, now: Date): Promise<void> {
  await tx.rows(sql`
    update webhooks
    set deleted_at = ${now}, updated_at = ${now}, version = version + 1
    where webhook_id = ${webhookId}`);
}

export async function setTested(
  tx: Tx,
  webhookId: string,
  now: Date,
): Promise<WebhookRow | undefined> {
  const [row] = await tx.rows<WebhookRow>(sql`
    update webhooks
    set tested_at = ${now}, updated_at = ${now}, version = version + 1
    where webhook_id = ${webhookId}
    returning ${webhookColumns}`);
  return row;
}

export async function setState(
  tx: Tx,
  webhookId: string,
  change: { readonly state: WebhookState; readonly warnings: number; readonly now: Date },
): Promise<WebhookRow | undefined> {
  const [row] = await tx.rows<WebhookRow>(sql`
    update webhooks
    set state = ${change.state}, warnings = ${change.warnings}, updated_at = ${change.now},
      version = version + 1
    where webhook_id = ${webhookId}
    returning ${webhookColumns}`);
  return row;
}

export async function setEnabled(
  tx: Tx,
  webhookId: string,
  { state, now }: { readonly state: WebhookState; readonly now: Date },
): Promise<WebhookRow | undefined> {
  const [row] = await tx.rows<WebhookRow>(sql`
    update webhooks
    set state = ${state}, warnings = 0, enabled_at = ${now}, updated_at = ${now},
      version = version + 1
    where webhook_id = ${webhookId}
    returning ${webhookColumns}`);
  return row;
}

export async function setWebhook(tx: Tx, row: WebhookRow): Promise<void> {
  await tx.rows(sql`
    update webhooks
    set url = ${row.url}, event = ${oneEvent(row.events)}, events = ${row.events},
      description = ${row.description}, state = ${row.state}, warnings = ${row.warnings},
      enabled_at = ${row.enabled_at}, tested_at = ${row.tested_at}, version = ${row.version},
      updated_at = ${row.updated_at}
    where webhook_id = ${row.webhook_id}`);
}

/** The current secret becomes the previous one for its grace period. */
export async function setSecret(
  tx: Tx,
  webhookId: string,
  next: {
    readonly secretSealed: Buffer;
    readonly hint: string;
    readonly previousUntil: Date | null;
    readonly now: Date;
  },
): Promise<WebhookRow | undefined> {
  const [row] = await tx.rows<WebhookRow>(sql`
    update webhooks
    set previous_secret_sealed = case
        when ${next.previousUntil}::timestamptz is null then null else secret_sealed
      end,
      previous_secret_until = ${next.previousUntil},
      secret_sealed = ${next.secretSealed}, secret_hint = ${next.hint},
      updated_at = ${next.now}, version = version + 1
    where webhook_id = ${webhookId}
    returning ${webhookColumns}`);
  return row;
}

/** Signing secrets. */
export const secretColumn = sealedColumn({
  table: "webhooks",
  id: "webhook_id",
  sealed: "secret_sealed",
});

/** Previous signing secrets, during their grace period. */
export const previousColumn = sealedColumn({
  table: "webhooks",
  id: "webhook_id",
  sealed: "previous_secret_sealed",
});

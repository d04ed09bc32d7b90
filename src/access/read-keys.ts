import type { Change, ChangeEvent } from "../kernel/actor.ts";
import type { Caller } from "../kernel/caller.ts";
import { type DeskSearch, everything } from "../kernel/desk-search.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type Leaf, type PageQuery, readLeaf } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { readNewest } from "../platform/postgres/list.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { isKeyVisible, keyLifecycle, maskKey, toKeyVisibility, findKeyState } from "./key-rules.ts";
import {
  findKey,
  type KeyOfDesk,
  type KeyRow,
  listActiveKeys,
  listAllKeyRows,
  listKeyRows,
} from "./key-store.ts";
import { Key } from "./schema.ts";
import { listLastUses } from "./usage-store.ts";

/** The keys that the caller can see, newest first. */
export const keysOfDesk = deskPages({
  name: "keys",
  of: Key,
  order: "Newest first.",
  listTitle: null,
  read: async (ctx, caller, query) => {
    const now = ctx.now();
    const { deskId, keyId } = caller;
    const question = { list: "keys", desk: deskId, reader: keyId };
    const rows = listKeyRows(deskId, toKeyVisibility(caller));
    const page = await readNewest(ctx, { query, question }, rows);
    return { ...page, rows: await viewKeys(ctx.db, page.rows, now) };
  },
});

/** Every desk's keys, or those of one, newest first, for the operator. */
export async function listAllKeys(
  ctx: Pick<Context, "db" | "now" | "cursorKey">,
  search: DeskSearch & PageQuery,
): Promise<Leaf<{ legal_name: string; key: Key }>> {
  const now = ctx.now();
  const page = await readLeaf<KeyOfDesk>(ctx, ["keys", "key_id"], search, (request) =>
    listAllKeyRows(ctx.db.planned, search, request),
  );
  const keys = await viewKeys(ctx.db, page.rows, now);
  const rows = page.rows.map(({ legal_name }, at) => ({ legal_name, key: keys[at] as Key })); // One for each.
  return { ...page, rows };
}

const keysOfDeskMax = 1_000;

export async function listKeysOfDesk(
  { db, now }: Pick<Context, "db" | "now">,
  deskId: string,
): Promise<Key[]> {
  const instant = now();
  const request = { after: undefined, fetch: keysOfDeskMax };
  const rows = await listAllKeyRows(db.planned, { ...everything, deskId }, request);
  return await viewKeys(db, rows, instant);
}

/** The keys of a desk that count now, for what takes two of them. */
export async function findActiveKeys(db: Db, deskId: string, now: Date) {
  return await listActiveKeys(db, deskId, now);
}

export async function readKey(ctx: Context, caller: Caller, keyId: string): Promise<Key> {
  const row = isId("key", keyId) ? await findKey(ctx.db, caller.deskId, keyId) : undefined;
  if (!row || !isKeyVisible(caller, row)) throw notFound("key_id");
  return await viewKey(ctx.db, row, ctx.now());
}

/** A key as its desk sees it, without the secret. */
export async function viewKey(db: Db, row: KeyRow, now: Date): Promise<Key> {
  const [key] = await viewKeys(db, [row], now);
  return key as Key; // One for each.
}

export async function viewKeys(db: Db, rows: readonly KeyRow[], now: Date): Promise<Key[]> {
  const uses = await listLastUses(
    db,
    rows.map(({ key_id }) => key_id),
  );
  const usedAt = new Map(uses.map(({ key_id, used_at }) => [key_id, istTimestamp(used_at)]));
  return rows.map((row) => ({
    ...viewRow(row, now),
    last_used_at: usedAt.get(row.key_id) ?? null,
  }));
}

function viewRow(row: KeyRow, now: Date): Omit<Key, "last_used_at"> {
  const status = findKeyState(row, now);
  return {
    key_id: row.key_id,
    name: row.name,
    kind: row.kind,
    environment: row.environment,
    firm_id: row.firm_id,
    parent_key_id: row.parent_key_id,
    scopes: [...row.scopes],
    buy_side: row.buy_side,
    plan: row.plan,
    limits: {
      ...(row.per_minute !== null && { per_minute: row.per_minute }),
      ...(row.monthly_quota !== null && { monthly_quota: row.monthly_quota }),
      ...(row.max_order_paise !== null && { max_order_paise: row.max_order_paise }),
      ...(row.daily_notional_paise !== null && { daily_notional_paise: row.daily_notional_paise }),
      ...(!row.withdrawals && { withdrawals: false }),
    },
    ip_allowlist: [...row.ip_allowlist],
    masked_key: maskKey(row.environment, row.hint),
    status,
    expires_at: row.expires_at && istTimestamp(row.expires_at),
    revoked_at: row.revoked_at && istTimestamp(row.revoked_at),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: allowedActions(keyLifecycle, status),
  };
}

/** A change of a key for the audit trail and, if there is one, its event. */
export function buildKeyChange(
  before: KeyRow | null,
  after: KeyRow,
  { action, event, now }: { action: string; event?: Pick<ChangeEvent, "name" | "data">; now: Date },
): Change {
  const afterView = viewRow(after, now);
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `key.${action}`,
    entity: {
      type: "key",
      id: after.key_id,
      version: after.version,
      href: `/v1/keys/${after.key_id}`,
    },
    after: afterView,
    event: event && { ...event, from: before && findKeyState(before, now), to: afterView.status },
  };
}

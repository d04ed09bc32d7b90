import type { Environment, KeyKind, Scope } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { Paise } from "../kernel/money.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { IstDay } from "../kernel/time.ts";
import type { ListedRows } from "../platform/postgres/list.ts";
import {
  command,
  type Db,
  fragment,
  part,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import {
  bigint,
  day,
  flag,
  int,
  numeric,
  shape,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";
import type { KeyVisibility } from "./key-rules.ts";

export type KeyRow = {
  readonly key_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly kind: KeyKind;
  readonly parent_key_id: string | null;
  readonly name: string;
  readonly plan: string | null;
  readonly scopes: readonly Scope[];
  readonly buy_side: boolean;
  readonly per_minute: number | null;
  readonly monthly_quota: number | null;
  readonly max_order_paise: number | null;
  readonly daily_notional_paise: number | null;
  /** Whether it may move money out. */
  readonly withdrawals: boolean;
  readonly ip_allowlist: readonly string[];
  readonly expires_at: Date | null;
  readonly hint: string;
  readonly revoked_at: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** What is stored of a secret. */
type SecretColumns = {
  readonly salt: Buffer;
  readonly secret_hash: Buffer;
  readonly hint: string;
};

/** A key with its parent and its plan, as the edge needs them. */
export type Credential = {
  readonly key_id: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly kind: KeyKind;
  readonly parent_key_id: string | null;
  readonly salt: Buffer;
  readonly secret_hash: Buffer;
  readonly scopes: readonly Scope[];
  readonly buy_side: boolean;
  readonly withdrawals: boolean;
  /** Whether the key has limits of its own. */
  readonly confined: boolean;
  readonly per_minute: number | null;
  readonly monthly_quota: number | null;
  readonly ip_allowlist: readonly string[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly parent_scopes: readonly Scope[] | null;
  readonly parent_buy_side: boolean | null;
  readonly parent_withdrawals: boolean | null;
  readonly parent_expires_at: Date | null;
  readonly parent_revoked_at: Date | null;
  readonly plan: string;
  readonly plan_per_minute: number;
  readonly plan_monthly_quota: number | null;
  readonly plan_enforced: boolean;
  /** Changes with every change of the key's or the plan's row; see `countFitting`. */
  readonly stamp: string;
};

const keyColumns = fragment`
  key_id, environment, desk_id, firm_id, kind, parent_key_id, name, plan, scopes, buy_side,
  per_minute, monthly_quota, max_order_paise, daily_notional_paise, withdrawals, ip_allowlist,
  expires_at, hint, revoked_at, version, created_at, updated_at`;

/** The only look-up of keys without a desk: the key says which desk it is. */
export async function findCredentials(db: Db, keyIds: readonly string[]): Promise<Credential[]> {
  return await db.rows(sql`
    select
      k.key_id, k.environment, k.desk_id, k.firm_id, k.kind, k.parent_key_id, k.salt,
      k.secret_hash, k.scopes, k.buy_side, k.withdrawals, k.per_minute, k.monthly_quota, k.ip_allowlist,
      k.expires_at, k.revoked_at,
      not k.withdrawals
        or cardinality(k.ip_allowlist) > 0
        or num_nonnulls(
          k.per_minute, k.monthly_quota, k.max_order_paise, k.daily_notional_paise, k.expires_at
        ) > 0 as confined,
      parent.scopes as parent_scopes,
      parent.buy_side as parent_buy_side,
      parent.withdrawals as parent_withdrawals,
      parent.expires_at as parent_expires_at,
      parent.revoked_at as parent_revoked_at,
      plans.name as plan,
      plans.per_minute as plan_per_minute,
      plans.monthly_quota as plan_monthly_quota,
      plans.enforced as plan_enforced,
      concat_ws(' ', k.xmin, plans.xmin) as stamp
    from api_keys as k
    left join api_keys as parent on parent.key_id = k.parent_key_id
    join plans on plans.name = coalesce(parent.plan, k.plan)
    where k.key_id = any(${keyIds}::text[])`);
}

/** A key and the sum of its own version and its parent's; versions only rise. */
export type WatchedKey = { readonly key_id: string; readonly versions: number };

const watchedKeys = shape({ key_id: text(), versions: int() });

/** The keys that have changed, expired or been deleted since. */
export async function findChangedKeys(
  db: Db,
  watched: readonly WatchedKey[],
  now: Date,
): Promise<WatchedKey[]> {
  return await db.rows(sql`
    select seen.key_id, coalesce(k.version + coalesce(parent.version, 0), 0) as versions
    from ${watchedKeys.rows(watchedKeys.all, watched)} as seen
    left join api_keys as k on k.key_id = seen.key_id
    left join api_keys as parent on parent.key_id = k.parent_key_id
    where k.version + coalesce(parent.version, 0) is distinct from seen.versions
      or least(k.expires_at, parent.expires_at) <= ${now}`);
}

export async function insertKey(tx: Tx, key: KeyRow, secret: SecretColumns): Promise<void> {
  await tx.rows(sql`
    insert into api_keys (
      key_id, environment, desk_id, firm_id, kind, parent_key_id, name, plan, scopes, buy_side,
      per_minute, monthly_quota, max_order_paise, daily_notional_paise, withdrawals, ip_allowlist,
      expires_at, salt, secret_hash, hint, state, version, created_at, updated_at
    )
    values (
      ${key.key_id}, ${key.environment}, ${key.desk_id}, ${key.firm_id}, ${key.kind},
      ${key.parent_key_id}, ${key.name}, ${key.plan}, ${key.scopes}, ${key.buy_side},
      ${key.per_minute}, ${key.monthly_quota}, ${key.max_order_paise},
      ${key.daily_notional_paise}, ${key.withdrawals}, ${key.ip_allowlist}, ${key.expires_at},
      ${secret.salt}, ${secret.secret_hash}, ${secret.hint}, 'active', ${key.version},
      ${key.created_at}, ${key.updated_at}
    )`);
}

export async function findKey(db: Db, deskId: string, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await db.rows<KeyRow>(sql`
    select ${keyColumns}
    from api_keys
    where desk_id = ${deskId} and key_id = ${keyId}`);
  return row;
}

/** The keys of a desk that count now. */
export async function listActiveKeys(
  db: Db,
  deskId: string,
  now: Date,
): Promise<Pick<KeyRow, "key_id" | "name" | "parent_key_id" | "updated_at">[]> {
  return await db.rows(sql`
    select k.key_id, k.name, k.parent_key_id, k.updated_at
    from api_keys as k
    left join api_keys as parent on parent.key_id = k.parent_key_id
    where k.desk_id = ${deskId}
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})
      and parent.revoked_at is null and (parent.expires_at is null or parent.expires_at > ${now})
    order by k.key_id`);
}

export async function lockKey(tx: Tx, deskId: string, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await tx.rows<KeyRow>(sql`
    select ${keyColumns}
    from api_keys
    where desk_id = ${deskId} and key_id = ${keyId}
    for update`);
  return row;
}

/** A root key that mints: nobody narrows or revokes it until the end of the transaction. */
export async function shareRootKey(tx: Tx, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await tx.rows<KeyRow>(sql`
    select ${keyColumns}
    from api_keys
    where key_id = ${keyId} and kind = 'root'
    for share`);
  return row;
}

/** Keys of any desk, for the operator. */
export async function lockKeys(tx: Tx, keyIds: readonly string[]): Promise<KeyRow[]> {
  return await tx.rows(sql`
    select ${keyColumns}
    from api_keys
    where key_id = any(${keyIds}::text[])
    order by key_id
    for update`);
}

/** The desk of a key, for the operator. */
export async function findDeskOfKey(db: Db, keyId: string): Promise<string | undefined> {
  const [row] = await db.rows<{ desk_id: string }>(sql`
    select desk_id
    from api_keys
    where key_id = ${keyId}`);
  return row?.desk_id;
}

/** The keys that the caller can see, newest first. */
export const listKeyRows = (
  deskId: string,
  { keyId, scopes, buySide, confined }: KeyVisibility,
): ListedRows<KeyRow> => ({
  columns: keyColumns,
  found: part`
    from api_keys
    where desk_id = ${deskId}
      and (${keyId} in (key_id, parent_key_id)
        or (not ${confined}::boolean and scopes <@ ${scopes}::text[]
          and (${buySide} or not buy_side)))`,
  newestFirst: ["created_at", "key_id"],
});

/** Serializes the minting of a desk on its first root key, which is never deleted. */
export async function lockFirstRootKey(tx: Tx, deskId: string): Promise<void> {
  await tx.rows(sql`
    select 1
    from api_keys
    where desk_id = ${deskId} and kind = 'root'
    order by key_id
    limit 1
    for no key update`);
}

/** The active child keys of a desk, and the maximum of the root key's plan. */
export async function countChildren(
  tx: Tx,
  deskId: string,
  { rootKeyId, now }: { readonly rootKeyId: string; readonly now: Date },
): Promise<{ children: number; child_keys_max: number } | undefined> {
  const [row] = await tx.rows<{ children: number; child_keys_max: number }>(sql`
    select
      plans.child_keys_max,
      (
        select count(*)
        from api_keys
        where desk_id = ${deskId} and kind <> 'root' and state = 'active'
          and (expires_at is null or expires_at > ${now})
      ) as children
    from api_keys as root
    join plans on plans.name = root.plan
    where root.desk_id = ${deskId} and root.key_id = ${rootKeyId}`);
  return row;
}

export type KeyOfDesk = KeyRow & { readonly legal_name: string };

/** Keys of every desk, newest first, for the operator. */
export async function listAllKeyRows(
  db: Db,
  { environment, deskId, firmId, from, to }: DeskSearch,
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<KeyOfDesk[]> {
  return await db.rows(sql`
    select k.*, firms.legal_name
    from (
      select ${keyColumns}
      from api_keys
      where (${after?.at ?? null}::timestamptz is null
          or (created_at, key_id) < (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::text))
        and (${environment}::text is null or environment = ${environment})
        and (${deskId}::text is null or desk_id = ${deskId})
        and (${firmId}::text is null or firm_id = ${firmId})
        and (${from}::timestamptz is null or created_at >= ${from})
        and (${to}::timestamptz is null or created_at < ${to})
      order by created_at desc, key_id desc
      limit ${fetch}
    ) as k
    join firms on firms.firm_id = k.desk_id
    order by k.created_at desc, k.key_id desc`);
}

/** A key and its children, without revoked ones. */
export async function lockWithChildren(tx: Tx, keyId: string): Promise<KeyRow[]> {
  return await tx.rows(sql`
    select ${keyColumns}
    from api_keys
    where (key_id = ${keyId} or parent_key_id = ${keyId}) and state = 'active'
    order by key_id
    for update`);
}

/** The sub_account keys of this firm, without revoked ones. */
export async function lockKeysOfFirm(tx: Tx, deskId: string, firmId: string): Promise<KeyRow[]> {
  return await tx.rows(sql`
    select ${keyColumns}
    from api_keys
    where desk_id = ${deskId} and firm_id = ${firmId} and kind = 'sub_account'
      and state = 'active'
    order by key_id
    for update`);
}

export async function setKeysRevoked(
  tx: Tx,
  keyIds: readonly string[],
  now: Date,
): Promise<KeyRow[]> {
  return await tx.rows(sql`
    update api_keys
    set state = 'revoked', revoked_at = ${now}, updated_at = ${now}, version = version + 1
    where key_id = any(${keyIds}::text[])
    returning ${keyColumns}`);
}

const narrowedKeys = shape({
  key_id: text(),
  parent_key_id: text().orNull,
  name: text(),
  scopes: textList(),
  buy_side: flag(),
  per_minute: int().orNull,
  monthly_quota: bigint().orNull,
  max_order_paise: bigint().orNull,
  daily_notional_paise: bigint().orNull,
  withdrawals: flag(),
  ip_allowlist: textList(),
  expires_at: time().orNull,
  version: int(),
  updated_at: time(),
});

/** Writes what keys are called, whose they are and what they may do; the rows are locked. */
export async function setKeys(tx: Tx, keys: readonly KeyRow[]): Promise<void> {
  await tx.rows(sql`
    update api_keys as k
    set parent_key_id = n.parent_key_id, name = n.name, scopes = n.scopes, buy_side = n.buy_side,
      per_minute = n.per_minute, monthly_quota = n.monthly_quota,
      max_order_paise = n.max_order_paise, daily_notional_paise = n.daily_notional_paise,
      withdrawals = n.withdrawals, ip_allowlist = n.ip_allowlist, expires_at = n.expires_at,
      version = n.version, updated_at = n.updated_at
    from ${narrowedKeys.rows(narrowedKeys.all, keys)} as n
    where k.key_id = n.key_id`);
}

export async function setKeySecret(
  tx: Tx,
  keyId: string,
  { salt, secret_hash, hint }: SecretColumns,
  now: Date,
): Promise<KeyRow | undefined> {
  const [row] = await tx.rows<KeyRow>(sql`
    update api_keys
    set salt = ${salt}, secret_hash = ${secret_hash}, hint = ${hint}, updated_at = ${now},
      version = version + 1
    where key_id = ${keyId}
    returning ${keyColumns}`);
  return row;
}

/** The lower of each key's limit and its parent's; keys without limits are left out. */
export function listMoneyLimits(
  keyIds: readonly string[],
): Query<
  { key_id: string; max_order_paise: number | null; daily_notional_paise: number | null }[]
> {
  return query(sql`
    select
      k.key_id, least(k.max_order_paise, p.max_order_paise) as max_order_paise,
      least(k.daily_notional_paise, p.daily_notional_paise) as daily_notional_paise
    from api_keys as k
    left join api_keys as p on p.key_id = k.parent_key_id
    where k.key_id = any(${keyIds}::text[])
      and coalesce(
        k.max_order_paise, p.max_order_paise, k.daily_notional_paise, p.daily_notional_paise
      ) is not null`);
}

const keyDays = table("key_days", {
  key_id: text(),
  day: day(),
  ordered_paise: numeric<Paise>(),
});

/**
 * What keys with a daily limit have committed today. Inserts missing rows and locks all of them, so
 * that two sets cannot both spend the rest.
 */
export function lockKeyDays(
  day: IstDay,
  keyIds: readonly string[],
): Query<{ key_id: string; ordered_paise: Paise }[]> {
  return query(sql`
    insert into key_days as d (key_id, day, ordered_paise)
    select key_id, ${day}::date, 0
    from unnest(${keyIds}::text[]) as k (key_id)
    order by key_id
    on conflict (key_id, day) do update set ordered_paise = d.ordered_paise
    returning key_id, least(ordered_paise, 9007199254740991)::bigint as ordered_paise`);
}

export function addToKeyDays(
  day: IstDay,
  added: readonly { readonly keyId: string; readonly paise: Paise }[],
): Query<void> {
  const sums = keyDays.rows(
    { key_id: ({ keyId }) => keyId, ordered_paise: ({ paise }) => paise },
    added,
  );
  return command(sql`
    update key_days as d
    set ordered_paise = d.ordered_paise + a.ordered_paise
    from ${sums} as a
    where d.key_id = a.key_id and d.day = ${day}::date`);
}

/** The plan's limits on unfunded purchases of a firm and of a desk, by key. */
export function listUnfundedLimits(
  keyIds: readonly string[],
): Query<{ key_id: string; unfunded_max_paise: number; unfunded_desk_max_paise: number }[]> {
  return query(sql`
    select k.key_id, plans.unfunded_max_paise, plans.unfunded_desk_max_paise
    from api_keys as k
    left join api_keys as parent on parent.key_id = k.parent_key_id
    join plans on plans.name = coalesce(parent.plan, k.plan)
    where k.key_id = any(${keyIds}::text[])`);
}

/** For how many working days an unpaid deal counts: the most of the plans of a desk's root keys. */
export function listUnpaidDays(
  environment: Environment,
  deskIds: readonly string[],
): Query<{ desk_id: string; unpaid_days: number }[]> {
  return query(sql`
    select k.desk_id, max(plans.unpaid_days) as unpaid_days
    from api_keys as k
    join plans on plans.name = k.plan
    where k.desk_id = any(${deskIds}::text[]) and k.environment = ${environment}
      and k.kind = 'root'
    group by k.desk_id`);
}

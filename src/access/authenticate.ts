// From a header to a caller. Keys are read from the database for every request, so that a revoked
// or re-issued key stops working with the next request on every node. Concurrent requests are
// looked up together in one statement, each key once.
//
// Open streams check their keys again and again. `openKeyWatcher` asks which of thousands of keys
// have changed since the last check, and authenticates only those anew.

import { type Caller, describeGrant } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  intersectGrants,
  matchesSecret,
  dummySecret,
  parseApiKey,
  type ParsedKey,
  findKeyState,
} from "./key-rules.ts";
import { type Credential, findChangedKeys, findCredentials, type WatchedKey } from "./key-store.ts";
import type { WhoAmI } from "./schema.ts";

/** The limits that a caller is metered by. */
export type Allowance = {
  readonly plan: string;
  readonly enforced: boolean;
  readonly perMinute: number;
  /** The lower of the key's own monthly quota and the plan's; undefined when unmetered. */
  readonly quota: number | undefined;
};

export type Authenticated = {
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly ipAllowlist: readonly string[];
  /** Unchanged while the key and its plan are; null for child keys and keys that expire. */
  readonly stamp: string | null;
};

/** One answer per header, in their order; undefined for a header without a valid key. */
export type Authenticate = (headers: readonly string[]) => Promise<(Authenticated | undefined)[]>;

export function openAuthenticator({ db, now }: Pick<Context, "db" | "now">): Authenticate {
  return async function authenticate(headers) {
    const keys = new Map([...new Set(headers)].map((header) => [header, parseApiKey(header)]));
    const found = await findKnown(db, [...keys.values()]);
    const instant = now();
    const granted = new Map(
      [...keys].map(([header, key]) => [
        header,
        key && authenticateKey(key, found.get(key.keyId), instant),
      ]),
    );
    return headers.map((header) => granted.get(header));
  };
}

/** One answer for every reason, so that a guess reveals nothing. */
export function unauthorized(): Failure {
  return new Failure(
    "unauthorized",
    "the key in the X-Service-Key header is missing or not valid",
    { form: "edge" },
  );
}

export function whoAmI(caller: Caller): WhoAmI {
  return {
    key_id: caller.keyId,
    kind: caller.kind,
    environment: caller.environment,
    firm_id: caller.firmId,
    desk_id: caller.deskId,
    parent_key_id: caller.kind === "root" ? null : caller.rootKeyId,
    scopes: [...caller.scopes],
    buy_side: caller.buySide,
  };
}

/**
 * The texts (`toWatched`) whose keys are no longer valid or hold something else than they did; throws
 * when the database cannot be read.
 */
type WatchKeys = (texts: readonly string[]) => Promise<ReadonlySet<string>>;

export function openKeyWatcher(
  { db, now }: Pick<Context, "db" | "now">,
  authenticate: Authenticate,
): WatchKeys {
  let watched: ReadonlyMap<string, WatchedKey> = new Map();

  return async function deadAmong(texts) {
    const looked = new Map(
      texts.map((text) => [text, watched.get(text) ?? toUnseenKey(readWatched(text).header)]),
    );
    const changed = await findChangedKeys(db, [...looked.values()], now());
    const changedById = new Map(changed.map((key) => [key.key_id, key]));
    const again = [...looked].filter(([, { key_id }]) => changedById.has(key_id));
    const headers = again.map(([text]) => readWatched(text).header);
    const found = again.length > 0 ? await authenticate(headers) : [];
    for (const [text, { key_id }] of again) {
      looked.set(text, changedById.get(key_id) ?? toUnseenKey(readWatched(text).header));
    }
    watched = looked;
    return new Set(again.flatMap(([text], at) => (isAsWatched(text, found[at]) ? [] : [text])));
  };
}

async function findKnown(
  db: Db,
  keys: readonly (ParsedKey | undefined)[],
): Promise<Map<string, Credential>> {
  const keyIds = new Set(keys.flatMap((key) => key?.keyId ?? []));
  if (keyIds.size === 0) return new Map();
  const found = await findCredentials(db, [...keyIds]);
  return new Map(found.map((row) => [row.key_id, row]));
}

/** Undefined when the key is unknown, revoked or expired, or the secret does not match. */
function authenticateKey(
  key: ParsedKey,
  known: Credential | undefined,
  now: Date,
): Authenticated | undefined {
  // An unknown id is compared with a dummy secret, so that it takes as long as a known one.
  const matches = matchesSecret(key.secret, known ?? dummySecret);
  if (!known || !matches || known.environment !== key.environment) return undefined;
  return isAlive(known, now) ? toAuthenticated(known) : undefined;
}

function isAlive(row: Credential, now: Date): boolean {
  if (findKeyState(row, now) !== "active") return false;
  const parent = { revoked_at: row.parent_revoked_at, expires_at: row.parent_expires_at };
  return findKeyState(parent, now) === "active";
}

function toAuthenticated(row: Credential): Authenticated {
  const parent = row.parent_scopes && {
    scopes: row.parent_scopes,
    buySide: row.parent_buy_side ?? false,
    withdrawals: row.parent_withdrawals ?? false,
  };
  const own = { scopes: row.scopes, buySide: row.buy_side, withdrawals: row.withdrawals };
  return {
    caller: {
      keyId: row.key_id,
      rootKeyId: row.parent_key_id ?? row.key_id,
      kind: row.kind,
      environment: row.environment,
      firmId: row.firm_id,
      deskId: row.desk_id,
      ...intersectGrants(own, parent ?? undefined),
      confined: row.confined,
    },
    allowance: toAllowance(row),
    ipAllowlist: row.ip_allowlist,
    stamp: row.kind === "root" && row.expires_at === null ? row.stamp : null,
  };
}

function toAllowance(row: Credential): Allowance {
  const planQuota = row.plan_monthly_quota ?? undefined;
  const ownQuota = row.monthly_quota ?? Infinity;
  return {
    plan: row.plan,
    // A sandbox key's own limit is its caller's brake, so that a 429 can be rehearsed.
    enforced: row.plan_enforced || row.per_minute !== null,
    perMinute: Math.min(row.per_minute ?? Infinity, row.plan_per_minute),
    quota: planQuota === undefined ? undefined : Math.min(ownQuota, planQuota),
  };
}

/** The header of a text to watch, and what its key held where the text says so (`toWatched`). */
function readWatched(text: string): { header: string; grant: string | undefined } {
  const [header = "", grant] = text.split("\n");
  return { header, grant };
}

function isAsWatched(text: string, found: Authenticated | undefined): boolean {
  const { grant } = readWatched(text);
  return found !== undefined && (grant === undefined || describeGrant(found.caller) === grant);
}

/** No key has version 0, so a key that is seen for the first time counts as changed. */
function toUnseenKey(header: string): WatchedKey {
  return { key_id: parseApiKey(header)?.keyId ?? "", versions: 0 };
}

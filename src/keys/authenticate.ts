// From a header to a caller. Nothing is remembered between requests, so a revoked or re-issued key
// stops matching on the next one, on every node; what makes that cheap is that all requests of the
// moment ask for their keys in one statement.

import type { Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { coalesce } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import type { Metrics } from "../platform/metrics.ts";
import { effectiveGrant, matchesSecret, nobodysSecret, parseApiKey, stateOf } from "./rules.ts";
import { type Credential, findCredentials } from "./store.ts";

/** How much a caller may call; metering draws on it. */
export type Allowance = {
  readonly plan: string;
  readonly enforced: boolean;
  readonly perMinute: number;
  /** The key's own monthly quota: what it was limited to, within the plan. Undefined: unmetered. */
  readonly quota: number | undefined;
  /** What the root key and all its children may call together. Undefined: unmetered. */
  readonly poolQuota: number | undefined;
};

export type Authenticated = {
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly ipAllowlist: readonly string[];
};

export type Authenticate = (header: string | undefined) => Promise<Authenticated>;

const setSizeMax = 512;
const queueMax = 20_000;

export function authenticator(
  { db, now }: Pick<Context, "db" | "now">,
  { setSize }: Pick<Metrics, "setSize">,
): Authenticate {
  const findKnown = coalesce(
    async (keyIds: readonly string[]) => {
      const found = await findCredentials(db, [...new Set(keyIds)]);
      const known = new Map(found.map((row) => [row.key_id, { row, granted: grantedTo(row) }]));
      return keyIds.map((keyId) => known.get(keyId));
    },
    {
      setSizeMax,
      queueMax,
      mayRetry: () => false,
      onSet: (size) => setSize.observe({ set: "keys" }, size),
    },
  );

  return async function authenticate(header) {
    const key = header === undefined ? undefined : parseApiKey(header);
    if (!key) throw unauthorized();
    const known = await findKnown(key.keyId);
    // An unknown id is compared with nobody's secret: it takes as long as a known one.
    const matches = matchesSecret(key.secret, known?.row ?? nobodysSecret);
    if (!known || !matches) throw unauthorized();
    if (known.row.environment !== key.environment || !isAlive(known.row, now())) {
      throw unauthorized();
    }
    return known.granted;
  };
}

function isAlive(row: Credential, now: Date): boolean {
  if (stateOf(row, now) !== "active") return false;
  const parent = { revoked_at: row.parent_revoked_at, expires_at: row.parent_expires_at };
  return stateOf(parent, now) === "active";
}

function grantedTo(row: Credential): Authenticated {
  const parent = row.parent_scopes && {
    scopes: row.parent_scopes,
    buySide: row.parent_buy_side ?? false,
  };
  const grant = effectiveGrant({ scopes: row.scopes, buySide: row.buy_side }, parent ?? undefined);
  return {
    caller: {
      keyId: row.key_id,
      rootKeyId: row.parent_key_id ?? row.key_id,
      kind: row.kind,
      environment: row.environment,
      firmId: row.firm_id,
      deskId: row.desk_id,
      ...grant,
    },
    allowance: allowanceOf(row),
    ipAllowlist: row.ip_allowlist,
  };
}

function allowanceOf(row: Credential): Allowance {
  const poolQuota = row.plan_monthly_quota ?? undefined;
  const ownQuota = row.monthly_quota ?? Infinity;
  return {
    plan: row.plan,
    enforced: row.plan_enforced,
    perMinute: Math.min(row.per_minute ?? Infinity, row.plan_per_minute),
    quota: poolQuota === undefined ? undefined : Math.min(ownQuota, poolQuota),
    poolQuota,
  };
}

/** One answer for every reason, so that a guess learns nothing. */
function unauthorized(): Failure {
  return new Failure("unauthorized", "the key is missing or not valid", { form: "edge" });
}

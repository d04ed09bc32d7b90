// A key that was issued only gets narrower. What its root key loses, its children lose with it.

import { includesScope, intersect, type Scope } from "../kernel/caller.ts";
import type { FieldProblem } from "../kernel/failure.ts";
import { isEverywhere, isCoveredBy, parseNetwork } from "../kernel/networks.ts";

const limitNames = [
  "per_minute",
  "monthly_quota",
  "max_order_paise",
  "daily_notional_paise",
] as const;

type KeyLimits = {
  readonly [Name in (typeof limitNames)[number]]: number | null;
};

/** Everything that a key may do, and where and until when it may. */
export type KeyBounds = KeyLimits & {
  readonly scopes: readonly Scope[];
  readonly buy_side: boolean;
  readonly withdrawals: boolean;
  readonly ip_allowlist: readonly string[];
  readonly expires_at: Date | null;
};

type AskedLimits = { readonly [Name in keyof KeyLimits]?: number } & {
  readonly withdrawals?: boolean;
};

/** What a key is asked to be narrowed to; what is absent stays. */
type NarrowKey = {
  readonly scopes?: readonly Scope[];
  readonly buy_side?: boolean;
  readonly ip_allowlist?: readonly string[];
  readonly limits?: AskedLimits;
};

export function narrowKey<Key extends KeyBounds>(
  key: Key,
  { scopes, buy_side, ip_allowlist, limits = {} }: NarrowKey,
  expiresAt: Date | undefined,
): Key {
  const limited = Object.fromEntries(limitNames.map((name) => [name, limits[name] ?? key[name]]));
  return {
    ...key,
    ...limited,
    scopes: scopes ? [...new Set(scopes)] : key.scopes,
    buy_side: buy_side ?? key.buy_side,
    withdrawals: limits.withdrawals ?? key.withdrawals,
    ip_allowlist: ip_allowlist ?? key.ip_allowlist,
    expires_at: expiresAt ?? key.expires_at,
  };
}

/** The fields by which a key would grow. */
export function findGrowth(key: KeyBounds, wanted: KeyBounds): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const grows = (path: string, problem: string) => problems.push({ path, problem });
  if (wanted.scopes.some((scope) => !includesScope(key.scopes, scope))) {
    grows("scopes", "a key cannot be given a scope that it does not hold");
  }
  if (wanted.buy_side && !key.buy_side) grows("buy_side", "a key cannot be given the buy side");
  if (isLater(wanted.expires_at, key.expires_at)) {
    grows("expires_at", "a key cannot be given a later end");
  }
  const networks = wanted.ip_allowlist;
  const within = (network: string) => isCoveredBy(network, key.ip_allowlist);
  if (key.ip_allowlist.length > 0 && (networks.length === 0 || !networks.every(within))) {
    grows("ip_allowlist", "must be within where the key may be used from now");
  }
  for (const name of limitNames) {
    const [now, later] = [key[name], wanted[name]];
    if (now !== null && later !== null && later > now) {
      grows(`limits.${name}`, `cannot be raised; it is ${now}`);
    }
  }
  if (wanted.withdrawals && !key.withdrawals) {
    grows("limits.withdrawals", "a key cannot be given withdrawals");
  }
  return problems;
}

function isLater(wanted: Date | null, present: Date | null): boolean {
  return wanted !== null && present !== null && wanted > present;
}

/** A child within what its root key may do; undefined when nothing is left of it. */
export function confineChild<Key extends KeyBounds>(child: Key, root: KeyBounds): Key | undefined {
  const scopes = intersect(child.scopes, root.scopes);
  const ip_allowlist = intersectNetworks(child.ip_allowlist, root.ip_allowlist);
  if (scopes.length === 0 || !ip_allowlist) return undefined;
  const limited = Object.fromEntries(
    limitNames.map((name) => [name, findLower(child[name], root[name])]),
  );
  return {
    ...child,
    ...limited,
    scopes,
    ip_allowlist,
    buy_side: child.buy_side && root.buy_side,
    withdrawals: child.withdrawals && root.withdrawals,
    expires_at: isLater(child.expires_at ?? farthest, root.expires_at)
      ? root.expires_at
      : child.expires_at,
  };
}

const farthest = new Date(8_640_000_000_000_000);

function findLower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** An empty list holds every address; undefined when no address is left. */
function intersectNetworks(
  one: readonly string[],
  other: readonly string[],
): readonly string[] | undefined {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one;
  const both = [
    ...one.filter((network) => isCoveredBy(network, other)),
    ...other.filter((network) => isCoveredBy(network, one)),
  ];
  return both.length === 0 ? undefined : [...new Set(both)];
}

/** What is wrong with a list of networks as it is written. */
export function findNetworkProblems(networks: readonly string[] = []): FieldProblem[] {
  return networks.flatMap((text, index) => {
    const path = `ip_allowlist.${index}`;
    if (!parseNetwork(text)) return [{ path, problem: "must be an IP address or network" }];
    return isEverywhere(text) ? [{ path, problem: "holds every address: leave it out" }] : [];
  });
}

/** What is wrong with an end as it is written; undefined for one that cannot be read. */
export function findEndProblems(expiresAt: Date | null | undefined, now: Date): FieldProblem[] {
  const path = "expires_at";
  if (expiresAt === undefined) return [{ path, problem: "must be ISO 8601 with an offset" }];
  return expiresAt && expiresAt <= now ? [{ path, problem: "must be in the future" }] : [];
}

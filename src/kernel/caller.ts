// The caller of a request: its key, firm, desk and scopes.

import { Failure } from "./failure.ts";

export type Environment = "live" | "sandbox";

export const environments = ["live", "sandbox"] as const satisfies readonly Environment[];

/** What a key can be granted. `*` stands for all of the others. */
export const scopes = [
  "firms",
  "quote",
  "orders:write",
  "orders:read",
  "market:read",
  "webhooks:write",
  "*",
] as const;

export type Scope = (typeof scopes)[number];

/** What an operation demands: a scope, any valid key, or the firm's own root key. */
export type Demand = Exclude<Scope, "*"> | "any key" | "root key";

export type KeyKind = "root" | "sub_account" | "app";

export type Caller = {
  readonly keyId: string;
  /** The key itself for a root key; its parent otherwise. Monthly pools and plans are the root's. */
  readonly rootKeyId: string;
  readonly kind: KeyKind;
  readonly environment: Environment;
  readonly firmId: string;
  readonly deskId: string;
  readonly scopes: readonly Scope[];
  readonly buySide: boolean;
  /** Whether it may move money out: withdrawals, another bank account, a firm that leaves with its money. */
  readonly withdrawals: boolean;
  /** A root key with limits of its own, which manages only itself and its children. */
  readonly confined: boolean;
};

/** One request by a caller: the parts outside its body, the same for every operation. */
export type Call = {
  readonly caller: Caller;
  readonly requestId: string;
  /** The `traceparent` that passes its trace on; null where it came without one. */
  readonly traceparent?: string | null;
  readonly idempotencyKey: string | undefined;
  readonly dryRun: boolean;
  /** A signal that aborts when the caller disconnects. Long operations ask for it. */
  readonly gone?: () => AbortSignal;
};

/** One request without a key. */
export type Visit = Pick<Call, "requestId" | "dryRun">;

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

export function includesScope(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.includes("*") || granted.includes(wanted);
}

export function meetsDemand(caller: Caller, demand: Demand): boolean {
  if (demand === "any key") return true;
  if (demand === "root key") return caller.kind === "root";
  return includesScope(caller.scopes, demand);
}

/** A child key never has a scope that its parent lacks, whatever was stored. */
export function intersect(child: readonly Scope[], parent: readonly Scope[]): Scope[] {
  if (child.includes("*")) return [...parent];
  return child.filter((scope) => includesScope(parent, scope));
}

/** A key's header and what it holds, for answers that go on for long and end when that changes. */
export function toWatched(header: string, caller: Pick<Caller, "scopes" | "buySide">): string {
  return `${header}\n${describeGrant(caller)}`;
}

/** What a caller may do, as one text. */
export function describeGrant({
  scopes: granted,
  buySide,
}: Pick<Caller, "scopes" | "buySide">): string {
  return `${granted.toSorted().join(" ")}${buySide ? " buy" : ""}`;
}

/** Refuses a key with the limit `withdrawals: false` an act that moves money out. */
export function refuseWithoutWithdrawals({ withdrawals }: Pick<Caller, "withdrawals">): void {
  if (!withdrawals) throw aboveKeyLimit("withdrawals");
}

/** The answer to an act that a key's limit does not allow. */
export function aboveKeyLimit(limit: string): Failure {
  return new Failure("forbidden", `the key's limit ${limit} does not allow this`, {
    detail: { reason: "key_limit", limit },
  });
}

/** The answer to a buy by a key that may only sell. */
export function buySideOff(): Failure {
  return new Failure("forbidden", "the buy side is not enabled on this key; ask support", {
    detail: { reason: "buy_side_not_enabled" },
  });
}

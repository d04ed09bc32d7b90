// Who is calling: the key of this request, the firm it is bound to and what it may do.

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
};

/** One request by a caller: what is the same for every operation and is not in its body. */
export type Call = {
  readonly caller: Caller;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly dryRun: boolean;
  /** Aborts when the caller leaves before it is answered. It is asked for where work may take long. */
  readonly gone?: () => AbortSignal;
};

/** One request by somebody without a key. */
export type Visit = Pick<Call, "requestId" | "dryRun">;

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

export function holds(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.includes("*") || granted.includes(wanted);
}

export function meets(caller: Caller, demand: Demand): boolean {
  if (demand === "any key") return true;
  if (demand === "root key") return caller.kind === "root";
  return holds(caller.scopes, demand);
}

/** Child ∩ parent: a child never holds what its parent does not, whatever was stored. */
export function intersect(child: readonly Scope[], parent: readonly Scope[]): Scope[] {
  if (child.includes("*")) return [...parent];
  return child.filter((scope) => holds(parent, scope));
}

/** The answer to a buy by a key that may only sell. */
export function buySideOff(): Failure {
  return new Failure("forbidden", "the buy side is not enabled on this key; ask support", {
    detail: { reason: "buy_side_not_enabled" },
  });
}

// The actor of a change: a key, an operator, a worker of the service, or a visitor without a key. To a
// desk, the keys of another desk appear as its counterparty.

import type { Call, Environment } from "./caller.ts";
import { unprocessable } from "./failure.ts";
import { isHouse } from "./ids.ts";

export type Actor = {
  readonly kind: "key" | "operator" | "worker" | "visitor" | "counterparty";
  readonly id: string;
  readonly requestId: string | null;
  /** Of the key's request; it goes with the webhooks of the key's own desk. */
  readonly traceparent?: string | null;
  /** The desk of a key. */
  readonly deskId?: string;
  /** Of an operator who signed in; absent while no people are registered. */
  readonly role?: OperatorRole;
  /** Of a program that acts without a person: what it was given, and who holds its token. */
  readonly machine?: {
    readonly permissions: readonly Permission[];
    readonly dayLimitPaise: number;
    readonly heldBy: string;
  };
  /** When the house's directory saw who it is; absent of whoever signed in here. */
  readonly provedAt?: Date;
};

/** What a person may do: read, make prices, move money and credits, or everything. */
export const operatorRoles = ["viewer", "dealer", "settlement", "admin"] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** The roles that have each permission; an admin has all. */
export const permissions = {
  read: operatorRoles,
  /** Personal data of visitors. */
  "enquiries.read": ["dealer", "settlement"],
  "keys.write": [],
  "plans.write": [],
  "retention.write": [],
  "operators.write": [],
  "desks.write": [],
  "taxes.write": [],
  /** Who the house is in law, and where it is paid. */
  "house.write": [],
  "firms.write": ["settlement"],
  "orders.write": ["dealer", "settlement"],
  "registry.write": ["settlement"],
  "credits.write": ["settlement"],
  "rates.publish": ["dealer"],
  "market.halt": ["dealer", "settlement"],
  "market.open": ["dealer"],
  "inventory.write": ["dealer", "settlement"],
  "settlements.write": ["settlement"],
  "payouts.write": ["settlement"],
  /** Whole account numbers. */
  "accounts.reveal": ["settlement"],
  "bank.write": ["settlement"],
  "deposits.write": ["settlement"],
  "calendar.write": ["settlement"],
  "commissions.pay": ["settlement"],
  "webhooks.write": ["settlement"],
  "enquiries.write": ["dealer", "settlement"],
  /** Who is told by mail. */
  "notices.write": ["settlement"],
  /** Each kind of proposal limits its approvers further. */
  "approvals.decide": ["dealer", "settlement"],
} as const satisfies Record<string, readonly OperatorRole[]>;

export type Permission = keyof typeof permissions;

/** Two spellings of one name are one person. */
export function isSamePerson(one: string, other: string): boolean {
  return personKey(one) === personKey(other);
}

export function personKey(name: string): string {
  return name.replaceAll(/\s/g, "").toLowerCase();
}

export function toActor({ caller, requestId, traceparent = null }: Call): Actor {
  return { kind: "key", id: caller.keyId, requestId, traceparent, deskId: caller.deskId };
}

const counterparty: Actor = { kind: "counterparty", id: "counterparty", requestId: null };

/**
 * The actor as a desk may see it. An order of one desk changes orders of another, and neither may see
 * the other's keys and requests. The house, the operator's own desk, sees all.
 */
export function asSeenBy(actor: Actor, deskId: string): Actor {
  const isOwn = actor.deskId === undefined || actor.deskId === deskId || isHouse(deskId);
  return isOwn ? actor : counterparty;
}

/** The unnamed user of the command line. */
export const operator: Actor = { kind: "operator", id: "cli", requestId: null };

/** A named user of the command line. */
export function namedOperator(name: string): Actor {
  return { kind: "operator", id: name, requestId: null };
}

/** Longest reason that an operator gives for an act, in characters. */
const reasonLengthMax = 500;

export function refuseBadReason(reason: string): void {
  if (reason.trim() !== "" && reason.length <= reasonLengthMax) return;
  throw unprocessable({ path: "reason", problem: `must be 1 to ${reasonLengthMax} characters` });
}

/** One change of one thing on one desk, as events and the audit trail record it. */
export type Change = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly firmId: string;
  readonly action: string;
  readonly entity: {
    readonly type: string;
    readonly id: string;
    readonly version: number;
    /** The URL of the entity. */
    readonly href: string;
  };
  /** The entity as shown after it; a digest of it is stored where no event tells of the change. */
  readonly after: object | null;
  /** The event of this change, if it has one. */
  readonly event?: ChangeEvent | undefined;
};

export type ChangeEvent = {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly data: object;
};

// Who makes a change: a key's caller, an operator, a worker of the service itself, a visitor who has
// no key or, as a desk sees another desk, its counterparty.

import type { Call, Environment } from "./caller.ts";
import { isHouse } from "./ids.ts";

export type Actor = {
  readonly kind: "key" | "operator" | "worker" | "visitor" | "counterparty";
  readonly id: string;
  readonly requestId: string | null;
  /** The desk of a key. */
  readonly deskId?: string;
  /** Of an operator who signed in; none while the service knows no people. */
  readonly role?: OperatorRole;
};

/** What a person may do: read, make prices, move money and credits, or everything. */
export const operatorRoles = ["viewer", "dealer", "settlement", "admin"] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** Two spellings of one name are one person. */
export function isSamePerson(one: string, other: string): boolean {
  return personKey(one) === personKey(other);
}

export function personKey(name: string): string {
  return name.replaceAll(/\s/g, "").toLowerCase();
}

export function toActor({ caller, requestId }: Call): Actor {
  return { kind: "key", id: caller.keyId, requestId, deskId: caller.deskId };
}

const counterparty: Actor = { kind: "counterparty", id: "counterparty", requestId: null };

/**
 * The actor as the desk of a change may know them: an order of one desk changes those it is dealt
 * with, and neither is told the other's keys and requests. The house is the operator's own desk.
 */
export function asSeenBy(actor: Actor, deskId: string): Actor {
  const isOwn = actor.deskId === undefined || actor.deskId === deskId || isHouse(deskId);
  return isOwn ? actor : counterparty;
}

/** Whoever runs the command line beside the service. */
export const operator: Actor = { kind: "operator", id: "cli", requestId: null };

/** The same under their own name, where it matters who of several it was. */
export function operatorNamed(name: string): Actor {
  return { kind: "operator", id: name, requestId: null };
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
    /** Where the thing can be read again. */
    readonly href: string;
  };
  /** The thing before and after, as it is shown; only digests of them are kept. */
  readonly before: object | null;
  readonly after: object | null;
  /** The event to tell, when this change is one that others are told of. */
  readonly event?: ChangeEvent | undefined;
};

export type ChangeEvent = {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly data: object;
};

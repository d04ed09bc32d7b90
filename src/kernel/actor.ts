// Who makes a change: a key's caller, an operator, a worker of the service itself or a visitor who
// has no key.

import type { Call, Environment } from "./caller.ts";

export type Actor = {
  readonly kind: "key" | "operator" | "worker" | "visitor";
  readonly id: string;
  readonly requestId: string | null;
};

export function actorOf({ caller, requestId }: Call): Actor {
  return { kind: "key", id: caller.keyId, requestId };
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
  readonly event?: EventOfChange | undefined;
};

export type EventOfChange = {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly data: object;
};

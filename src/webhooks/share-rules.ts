// How much a process sends at once, and for whom: the shares that `receivers.ts` counts.

import type { Environment } from "../kernel/caller.ts";

/** How many more: never below zero, whatever it was computed from. */
export type SendRoom = number & { readonly isRoom: true };

export function toRoom(count: number): SendRoom {
  return Math.max(0, Math.floor(count)) as SendRoom; // No other place makes one.
}

/**
 *   underWay   requests that are not answered
 *   fresh      attempts that are neither recorded nor waited for longer than usual; a crash sends these
 *              twice
 *   open       requests to receivers whose breaker is open
 */
export type Kind = "underWay" | "fresh" | "open";

export type SenderShares = Readonly<
  Record<"all" | "sandbox" | "desk", Readonly<Record<Kind, number>>>
> & { readonly slowMs: number };

/**
 * Fresh: bounds of 96, 192 and 384 for one desk delivered 0.43, 0.57 and 0.67 of what a bare loop of
 * POSTs does (`npm run bench -- webhooks`).
 */
export const senderShares: SenderShares = {
  all: { underWay: 1_536, fresh: 512, open: 128 },
  sandbox: { underWay: 1_152, fresh: 384, open: 96 },
  desk: { underWay: 384, fresh: 320, open: 32 },
  slowMs: 2_000,
};

/** A receiver and whose it is. */
export type OwnedReceiver = {
  readonly webhook_id: string;
  readonly desk_id: string;
  readonly environment: Environment;
};

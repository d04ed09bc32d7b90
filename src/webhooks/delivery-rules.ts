// What a receiver's answer means, and when it is tried again.
//
//   pending ──2xx──▶ delivered
//      │ ▲
//      │ └──replay──┐
//      └──gave up──▶ dead
//
// Given up are a refusal (4xx but 429), an address that must not be reached, and whatever failed as
// often as the schedule has numbers. A redirect is never followed; it may be a deployment under way.

import type { Lifecycle } from "../kernel/lifecycle.ts";

export type DeliveryState = "pending" | "delivered" | "dead";

export const deliveryLifecycle = {
  noun: "delivery",
  initial: ["pending", "dead"],
  states: ["pending", "delivered", "dead"],
  moves: {
    deliver: { from: ["pending"], to: "delivered", by: "clock" },
    give_up: { from: ["pending"], to: "dead", by: "clock" },
    replay: { from: ["dead"], to: "pending" },
  },
} as const satisfies Lifecycle<DeliveryState>;

export const reasons = [
  "timeout",
  "network",
  "tls",
  "redirect",
  "refused",
  "throttled",
  "unavailable",
  "address_blocked",
  "disabled",
  "deleted",
] as const;

/** Why a delivery was not taken: by the last attempt, or by the state of its subscription. */
export type Reason = (typeof reasons)[number];

export const outcomes = ["delivered", "transient", "permanent"] as const;

export type Outcome = (typeof outcomes)[number];

/** How a receiver answered, or why it did not. */
export type Heard =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | {
      readonly kind: "failed";
      readonly fault: Extract<Reason, "timeout" | "network" | "tls" | "address_blocked">;
    };

export type Classified = {
  readonly outcome: Outcome;
  readonly status: number | null;
  readonly reason: Reason | null;
};

export function classOf(heard: Heard): Classified {
  if (heard.kind === "failed") {
    const outcome = heard.fault === "address_blocked" ? "permanent" : "transient";
    return { outcome, status: null, reason: heard.fault };
  }
  const { status } = heard;
  if (status >= 200 && status < 300) return { outcome: "delivered", status, reason: null };
  if (status < 400) return { outcome: "transient", status, reason: "redirect" };
  if (status === 429) return { outcome: "transient", status, reason: "throttled" };
  if (status < 500) return { outcome: "permanent", status, reason: "refused" };
  return { outcome: "transient", status, reason: "unavailable" };
}

/** Up to this part of a delay is added to it by chance, so that what failed together spreads. */
const jitterPart = 0.1;
const retryAfterMsMax = 86_400_000;

export type Progress = {
  /** Attempts so far, with the one just made. */
  readonly tries: number;
  readonly scheduleS: readonly number[];
  readonly now: Date;
  /** From 0 up to 1. */
  readonly chance: number;
};

/** When to try again; undefined when this was the last attempt. */
export function nextDueAt(
  heard: Heard,
  { tries, scheduleS, now, chance }: Progress,
): Date | undefined {
  const delayS = scheduleS[tries];
  if (delayS === undefined) return undefined;
  const scheduledMs = delayS * 1_000 * (1 + jitterPart * chance);
  return new Date(now.getTime() + Math.max(scheduledMs, askedDelayMs(heard, now)));
}

/** What a receiver asks for by Retry-After; it only ever lengthens the delay. */
function askedDelayMs(heard: Heard, now: Date): number {
  if (heard.kind === "failed" || heard.retryAfter === undefined) return 0;
  if (heard.status !== 429 && heard.status !== 503) return 0;
  const text = heard.retryAfter.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), retryAfterMsMax);
}

/** What is kept of an answer, as text that any reader and the database can hold. */
export function shownAnswer(head: Buffer): string {
  return head
    .toString("utf8")
    .replaceAll(/\p{Cc}|\uFFFD/gu, " ")
    .trim();
}

/** Replayed deliveries of one receiver are spread out: it may have come back only just now. */
export const replayedPerSecond = 100;
export const replayedMax = 1_000;

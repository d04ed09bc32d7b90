// Classifies a receiver's answer and computes the next retry.
//
//   pending ──2xx──▶ delivered
//      │ ▲
//      │ └──replay──┐
//      └──gave up──▶ dead
//
// A delivery is dead after a 4xx other than 429, after a blocked address, and once every delay of the
// schedule has been used. A redirect is never followed but is retried: it may be a deployment.

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
  "paused",
  "deleted",
] as const;

/** Why a delivery failed: the result of the last attempt, or the state of its subscription. */
export type Reason = (typeof reasons)[number];

export const outcomes = ["delivered", "transient", "permanent"] as const;

export type DeliveryOutcome = (typeof outcomes)[number];

/** The receiver's answer, or why there is none. */
export type PostResult =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | {
      readonly kind: "failed";
      readonly fault: Extract<Reason, "timeout" | "network" | "tls" | "address_blocked">;
    };

type Classified = {
  readonly outcome: DeliveryOutcome;
  readonly status: number | null;
  readonly reason: Reason | null;
};

export function classify(heard: PostResult): Classified {
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

/** Adds up to a tenth of the delay at random, so that deliveries that failed together spread out. */
const jitterPart = 0.1;
const retryAfterMsMax = 86_400_000;

type RetryState = {
  /** Attempts so far, including the last one. */
  readonly tries: number;
  readonly scheduleS: readonly number[];
  readonly now: Date;
  /** A random number from 0 up to 1. */
  readonly chance: number;
};

/** The time of the next attempt; undefined after the last one. */
export function nextDueAt(
  heard: PostResult,
  { tries, scheduleS, now, chance }: RetryState,
): Date | undefined {
  const delayS = scheduleS[tries];
  if (delayS === undefined) return undefined;
  const scheduledMs = delayS * 1_000 * (1 + jitterPart * chance);
  return new Date(now.getTime() + Math.max(scheduledMs, parseRetryAfterMs(heard, now)));
}

/** The delay asked for by Retry-After. It can lengthen the schedule's delay, never shorten it. */
function parseRetryAfterMs(heard: PostResult, now: Date): number {
  if (heard.kind === "failed" || heard.retryAfter === undefined) return 0;
  if (heard.status !== 429 && heard.status !== 503) return 0;
  const text = heard.retryAfter.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), retryAfterMsMax);
}

/** The stored part of an answer, without characters that the database or a reader refuses. */
export function cleanAnswer(head: Buffer): string {
  return head
    .toString("utf8")
    .replaceAll(/\p{Cc}|\uFFFD/gu, " ")
    .trim();
}

/** Paces the replays of one receiver, which may have recovered only just now. */
export const replayedPerSecond = 100;
export const replayedMax = 1_000;

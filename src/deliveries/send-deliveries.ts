// Due deliveries become attempts. Four things are under way at the same time:
//
//   claim     a few hundred due deliveries, at most as many per receiver as it has room for
//   send      each of them at once; the answer decides what becomes of it
//   record    what was heard, all attempts of the moment as one set
//   judge     a receiver that has failed for days is warned of and in the end given up
//
// The process may stop at any line. A delivery is claimed before it is sent and settled after, so one
// whose process is gone is due again when its lease ends: a receiver may see it twice, never not at
// all. What another process claimed meanwhile is settled by its lease and by nobody else's.

import { setTimeout as sleep } from "node:timers/promises";

import { coalesce } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import type { Outbound } from "../platform/outbound.ts";
import { judgeFailing, noteRecovery } from "../webhooks/judge-webhook.ts";
import { signedHeaders } from "../webhooks/rules.ts";
import { claimDue, leaseMs, type Leased } from "./claim-due.ts";
import { deliveriesTopic } from "./fan-out.ts";
import { Receivers } from "./receivers.ts";
import { type FailingSince, type Made, recordAttempts } from "./record-attempts.ts";
import { classOf, nextDueAt, shownAnswer } from "./rules.ts";

export type SenderOptions = {
  readonly outbound: Outbound;
  readonly scheduleS: readonly number[];
};

export type Sender = {
  /** Sends what is due and waits for no receiver; says whether there may be more. */
  readonly work: () => Promise<"more" | "idle">;
  /** Resolves when nothing is under way. */
  readonly settled: () => Promise<void>;
};

/**
 * So many may be on their way to being recorded. What a crash cuts off in between is sent twice, so
 * there are few; those whose receiver takes its time do not count among them.
 */
const freshMax = 96;
const slowMs = 250;
const recordedMax = 512;
const queueMax = 10_000;
const lookMs = 250;
const recordAgainMs = 500;
/** So long before a lease ends writing down is given up: somebody else may send by then. */
const leaseMarginMs = 2_000;

export function deliverySender(ctx: Context, { outbound, scheduleS }: SenderOptions): Sender {
  const receivers = new Receivers();
  const underWay = new Set<Promise<void>>();
  const room = signal();
  let fresh = 0;
  ctx.db.onAnnounced(deliveriesTopic, room.give);

  function isFull(): boolean {
    return fresh >= freshMax || receivers.room() === 0;
  }

  const record = coalesce<Made, FailingSince>(
    async (made) => {
      const failing = await recordAttempts(ctx, made);
      return made.map(() => failing);
    },
    { setSizeMax: recordedMax, queueMax, setsInFlight: 2 },
  );

  async function attempt(leased: Leased): Promise<void> {
    const made = await send(ctx, leased, { outbound, scheduleS });
    const succeeded = made.attempt.outcome === "delivered";
    receivers.end(leased.webhook_id, succeeded);
    const failing = await persist(() => record(made));
    if (succeeded && leased.isFailing) await noteRecovery(ctx, leased.webhook_id);
    const since = failing?.get(leased.webhook_id);
    if (!succeeded && since) await judgeFailing(ctx, leased.webhook_id, since);
  }

  function begin(leased: Leased): void {
    receivers.begin(leased.webhook_id);
    fresh += 1;
    let isFresh = true;
    const age = () => {
      if (isFresh) fresh -= 1;
      isFresh = false;
      room.give();
    };
    const slow = setTimeout(age, slowMs);
    const attempting = attempt(leased)
      .catch((error: unknown) => ctx.log.error({ err: error }, "a delivery was not settled"))
      .finally(() => {
        clearTimeout(slow);
        age();
        underWay.delete(attempting);
      });
    underWay.add(attempting);
  }

  return {
    async work() {
      while (isFull()) await room.taken(lookMs);
      const { leased, found } = await claimDue(ctx, receivers, freshMax - fresh);
      leased.forEach(begin);
      if (found) return "more";
      if (receivers.underWay === 0) return "idle";
      // Receivers that are full may hold back what is due: the next look comes with the next answer.
      await room.taken(lookMs);
      return "more";
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Tries until the lease is about to end: what was sent should not be sent again for a short outage. */
async function persist<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - startedAt > leaseMs / 2 - leaseMarginMs) throw error;
      await sleep(recordAgainMs, undefined, { ref: false });
    }
  }
}

/** One POST, and what follows from how it was answered. */
async function send(
  { now }: Pick<Context, "now">,
  leased: Leased,
  { outbound, scheduleS }: SenderOptions,
): Promise<Made> {
  const at = now();
  const startedAt = performance.now();
  const body = Buffer.from(leased.body);
  const { delivery_id: deliveryId, event, secrets, lease } = leased;
  const headers = signedHeaders({ deliveryId, event, body, secrets, now: at });
  const heard = await outbound.post({ url: new URL(leased.url), headers, body });
  const { outcome, status, reason } = classOf(heard);
  const tries = leased.tries + 1;
  const chance = Math.random();
  const dueAt =
    outcome === "transient"
      ? (nextDueAt(heard, { tries, scheduleS, now: now(), chance }) ?? null)
      : null;
  const undelivered = dueAt ? "pending" : "dead";
  return {
    webhookId: leased.webhook_id,
    state: outcome === "delivered" ? "delivered" : undelivered,
    dueAt,
    attempt: {
      delivery_id: deliveryId,
      lease,
      at,
      duration_ms: Math.round(performance.now() - startedAt),
      outcome,
      status,
      reason,
      answer: heard.kind === "answered" ? shownAnswer(heard.head) : "",
    },
  };
}

/** Something to wait for that is given many times and taken once. */
function signal() {
  let given = Promise.withResolvers<void>();
  return {
    give: () => given.resolve(),
    /** Until it is given, or for so long. */
    async taken(mostMs: number): Promise<void> {
      const waiting = new AbortController();
      await Promise.race([
        given.promise,
        sleep(mostMs, undefined, { signal: waiting.signal, ref: false }).catch(() => {}),
      ]);
      waiting.abort();
      given = Promise.withResolvers();
    },
  };
}

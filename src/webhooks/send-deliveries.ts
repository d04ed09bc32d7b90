// Sends due deliveries. Four steps run concurrently:
//
//   claim     lease due deliveries, per receiver at most its free room
//   send      POST each at once; the answer decides its next state
//   record    store the results, all that are ready as one set
//   judge     warn the desk of a receiver that has failed for days, and disable it in the end
//
// At-least-once: a delivery is leased before the POST and settled after. If the process dies, it is due
// again when the lease expires, and the receiver may get it twice. Only the holder of the current lease
// settles a delivery.
//
// The whole way of an event to a receiver:
//
//   events ──fan-out──▶ deliveries (pending) ──claim──▶ POST ──▶ delivered
//             cursor per       ▲  lease and              │  └──▶ pending, due by the schedule
//             subscription     │  fencing number         └─────▶ dead ──replay──▶ pending
//                              └─ lease expired: its process died
//
// A delivery's id is a digest of subscription and event: known before anything is sent, and the same
// on every attempt, replay and restart. A request is signed over the stored bytes of the event and
// goes to a vetted public address only (`platform/outbound.ts`). At the claim, deliveries of a
// disabled or deleted subscription become dead letters. Recording can be repeated, and is while the
// database is away.

import { setTimeout as sleep } from "node:timers/promises";

import { findEvents } from "../journal/find-events.ts";
import type { Context } from "../platform/context.ts";
import type { Outbound } from "../platform/outbound.ts";
import { coalesce } from "../platform/postgres/coalesce.ts";
import { hasDue } from "./delivery-lists-store.ts";
import { classify, type DeliveryState, nextDueAt, cleanAnswer } from "./delivery-rules.ts";
import { type AttemptRow, type QueueUpdate, settleAttempts } from "./attempt-store.ts";
import {
  claimDeliveries,
  claimDueQueues,
  type ClaimedDelivery,
  type DueQueue,
  setDead,
} from "./delivery-store.ts";
import { recordRecovery, warnOrDisable } from "./change-webhooks.ts";
import { deliveriesTopic } from "./fan-out.ts";
import { Receivers } from "./receivers.ts";
import { buildHeaders } from "./rules.ts";
import { openSecrets } from "./signing-secrets.ts";

export type SenderOptions = {
  readonly outbound: Outbound;
  readonly scheduleS: readonly number[];
};

type Sender = {
  /** Starts the attempts that are due, without waiting for receivers. */
  readonly work: () => Promise<"more" | "idle">;
  /** Resolves when no attempt is under way. */
  readonly settled: () => Promise<void>;
};

/**
 * Attempts that are neither recorded nor slow. A crash sends these twice, so they are few; attempts
 * that wait for a slow receiver do not count.
 */
const freshMax = 96;
const slowMs = 250;
const recordedMax = 512;
const queueMax = 10_000;
const lookMs = 250;
const recordAgainMs = 500;
/** Stop retrying the write this long before the lease expires. */
const leaseMarginMs = 2_000;

export function createSender(ctx: Context, { outbound, scheduleS }: SenderOptions): Sender {
  const receivers = new Receivers();
  const underWay = new Set<Promise<void>>();
  const room = createSignal();
  let fresh = 0;
  ctx.db.onAnnounced(deliveriesTopic, room.give);

  function isFull(): boolean {
    return fresh >= freshMax || receivers.room() === 0;
  }

  const record = coalesce<AttemptResult, FailingSince>(
    async (made) => {
      const failing = await recordAttempts(ctx, made);
      return made.map(() => failing);
    },
    { setSizeMax: recordedMax, queueMax, setsInFlight: 2 },
  );

  async function attempt(leased: LeasedDelivery): Promise<void> {
    const made = await send(ctx, leased, { outbound, scheduleS });
    const succeeded = made.attempt.outcome === "delivered";
    receivers.end(leased.webhook_id, succeeded);
    const failing = await retryWithinLease(() => record(made));
    if (succeeded && leased.isFailing) await recordRecovery(ctx, leased.webhook_id);
    const since = failing?.get(leased.webhook_id);
    if (!succeeded && since) await warnOrDisable(ctx, leased.webhook_id, since);
  }

  function begin(leased: LeasedDelivery): void {
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
      // Full receivers may hold back due deliveries: look again at the next answer.
      await room.taken(lookMs);
      return "more";
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Retries until the lease is about to expire, so that a short outage causes no second POST. */
async function retryWithinLease<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
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

/** Makes one POST and decides the next state of the delivery. */
async function send(
  { now }: Pick<Context, "now">,
  leased: LeasedDelivery,
  { outbound, scheduleS }: SenderOptions,
): Promise<AttemptResult> {
  const at = now();
  const startedAt = performance.now();
  const body = Buffer.from(leased.body);
  const { delivery_id: deliveryId, event, secrets, lease } = leased;
  const headers = buildHeaders({ deliveryId, event, body, secrets, now: at });
  const heard = await outbound.post({ url: new URL(leased.url), headers, body });
  const { outcome, status, reason } = classify(heard);
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
      answer: heard.kind === "answered" ? cleanAnswer(heard.head) : "",
    },
  };
}

/** A signal that can be given many times before it is taken once. */
function createSignal() {
  let given = Promise.withResolvers<void>();
  return {
    give: () => given.resolve(),
    /** Waits for the signal, for at most `mostMs`. */
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

type ToldDelivery = ClaimedDelivery & { readonly body: string };

/** A delivery that this process may send until its lease expires. */
type LeasedDelivery = ToldDelivery & {
  readonly url: string;
  readonly isFailing: boolean;
  readonly secrets: readonly string[];
};

/** Longer than a request and the recording of its result may take. */
const leaseMs = 20_000;

const queuesMax = 64;
const buriedMax = 1_000;

/**
 * Claims due deliveries of receivers with room, in turn. A statement of its own locks the queues, so
 * that the next statement sees everything committed before the lock; otherwise `next_due_at` could
 * miss a new delivery, which would then not be sent.
 */
export async function claimDue(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  receivers: Receivers,
  most: number,
): Promise<{ leased: LeasedDelivery[]; found: boolean }> {
  const now = ctx.now();
  const left = Math.min(most, receivers.room());
  const fetch = Math.min(queuesMax, left);
  const isQuiet = receivers.underWay === 0;
  if (isQuiet && !(await hasDue(ctx.db, now))) return { leased: [], found: false };
  return await ctx.db.transaction(async (tx) => {
    const queues = await claimDueQueues(tx, { now, full: receivers.full(), fetch });
    if (queues.length === 0) return { leased: [], found: false };
    for (const reason of ["deleted", "disabled"] as const) {
      const ended = queues.filter((queue) => findEndReason(queue) === reason);
      const webhookIds = ended.map(({ webhook_id }) => webhook_id);
      if (ended.length > 0) await setDead(tx, { webhookIds, reason, fetch: buriedMax, now });
    }
    const rooms = shareRoom(queues, receivers, left);
    const leaseEndsAt = new Date(now.getTime() + leaseMs);
    const claimed = await claimDeliveries(tx, rooms, { now, leaseEndsAt });
    const findEvent = await findEvents(tx, claimed);
    const told = claimed.flatMap((delivery) => {
      const event = findEvent(delivery);
      return event ? [{ ...delivery, body: event.body }] : [];
    });
    return { leased: toLeased(told, queues, ctx.sealKey, now), found: true };
  });
}

function findEndReason({ deleted, state }: DueQueue): "deleted" | "disabled" | undefined {
  if (deleted) return "deleted";
  return state === "disabled" ? "disabled" : undefined;
}

/** Shares the room equally, so that a long backlog gets no more of it than a short one. */
function shareRoom(queues: readonly DueQueue[], receivers: Receivers, left: number) {
  const share = Math.max(1, Math.floor(left / queues.length));
  return queues.map((queue) => ({
    webhookId: queue.webhook_id,
    most: findEndReason(queue) ? 0 : Math.min(receivers.roomFor(queue.webhook_id), share),
  }));
}

function toLeased(
  claimed: readonly ToldDelivery[],
  queues: readonly DueQueue[],
  sealKey: Buffer,
  now: Date,
): LeasedDelivery[] {
  const wanted = new Set(claimed.map(({ webhook_id }) => webhook_id));
  const receivers = new Map(
    queues
      .filter(({ webhook_id }) => wanted.has(webhook_id))
      .map((queue) => [
        queue.webhook_id,
        {
          url: queue.url,
          isFailing: queue.state === "failing",
          secrets: openSecrets(queue, sealKey, now),
        },
      ]),
  );
  return claimed.map((delivery) => {
    const receiver = receivers.get(delivery.webhook_id);
    if (!receiver) throw new Error(`the queue of ${delivery.webhook_id} was not claimed`);
    return { ...delivery, ...receiver };
  });
}

/** An attempt, and the next state of its delivery. */
type AttemptResult = {
  readonly webhookId: string;
  readonly attempt: AttemptRow;
  readonly state: DeliveryState;
  /** The next attempt; null unless the delivery stays pending. */
  readonly dueAt: Date | null;
};

/** Since when each failing receiver of the set has been failing. */
type FailingSince = ReadonlyMap<string, Date>;

/** Idempotent: an attempt is stored once, and a lease settles its delivery once. */
export async function recordAttempts(
  ctx: Pick<Context, "db" | "now">,
  made: readonly AttemptResult[],
): Promise<FailingSince> {
  const now = ctx.now();
  const rows = made
    .map(({ attempt, state, dueAt }) => ({ ...attempt, state, due_at: dueAt ?? now }))
    .toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  const queues = await settleAttempts(ctx.db, { made: rows, news: summarizeByQueue(made), now });
  return new Map(
    queues.flatMap(({ webhook_id, failing_since }) =>
      failing_since ? [[webhook_id, failing_since] as const] : [],
    ),
  );
}

function summarizeByQueue(made: readonly AttemptResult[]): QueueUpdate[] {
  const news = new Map<string, QueueUpdate>();
  for (const { webhookId, attempt, dueAt } of made) {
    const before = news.get(webhookId);
    const succeeded = attempt.outcome === "delivered";
    news.set(webhookId, {
      webhookId,
      dueAt: earlier(before?.dueAt ?? null, dueAt),
      succeeded, // The last one counts.
      failed: (before?.failed ?? false) || !succeeded,
    });
  }
  return [...news.values()];
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a < b ? a : b;
}

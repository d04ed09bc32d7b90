// Sends due deliveries. Four steps run concurrently:
//
//   claim     lease due deliveries, per receiver at most its free room (`claim-deliveries.ts`)
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
//   events ──fan-out──▶ blocks (pending) ──claim──▶ POST ──▶ delivered, in its block
//             cursor per     ▲  lease and            │
//             subscription   │  fencing number       └─ failed or slow: a row of its own
//                            └─ lease expired:            ├──▶ delivered
//                               its process died          ├──▶ pending, due by the schedule
//                                                         └──▶ dead ──replay──▶ pending
//
// A delivery's id is a digest of subscription and event: known before anything is sent, and the same
// on every attempt, replay and restart. A request is signed over the stored bytes of the event and
// goes to a vetted public address only (`platform/outbound.ts`). At the claim, deliveries of a
// disabled or deleted subscription become dead letters. Recording can be repeated, and is while the
// database is away.

import { setTimeout as sleep } from "node:timers/promises";

import { keepRecentEvents } from "../journal/find-events.ts";
import type { Context } from "../platform/context.ts";
import type { Outbound } from "../platform/outbound.ts";
import { coalesce } from "../platform/postgres/coalesce.ts";
import {
  type ApartDelivery,
  type AttemptRow,
  type EndedBlock,
  type FailingQueue,
  keepAttempts,
  type QueueUpdate,
  settleAttempts,
  settleBlocks,
} from "./attempt-store.ts";
import { type DeliveredOne, packDelivered } from "./block-rules.ts";
import { recordRecovery, warnOrDisable } from "./change-webhooks.ts";
import { claimDue, type LeasedBlock, type LeasedDelivery, leaseMs } from "./claim-deliveries.ts";
import { classify, cleanAnswer, type DeliveryState, nextDueAt } from "./delivery-rules.ts";
import { deliveriesTopic } from "./fan-out.ts";
import { Receivers } from "./receivers.ts";
import { signHeaders } from "./rules.ts";
import type { OwnedReceiver, SenderShares } from "./share-rules.ts";

export type SenderOptions = {
  readonly outbound: Outbound;
  readonly scheduleS: readonly number[];
  /** How long a block waits for its answers. */
  readonly blockMs?: number;
  readonly shares?: SenderShares;
};

type Sender = {
  /** Starts the attempts that are due, without waiting for receivers. */
  readonly work: () => Promise<"more" | "idle">;
  /** Resolves when no attempt is under way. */
  readonly settled: () => Promise<void>;
};

const blockMsDefault = 250;
const recordedMax = 512;
const recordedBlocksMax = 64;
const queueMax = 10_000;
const recentEventsMax = 4_096;
const lookMs = 250;
const recordAgainMs = 500;
/** Stop retrying the write this long before the lease expires. */
const leaseMarginMs = 2_000;

export function createSender(
  ctx: Context,
  { outbound, scheduleS, blockMs = blockMsDefault, shares }: SenderOptions,
): Sender {
  const receivers = new Receivers(shares);
  const underWay = new Set<Promise<void>>();
  const room = createSignal();
  const find = keepRecentEvents(recentEventsMax);
  let isSandboxFull = false;
  ctx.db.onAnnounced(deliveriesTopic, room.give);

  const record = coalesce<AttemptResult, FailingSince>(
    async (made) => {
      const failing = await recordAttempts(ctx, made);
      return made.map(() => failing);
    },
    { setSizeMax: recordedMax, queueMax, setsInFlight: 2 },
  );
  const recordBlock = coalesce<BlockResult, FailingSince>(
    async (results) => {
      const failing = await recordBlocks(ctx, results);
      return results.map(() => failing);
    },
    { setSizeMax: recordedBlocksMax, queueMax, setsInFlight: 2 },
  );

  async function post(leased: LeasedDelivery): Promise<AttemptResult> {
    const request = receivers.begin(leased.to.receiver);
    const late = setTimeout(request.lag, receivers.slowMs);
    const made = await send(ctx, leased, { outbound, scheduleS });
    clearTimeout(late);
    request.end(made.state === "delivered");
    return made;
  }

  async function attempt(leased: LeasedDelivery): Promise<void> {
    await settle(leased, await post(leased));
  }

  async function settle(leased: LeasedDelivery, made: AttemptResult): Promise<void> {
    const failing = await retryWithinLease(() => record(made));
    await judge(leased.webhook_id, [made], { wasFailing: leased.to.isFailing, failing });
  }

  /** Records a block when its attempts are answered, or without those that take long. */
  async function attemptBlock(block: LeasedBlock, waited: Promise<void>): Promise<void> {
    const made: (AttemptResult | undefined)[] = block.deliveries.map(() => undefined);
    const posts = block.deliveries.map(async (leased, place) => {
      const result = await post(leased);
      made[place] = result;
      return result;
    });
    await Promise.race([Promise.all(posts), waited]);
    const answered = [...made];
    const failing = await retryWithinLease(() => recordBlock({ block, made: answered }));
    await judge(
      block.webhook_id,
      answered.filter((result) => result !== undefined),
      { wasFailing: block.isFailing, failing },
    );
    await Promise.all(
      block.deliveries.map(async (leased, place) => {
        const late = posts[place];
        if (!answered[place] && late) await settle(leased, await late);
      }),
    );
  }

  async function judge(
    webhookId: string,
    made: readonly AttemptResult[],
    { wasFailing, failing }: { wasFailing: boolean; failing: FailingSince | undefined },
  ): Promise<void> {
    const isTaken = ({ state }: AttemptResult) => state === "delivered";
    if (wasFailing && made.some(isTaken)) await recordRecovery(ctx, webhookId);
    const since = failing?.get(webhookId);
    if (since && !made.every(isTaken)) await warnOrDisable(ctx, webhookId, since);
  }

  /** Counts attempts as fresh until they are recorded or take long. */
  function begin(
    { receiver, count }: { readonly receiver: OwnedReceiver; readonly count: number },
    work: (waited: Promise<void>) => Promise<void>,
  ): void {
    const endFresh = receivers.countFresh(receiver, count);
    const waited = Promise.withResolvers<void>();
    const age = () => {
      endFresh();
      waited.resolve();
      if (isSandboxFull || receivers.isReady(receiver)) room.give();
    };
    const timer = setTimeout(age, blockMs);
    const attempting = work(waited.promise)
      .catch((error: unknown) => ctx.log.error({ err: error }, "a delivery was not settled"))
      .finally(() => {
        clearTimeout(timer);
        age();
        underWay.delete(attempting);
      });
    underWay.add(attempting);
  }

  return {
    async work() {
      while (receivers.roomIn("live") === 0) await room.taken(lookMs);
      isSandboxFull = receivers.roomIn("sandbox") === 0;
      const { deliveries, blocks, found } = await claimDue(ctx, receivers, find);
      for (const leased of deliveries) {
        begin({ receiver: leased.to.receiver, count: 1 }, () => attempt(leased));
      }
      for (const block of blocks) {
        const {
          receiver,
          deliveries: { length: count },
        } = block;
        begin({ receiver, count }, (waited) => attemptBlock(block, waited));
      }
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
  const { delivery_id: deliveryId, event, lease, body, traceparent } = leased;
  const { url, keys } = leased.to;
  const headers = {
    ...signHeaders({ deliveryId, event, body, now: at }, keys),
    ...(traceparent !== null && { traceparent }),
  };
  const heard = await outbound.post({ url, headers, body });
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

// Stores the results of attempts. What was taken at the first attempt stays in its block; what failed,
// and what still waits for its answer, leaves the block for a row of its own.

/** An attempt, and the next state of its delivery. */
type AttemptResult = {
  readonly webhookId: string;
  readonly attempt: AttemptRow;
  readonly state: DeliveryState;
  /** The next attempt; null unless the delivery stays pending. */
  readonly dueAt: Date | null;
};

/** A block and the results of its deliveries, in their order; undefined while there is no answer. */
type BlockResult = {
  readonly block: LeasedBlock;
  readonly made: readonly (AttemptResult | undefined)[];
};

/** Since when each failing receiver of the set has been failing. */
type FailingSince = ReadonlyMap<string, Date>;

/** Idempotent: an attempt is stored once, and a lease settles its delivery once. */
async function recordAttempts(
  ctx: Pick<Context, "db" | "now">,
  made: readonly AttemptResult[],
): Promise<FailingSince> {
  const now = ctx.now();
  const rows = made
    .map(({ attempt, state, dueAt }) => ({ ...attempt, state, due_at: dueAt ?? now }))
    .toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  return toFailingSince(
    await settleAttempts(ctx.db, { made: rows, news: summarizeByQueue(made), now }),
  );
}

/** Idempotent, as above. */
export async function recordBlocks(
  ctx: Pick<Context, "db" | "now">,
  results: readonly BlockResult[],
): Promise<FailingSince> {
  const now = ctx.now();
  const made = results.flatMap((result) => result.made.filter((one) => one !== undefined));
  const rows = await settleBlocks(ctx.db, {
    blocks: results.map(endBlock).toSorted(byPlace),
    apart: results.flatMap((result) => listApart(result, now)),
    made: made.filter(({ state }) => state !== "delivered").map(({ attempt }) => attempt),
    news: summarizeByQueue(made),
    now,
  });
  const ended = new Set(rows.map((row) => `${row.webhook_id} ${row.first_sequence}`));
  const lost = results
    .filter(({ block }) => !ended.has(`${block.webhook_id} ${block.first_sequence}`))
    .flatMap((result) => result.made.flatMap((one) => one?.attempt ?? []));
  if (lost.length > 0) await keepAttempts(ctx.db, lost);
  return toFailingSince(rows);
}

function toFailingSince(queues: readonly FailingQueue[]): FailingSince {
  return new Map(
    queues.flatMap(({ webhook_id, failing_since }) =>
      failing_since ? [[webhook_id, failing_since] as const] : [],
    ),
  );
}

function byPlace(a: EndedBlock, b: EndedBlock): number {
  if (a.webhook_id !== b.webhook_id) return a.webhook_id < b.webhook_id ? -1 : 1;
  return a.first_sequence - b.first_sequence;
}

function endBlock({ block, made }: BlockResult): EndedBlock {
  const { webhook_id, first_sequence, lease, deliveries } = block;
  const taken = deliveries.flatMap(({ sequence }, place): DeliveredOne[] => {
    const one = made[place];
    if (one?.state !== "delivered") return [];
    const { delivery_id: deliveryId, at, duration_ms: durationMs, status, answer } = one.attempt;
    return [{ deliveryId, sequence, at, durationMs, status: status ?? 0, answer }];
  });
  const last_sequence = taken.at(-1)?.sequence ?? first_sequence;
  const place = { webhook_id, first_sequence, lease, last_sequence };
  return { ...place, deliveries: taken.length, ...packDelivered(taken) };
}

function listApart({ block, made }: BlockResult, now: Date): ApartDelivery[] {
  return block.deliveries.flatMap((delivery, place) => {
    const one = made[place];
    return one?.state === "delivered" ? [] : [toApart(block, delivery, one, now)];
  });
}

function toApart(
  { first_sequence, leaseEndsAt }: LeasedBlock,
  { delivery_id, webhook_id, sequence, event, lease }: LeasedDelivery,
  made: AttemptResult | undefined,
  now: Date,
): ApartDelivery {
  return {
    webhook_id,
    first_sequence,
    delivery_id,
    sequence,
    event,
    lease,
    state: made?.state ?? "pending",
    due_at: made ? (made.dueAt ?? now) : leaseEndsAt,
    attempts: made ? 1 : 0,
    last_status: made?.attempt.status ?? null,
    reason: made?.attempt.reason ?? null,
  };
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

// Sends due deliveries. Four steps run concurrently:
//
//   claim     lease due deliveries, per receiver at most its free room (`claim-deliveries.ts`)
//   send      POST each at once; the answer decides its next state
//   record    store the results, all that are ready as one set (`record-attempts.ts`)
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

import { keepRecentEvents } from "../journal/recent-events.ts";
import type { Context } from "../platform/context.ts";
import type { Outbound } from "../platform/outbound.ts";
import { coalesce } from "../platform/postgres/coalesce.ts";
import { recordRecovery, warnOrDisable } from "./change-webhooks.ts";
import { claimDue, leaseMs, type LeasedBlock, type LeasedDelivery } from "./claim-deliveries.ts";
import { classify, cleanAnswer, nextDueAt } from "./delivery-rules.ts";
import { deliveriesTopic } from "./fan-out.ts";
import { Receivers } from "./receivers.ts";
import {
  type AttemptResult,
  type BlockResult,
  type FailingSince,
  recordAttempts,
  recordBlocks,
} from "./record-attempts.ts";
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

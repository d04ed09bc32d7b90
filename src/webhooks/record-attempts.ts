// Stores the results of attempts. What was taken at the first attempt stays in its block; what failed,
// and what still waits for its answer, leaves the block for a row of its own.

import type { Context } from "../platform/context.ts";
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
import type { LeasedBlock, LeasedDelivery } from "./claim-deliveries.ts";
import type { DeliveryState } from "./delivery-rules.ts";

/** An attempt, and the next state of its delivery. */
export type AttemptResult = {
  readonly webhookId: string;
  readonly attempt: AttemptRow;
  readonly state: DeliveryState;
  /** The next attempt; null unless the delivery stays pending. */
  readonly dueAt: Date | null;
};

/** A block and the results of its deliveries, in their order; undefined while there is no answer. */
export type BlockResult = {
  readonly block: LeasedBlock;
  readonly made: readonly (AttemptResult | undefined)[];
};

/** Since when each failing receiver of the set has been failing. */
export type FailingSince = ReadonlyMap<string, Date>;

/** Idempotent: an attempt is stored once, and a lease settles its delivery once. */
export async function recordAttempts(
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

import type { Context } from "../platform/context.ts";
import { openSecrets } from "../webhooks/secrets.ts";
import { hasDue } from "./lists-store.ts";
import type { Receivers } from "./receivers.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  claimDueQueues,
  type DueQueue,
  setDead,
} from "./store.ts";

/** A delivery that is this process's to send until its lease ends. */
export type Leased = ClaimedDelivery & {
  readonly url: string;
  readonly isFailing: boolean;
  readonly secrets: readonly string[];
};

/** Longer than a request may take, with what it takes to write down how it went. */
export const leaseMs = 20_000;

const queuesMax = 64;
const buriedMax = 1_000;

/**
 * Claims what is due, up to a number, from receivers that have room, by turns. Queues are locked by a statement of their
 * own, so that the next one sees all that was committed before the lock: an earliest due time that
 * misses a new delivery would let it lie.
 */
export async function claimDue(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  receivers: Receivers,
  most: number,
): Promise<{ leased: Leased[]; found: boolean }> {
  const now = ctx.now();
  const left = Math.min(most, receivers.room());
  const fetch = Math.min(queuesMax, left);
  const isQuiet = receivers.underWay === 0;
  if (isQuiet && !(await hasDue(ctx.db, now))) return { leased: [], found: false };
  return await ctx.db.transaction(async (tx) => {
    const queues = await claimDueQueues(tx, { now, full: receivers.full(), fetch });
    if (queues.length === 0) return { leased: [], found: false };
    for (const reason of ["deleted", "disabled"] as const) {
      const ended = queues.filter((queue) => endedBy(queue) === reason);
      const webhookIds = ended.map(({ webhook_id }) => webhook_id);
      if (ended.length > 0) await setDead(tx, { webhookIds, reason, fetch: buriedMax, now });
    }
    const rooms = roomsOf(queues, receivers, left);
    const leaseEndsAt = new Date(now.getTime() + leaseMs);
    const claimed = await claimDeliveries(tx, rooms, { now, leaseEndsAt });
    return { leased: leasedOf(claimed, queues, ctx.sealKey, now), found: true };
  });
}

function endedBy({ deleted, state }: DueQueue): "deleted" | "disabled" | undefined {
  if (deleted) return "deleted";
  return state === "disabled" ? "disabled" : undefined;
}

/** What is left is shared alike, so that a long backlog takes no more of it than a short one. */
function roomsOf(queues: readonly DueQueue[], receivers: Receivers, left: number) {
  const share = Math.max(1, Math.floor(left / queues.length));
  return queues.map((queue) => ({
    webhookId: queue.webhook_id,
    most: endedBy(queue) ? 0 : Math.min(receivers.roomFor(queue.webhook_id), share),
  }));
}

function leasedOf(
  claimed: readonly ClaimedDelivery[],
  queues: readonly DueQueue[],
  sealKey: Buffer,
  now: Date,
): Leased[] {
  const wanted = new Set(claimed.map(({ webhook_id }) => webhook_id));
  const receiverOf = new Map(
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
    const receiver = receiverOf.get(delivery.webhook_id);
    if (!receiver) throw new Error("a delivery is claimed from a queue");
    return { ...delivery, ...receiver };
  });
}

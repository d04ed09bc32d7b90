// Turns events into deliveries, one for each subscription that matches.
//
//   journal           the desk's log; its sequence has no gap and becomes visible in order
//   webhook_queues    the cursor `fanned_sequence`: every event up to it was fanned out or did not match
//   delivery_blocks   deliveries by the block, inserted in the transaction that moves the cursor past
//                     their events
//
// A cursor is safe because a desk's sequence is taken under a lock that is held to the commit: a reader
// that sees an event sees every earlier one of its desk. With numbers from a database sequence, a cursor
// could pass an event that is not committed yet, and lose it.
//
// The queue's row is locked, so two processes never fan out one queue at once; a crash leaves the cursor
// where it was. A walk over all subscriptions, some at a time, finds those that are behind.

import { type FoundEvent, listEventsOfDesks } from "../journal/find-events.ts";
import { dayMs } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { cutIntoBlocks } from "./block-rules.ts";
import { insertBlocks, type WaitingBlock } from "./block-store.ts";
import { type DeadLetter, insertDeadLetters } from "./delivery-store.ts";
import { buildDeliveryId, isWanted, pausedDaysMax } from "./rules.ts";
import {
  claimQueuesToFan,
  findQueuesBehind,
  insertQueues,
  type QueueToFan,
  setFannedSequences,
} from "./fan-out-store.ts";

/** Announced when there are new deliveries to send. */
export const deliveriesTopic = "deliveries";

const subscriptionsPerLook = 500;
const queuesMax = 20;
const eventsPerDeskMax = 500;

/** Each run looks at the next subscriptions and fans out those that are behind. */
export function createFanOut(
  ctx: Pick<Context, "db" | "now">,
  schedule: Schedule,
  offenders: Offenders = noOffenders(),
): () => Promise<"more" | "idle"> {
  let after = "";
  return async () => {
    const { behind, next } = await findQueuesBehind(ctx.db, {
      after,
      look: subscriptionsPerLook,
      fetch: queuesMax,
      not: offenders.ids(),
    });
    after = next ?? "";
    const done = behind.length > 0 ? await fanOut(ctx, { ...schedule, behind }, offenders) : 0;
    return done > 0 || next !== null ? "more" : "idle";
  };
}

type Schedule = { readonly scheduleS: readonly number[] };

async function fanOut(
  ctx: Pick<Context, "db" | "now">,
  { scheduleS, behind }: Schedule & { readonly behind: readonly string[] },
  offenders: Offenders,
): Promise<number> {
  const now = ctx.now();
  const dueAt = new Date(now.getTime() + (scheduleS[0] ?? 0) * 1_000);
  const fan = async (tx: Tx, webhookIds: readonly string[]): Promise<number> => {
    await insertQueues(tx, webhookIds);
    const queues = await claimQueuesToFan(tx, webhookIds);
    if (queues.length === 0) return 0; // Other processes have claimed them.
    const events = await listEventsOfDesks(tx, listDesksToRead(queues), eventsPerDeskMax);
    const fanned = queues.map((queue) => selectEvents(queue, events, { dueAt, now }));
    const blocks = fanned.flatMap((one) => one.blocks);
    const dead = fanned.flatMap((one) => one.dead);
    if (blocks.length > 0) await insertBlocks(tx, blocks);
    if (dead.length > 0) await insertDeadLetters(tx, dead, now);
    await setFannedSequences(
      tx,
      fanned.map((one) => ({
        webhookId: one.queue.webhook_id,
        sequence: one.sequence,
        dueAt: one.blocks.length > 0 ? dueAt : null,
      })),
    );
    tx.announce(deliveriesTopic);
    return queues.length;
  };
  return await workInParts(offenders, ({ only }, claimed) => {
    const webhookIds = only ?? behind;
    claimed(webhookIds);
    return ctx.db.transaction((tx) => fan(tx, webhookIds));
  });
}

/** Each desk is read once, from the cursor of its queue that is furthest behind. */
function listDesksToRead(queues: readonly QueueToFan[]): { deskId: string; after: number }[] {
  const after = new Map<string, number>();
  for (const { desk_id, fanned_sequence } of queues) {
    after.set(desk_id, Math.min(after.get(desk_id) ?? Infinity, fanned_sequence));
  }
  return [...after].map(([deskId, from]) => ({ deskId, after: from }));
}

type Times = { readonly dueAt: Date; readonly now: Date };

/** The deliveries of a queue among the events read, and its new cursor. */
function selectEvents(queue: QueueToFan, events: readonly FoundEvent[], times: Times) {
  const news = events.filter(
    ({ desk_id, sequence }) => desk_id === queue.desk_id && sequence > queue.fanned_sequence,
  );
  const wanted = news.filter((head) => isWanted(queue, head));
  const isDisabled = queue.state === "disabled";
  const oldest = (queue.enabled_at?.getTime() ?? 0) - pausedDaysMax * dayMs;
  const isOld = ({ created_at }: FoundEvent) => new Date(created_at).getTime() < oldest;
  const { old = [], recent = [] } = Object.groupBy(wanted, (head) =>
    isOld(head) ? "old" : "recent",
  );
  return {
    queue,
    sequence: news.at(-1)?.sequence ?? queue.fanned_sequence,
    blocks: isDisabled ? [] : cutIntoBlocks(recent).map((part) => toBlock(queue, part, times)),
    // Events for a disabled webhook, and those of a long pause, are dead letters, which can be replayed.
    dead: [
      ...old.map((head) => toDeadLetter(queue, head, "paused", times)),
      ...(isDisabled ? recent.map((head) => toDeadLetter(queue, head, "disabled", times)) : []),
    ],
  };
}

function toBlock(
  { webhook_id, environment, desk_id }: QueueToFan,
  events: readonly FoundEvent[],
  { dueAt, now }: Times,
): WaitingBlock {
  const sequences = events.map(({ sequence }) => sequence);
  const [first_sequence = 0] = sequences;
  const block = { webhook_id, environment, desk_id, first_sequence, sequences };
  return { ...block, due_at: dueAt, lease: 0, created_at: now };
}

function toDeadLetter(
  queue: QueueToFan,
  head: FoundEvent,
  reason: "disabled" | "paused",
  { now }: Times,
): DeadLetter {
  const { webhook_id, environment, desk_id } = queue;
  return {
    delivery_id: buildDeliveryId(webhook_id, head),
    webhook_id,
    environment,
    desk_id,
    sequence: head.sequence,
    event: head.event,
    reason,
    lease: 0,
    version: 1,
    created_at: now,
  };
}

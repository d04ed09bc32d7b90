// Claims what is due: deliveries that have rows of their own, then blocks.
//
// A statement of its own locks the queues, so that the next statements see everything committed before
// the lock; otherwise a queue's `ready_at` could miss a new delivery, which would then not be sent.

import { type FindEvent, type FoundEvent, findEvents } from "../journal/find-events.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { cutBlock } from "./block-rules.ts";
import {
  insertBlocks,
  lockDueBlocks,
  removeBlocks,
  takeBlocks,
  type WaitingBlock,
} from "./block-store.ts";
import { hasDue } from "./delivery-lists-store.ts";
import type { Reason } from "./delivery-rules.ts";
import {
  claimDeliveries,
  claimDueQueues,
  type ClaimedDelivery,
  type DeadLetter,
  type DueQueue,
  insertDeadLetters,
  type QueueRoom,
  setDead,
  setServed,
} from "./delivery-store.ts";
import type { Receivers } from "./receivers.ts";
import { buildDeliveryId, prepareKey, type SigningKey } from "./rules.ts";
import { openSecrets } from "./signing-secrets.ts";

/** The receiver of a claimed delivery. */
type Addressee = {
  readonly url: URL;
  readonly isFailing: boolean;
  readonly keys: readonly SigningKey[];
};

/** A delivery that this process may send until its lease expires. */
export type LeasedDelivery = ClaimedDelivery & {
  readonly to: Addressee;
  readonly body: Buffer;
};

/** A block of them, which is recorded as one. */
export type LeasedBlock = {
  readonly webhook_id: string;
  readonly first_sequence: number;
  readonly lease: number;
  readonly leaseEndsAt: Date;
  readonly isFailing: boolean;
  readonly deliveries: readonly LeasedDelivery[];
};

export type Claimed = {
  readonly deliveries: readonly LeasedDelivery[];
  readonly blocks: readonly LeasedBlock[];
  /** Whether any queue was due. */
  readonly found: boolean;
};

/** Longer than a request and the recording of its result may take. */
export const leaseMs = 20_000;

const queuesMax = 64;
const buriedMax = 1_000;
const buriedBlocksMax = 64;

const nothing: Claimed = { deliveries: [], blocks: [], found: false };

/** Claims about `most` due deliveries of receivers with room, in turn. */
export async function claimDue(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  receivers: Receivers,
  most: number,
  find: typeof findEvents = findEvents,
): Promise<Claimed> {
  const now = ctx.now();
  const left = Math.min(most, receivers.room());
  const isQuiet = receivers.underWay === 0;
  if (isQuiet && !(await hasDue(ctx.db, now))) return nothing;
  const leaseEndsAt = new Date(now.getTime() + leaseMs);
  return await ctx.db.transaction(async (tx) => {
    const fetch = Math.min(queuesMax, left);
    const queues = await claimDueQueues(tx, { now, full: receivers.full(), fetch });
    if (queues.length === 0) return nothing;
    for (const reason of ["deleted", "disabled"] as const) {
      const ended = queues.filter((queue) => findEndReason(queue) === reason);
      const webhookIds = ended.map(({ webhook_id }) => webhook_id);
      if (ended.length > 0) await bury(tx, webhookIds, reason, { now, leaseEndsAt, find });
    }
    const rooms = shareRoom(queues, receivers, left);
    const claimed = await claimDeliveries(tx, rooms, { now, leaseEndsAt });
    const roomAfter = takeFrom(queues, receivers, claimed);
    const due = await lockDueBlocks(tx, roomAfter, now);
    const findEvent = await find(tx, [...claimed, ...due.flatMap(listEvents)]);
    const cut = cutBlocks(due, roomAfter, { left: left - claimed.length, findEvent, leaseEndsAt });
    const served = listServed(queues, due, cut.taken);
    await tx.pipelineBehind(takeBlocks(cut.taken, cut.rest), [setServed(served, now)]);
    const address = openAddressees(queues, ctx.sealKey, now);
    return {
      deliveries: claimed.flatMap((delivery) => {
        const event = findEvent(delivery);
        return event ? [{ ...delivery, ...address(delivery), body: Buffer.from(event.body) }] : [];
      }),
      blocks: cut.sent.map((block) => toLeased(block, findEvent, address(block))),
      found: true,
    };
  });
}

function findEndReason({ deleted, state }: DueQueue): "deleted" | "disabled" | undefined {
  if (deleted) return "deleted";
  return state === "disabled" ? "disabled" : undefined;
}

/** Shares the room equally, so that a long backlog gets no more of it than a short one. */
function shareRoom(queues: readonly DueQueue[], receivers: Receivers, left: number): QueueRoom[] {
  const share = Math.max(1, Math.floor(left / queues.length));
  return queues.map((queue) => ({
    webhook_id: queue.webhook_id,
    most: findEndReason(queue) ? 0 : Math.min(receivers.roomFor(queue.webhook_id), share),
  }));
}

/** The room of each receiver after these were claimed. */
function takeFrom(
  queues: readonly DueQueue[],
  receivers: Receivers,
  claimed: readonly ClaimedDelivery[],
): QueueRoom[] {
  const counts = Map.groupBy(claimed, ({ webhook_id }) => webhook_id);
  return queues
    .filter((queue) => !findEndReason(queue))
    .map(({ webhook_id }) => ({
      webhook_id,
      most: Math.max(0, receivers.roomFor(webhook_id) - (counts.get(webhook_id)?.length ?? 0)),
    }));
}

function listEvents({ desk_id, sequences }: WaitingBlock) {
  return sequences.map((sequence) => ({ desk_id, sequence }));
}

type Cut = {
  /** Leased from now on. */
  readonly taken: WaitingBlock[];
  /** Those of them that are sent: all whose events can be read. */
  readonly sent: WaitingBlock[];
  /** What was cut off and stays due. */
  readonly rest: WaitingBlock[];
};

/**
 * Takes blocks of each queue in turn while there is room. Only a queue that would get nothing otherwise
 * has a block cut, so that blocks stay whole.
 */
function cutBlocks(
  due: readonly WaitingBlock[],
  rooms: readonly QueueRoom[],
  {
    left,
    findEvent,
    leaseEndsAt,
  }: { readonly left: number; readonly findEvent: FindEvent; readonly leaseEndsAt: Date },
): Cut {
  const cut: Cut = { taken: [], sent: [], rest: [] };
  let total = left;

  /** Takes a block as far as it fits; returns how much. */
  function take(block: WaitingBlock, room: number): number {
    const { desk_id } = block;
    const isReadable = (sequence: number) => findEvent({ desk_id, sequence }) !== undefined;
    const { taken, rest, sent } = cutBlock(block.sequences, room, isReadable);
    const leased = { ...block, sequences: taken, due_at: leaseEndsAt, lease: block.lease + 1 };
    cut.taken.push(leased);
    if (sent) cut.sent.push(leased);
    const [first_sequence] = rest;
    if (first_sequence !== undefined) cut.rest.push({ ...block, first_sequence, sequences: rest });
    return taken.length;
  }

  let waiting = [...Map.groupBy(due, ({ webhook_id }) => webhook_id)].map(
    ([webhookId, blocks]) => ({
      blocks,
      room: rooms.find(({ webhook_id }) => webhook_id === webhookId)?.most ?? 0,
    }),
  );
  for (let round = 0; waiting.length > 0; round++) {
    waiting = waiting.filter((queue) => {
      const block = queue.blocks[round];
      const fits = block && total > 0 && (round === 0 || block.sequences.length <= queue.room);
      if (!fits) return false;
      const taken = take(block, queue.room);
      queue.room -= taken;
      total -= taken;
      return taken === block.sequences.length;
    });
  }
  return cut;
}

/** The queues that had their turn: all but those whose blocks found no room. */
function listServed(
  queues: readonly DueQueue[],
  due: readonly WaitingBlock[],
  taken: readonly WaitingBlock[],
): string[] {
  const wanted = new Set(due.map(({ webhook_id }) => webhook_id));
  const got = new Set(taken.map(({ webhook_id }) => webhook_id));
  return queues
    .map(({ webhook_id }) => webhook_id)
    .filter((webhookId) => !wanted.has(webhookId) || got.has(webhookId));
}

type Address = (of: { readonly webhook_id: string }) => { readonly to: Addressee };

/** Opens the secrets of a receiver when its first delivery is addressed. */
function openAddressees(queues: readonly DueQueue[], sealKey: Buffer, now: Date): Address {
  const byId = new Map(queues.map((queue) => [queue.webhook_id, queue]));
  const opened = new Map<string, Addressee>();
  return ({ webhook_id }) => {
    const queue = byId.get(webhook_id);
    if (!queue) throw new Error(`the queue of ${webhook_id} was not claimed`);
    const to = opened.get(webhook_id) ?? {
      url: new URL(queue.url),
      isFailing: queue.state === "failing",
      keys: openSecrets(queue, sealKey, now).map(prepareKey),
    };
    opened.set(webhook_id, to);
    return { to };
  };
}

function toLeased(
  block: WaitingBlock,
  findEvent: FindEvent,
  { to }: { readonly to: Addressee },
): LeasedBlock {
  const { webhook_id, first_sequence, lease, desk_id, due_at: leaseEndsAt } = block;
  const deliveries = block.sequences.map((sequence): LeasedDelivery => {
    const event = findEvent({ desk_id, sequence });
    if (!event) throw new Error("a block is cut before an event that cannot be read");
    return {
      delivery_id: buildDeliveryId(webhook_id, event),
      webhook_id,
      event: event.event,
      lease,
      tries: 0,
      desk_id,
      sequence,
      to,
      body: Buffer.from(event.body),
    };
  });
  return { webhook_id, first_sequence, lease, leaseEndsAt, isFailing: to.isFailing, deliveries };
}

/** Gives up what waits for webhooks that were disabled or deleted. */
async function bury(
  tx: Tx,
  webhookIds: readonly string[],
  reason: Extract<Reason, "deleted" | "disabled">,
  { now, leaseEndsAt, find }: { now: Date; leaseEndsAt: Date; find: typeof findEvents },
): Promise<void> {
  await setDead(tx, { webhookIds, reason, fetch: buriedMax, now });
  const blocks = await removeBlocks(tx, webhookIds, buriedBlocksMax);
  if (blocks.length === 0) return;
  const findEvent = await find(tx, blocks.flatMap(listEvents));
  const letters: DeadLetter[] = [];
  const unreadable: WaitingBlock[] = [];
  for (const block of blocks) {
    const { desk_id, sequences } = block;
    for (const sequence of sequences) {
      const event = findEvent({ desk_id, sequence });
      if (event) letters.push(toDeadLetter(block, event, reason));
      else {
        const alone = { first_sequence: sequence, sequences: [sequence], due_at: leaseEndsAt };
        unreadable.push({ ...block, ...alone });
      }
    }
  }
  if (letters.length > 0) await insertDeadLetters(tx, letters, now);
  if (unreadable.length > 0) await insertBlocks(tx, unreadable);
}

function toDeadLetter(block: WaitingBlock, event: FoundEvent, reason: Reason): DeadLetter {
  const { webhook_id, environment, desk_id, lease, created_at } = block;
  return {
    delivery_id: buildDeliveryId(webhook_id, event),
    webhook_id,
    environment,
    desk_id,
    sequence: event.sequence,
    event: event.event,
    reason,
    lease,
    version: 2,
    created_at,
  };
}

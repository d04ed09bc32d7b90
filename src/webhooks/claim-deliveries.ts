// Claims what is due: deliveries that have rows of their own, then blocks.
//
// A statement of its own locks the queues, so that the next statements see everything committed before
// the lock; otherwise a queue's `ready_at` could miss a new delivery, which would then not be sent.

import { type FindEvent, type FoundEvent, findEvents } from "../journal/find-events.ts";
import { environments } from "../kernel/caller.ts";
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
  type EnvironmentRoom,
  insertDeadLetters,
  type QueueRoom,
  setDead,
  setServed,
} from "./delivery-store.ts";
import type { DeliveryClaim, Receivers } from "./receivers.ts";
import { buildDeliveryId, prepareKey, type SigningKey } from "./rules.ts";
import { type OwnedReceiver, type SendRoom, toRoom } from "./share-rules.ts";
import { openSecrets } from "./signing-secrets.ts";

/** The receiver of a claimed delivery. */
type Addressee = {
  readonly receiver: OwnedReceiver;
  readonly url: URL;
  readonly isFailing: boolean;
  readonly keys: readonly SigningKey[];
};

/** A delivery that this process may send until its lease expires. */
export type LeasedDelivery = ClaimedDelivery & {
  readonly to: Addressee;
  readonly body: Buffer;
  readonly traceparent: string | null;
};

/** A block of them, which is recorded as one. */
export type LeasedBlock = {
  readonly webhook_id: string;
  readonly receiver: OwnedReceiver;
  readonly first_sequence: number;
  readonly lease: number;
  readonly leaseEndsAt: Date;
  readonly isFailing: boolean;
  readonly deliveries: readonly LeasedDelivery[];
};

type Claimed = {
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

/** Claims due deliveries of receivers with room, in turn. */
export async function claimDue(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  receivers: Receivers,
  find: typeof findEvents = findEvents,
): Promise<Claimed> {
  const now = ctx.now();
  const isQuiet = receivers.underWay === 0;
  if (isQuiet && !(await hasDue(ctx.db, now))) return nothing;
  return await receivers.claim(async (claim) => {
    const full = receivers.full();
    return await ctx.db.transaction(
      async (tx) => await claimInto(tx, claim, { ...ctx, now, full, find }),
    );
  });
}

async function claimInto(
  tx: Tx,
  claim: DeliveryClaim,
  {
    now,
    full,
    sealKey,
    find,
  }: {
    readonly now: Date;
    readonly full: ReturnType<Receivers["full"]>;
    readonly sealKey: Buffer;
    readonly find: typeof findEvents;
  },
): Promise<Claimed> {
  const leaseEndsAt = new Date(now.getTime() + leaseMs);
  const rooms = environments
    .map((environment): EnvironmentRoom => ({
      environment,
      most: limitQueues(claim.roomIn(environment)),
    }))
    .filter(({ most }) => most > 0);
  const queues = rooms.length > 0 ? await claimDueQueues(tx, { now, full, rooms }) : [];
  if (queues.length === 0) return nothing;
  for (const reason of ["deleted", "disabled"] as const) {
    const ended = queues.filter((queue) => findEndReason(queue) === reason);
    const webhookIds = ended.map(({ webhook_id }) => webhook_id);
    if (ended.length > 0) await bury(tx, webhookIds, reason, { now, leaseEndsAt, find });
  }
  const open = queues.filter((queue) => !findEndReason(queue));
  const claimed = await claimOwn(tx, claim, open, { now, leaseEndsAt });
  const due = await lockDueBlocks(tx, listRooms(open, claim), now);
  const findEvent = await find(tx, [...claimed, ...due.flatMap(listEvents)]);
  const cut = cutBlocks(due, claim, { findEvent, leaseEndsAt });
  const served = listServed(queues, due, cut.taken);
  await tx.pipelineBehind(takeBlocks(cut.taken, cut.rest), [setServed(served, now)]);
  const address = openAddressees(queues, sealKey, now);
  return {
    deliveries: claimed.flatMap((delivery) => {
      const event = findEvent(delivery);
      return event ? [{ ...delivery, ...address(delivery), ...toBody(event) }] : [];
    }),
    blocks: cut.sent.map((block) => toLeased(block, findEvent, address(block))),
    found: true,
  };
}

function limitQueues(room: SendRoom): SendRoom {
  return toRoom(Math.min(queuesMax, room));
}

function findEndReason({ deleted, state }: DueQueue): "deleted" | "disabled" | undefined {
  if (deleted) return "deleted";
  return state === "disabled" ? "disabled" : undefined;
}

/**
 * Claims deliveries that have rows of their own. Each queue has an equal share of the room, so that a
 * long backlog gets no more of it than a short one.
 */
async function claimOwn(
  tx: Tx,
  claim: DeliveryClaim,
  queues: readonly DueQueue[],
  times: { readonly now: Date; readonly leaseEndsAt: Date },
): Promise<ClaimedDelivery[]> {
  const counts = Map.groupBy(queues, ({ environment }) => environment);
  const shares = new Map(
    [...counts].map(([environment, of]) => [environment, claim.roomIn(environment) / of.length]),
  );
  const planned = queues.map((queue) => {
    const share = Math.max(1, shares.get(queue.environment) ?? 1);
    const most = toRoom(Math.min(claim.roomFor(queue), share));
    return { queue, webhook_id: queue.webhook_id, most, giveBack: claim.take(queue, most) };
  });
  const claimed = await claimDeliveries(tx, planned, times);
  const byQueue = Map.groupBy(claimed, ({ webhook_id }) => webhook_id);
  for (const { queue, giveBack } of planned) {
    giveBack();
    claim.take(queue, byQueue.get(queue.webhook_id)?.length ?? 0);
  }
  return claimed;
}

function listRooms(queues: readonly DueQueue[], claim: DeliveryClaim): QueueRoom[] {
  return queues.map((queue) => ({ webhook_id: queue.webhook_id, most: claim.roomFor(queue) }));
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
  claim: DeliveryClaim,
  { findEvent, leaseEndsAt }: { readonly findEvent: FindEvent; readonly leaseEndsAt: Date },
): Cut {
  const cut: Cut = { taken: [], sent: [], rest: [] };

  /** Takes a block as far as it fits; returns whether it was whole. */
  function take(block: WaitingBlock, room: SendRoom): boolean {
    const { desk_id } = block;
    const isReadable = (sequence: number) => findEvent({ desk_id, sequence }) !== undefined;
    const { taken, rest, sent } = cutBlock(block.sequences, room, isReadable);
    const leased = { ...block, sequences: taken, due_at: leaseEndsAt, lease: block.lease + 1 };
    cut.taken.push(leased);
    if (sent) {
      cut.sent.push(leased);
      claim.take(block, taken.length);
    }
    const [first_sequence] = rest;
    if (first_sequence !== undefined) cut.rest.push({ ...block, first_sequence, sequences: rest });
    return rest.length === 0;
  }

  let waiting = [...Map.groupBy(due, ({ webhook_id }) => webhook_id).values()];
  for (let round = 0; waiting.length > 0; round++) {
    waiting = waiting.filter((blocks) => {
      const block = blocks[round];
      const room = block ? claim.roomFor(block) : toRoom(0);
      const fits = block && room > 0 && (round === 0 || block.sequences.length <= room);
      return fits === true && take(block, room);
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
      receiver: queue,
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
  const { receiver, isFailing } = to;
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
      ...toBody(event),
    };
  });
  return { webhook_id, receiver, first_sequence, lease, leaseEndsAt, isFailing, deliveries };
}

function toBody({ body, traceparent }: FoundEvent) {
  return { body: Buffer.from(body), traceparent };
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

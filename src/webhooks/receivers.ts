// Which receivers may be sent to now, and how much: shares of the requests that this process has under
// way, so that nobody's receivers keep the others waiting.
//
//   all        what the process has under way
//   sandbox    three quarters of it; the rest is live's alone
//   desk       a quarter of it, whatever its receivers do
//   receiver   two blocks, and at most half of what its desk has left, so that receivers that hang leave
//              room for the desk's others
//
// A breaker per receiver:
//
//   closed     it gets what is above, by the block
//   open       after a few consecutive failures it gets one at a time, until one succeeds in time; open
//              receivers have a small part of each share, and every delivery is still tried on schedule
//
// What takes longer than `slowMs` counts as a failure as soon as it does, whatever is answered then: a
// receiver that says 200 late holds as much as one that never answers.

import type { Environment } from "../kernel/caller.ts";
import { deliveriesPerBlockMax } from "./block-rules.ts";
import {
  type Kind,
  type OwnedReceiver,
  type SendRoom,
  type SenderShares,
  senderShares,
  toRoom,
} from "./share-rules.ts";

const roomMax = 2 * deliveriesPerBlockMax;
const failuresToOpen = 5;

type Request = {
  /** It has taken too long, and counts as failed whatever follows. */
  readonly lag: () => void;
  readonly end: (succeeded: boolean) => void;
};

class Share {
  readonly #most: Readonly<Record<Kind, number>>;
  readonly #taken: Record<Kind, number> = { underWay: 0, fresh: 0, open: 0 };

  constructor(most: Readonly<Record<Kind, number>>) {
    this.#most = most;
  }

  left(kind: Kind): SendRoom {
    return toRoom(this.#most[kind] - this.#taken[kind]);
  }

  /** Half of what may be fresh is done: more is claimed then, so that it is claimed by the block. */
  get isHalfDone(): boolean {
    return this.#taken.fresh <= this.#most.fresh / 2;
  }

  get isIdle(): boolean {
    return Object.values(this.#taken).every((taken) => taken === 0);
  }

  add(kind: Kind, count: number): void {
    this.#taken[kind] += count;
  }
}

type Receiver = OwnedReceiver & { underWay: number; failures: number };

/** What one claim may take: it counts as under way until the claim is over. */
export type DeliveryClaim = {
  readonly roomIn: (environment: Environment) => SendRoom;
  readonly roomFor: (receiver: OwnedReceiver) => SendRoom;
  /** Returns a function that gives it back before. */
  readonly take: (receiver: OwnedReceiver, count: number) => () => void;
};

export class Receivers {
  readonly slowMs: number;
  readonly #shares: SenderShares;
  readonly #all: Share;
  readonly #sandbox: Share;
  readonly #desks = new Map<string, Share>();
  readonly #known = new Map<string, Receiver>();
  #underWay = 0;

  constructor(shares: SenderShares = senderShares) {
    this.slowMs = shares.slowMs;
    this.#shares = shares;
    this.#all = new Share(shares.all);
    this.#sandbox = new Share(shares.sandbox);
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** How many more requests all receivers of an environment may get. */
  roomIn(environment: Environment): SendRoom {
    const shares = environment === "live" ? [this.#all] : [this.#all, this.#sandbox];
    return leastLeft(shares, ["underWay", "fresh"]);
  }

  /** How many more requests a receiver may get now. */
  roomFor(receiver: OwnedReceiver): SendRoom {
    const { underWay, failures } = this.#find(receiver);
    const desk = this.#findDesk(receiver);
    const shares = this.#listShares(receiver, desk);
    if (failures >= failuresToOpen) {
      const left = leastLeft(shares, ["underWay", "fresh", "open"]);
      return toRoom(Math.min(1 - underWay, left));
    }
    const most = Math.min(roomMax, Math.ceil(desk.left("underWay") / 2));
    // A receiver that is busy gets whole blocks, so that each is sent while another is recorded.
    if (underWay > 0 && most - underWay < deliveriesPerBlockMax) return toRoom(0);
    return toRoom(Math.min(most - underWay, leastLeft(shares, ["underWay", "fresh"])));
  }

  /** Whether a claim should look at the receiver: also its desk is through with half of what is fresh. */
  isReady(receiver: OwnedReceiver): boolean {
    return this.roomFor(receiver) > 0 && this.#findDesk(receiver).isHalfDone;
  }

  /** Receivers, and desks with all of theirs, that a claim need not look at. */
  full(): { readonly webhookIds: string[]; readonly deskIds: string[] } {
    const receivers = [...this.#known.values()].filter((known) => this.roomFor(known) === 0);
    const desks = [...this.#desks].filter(
      ([, share]) => share.left("underWay") === 0 || !share.isHalfDone,
    );
    return {
      webhookIds: receivers.map(({ webhook_id }) => webhook_id),
      deskIds: desks.map(([deskId]) => deskId),
    };
  }

  /** Runs a claim, and counts what it takes until it is over. */
  async claim<Result>(work: (claim: DeliveryClaim) => Promise<Result>): Promise<Result> {
    const taken: (() => void)[] = [];
    try {
      return await work({
        roomIn: (environment) => this.roomIn(environment),
        roomFor: (receiver) => this.roomFor(receiver),
        take: (receiver, count) => {
          const holds = [this.#hold(receiver, count), this.countFresh(receiver, count)];
          const give = once(() => holds.forEach((release) => release()));
          taken.push(give);
          return give;
        },
      });
    } finally {
      for (const give of taken) give();
    }
  }

  begin(receiver: OwnedReceiver): Request {
    const release = this.#hold(receiver, 1);
    const known = this.#find(receiver);
    let isJudged = false;
    const judge = (succeeded: boolean) => {
      if (!isJudged) this.#judge(known, succeeded);
      isJudged = true;
    };
    return {
      lag: () => judge(false),
      end: once((succeeded: boolean) => {
        judge(succeeded);
        release();
      }),
    };
  }

  /** Counts attempts as fresh until the returned function is called. */
  countFresh(receiver: OwnedReceiver, count: number): () => void {
    const desk = this.#findDesk(receiver);
    this.#desks.set(receiver.desk_id, desk);
    const shares = this.#listShares(receiver, desk);
    for (const share of shares) share.add("fresh", count);
    return once(() => {
      for (const share of shares) share.add("fresh", -count);
      this.#forgetDesk(receiver);
    });
  }

  /** Counts requests as under way until the returned function is called. */
  #hold(receiver: OwnedReceiver, count: number): () => void {
    const known = this.#find(receiver);
    this.#known.set(receiver.webhook_id, known);
    this.#desks.set(receiver.desk_id, this.#findDesk(receiver));
    this.#add(known, count);
    return once(() => {
      this.#add(known, -count);
      if (known.underWay === 0 && known.failures === 0) this.#known.delete(known.webhook_id);
      this.#forgetDesk(known);
    });
  }

  #add(known: Receiver, count: number): void {
    known.underWay += count;
    this.#underWay += count;
    for (const share of this.#listShares(known, this.#findDesk(known))) {
      share.add("underWay", count);
      if (isOpen(known)) share.add("open", count);
    }
  }

  #judge(known: Receiver, succeeded: boolean): void {
    const wasOpen = isOpen(known);
    known.failures = succeeded ? 0 : known.failures + 1;
    if (isOpen(known) === wasOpen) return;
    // The receiver's requests under way move to its new state.
    const moved = wasOpen ? -known.underWay : known.underWay;
    for (const share of this.#listShares(known, this.#findDesk(known))) share.add("open", moved);
  }

  #find({ webhook_id, desk_id, environment }: OwnedReceiver): Receiver {
    const known = this.#known.get(webhook_id);
    return known ?? { webhook_id, desk_id, environment, underWay: 0, failures: 0 };
  }

  #findDesk({ desk_id }: OwnedReceiver): Share {
    return this.#desks.get(desk_id) ?? new Share(this.#shares.desk);
  }

  #forgetDesk({ desk_id }: OwnedReceiver): void {
    if (this.#desks.get(desk_id)?.isIdle) this.#desks.delete(desk_id);
  }

  #listShares({ environment }: OwnedReceiver, desk: Share): readonly Share[] {
    return environment === "live" ? [desk, this.#all] : [desk, this.#sandbox, this.#all];
  }
}

function isOpen({ failures }: Receiver): boolean {
  return failures >= failuresToOpen;
}

function leastLeft(shares: readonly Share[], kinds: readonly Kind[]): SendRoom {
  return toRoom(Math.min(...shares.flatMap((share) => kinds.map((kind) => share.left(kind)))));
}

function once<Given extends readonly unknown[]>(
  work: (...given: Given) => void,
): (...given: Given) => void {
  let isDone = false;
  return (...given) => {
    if (!isDone) work(...given);
    isDone = true;
  };
}

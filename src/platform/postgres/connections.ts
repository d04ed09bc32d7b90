// Lends database connections to live before sandbox. The driver's pool opens and ends them; it has one
// queue for everybody, so the limits and the queues are kept here.
//
//   lent      to a caller of the sandbox, or to anybody else: live, workers, what serves both
//   reserved  a share that the sandbox never gets, so that live finds a connection however many sandbox
//             calls are slow
//   awaited   a read that transactions of this process wait for while they hold connections. One
//             connection of each environment is kept for such reads, so that they never wait for the
//             transactions that wait for them
//   waiting   callers that find none, live before sandbox, awaited reads before others, and otherwise in
//             order, for a bounded time
//   refused   at once while the server does not answer, the waiting callers too (`silence.ts`)
//   at hand   a few idle connections that are kept back from the pool and lent without asking it.
//             To ask the pool each time took 13 % more processor time for a quote (decision statements).

import type pg from "pg";

import { type Environment, environments } from "../../kernel/caller.ts";
import { Overloaded } from "./coalesce.ts";
import {
  cut,
  type Heard,
  looksPerSecond,
  patienceFor,
  startHearing,
  watchSilence,
} from "./silence.ts";

/** The fewest connections of a service: in each environment one for calls and one for awaited reads. */
export const connectionsMin = 4;

const purposes = ["awaited", "other"] as const;
export type Purpose = (typeof purposes)[number];

export type Connections = {
  /** At once where one is at hand. */
  lend(environment: Environment, purpose: Purpose): pg.PoolClient | Promise<pg.PoolClient>;
  /** Sets how long its statements may take until it is given back. */
  allow(client: pg.PoolClient, statementMs: number): void;
  /** One that may not be used again is ended. */
  giveBack(client: pg.PoolClient, broken?: Error): void;
  /** What a connection was lost by; undefined while it is open. */
  findLoss(client: pg.PoolClient): Error | undefined;
  count(): ConnectionCount;
  loans(): Loans;
  isStalled(): boolean;
  close(): Promise<void>;
};

export type ConnectionCount = {
  readonly idle: number;
  readonly busy: number;
  /** Callers that wait for one. */
  readonly waiting: number;
};

/** By environment; what serves both counts as live's. */
export type Loans = Readonly<
  Record<Environment, { readonly lent: number; readonly waiting: number }>
>;

type ConnectionLimits = {
  /** The most connections. */
  readonly max: number;
  /** The most that stay at hand. */
  readonly most: number;
  /** How many are never lent to the sandbox. */
  readonly reserved: number;
  /** How many of each environment are lent for awaited reads only. */
  readonly awaited: number;
  /** The statement timeout of the server. */
  readonly statementMs: number;
  /** How long opening a connection may take, and waiting for one. */
  readonly connectMs: number;
};

type ConnectionEvents = {
  readonly onIdleError: (error: Error) => void;
  readonly onStalled: (isStalled: boolean) => void;
};

type Kept = Heard & { lentTo: Environment | undefined };

type WaitingLoan = {
  looks: number;
  readonly resolve: (client: pg.PoolClient | Promise<pg.PoolClient>) => void;
  readonly reject: (error: Error) => void;
};

type Queues = Readonly<Record<Environment, Readonly<Record<Purpose, WaitingLoan[]>>>>;

export function keepConnections(
  pool: pg.Pool,
  { max, most, reserved, awaited, statementMs, connectMs }: ConnectionLimits,
  { onIdleError, onStalled }: ConnectionEvents,
): Connections {
  const all = new Map<pg.PoolClient, Kept>();
  const atHand: pg.PoolClient[] = [];
  const lost = new WeakMap<pg.PoolClient, Error>();
  const lent = { live: 0, sandbox: 0 };
  const queues: Queues = {
    live: { awaited: [], other: [] },
    sandbox: { awaited: [], other: [] },
  };
  const usual = patienceFor(statementMs);
  const waitMaxLooks = Math.ceil((connectMs / 1_000) * looksPerSecond);

  const silence = watchSilence({
    server: pool.options,
    *lent() {
      for (const kept of all.values()) if (kept.lentTo) yield kept;
    },
    onLook: endWaits,
    onStalled(isStalled) {
      onStalled(isStalled);
      if (!isStalled) return;
      rejectAll();
      // They may be dead.
      for (const { client, lentTo } of all.values()) if (!lentTo) cut(client);
    },
  });

  function endWaits(): void {
    for (const { queue } of inOrder(queues)) {
      for (const waiting of queue) waiting.looks += 1;
      while (queue[0] && queue[0].looks > waitMaxLooks) queue.shift()?.reject(new Overloaded());
    }
  }

  function rejectAll(): void {
    for (const { queue } of inOrder(queues)) {
      for (const waiting of queue.splice(0)) waiting.reject(new Overloaded());
    }
  }

  function mayHave(environment: Environment, purpose: Purpose): boolean {
    const kept = purpose === "awaited" ? 0 : awaited;
    const lentInAll = lent.live + lent.sandbox;
    if (environment === "live") return lentInAll < max - kept;
    return lentInAll < max - awaited && lent.sandbox < max - reserved - kept;
  }

  function lend(
    environment: Environment,
    purpose: Purpose,
  ): pg.PoolClient | Promise<pg.PoolClient> {
    if (silence.isStalled()) return Promise.reject(new Overloaded());
    if (mayHave(environment, purpose)) return take(environment);
    return new Promise((resolve, reject) => {
      queues[environment][purpose].push({ looks: 0, resolve, reject });
    });
  }

  function take(environment: Environment): pg.PoolClient | Promise<pg.PoolClient> {
    lent[environment] += 1;
    const client = atHand.pop();
    if (!client) return open(environment);
    findKept(client).lentTo = environment;
    return client;
  }

  async function open(environment: Environment): Promise<pg.PoolClient> {
    const begunMs = performance.now();
    try {
      const client = await pool.connect();
      findKept(client).lentTo = environment;
      return client;
    } catch (error) {
      lent[environment] -= 1;
      if (performance.now() - begunMs >= connectMs) silence.noteUnreachable();
      lendNext();
      throw error;
    }
  }

  function findKept(client: pg.PoolClient): Kept {
    const known = all.get(client);
    if (known) return known;
    const kept: Kept = { ...startHearing(client, statementMs), lentTo: undefined };
    all.set(client, kept);
    return kept;
  }

  function giveBack(client: pg.PoolClient, broken?: Error): void {
    const kept = findKept(client);
    if (kept.lentTo) lent[kept.lentTo] -= 1;
    kept.lentTo = undefined;
    kept.patience = usual;
    const isUsable = !broken && !lost.has(client) && !pool.ending;
    const isWanted = pool.waitingCount > 0;
    // A waiting caller takes it from those at hand.
    const isNext = countWaiting("live") + countWaiting("sandbox") > 0;
    if (isUsable && !isWanted && (isNext || atHand.length < most)) atHand.push(client);
    else client.release(broken ?? lost.has(client));
    if (isNext) lendNext();
  }

  function countWaiting(environment: Environment): number {
    return queues[environment].awaited.length + queues[environment].other.length;
  }

  function lendNext(): void {
    for (const { environment, purpose, queue } of inOrder(queues)) {
      while (queue.length > 0 && mayHave(environment, purpose)) {
        queue.shift()?.resolve(take(environment));
      }
    }
  }

  /** A connection in use is ended when it is given back. */
  function forget(client: pg.PoolClient, error: Error): void {
    // The server says why first; that the socket was closed comes after.
    if (!lost.has(client)) lost.set(client, error);
    const place = atHand.indexOf(client);
    if (place < 0) return;
    atHand.splice(place, 1);
    client.release(error);
    onIdleError(error);
  }

  // Without a listener the error of a connection would end the process.
  pool.on("connect", (client) => client.on("error", (error) => forget(client, error)));
  pool.on("remove", (client) => all.delete(client));
  // Errors of connections that the pool holds; expected while it closes.
  pool.on("error", (error) => {
    if (!pool.ending) onIdleError(error);
  });

  return {
    lend,
    giveBack,
    findLoss: (client) => lost.get(client),
    allow(client, ms) {
      findKept(client).patience = patienceFor(ms);
    },
    count() {
      const idle = pool.idleCount + atHand.length;
      const waiting = countWaiting("live") + countWaiting("sandbox") + pool.waitingCount;
      return { idle, busy: pool.totalCount - idle, waiting };
    },
    loans: () => ({
      live: { lent: lent.live, waiting: countWaiting("live") },
      sandbox: { lent: lent.sandbox, waiting: countWaiting("sandbox") },
    }),
    isStalled: () => silence.isStalled(),
    async close() {
      const isStalled = silence.isStalled();
      silence.close();
      rejectAll();
      const ended = pool.end();
      for (const client of atHand.splice(0)) client.release();
      // A stalled server would not answer the closing handshake.
      if (isStalled) for (const client of all.keys()) cut(client);
      await ended;
    },
  };
}

/** The queues, those that are served first before the others. */
function* inOrder(queues: Queues) {
  for (const environment of environments) {
    for (const purpose of purposes) {
      yield { environment, purpose, queue: queues[environment][purpose] };
    }
  }
}

// Long answers of lines, written as fast as their reader takes them: no more than one page of lines
// is in memory at a time. An answer that breaks off is cut, so that it is not taken for a whole one.
//
// A key has a few of them under way. Those that come after wait for their turn in the order they
// came; who finds the queue full is answered like any other overload, and whoever leaves meanwhile
// gives up its place.

import { Readable } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";

import { Overloaded } from "../postgres/coalesce.ts";

export type Lines = {
  /** Waits for its turn, then refuses with a Failure before anything is sent, or sends. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    open: () => Promise<AsyncIterable<string>>,
  ): Promise<FastifyReply>;
};

export type LinesOptions = {
  /** Answers of this kind that one key has under way at this process. */
  readonly perKeyMax: number;
  /** How many of one key may wait for their turn. */
  readonly waitingMax?: number;
  /** Which keys would not be let in any more. */
  readonly deadAmong: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
};

const keyCheckMs = 500;
const waitingMaxDefault = 8;

type Queue = { underWay: number; readonly waiting: Set<() => void> };

export function openLines({
  perKeyMax,
  waitingMax = waitingMaxDefault,
  deadAmong,
}: LinesOptions): Lines {
  const queues = new Map<string, Queue>();

  /** Resolves when it is this answer's turn, with what ends it. */
  async function takeTurn(keyId: string, hasLeft: AbortSignal): Promise<() => void> {
    const queue = queues.get(keyId) ?? { underWay: 0, waiting: new Set() };
    queues.set(keyId, queue);
    if (queue.underWay < perKeyMax) queue.underWay += 1;
    else if (queue.waiting.size >= waitingMax) throw new Overloaded();
    else await waitIn(queue, hasLeft);
    let isOver = false;
    return () => {
      if (!isOver) endTurn(keyId, queue);
      isOver = true;
    };
  }

  function endTurn(keyId: string, queue: Queue): void {
    for (const next of queue.waiting) {
      queue.waiting.delete(next);
      next();
      return;
    }
    queue.underWay -= 1;
    if (queue.underWay === 0) queues.delete(keyId);
  }

  /** A key that is revoked while its answer is under way gets no more of it. */
  async function* whileAlive(pages: AsyncIterable<string>, key: string): AsyncGenerator<string> {
    let lookedMs = -Infinity; // It may have waited for long.
    for await (const page of pages) {
      if (performance.now() - lookedMs > keyCheckMs) {
        if ((await deadAmong([key])).has(key)) throw new Error("the key of this answer has ended");
        lookedMs = performance.now();
      }
      yield page;
    }
  }

  return {
    async send(request, reply, open) {
      const release = await takeTurn(request.caller.keyId, closeOf(reply));
      try {
        const pages = await open();
        const key = String(request.headers["x-service-key"]);
        const isAsked = request.method !== "HEAD";
        const lines = Readable.from(isAsked ? whileAlive(pages, key) : [], { highWaterMark: 1 });
        lines.once("close", release);
        return await reply.type("application/x-ndjson").send(lines);
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/** Whoever ends hands its turn on, so that nobody who comes later is before those who wait. */
async function waitIn({ waiting }: Queue, hasLeft: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = () => {
    if (waiting.delete(resolve)) reject(new Overloaded());
  };
  waiting.add(resolve);
  hasLeft.addEventListener("abort", giveUp, { once: true });
  if (hasLeft.aborted) giveUp();
  await promise;
}

/** Aborted when the connection of the answer is gone. */
function closeOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  if (raw.destroyed) gone.abort();
  return gone.signal;
}

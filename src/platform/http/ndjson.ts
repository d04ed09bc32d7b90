// Streams long answers as lines (NDJSON), as fast as the client reads them: at most one page of lines
// is in memory. When the source fails, the connection is closed, so that the client does not take a
// part for the whole.
//
// A key may have a few such answers at a time. Later ones wait in a queue; when it is full they are
// refused as overload, and a client that disconnects leaves the queue.

import { Readable } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";

import { toWatched } from "../../kernel/caller.ts";
import { Overloaded } from "../postgres/coalesce.ts";

export type Lines = {
  /** Waits for its turn and opens the source, which may throw a Failure; then sends. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    open: () => Promise<AsyncIterable<string>>,
  ): Promise<FastifyReply>;
};

type LinesOptions = {
  /** How many answers one key may have under way in this process. */
  readonly perKeyMax: number;
  /** How many answers of one key may wait for their turn. */
  readonly waitingMax?: number;
  /** Which of the keys are no longer valid. */
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

  /** Resolves when it is this answer's turn, with the function that ends the turn. */
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

  /** Stops the answer when its key is revoked. */
  async function* whileAlive(pages: AsyncIterable<string>, key: string): AsyncGenerator<string> {
    let lookedMs = -Infinity; // The key is also checked before the first page: it may have waited long.
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
      const release = await takeTurn(request.caller.keyId, watchClose(reply));
      try {
        const pages = await open();
        const key = toWatched(String(request.headers["x-service-key"]), request.caller);
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

/** An answer that ends passes its turn to the first in the queue, so a newcomer cannot overtake. */
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

/** Aborts when the connection closes, also after the whole answer was sent. */
function watchClose({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  if (raw.destroyed) gone.abort();
  return gone.signal;
}

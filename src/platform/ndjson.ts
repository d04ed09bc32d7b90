// Long answers of lines, written as fast as their reader takes them: no more than one page of lines
// is in memory at a time. An answer that breaks off is cut, so that it is not taken for a whole one.

import { Readable } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";

import { Failure } from "../kernel/failure.ts";

export type Lines = {
  /** Refuses with a Failure before anything is sent, or sends. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    open: () => Promise<AsyncIterable<string>>,
  ): Promise<FastifyReply>;
};

export type LinesOptions = {
  /** Answers of this kind that one key may have under way at this process. */
  readonly perKeyMax: number;
  /** Which keys would not be let in any more. */
  readonly deadAmong: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
};

const keyCheckMs = 500;

export function openLines({ perKeyMax, deadAmong }: LinesOptions): Lines {
  const underWay = new Map<string, number>();

  function take(keyId: string): () => void {
    const count = underWay.get(keyId) ?? 0;
    if (count >= perKeyMax) throw tooMany(perKeyMax);
    underWay.set(keyId, count + 1);
    return () => {
      const left = (underWay.get(keyId) ?? 1) - 1;
      if (left > 0) underWay.set(keyId, left);
      else underWay.delete(keyId);
    };
  }

  /** A key that is revoked while its answer is under way gets no more of it. */
  async function* whileAlive(pages: AsyncIterable<string>, key: string): AsyncGenerator<string> {
    let lookedMs = performance.now();
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
      const release = take(request.caller.keyId);
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

function tooMany(perKeyMax: number): Failure {
  return new Failure("rate_limited", `a key has at most ${perKeyMax} of these under way`, {
    form: "edge",
    detail: { reason: "too_many_exports", exports_max: perKeyMax },
  });
}

// Answers that others may keep: how long, and how they ask whether what they keep still holds.
//
// A route that is `tagged` gets an ETag made of the bytes it sends. Whoever holds those bytes and
// says so is answered 304 without them.

import { createHash } from "node:crypto";

import type { FastifyReply, onSendHookHandler } from "fastify";

import type { App } from "./server.ts";

/** An answer and for how long caches may keep it. */
export type Cacheable<Answer> = { readonly answer: Answer; readonly cacheControl: string };

export function sendCacheable<Answer>(
  reply: FastifyReply,
  { answer, cacheControl }: Cacheable<Answer>,
): Answer {
  reply.header("cache-control", cacheControl);
  return answer;
}

export function tagAnswers(app: App): void {
  app.addHook("onRoute", (route) => {
    if (route.config?.tagged) route.onSend = [tagAnswer, route.onSend ?? []].flat();
  });
}

const tagAnswer: onSendHookHandler = (request, reply, payload, done) => {
  const hasBytes = typeof payload === "string" || Buffer.isBuffer(payload);
  if (!hasBytes || reply.statusCode !== 200) {
    done(null, payload);
    return;
  }
  const etag = buildTag(payload);
  reply.header("etag", etag);
  if (!isHeldAlready(request.headers["if-none-match"], etag)) {
    done(null, payload);
    return;
  }
  reply.code(304).removeHeader("content-length");
  done(null, null);
};

export function buildTag(payload: string | Buffer): string {
  return `"${createHash("sha256").update(payload).digest("base64url").slice(0, 22)}"`;
}

/** Caches in between may list several tags and may mark them as weak. */
export function isHeldAlready(header: string | undefined, etag: string): boolean {
  const held = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return held.includes(etag) || held.includes("*");
}

// Server-sent events: answers that stay open and carry one event after another.
//
//   opening    the usual headers (request id, meter), then how soon to come back when it breaks
//   open       events as their source sends them, a heartbeat while it has nothing to say
//   ended      by the source, by the reader, by the service closing, because the key is dead, or
//              because the key has opened more than it may have: then its oldest ends
//
// Nothing grows without bound. What a reader has not taken yet is counted, and one that lags too far
// behind is cut: it comes back with the last id it saw. A source with much to send at once waits for
// `drained` between its pieces.
//
// A revoked key ends its streams too: the keys of all open streams are looked at together, twice a
// second.

import { once } from "node:events";

import type { FastifyReply, FastifyRequest } from "fastify";

import { Overloaded } from "../postgres/coalesce.ts";
import type { App } from "./server.ts";

export type StreamOptions = {
  /** Streams of this route that one key has open at this process; one more ends the oldest. */
  readonly perKeyMax: number;
  /** What is said when nothing else was for a while; a comment unless the source has better. */
  readonly heartbeat?: () => Buffer;
};

export type Stream = {
  /** False when the stream has ended, or ends because of this: its reader lags too far behind. */
  send(text: Buffer): boolean;
  /** Resolves when the reader has taken what was sent, or when the stream has ended. */
  drained(): Promise<void>;
  end(): void;
  /** Aborted when the stream has ended, for whatever reason. */
  readonly ended: AbortSignal;
};

export type Streams = {
  /** Refuses with a Failure before anything is sent, or opens. */
  open(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): Stream;
  count(): number;
};

export type StreamsOptions = {
  /** Which keys would not be let in any more; a throw means that nobody can say now. */
  readonly deadAmong: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly heartbeatMs?: number;
  /** A reader that has left more than this unread is cut. */
  readonly unreadBytesMax?: number;
};

const heartbeatMsDefault = 15_000;
const retryMs = 2_000;
const streamsMax = 20_000;
const unreadBytesMaxDefault = 65_536;
const keysCheckMs = 400;
/** For so many looks in a row nobody may be able to say whether keys are good: ten seconds. */
const unansweredLooksMax = 25;
const endGraceMs = 1_000;

const comment = Buffer.from(":\n\n");
const opening = Buffer.from(`retry: ${retryMs}\n\n`);

/** One event as text, made once however many readers it goes to. */
export function eventText({
  id,
  event,
  data,
}: {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}): Buffer {
  const lines = data.split("\n").map((line) => `data: ${line}\n`);
  const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
  return Buffer.from(`${head}${lines.join("")}\n`);
}

type OpenStream = Stream & { readonly key: string; readonly ofKey: string };

export function openStreams(
  app: App,
  {
    deadAmong,
    heartbeatMs = heartbeatMsDefault,
    unreadBytesMax = unreadBytesMaxDefault,
  }: StreamsOptions,
): Streams {
  const streams = new Set<OpenStream>();
  /** By key and route, the oldest first. */
  const byKey = new Map<string, Set<OpenStream>>();
  let closing = false;
  let looking: NodeJS.Timeout | undefined;
  let unanswered = 0;

  async function lookAtKeys(): Promise<void> {
    const keys = [...new Set([...streams].map(({ key }) => key))];
    const dead = await deadAmong(keys).catch(() => undefined);
    unanswered = dead ? 0 : unanswered + 1;
    for (const stream of streams) {
      const isDead = dead ? dead.has(stream.key) : unanswered > unansweredLooksMax;
      if (isDead) stream.end();
    }
    looking = streams.size > 0 && !closing ? setTimeout(lookSoon, keysCheckMs) : undefined;
  }

  function lookSoon(): void {
    void lookAtKeys();
  }

  function add(stream: OpenStream): void {
    streams.add(stream);
    const siblings = byKey.get(stream.ofKey) ?? new Set();
    byKey.set(stream.ofKey, siblings.add(stream));
    looking ??= setTimeout(lookSoon, keysCheckMs);
    stream.ended.addEventListener("abort", () => {
      streams.delete(stream);
      siblings.delete(stream);
      if (siblings.size === 0 && byKey.get(stream.ofKey) === siblings) byKey.delete(stream.ofKey);
    });
  }

  /** A reader that lost its connection comes back before we know of it: the latest is the one in use. */
  function makeRoom(ofKey: string, perKeyMax: number): void {
    const siblings = byKey.get(ofKey) ?? new Set();
    for (const oldest of siblings) {
      if (siblings.size < perKeyMax) return;
      siblings.delete(oldest);
      oldest.end();
    }
  }

  app.addHook("preClose", (done) => {
    closing = true;
    clearTimeout(looking);
    for (const stream of streams) stream.end();
    done();
  });

  return {
    count: () => streams.size,
    open(request, reply, { perKeyMax, heartbeat = () => comment }) {
      const key = String(request.headers["x-service-key"]);
      const ofKey = `${request.caller.keyId} ${request.declared.label}`;
      if (closing || streams.size >= streamsMax) throw new Overloaded();
      if (request.method !== "HEAD") makeRoom(ofKey, perKeyMax);
      const bounds = { heartbeat, heartbeatMs, unreadBytesMax };
      const stream = { ...streamOf(reply, bounds), key, ofKey };
      if (!stream.ended.aborted) add(stream);
      if (request.method === "HEAD") stream.end();
      return stream;
    },
  };
}

function streamOf(
  reply: FastifyReply,
  {
    heartbeat,
    heartbeatMs,
    unreadBytesMax,
  }: { heartbeat: () => Buffer; heartbeatMs: number; unreadBytesMax: number },
): Stream {
  const ended = new AbortController();
  const { raw } = reply;
  reply.hijack();
  // What was a stream carries no further request, so its end is the connection's, and each event is
  // written as it is: a frame around every one of them would be most of the work.
  raw.shouldKeepAlive = false;
  raw.useChunkedEncodingByDefault = false;
  // What the edge and the meter have set; then what keeps a proxy from holding events back.
  for (const [name, value] of Object.entries(reply.getHeaders())) raw.setHeader(name, value ?? "");
  raw.setHeader("x-accel-buffering", "no");
  raw.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  raw.write(opening);

  let lagged = false;
  const beating = setInterval(() => {
    // A reader that has taken nothing since the last beat is gone, whatever its connection says.
    if (raw.writableNeedDrain && lagged) raw.destroy();
    else send(heartbeat());
    lagged = raw.writableNeedDrain;
  }, heartbeatMs);
  const finish = () => {
    clearInterval(beating);
    ended.abort();
  };
  raw.once("close", finish);
  if (raw.destroyed) finish(); // Its reader left while the key was looked at.
  raw.on("error", () => raw.destroy()); // Its reader left in the middle of a write.

  function send(text: Buffer): boolean {
    if (raw.writableEnded || raw.destroyed) return false;
    raw.write(text);
    if (raw.writableLength <= unreadBytesMax) return true;
    raw.destroy();
    return false;
  }

  return {
    send,
    ended: ended.signal,
    async drained() {
      if (!raw.writableNeedDrain || ended.signal.aborted) return;
      await once(raw, "drain", { signal: ended.signal }).catch(() => {}); // Ended instead.
    },
    end() {
      raw.end();
      setTimeout(() => raw.destroy(), endGraceMs).unref();
    },
  };
}

// Server-sent events: responses that stay open and carry one event after another.
//
//   opening    the usual headers (request id, meter), then the delay before a reconnect
//   open       events from the source, and a heartbeat when there are none
//   ended      for good: the key was revoked, or has opened a stream too many and this is its oldest
//   cut        the service stops or cannot go on, or the client lags: it is meant to come back
//
// The answer is chunked, so that a reader can tell the two: an end has the last chunk, a cut has not.
// An event is framed as a chunk when it is formatted, once for all its clients. A client that speaks
// HTTP/1.0, which knows no chunks, gets the text within.
//
// Every stream has a seat of its desk (`seats.ts`), so that no desk's streams keep out those of others.
//
// Memory is bounded. Unread bytes are counted, and a client that lags too far behind is disconnected;
// it reconnects with the last id it saw. A source with much to send awaits `drained` between pieces.
//
// A revoked key ends its streams: the keys of all open streams are checked together, about twice a
// second.

import { once } from "node:events";

import type { FastifyReply, FastifyRequest } from "fastify";

import { toWatched } from "../../kernel/caller.ts";
import { type SeatOwner, leaveSeat, Seats, takeSeat } from "../seats.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import type { App } from "./server.ts";

/** Some text of a stream as one chunk of its answer. */
export type Frame = Buffer;

export type StreamOptions = {
  /** Open streams of this route per key and process; one more ends the oldest. */
  readonly perKeyMax: number;
  /** The heartbeat; a comment by default. */
  readonly heartbeat?: () => Frame;
};

export type Stream = {
  /** False when the stream has ended, also when it is cut now because the client lags too far behind. */
  send(frame: Frame): boolean;
  /** Resolves when the socket's buffer is empty or the stream has ended. */
  drained(): Promise<void>;
  /** Ends it for good. */
  end(): void;
  /** Breaks it off; the client is meant to come back. */
  cut(): void;
  /** Aborted when the stream has ended for any reason. */
  readonly ended: AbortSignal;
};

type StreamOwner = {
  readonly key: string;
  /** Who has the key, for the limit of a route. */
  readonly owner: string;
  readonly desk: SeatOwner;
};

export type Streams = {
  /** Refuses with a Failure before anything is sent, or opens. */
  open(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): Stream;
  count(): number;
};

export type StreamsOptions = {
  /** The key of a request, which is watched, and whose it is; a desk's by default. */
  readonly identify?: (request: FastifyRequest) => StreamOwner;
  /** Which of the keys are no longer valid; throws when that cannot be checked now. */
  readonly deadAmong: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly heartbeatMs?: number;
  /** A client with more unread bytes than this is disconnected. */
  readonly unreadBytesMax?: number;
  /** Open streams of this process. */
  readonly streamsMax?: number;
};

const heartbeatMsDefault = 15_000;
const retryMs = 2_000;
const streamsMaxDefault = 20_000;
const unreadBytesMaxDefault = 65_536;
const keysCheckMs = 400;
/** After this many failed checks of the keys in a row (ten seconds), all streams end. */
const unansweredLooksMax = 25;
const endGraceMs = 1_000;

const comment = frame(":\n\n");
const opening = frame(`retry: ${retryMs}\n\n`);
const lastChunk = "0\r\n\r\n";

/** Formats one event, once for all its clients. */
export function eventText({
  id,
  event,
  data,
}: {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}): Frame {
  const lines = data.split("\n").map((line) => `data: ${line}\n`);
  const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
  return frame(`${head}${lines.join("")}\n`);
}

/** An id without an event: a reader that is cut before its first event resumes from here. */
export function positionText(id: string): Frame {
  return frame(`id: ${id}\n\n`);
}

function frame(text: string): Frame {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

function unframe(chunk: Frame): Buffer {
  return chunk.subarray(chunk.indexOf("\n") + 1, -2);
}

type OpenStream = Stream & StreamOwner & { readonly ofKey: string };

export function openStreams(
  app: App,
  {
    identify = identifyDesk,
    deadAmong,
    heartbeatMs = heartbeatMsDefault,
    unreadBytesMax = unreadBytesMaxDefault,
    streamsMax = streamsMaxDefault,
  }: StreamsOptions,
): Streams {
  const streams = new Set<OpenStream>();
  /** By key and route, the oldest first. */
  const byKey = new Map<string, Set<OpenStream>>();
  const seats = new Seats(streamsMax);
  let closing = false;
  let looking: NodeJS.Timeout | undefined;
  let unanswered = 0;

  async function lookAtKeys(): Promise<void> {
    const keys = [...new Set([...streams].map(({ key }) => key))];
    const dead = await deadAmong(keys).catch(() => undefined);
    unanswered = dead ? 0 : unanswered + 1;
    for (const stream of streams) {
      if (dead?.has(stream.key)) stream.end();
      if (unanswered > unansweredLooksMax) stream.cut();
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

  /** A client may reconnect before its lost connection is noticed, so the oldest stream ends. */
  function makeRoom(ofKey: string, perKeyMax: number): void {
    const siblings = byKey.get(ofKey) ?? new Set();
    for (const oldest of siblings) {
      if (siblings.size < perKeyMax) return;
      siblings.delete(oldest);
      oldest.end();
    }
  }

  /** An oldest stream that has just ended keeps its seat until it is closed; a retry finds it free. */
  function takeDeskSeat(desk: SeatOwner): () => void {
    const share = seats.findShare(desk);
    if (!takeSeat(share)) throw new Overloaded();
    return () => leaveSeat(share);
  }

  app.addHook("preClose", (done) => {
    closing = true;
    clearTimeout(looking);
    for (const stream of streams) stream.cut();
    done();
  });

  return {
    count: () => streams.size,
    open(request, reply, { perKeyMax, heartbeat = () => comment }) {
      const whose = identify(request);
      const ofKey = `${whose.owner} ${request.declared.label}`;
      if (closing) throw new Overloaded();
      if (request.method !== "HEAD") makeRoom(ofKey, perKeyMax);
      const leave = takeDeskSeat(whose.desk);
      const bounds = { heartbeat, heartbeatMs, unreadBytesMax };
      const stream = { ...startStream(reply, bounds), ...whose, ofKey };
      if (stream.ended.aborted) leave();
      else {
        stream.ended.addEventListener("abort", leave);
        add(stream);
      }
      if (request.method === "HEAD") stream.end();
      return stream;
    },
  };
}

function identifyDesk({ headers, caller }: FastifyRequest): StreamOwner {
  const key = toWatched(String(headers["x-service-key"]), caller);
  return { key, owner: caller.keyId, desk: caller };
}

function startStream(
  reply: FastifyReply,
  {
    heartbeat,
    heartbeatMs,
    unreadBytesMax,
  }: { heartbeat: () => Frame; heartbeatMs: number; unreadBytesMax: number },
): Stream {
  const ended = new AbortController();
  const { raw } = reply;
  reply.hijack();
  raw.shouldKeepAlive = false;
  const isChunked = raw.req.httpVersion !== "1.0";
  // The headers that the edge and the meter have set; then one that turns off a proxy's buffering.
  for (const [name, value] of Object.entries(reply.getHeaders())) raw.setHeader(name, value ?? "");
  raw.setHeader("x-accel-buffering", "no");
  if (isChunked) raw.setHeader("transfer-encoding", "chunked");
  raw.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  // Events come framed. Node would frame each for each client, which would be most of the work.
  raw.chunkedEncoding = false;
  raw.write(isChunked ? opening : unframe(opening));
  // Straight to the socket, because an answer corks it for each write and uncorks it a tick later:
  // an update to ten thousand streams took 1.47 times as long as on bare sockets, and takes 1.16.
  // An answer that waits for those before it on its connection has no socket yet.
  const out = raw.socket ?? raw;

  let lagged = false;
  const beating = setInterval(() => {
    // A client that has read nothing since the last heartbeat is gone.
    if (out.writableNeedDrain && lagged) raw.destroy();
    else send(heartbeat());
    lagged = out.writableNeedDrain;
  }, heartbeatMs);
  const finish = () => {
    clearInterval(beating);
    ended.abort();
  };
  raw.once("close", finish);
  if (raw.destroyed) finish(); // The client disconnected while its key was checked.
  raw.on("error", () => raw.destroy()); // The client disconnected during a write.

  function send(chunk: Frame): boolean {
    if (raw.writableEnded || raw.destroyed) return false;
    out.write(isChunked ? chunk : unframe(chunk));
    if (out.writableLength <= unreadBytesMax) return true;
    raw.destroy();
    return false;
  }

  return {
    send,
    ended: ended.signal,
    async drained() {
      if (!out.writableNeedDrain || ended.signal.aborted) return;
      await once(out, "drain", { signal: ended.signal }).catch(() => {}); // The stream has ended.
    },
    end() {
      if (isChunked && !raw.writableEnded) raw.write(lastChunk);
      raw.end();
      setTimeout(() => raw.destroy(), endGraceMs).unref();
    },
    cut() {
      finish();
      raw.socket?.destroySoon();
      setTimeout(() => raw.destroy(), endGraceMs).unref();
    },
  };
}

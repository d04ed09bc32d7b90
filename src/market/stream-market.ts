// One environment's log as this node reads it, and the streams that follow it.
//
//   reader     reads what was appended whenever it is woken
//   backfill   a stream that comes back reads what it missed from the log, page by page
//   cutover    in the turn in which it stands where the reader stands, it joins
//   live       an update is made into bytes once, and the same bytes go to every stream
//
// A stream knows its place and is sent only what is beyond it, so each update reaches it once and in
// order, also when its backfill ran ahead of the reader. Nothing is buffered here: what a stream has
// not taken yet is bounded by the stream itself, and one that was cut comes back to backfill.
//
// What every stream of this node follows: one channel per environment, made when its first stream
// comes, and one connection that is told when any log has grown.

import { setImmediate as nextTurn } from "node:timers/promises";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { Environment } from "../kernel/caller.ts";
import { listen, type Listener } from "../platform/http/listen.ts";
import { eventText, type Stream, type Streams } from "../platform/http/sse.ts";
import { startWorker, type Worker } from "../platform/worker.ts";
import { latestMarkets, marketListOf } from "./read-markets.ts";
import { eventIdOf, lastOf, type Place, type ResetReason, resumeFrom } from "./rules.ts";
import { findEnd, listAfter, marketNotices, type UpdateRow } from "./store.ts";
import type { MarketContext } from "./update-markets.ts";

export type MarketStreaming = { readonly feed: MarketFeed; readonly streams: Streams };

const streamsPerKeyMax = 5;

/** Opens a stream and lets it follow the log of the caller's environment. */
export async function streamMarket(
  { feed, streams }: MarketStreaming,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { buySide, environment } = request.caller;
  const channel = await feed.channel(environment);
  const stream = streams.open(request, reply, {
    perKeyMax: streamsPerKeyMax,
    heartbeat: () => heartbeatText(follower.place),
  });
  const follower: Follower = { stream, buySide, place: channel.end };
  try {
    await channel.follow(follower, request.headers["last-event-id"]?.toString());
  } catch (error) {
    // The answer has begun, so nothing but its end can tell the reader to come back.
    request.log.error({ request_id: request.id, err: error }, "a market stream could not resume");
    stream.end();
  }
}

type Follower = {
  readonly stream: Stream;
  readonly buySide: boolean;
  /** The last update it was sent. */
  place: Place;
};

/** What streams without and with the buy side are sent. */
type Texts = { readonly seller: Buffer; readonly buyer: Buffer };

const pageSize = 200;
/** So many streams are written to before other work gets its turn. */
const streamsPerTurn = 1_000;

class MarketChannel {
  readonly #ctx: MarketContext;
  readonly #environment: Environment;
  readonly #followers = new Set<Follower>();
  /** The last update of every scheme. */
  #latest: readonly UpdateRow[];
  #end: Place;
  #snapshot: Texts | undefined;

  static async open(ctx: MarketContext, environment: Environment): Promise<MarketChannel> {
    return new MarketChannel(ctx, environment, await latestMarkets(ctx, environment));
  }

  private constructor(ctx: MarketContext, environment: Environment, latest: readonly UpdateRow[]) {
    this.#ctx = ctx;
    this.#environment = environment;
    this.#latest = latest;
    this.#end = lastOf(latest);
  }

  get end(): Place {
    return this.#end;
  }

  /** Sends what is beyond the last id, or a snapshot, and from then on what is new. */
  async follow(follower: Follower, lastEventId: string | undefined): Promise<void> {
    const { stream } = follower;
    const reset = lastEventId ? await this.#resume(follower, lastEventId) : undefined;
    if (reset) stream.send(resetText(reset));
    if (reset || !lastEventId) this.#sendSnapshot(follower);
    // No turn of the event loop lies between reaching the end and joining.
    if (stream.ended.aborted) return;
    this.#followers.add(follower);
    stream.ended.addEventListener("abort", () => this.#followers.delete(follower));
  }

  /** The reader's piece of work: one page of what was appended, to everybody. */
  async look(): Promise<"more" | "idle"> {
    const end = await findEnd(this.#ctx.db, this.#environment);
    if (end?.epoch !== this.#end.epoch) return await this.#restart("other_epoch");
    if (end.seq === this.#end.seq) return "idle";
    const rows = await this.#pageAfter(this.#end);
    if (rows[0]?.seq !== this.#end.seq + 1) return await this.#restart("too_old");
    for (const row of rows) await this.#deliver(row);
    return "more";
  }

  async #deliver(row: UpdateRow): Promise<void> {
    this.#latest = this.#latest.map((known) => (known.scheme === row.scheme ? row : known));
    this.#end = row;
    this.#snapshot = undefined;
    const texts = updateTexts(row);
    let sent = 0;
    for (const follower of this.#followers) {
      if (follower.place.seq >= row.seq) continue;
      follower.place = row;
      follower.stream.send(textFor(follower, texts));
      if (++sent % streamsPerTurn === 0) await nextTurn();
    }
  }

  /** The log is another one, or was pruned while this node was away: everybody starts anew. */
  async #restart(reason: ResetReason): Promise<"idle"> {
    this.#latest = await latestMarkets(this.#ctx, this.#environment);
    this.#end = lastOf(this.#latest);
    this.#snapshot = undefined;
    for (const follower of this.#followers) {
      follower.stream.send(resetText(reason));
      this.#sendSnapshot(follower);
    }
    return "idle";
  }

  #sendSnapshot(follower: Follower): void {
    this.#snapshot ??= snapshotTexts(this.#latest);
    follower.place = this.#end;
    follower.stream.send(textFor(follower, this.#snapshot));
  }

  /** Brings a follower from its last id to where the reader stands, or says why it cannot. */
  async #resume(follower: Follower, lastEventId: string): Promise<ResetReason | undefined> {
    // Another node may have told it of what this one has not read yet.
    const end = (await findEnd(this.#ctx.db, this.#environment)) ?? this.#end;
    const verdict = resumeFrom(lastEventId, end);
    if ("reset" in verdict) return verdict.reset;
    follower.place = verdict.place;
    while (follower.place.epoch === this.#end.epoch) {
      if (follower.place.seq >= this.#end.seq || follower.stream.ended.aborted) return undefined;
      const rows = await this.#pageAfter(follower.place);
      if (!(await sendMissed(follower, rows))) return "too_old";
    }
    return "other_epoch";
  }

  async #pageAfter(place: Place): Promise<UpdateRow[]> {
    const limit = pageSize;
    return await listAfter(this.#ctx.db, this.#environment, { ...place, limit });
  }
}

/** False when what follows the follower's place is not kept any more. */
async function sendMissed(follower: Follower, rows: readonly UpdateRow[]): Promise<boolean> {
  for (const row of rows) {
    if (row.seq !== follower.place.seq + 1) return false;
    follower.place = row;
    follower.stream.send(textFor(follower, updateTexts(row)));
    await follower.stream.drained();
  }
  return rows.length > 0;
}

function textFor({ buySide }: Follower, { seller, buyer }: Texts): Buffer {
  return buySide ? buyer : seller;
}

function updateTexts(row: UpdateRow): Texts {
  const event = { id: eventIdOf(row), event: row.kind };
  return {
    seller: eventText({ ...event, data: row.body }),
    buyer: eventText({ ...event, data: row.buyer_body }),
  };
}

function snapshotTexts(latest: readonly UpdateRow[]): Texts {
  const event = { id: eventIdOf(lastOf(latest)), event: "snapshot" };
  const dataFor = (buySide: boolean) => JSON.stringify(marketListOf(latest, { buySide }));
  return {
    seller: eventText({ ...event, data: dataFor(false) }),
    buyer: eventText({ ...event, data: dataFor(true) }),
  };
}

function resetText(reason: ResetReason): Buffer {
  return eventText({ event: "reset", data: JSON.stringify({ reason }) });
}

/** Where a stream stands, for a reader that wonders whether it missed something. */
function heartbeatText({ epoch, seq }: Place): Buffer {
  const data = JSON.stringify({ epoch, seq });
  return eventText({ id: eventIdOf({ epoch, seq }), event: "heartbeat", data });
}

type MarketFeed = {
  /** The channel, once its log has been read. */
  channel(environment: Environment): Promise<MarketChannel>;
  close(): Promise<void>;
};

/** A notice wakes the reader at once; this is how late it is when the notice was missed. */
const lookPauseMs = 1_000;

export function openFeed(ctx: MarketContext): MarketFeed {
  const channels = new Map<Environment, Promise<MarketChannel>>();
  const readers: Worker[] = [];
  let listener: Listener | undefined;

  function wakeReaders(): void {
    for (const reader of readers) reader.wake();
  }

  async function open(environment: Environment): Promise<MarketChannel> {
    const channel = await MarketChannel.open(ctx, environment);
    const name = `market feed ${environment}`;
    const work = () => channel.look();
    readers.push(startWorker({ name, pauseMs: lookPauseMs, work, log: ctx.log }));
    listener ??= listen(ctx, { channel: marketNotices, onNotice: wakeReaders });
    return channel;
  }

  return {
    async channel(environment) {
      const opening = channels.get(environment) ?? open(environment);
      channels.set(environment, opening);
      try {
        return await opening;
      } catch (error) {
        channels.delete(environment); // The next stream tries again.
        throw error;
      }
    },
    async close() {
      await listener?.stop();
      await Promise.all(readers.map((reader) => reader.stop()));
    },
  };
}

// Streams the market log. A node has one channel per environment, opened by its first stream, and one
// LISTEN connection that wakes the channels when a log has grown.
//
//   reader     reads new updates of the log when woken
//   backfill   a stream that resumes reads the updates it missed from the log, page by page
//   cutover    the moment it has caught up it joins the channel, before anything else can run
//   live       an update is encoded once, and the same bytes go to every stream
//
// A stream is sent only updates past its position, so it gets each once and in order, also when its
// backfill ran ahead of the reader. The position begins with what the client says it has, so a heartbeat
// before or during the backfill never tells a later one. The channel buffers nothing: a stream bounds its own backlog, and
// a stream that was cut resumes by backfill.

import { setImmediate as nextTurn } from "node:timers/promises";

import { exactJson } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { listen, type Listener } from "../platform/http/listen.ts";
import type { DeskCall } from "../platform/http/operation.ts";
import { eventText, type Frame, type Stream } from "../platform/http/sse.ts";
import { startWorker, type Worker } from "../platform/worker.ts";
import { readLatest, toMarketList } from "./read-markets.ts";
import {
  findLastUpdate,
  findReset,
  type LogPosition,
  parseEventId,
  type ResetReason,
  toEventId,
} from "./rules.ts";
import { findEnd, listAfter, marketNotices, type UpdateRow } from "./store.ts";
import type { MarketContext } from "./update-markets.ts";

const streamsPerKeyMax = 5;

/** Opens a stream that follows the log of the caller's environment. */
export async function streamMarket(
  { feed, log }: Pick<Context, "log"> & { readonly feed: MarketFeed },
  call: Pick<DeskCall, "caller" | "requestId" | "lastEventId" | "openStream">,
): Promise<void> {
  const { buySide, environment } = call.caller;
  const channel = await feed.channel(environment);
  const stream = call.openStream({
    perKeyMax: streamsPerKeyMax,
    heartbeat: () => encodeHeartbeat(follower.place),
  });
  const follower: Follower = { stream, buySide, place: channel.end };
  try {
    await channel.follow(follower, call.lastEventId);
  } catch (error) {
    // The response has begun, so only a cut can make the reader reconnect.
    log.error({ request_id: call.requestId, err: error }, "a market stream could not resume");
    stream.cut();
  }
}

type Follower = {
  readonly stream: Stream;
  readonly buySide: boolean;
  /** The last update it was sent. */
  place: LogPosition;
};

/** The bytes for streams without and with the buy side. */
type EncodedUpdate = { readonly seller: Frame; readonly buyer: Frame };

const pageSize = 200;
/** Streams written to before yielding to the event loop. */
const streamsPerTurn = 1_000;

class MarketChannel {
  readonly #ctx: MarketContext;
  readonly #environment: Environment;
  readonly #followers = new Set<Follower>();
  /** The last update of every scheme. */
  #latest: readonly UpdateRow[];
  #end: LogPosition;
  #snapshot: EncodedUpdate | undefined;

  static async open(ctx: MarketContext, environment: Environment): Promise<MarketChannel> {
    return new MarketChannel(ctx, environment, await readLatest(ctx, environment));
  }

  private constructor(ctx: MarketContext, environment: Environment, latest: readonly UpdateRow[]) {
    this.#ctx = ctx;
    this.#environment = environment;
    this.#latest = latest;
    this.#end = findLastUpdate(latest);
  }

  get end(): LogPosition {
    return this.#end;
  }

  /** Sends the updates after the last id, or a snapshot, and then each new update. */
  async follow(follower: Follower, lastEventId: string | undefined): Promise<void> {
    const reset = lastEventId ? await this.#resume(follower, lastEventId) : undefined;
    if (lastEventId && !reset) return; // It has caught up and joined.
    if (reset) follower.stream.send(encodeReset(reset));
    this.#sendSnapshot(follower);
    this.#join(follower);
  }

  #join(follower: Follower): void {
    const { ended } = follower.stream;
    if (ended.aborted) return;
    this.#followers.add(follower);
    ended.addEventListener("abort", () => this.#followers.delete(follower));
  }

  /** Reads one page of new updates and sends it to every stream. */
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
    const texts = encodeUpdate(row);
    let sent = 0;
    for (const follower of this.#followers) {
      if (follower.place.seq >= row.seq) continue;
      follower.place = row;
      follower.stream.send(selectText(follower, texts));
      if (++sent % streamsPerTurn === 0) await nextTurn();
    }
  }

  /** The log was restarted, or pruned while this node was away: every stream gets a reset. */
  async #restart(reason: ResetReason): Promise<"idle"> {
    this.#latest = await readLatest(this.#ctx, this.#environment);
    this.#end = findLastUpdate(this.#latest);
    this.#snapshot = undefined;
    for (const follower of this.#followers) {
      follower.stream.send(encodeReset(reason));
      this.#sendSnapshot(follower);
    }
    return "idle";
  }

  #sendSnapshot(follower: Follower): void {
    this.#snapshot ??= encodeSnapshot(this.#latest);
    follower.place = this.#end;
    follower.stream.send(selectText(follower, this.#snapshot));
  }

  /** Backfills a follower from its last id until it joins the channel, or says why it cannot. */
  async #resume(follower: Follower, lastEventId: string): Promise<ResetReason | undefined> {
    const place = parseEventId(lastEventId);
    if (!place) return "malformed_id";
    follower.place = place;
    // Another node may have sent it updates that this one has not read yet.
    const reset = findReset(place, (await findEnd(this.#ctx.db, this.#environment)) ?? this.#end);
    if (reset) return reset;
    while (follower.place.epoch === this.#end.epoch) {
      // No await between the two: no update can come in between.
      const isLevel = follower.place.seq >= this.#end.seq;
      if (isLevel) this.#join(follower);
      if (isLevel || follower.stream.ended.aborted) return undefined;
      const rows = await this.#pageAfter(follower.place);
      if (!(await sendMissed(follower, rows))) return "too_old";
    }
    return "other_epoch";
  }

  async #pageAfter(place: LogPosition): Promise<UpdateRow[]> {
    const limit = pageSize;
    return await listAfter(this.#ctx.db, this.#environment, { ...place, limit });
  }
}

/** False when the updates after the follower's position have been deleted. */
async function sendMissed(follower: Follower, rows: readonly UpdateRow[]): Promise<boolean> {
  for (const row of rows) {
    if (row.seq !== follower.place.seq + 1) return false;
    follower.place = row;
    follower.stream.send(selectText(follower, encodeUpdate(row)));
    await follower.stream.drained();
  }
  return rows.length > 0;
}

function selectText({ buySide }: Follower, { seller, buyer }: EncodedUpdate): Frame {
  return buySide ? buyer : seller;
}

function encodeUpdate(row: UpdateRow): EncodedUpdate {
  const event = { id: toEventId(row), event: row.kind };
  return {
    seller: eventText({ ...event, data: row.body }),
    buyer: eventText({ ...event, data: row.buyer_body }),
  };
}

function encodeSnapshot(latest: readonly UpdateRow[]): EncodedUpdate {
  const event = { id: toEventId(findLastUpdate(latest)), event: "snapshot" };
  const dataFor = (buySide: boolean) => exactJson(toMarketList(latest, { buySide }));
  return {
    seller: eventText({ ...event, data: dataFor(false) }),
    buyer: eventText({ ...event, data: dataFor(true) }),
  };
}

function encodeReset(reason: ResetReason): Frame {
  return eventText({ event: "reset", data: exactJson({ reason }) });
}

/** Carries the stream's position, so that a reader can tell whether it missed an update. */
function encodeHeartbeat({ epoch, seq }: LogPosition): Frame {
  const data = exactJson({ epoch, seq });
  return eventText({ id: toEventId({ epoch, seq }), event: "heartbeat", data });
}

export type MarketFeed = {
  /** Resolves once the channel has read its log. */
  channel(environment: Environment): Promise<MarketChannel>;
  close(): Promise<void>;
};

/** The delay of an update whose NOTIFY was missed. */
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

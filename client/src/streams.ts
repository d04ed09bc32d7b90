// Streams that outlive their connection.
//
//   open     with the last id that was seen; a stream that cannot be opened is tried again as any read
//   read     events as they come; heartbeats and comments only show that the stream is alive
//   cut      an end, a broken connection or a long silence: after a pause it is opened again
//
// The service sends what came after an id, so nothing is missed and nothing comes twice.

import { ScripdeskError } from "./errors.ts";
import type { Call, Operation } from "./options.ts";
import type { Event, Market, MarketList } from "./schemas.ts";
import { type Opened, pause, type Transport } from "./transport.ts";

export type StreamEvent = {
  /** Where to go on after this event, by `last_event_id`. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
};

/** Handle what you know; more kinds may come. */
export type MarketEvent =
  | { readonly id: string; readonly event: "snapshot"; readonly data: MarketList }
  | { readonly id: string; readonly event: "update" | "status"; readonly data: Market }
  | { readonly id: string; readonly event: "reset"; readonly data: { readonly reason: string } };

/** The name tells what `data.data` is; more kinds may come. */
export type DeskEvent = {
  [Name in Event["event"]]: {
    readonly id: string;
    readonly event: Name;
    readonly data: Extract<Event, { readonly event: Name }>;
  };
}[Event["event"]];

const idleTimeoutMsDefault = 45_000;
const reconnectMsDefault = 2_000;
/** An opened stream is worth more patience than a call. */
const reopening = { max_retries: 30, timeout_ms: 600_000 } as const;
/** More than any event has. */
const eventCharsMax = 16_777_216;

export async function* followStream(
  transport: Transport,
  operation: Operation,
  { options, ...call }: Call,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal } = options;
  const patient = { ...options, max_retries: options.max_retries ?? reopening.max_retries };
  const opening = { ...patient, timeout_ms: options.timeout_ms ?? reopening.timeout_ms };
  let lastId = options.last_event_id;
  let reconnectMs = reconnectMsDefault;
  for (;;) {
    const headers: Record<string, string> = {};
    if (lastId !== undefined) headers["last-event-id"] = lastId;
    const opened = await transport.open(operation, { ...call, options: opening }, headers);
    try {
      for await (const block of readBlocks(opened, options.idle_timeout_ms)) {
        lastId = block.id ?? lastId;
        reconnectMs = block.retryMs ?? reconnectMs;
        if (block.data === "" || block.event === "heartbeat") continue;
        yield { id: lastId ?? "", event: block.event, data: JSON.parse(block.data) as unknown };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ScripdeskError)) throw error;
      if (error.slug !== "connection_broken") throw error;
    } finally {
      opened.close();
    }
    await pause(options.reconnect_ms ?? reconnectMs, signal);
  }
}

/** The lines of an answer as they come; one that is cut throws. */
export async function* readLines(
  transport: Transport,
  operation: Operation,
  call: Call,
): AsyncGenerator<string, void, undefined> {
  const opened = await transport.open(operation, call);
  try {
    let text = "";
    for await (const part of readText(opened)) {
      const lines = `${text}${part}`.split("\n");
      text = lines.pop() ?? "";
      yield* lines;
    }
    if (text !== "") yield text;
  } catch (error) {
    call.options.signal?.throwIfAborted();
    throw error;
  } finally {
    opened.close();
  }
}

type Block = {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
  readonly retryMs: number | undefined;
};

async function* readBlocks(
  opened: Opened,
  idleTimeoutMs = idleTimeoutMsDefault,
): AsyncGenerator<Block, void, undefined> {
  let text = "";
  for await (const part of readText(opened, idleTimeoutMs)) {
    const blocks = `${text}${part}`.split(/\r?\n\r?\n/);
    text = blocks.pop() ?? "";
    if (text.length > eventCharsMax) throw breakOff(new Error("an event has no end"));
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): Block {
  const fields = block.split(/\r?\n/).flatMap((line) => {
    const parts = /^(\w+)(?:: ?(.*))?$/.exec(line);
    return parts ? [{ name: parts[1] ?? "", value: parts[2] ?? "" }] : [];
  });
  const find = (name: string) => fields.findLast((field) => field.name === name)?.value;
  const data = fields.filter(({ name }) => name === "data").map(({ value }) => value);
  const retry = find("retry");
  return {
    id: find("id"),
    event: find("event") ?? "message",
    data: data.join("\n"),
    retryMs: retry !== undefined && /^\d+$/.test(retry) ? Number(retry) : undefined,
  };
}

/** Whatever breaks the connection, or a silence that is too long, is a broken connection. */
async function* readText(
  { body, close }: Opened,
  idleTimeoutMs?: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const isWatched = idleTimeoutMs !== undefined && Number.isFinite(idleTimeoutMs);
  const parts = body[Symbol.asyncIterator]();
  for (;;) {
    const timer = isWatched ? setTimeout(close, idleTimeoutMs) : undefined;
    let part: IteratorResult<Uint8Array>;
    try {
      part = await parts.next();
    } catch (error) {
      throw breakOff(error);
    } finally {
      clearTimeout(timer);
    }
    if (part.done === true) return;
    yield decoder.decode(part.value, { stream: true });
  }
}

function breakOff(cause: unknown): ScripdeskError {
  return new ScripdeskError({
    slug: "connection_broken",
    message: "the stream broke off",
    cause,
  });
}

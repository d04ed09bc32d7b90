// A reader of server-sent events, as a client would be one.

import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export type StreamEvent = {
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The text of the data, as it was sent. */
  readonly text: string;
  // Tests look into events of every shape; what they expect is what they assert.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
};

export type StreamReader = {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  /** What has come so far, apart from comments, hints and, unless asked for, heartbeats. */
  readonly events: readonly StreamEvent[];
  /** Waits until so many events have come. */
  until(count: number): Promise<readonly StreamEvent[]>;
  /** Resolves when the other side has ended the stream, or when this one left. */
  readonly ended: Promise<void>;
  leave(): void;
};

const triesMax = 1_000;
const tryPauseMs = 10;

export async function readStream(
  address: string,
  {
    key,
    lastEventId,
    headers: others = {},
    heartbeats = false,
  }: {
    readonly key?: string;
    readonly lastEventId?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** A reader that waits long is sent some; how many depends on the machine. */
    readonly heartbeats?: boolean;
  },
): Promise<StreamReader> {
  const headers = {
    ...others,
    ...(key !== undefined && { "x-service-key": key }),
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  };
  // A connection of its own, so that leaving closes it and no pool opens another in its place.
  const request = get(address, { agent: false, headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const events: StreamEvent[] = [];
  return {
    status: response.statusCode,
    headers: response.headers,
    events,
    ended: collect(response, (event) => {
      if (heartbeats || event.event !== "heartbeat") events.push(event);
    }),
    async until(count) {
      for (let tries = 0; tries < triesMax && events.length < count; tries++) {
        await sleep(tryPauseMs);
      }
      assert.ok(events.length >= count, `${events.length} of ${count} events came`);
      return events;
    },
    leave: () => void request.destroy(),
  };
}

async function collect(
  response: IncomingMessage,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  let pending = "";
  try {
    for await (const text of response.setEncoding("utf8")) {
      const blocks = (pending + String(text)).split("\n\n");
      pending = blocks.pop() ?? "";
      for (const event of blocks.flatMap(parseEvent)) onEvent(event);
    }
  } catch {
    // It was cut, or this reader left.
  }
}

function parseEvent(block: string): StreamEvent[] {
  const lines = block.split("\n");
  const pickValues = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
  const text = pickValues("data").join("\n");
  if (text === "") return [];
  return [{ id: pickValues("id")[0], event: pickValues("event")[0], text, data: JSON.parse(text) }];
}

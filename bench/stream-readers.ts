// Readers of streams in a process of their own: raw sockets that note when an update reaches them
// and read nothing else. Some of them can be told to stop reading.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type ReadersOrder =
  /** One stream per request. */
  | { readonly do: "open"; readonly port: number; readonly requests: readonly string[] }
  /** Answers when every reader that reads has got one more update. */
  | { readonly do: "await" }
  | { readonly do: "stall"; readonly count: number }
  /** Those that stopped read on, and learn whether they were cut. */
  | { readonly do: "resume" };

export type ReadersAnswer = {
  /** Between the first and the last reader that the update reached. */
  readonly spreadMs: number;
  /** An update as the first reader got it. */
  readonly text: string;
  /** How many are open and read. */
  readonly reading: number;
  /** How many stopped and are open, as far as they know. */
  readonly stalled: number;
};

const connectingMax = 100;
const marker = Buffer.from("\nevent: update\n");
const awaitMsMax = 60_000;
const readOnMs = 3_000;

const reading = new Set<Socket>();
const stalled = new Set<Socket>();
let text = "";
let waiting: Round | undefined;

class Round {
  readonly #left = new Set(reading);
  #firstAt: number | undefined;
  readonly #done: (spreadMs: number) => void;

  constructor(done: (spreadMs: number) => void) {
    this.#done = done;
  }

  reached(socket: Socket): void {
    const now = performance.now();
    this.#firstAt ??= now;
    this.#left.delete(socket);
    if (this.#left.size === 0) this.#done(now - this.#firstAt);
  }

  get left(): number {
    return this.#left.size;
  }
}

async function open(port: number, requests: readonly string[]): Promise<void> {
  for (let at = 0; at < requests.length; at += connectingMax) {
    await Promise.all(requests.slice(at, at + connectingMax).map((request) => join(port, request)));
  }
}

async function join(port: number, request: string): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  await once(socket, "connect");
  socket.write(request);
  const [head] = (await once(socket, "data")) as [Buffer];
  if (!head.toString("latin1").startsWith("HTTP/1.1 200")) {
    throw new Error(`refused: ${head.toString()}`);
  }
  reading.add(socket);
  socket.on("data", (chunk: Buffer) => {
    if (!chunk.includes(marker)) return;
    if (text === "") text = chunk.toString();
    waiting?.reached(socket);
  });
  socket.on("error", () => {}); // It was cut.
  socket.on("close", () => {
    reading.delete(socket);
    stalled.delete(socket);
  });
}

async function awaitUpdate(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const round = new Round(resolve);
  waiting = round;
  const late = setTimeout(() => {
    reject(new Error(`${round.left} of ${reading.size} readers got no update`));
  }, awaitMsMax);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
}

function stall(count: number): void {
  for (const socket of [...reading].slice(0, count)) {
    socket.pause();
    reading.delete(socket);
    stalled.add(socket);
  }
}

async function resume(): Promise<void> {
  for (const socket of stalled) socket.resume();
  await sleep(readOnMs);
}

async function obey(order: ReadersOrder): Promise<ReadersAnswer> {
  let spreadMs = 0;
  if (order.do === "open") await open(order.port, order.requests);
  if (order.do === "await") spreadMs = await awaitUpdate();
  if (order.do === "stall") stall(order.count);
  if (order.do === "resume") await resume();
  return { spreadMs, text, reading: reading.size, stalled: stalled.size };
}

if (import.meta.main) {
  process.on("message", (order: ReadersOrder) => {
    void obey(order).then((answer) => process.send?.(answer));
  });
}

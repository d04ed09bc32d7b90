import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openAuthenticator, openKeyWatcher } from "../../src/access/authenticate.ts";
import { mintChild } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";
import {
  eventText,
  openStreams,
  type Stream,
  type Streams,
  type StreamsOptions,
} from "../../src/platform/http/sse.ts";

type Streaming = Service & { streams: Streams; opened: Stream[]; answerSlow(): void };

/** A service with one stream whose source is the test. */
async function startStreaming(
  t: TestContext,
  { heartbeatMs = 60_000, streamsMax }: Pick<StreamsOptions, "heartbeatMs" | "streamsMax"> = {},
): Promise<Streaming> {
  const opened: Stream[] = [];
  const wired: Streams[] = [];
  const slow = Promise.withResolvers<void>();
  const service = await startService(t, {
    routes(app, ctx) {
      const authenticate = openAuthenticator(ctx);
      const streams = openStreams(app, {
        deadAmong: openKeyWatcher(ctx, authenticate),
        heartbeatMs,
        ...(streamsMax !== undefined && { streamsMax }),
      });
      wired.push(streams);
      const config = { demand: "any key", streams: true } as const;
      app.get("/test/stream", { config }, (request, reply) => {
        opened.push(streams.open(request, reply, { perKeyMax: 2 }));
      });
      app.get("/test/slow", { config: { demand: "any key" } }, async () => {
        await slow.promise;
        return { answer: "slow" };
      });
    },
  });
  return { ...service, opened, streams: wired[0]!, answerSlow: () => slow.resolve() };
}

/** A reader that takes what comes, line by line. */
async function read({ url }: Service, key: string, path = "/test/stream") {
  const closing = new AbortController();
  const headers = { "x-service-key": key };
  const response = await fetch(`${url}${path}`, { headers, signal: closing.signal });
  let text = "";
  const done = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })().catch(() => {});
  const until = async (wanted: string) => {
    for (let tries = 0; tries < 500 && !text.includes(wanted); tries++) await sleep(10);
    assert.ok(text.includes(wanted), `${JSON.stringify(text)} has no ${wanted}`);
  };
  return { response, done, until, leave: () => closing.abort(), text: () => text };
}

test("a stream opens with the headers of every answer and a retry hint", async (t) => {
  const service = await startStreaming(t);
  const { api_key } = await service.issue();
  const reader = await read(service, api_key);
  assert.equal(reader.response.status, 200);
  const { headers } = reader.response;
  assert.equal(headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.ok(headers.get("x-request-id"));
  assert.equal(headers.get("x-ratelimit-plan"), "sandbox");
  await reader.until("retry: 2000\n\n");

  const [stream] = service.opened;
  assert.equal(stream?.send(eventText({ id: "7", event: "told", data: "a\nb" })), true);
  await reader.until("id: 7\nevent: told\ndata: a\ndata: b\n\n");
  stream?.end();
  await reader.done;
  assert.equal(stream?.send(eventText({ data: "late" })), false);
  assert.equal(service.streams.count(), 0);
});

test("HEAD shows how a stream would open and opens none", async (t) => {
  const service = await startStreaming(t);
  const { api_key: key } = await service.issue();
  const answer = await service.send("HEAD", "/test/stream", { key, expect: 200 });
  assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/);
  for (let tries = 0; tries < 500 && service.streams.count() > 0; tries++) await sleep(10);
  assert.equal(service.streams.count(), 0);
});

test("a stream that waits for an answer before it on its connection sends what it has then", async (t) => {
  const service = await startStreaming(t);
  const { api_key: key } = await service.issue();
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  const asks = ["/test/slow", "/test/stream"].map(
    (path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\n\r\n`,
  );
  socket.write(asks.join(""));
  for (let tries = 0; tries < 500 && service.opened.length === 0; tries++) await sleep(10);
  assert.equal(service.opened[0]?.send(eventText({ data: "early" })), true);
  await sleep(20);
  assert.equal(text, "");
  service.answerSlow();
  for (let tries = 0; tries < 500 && !text.includes("early"); tries++) await sleep(10);
  assert.equal(service.opened[0]?.send(eventText({ data: "late" })), true);
  for (let tries = 0; tries < 500 && !text.includes("late"); tries++) await sleep(10);
  assert.match(text, /slow[^]*retry: 2000\n\n[^]*data: early\n\n[^]*data: late\n\n/);
});

test("an idle stream sends heartbeats", async (t) => {
  const service = await startStreaming(t, { heartbeatMs: 50 });
  const { api_key } = await service.issue();
  const reader = await read(service, api_key);
  await reader.until(":\n\n:\n\n");
  reader.leave();
});

test("a key that opens too many streams loses its own oldest", async (t) => {
  const service = await startStreaming(t);
  const { api_key: key } = await service.issue();
  const other = await service.issue();
  const others = await read(service, other.api_key);
  const first = await read(service, key);
  const second = await read(service, key);
  const third = await read(service, key);
  await first.done;
  await service.send("HEAD", "/test/stream", { key, expect: 200 });
  for (const stream of service.opened) stream.send(eventText({ data: "still here" }));
  for (const reader of [others, second, third]) await reader.until("still here");
  second.leave();
  for (let tries = 0; tries < 500 && service.streams.count() > 2; tries++) await sleep(10);
  const fourth = await read(service, key);
  for (const stream of service.opened) stream.send(eventText({ data: "and here" }));
  for (const reader of [others, third, fourth]) await reader.until("and here");
});

test("revoking a key ends its streams and no other", async (t) => {
  const service = await startStreaming(t);
  const root = await service.issue();
  const dead = await service.issue();
  const kept = await read(service, root.api_key);
  const ended = await read(service, dead.api_key);
  await service.send("DELETE", `/v1/keys/${dead.key_id}`, { key: dead.api_key, expect: 200 });
  await ended.done;
  assert.equal(service.streams.count(), 1);
  service.opened[0]?.send(eventText({ data: "still here" }));
  await kept.until("still here");
});

async function stall({ url }: Service, key: string): Promise<Socket> {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {});
  socket.pause();
  socket.write(`GET /test/stream HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\n\r\n`);
  return socket;
}

test("a stalled reader is disconnected before its backlog grows, and others get everything", async (t) => {
  const service = await startStreaming(t);
  const { api_key } = await service.issue();
  const socket = await stall(service, api_key);
  for (let tries = 0; tries < 500 && service.opened.length === 0; tries++) await sleep(10);
  const good = await read(service, api_key);
  const [stalled, taking] = service.opened;
  const event = eventText({ data: "x".repeat(8_000) });
  let sent = 0;
  // The operating system takes a few MiB before it pushes back; the bound is ours after that.
  while (sent < 5_000) {
    if (!stalled?.send(event)) break;
    sent += 1;
    taking?.send(event);
    await taking?.drained();
  }
  assert.ok(sent < 5_000, "it was cut");
  if (stalled && !stalled.ended.aborted) await once(stalled.ended, "abort");
  taking?.send(eventText({ data: "the last" }));
  await good.until("the last");
  socket.destroy();
});

test("a stalled reader is disconnected even when little is sent", async (t) => {
  const service = await startStreaming(t, { heartbeatMs: 100 });
  const { api_key } = await service.issue();
  const socket = await stall(service, api_key);
  for (let tries = 0; tries < 500 && service.opened.length === 0; tries++) await sleep(10);
  const [stalled] = service.opened;
  const event = eventText({ data: "x".repeat(20_000) });
  // Until the operating system takes no more; less than the bound is left with us.
  for (let sent = 0; sent < 5_000; sent++) {
    stalled?.send(event);
    const drained = stalled?.drained().then(() => true);
    if (!(await Promise.race([drained, sleep(200, false)]))) break;
  }
  if (stalled && !stalled.ended.aborted) await once(stalled.ended, "abort");
  assert.equal(service.streams.count(), 0);
  socket.destroy();
});

test("the service closes with open streams, and a stalled one does not delay it", async (t) => {
  const service = await startStreaming(t);
  const { api_key } = await service.issue();
  const reader = await read(service, api_key);
  const socket = await stall(service, api_key);
  for (let tries = 0; tries < 500 && service.opened.length < 2; tries++) await sleep(10);
  await service.app.close();
  await reader.done;
  assert.equal(service.streams.count(), 0);
  socket.destroy();
});

test("no desk and no number of sandbox desks takes the streams of the others", async (t) => {
  const service = await startStreaming(t, { streamsMax: 16 });
  const openOne = async (key: string) => {
    const { response, leave } = await read(service, key);
    return { status: response.status, leave };
  };
  const openAll = async (key: string, count: number) => {
    const statuses: number[] = [];
    for (let at = 0; at < count; at++) statuses.push((await openOne(key)).status);
    return statuses;
  };
  const openDesk = async (environment: "live" | "sandbox") => {
    const { api_key: root } = await service.issue({ environment });
    if (environment === "live") return { root, other: root };
    const { api_key: other } = await mintChild(service, root);
    return { root, other };
  };
  const greedy = await openDesk("sandbox");
  assert.deepEqual(await openAll(greedy.root, 2), [200, 200]);
  assert.deepEqual(await openAll(greedy.other, 2), [500, 500], "a desk has an eighth of sixteen");
  const others: number[] = [];
  for (let desk = 0; desk < 7; desk++) {
    others.push(...(await openAll((await openDesk("sandbox")).root, 2)));
  }
  assert.equal(
    others.filter((status) => status === 200).length,
    10,
    "the sandbox has twelve in all",
  );
  const live = await openDesk("live");
  assert.deepEqual(await openAll(live.root, 2), [200, 200]);
});

test("a stream that has closed gives its place in the share back", async (t) => {
  const service = await startStreaming(t, { streamsMax: 8 });
  const { api_key: root } = await service.issue();
  const { api_key: other } = await mintChild(service, root);
  const first = await read(service, root);
  assert.equal((await read(service, other)).response.status, 500, "an eighth of eight");
  first.leave();
  for (let tries = 0; tries < 500 && service.streams.count() > 0; tries++) await sleep(10);
  assert.equal((await read(service, other)).response.status, 200);
});

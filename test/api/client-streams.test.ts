// The client's streams, over a line that is cut.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type DeskEvent, type MarketEvent, Scripdesk } from "../../client/src/index.ts";
import { openLine } from "../support/cut-line.ts";
import { putCard } from "../support/dealing-house.ts";
import { mintChild } from "../support/keys.ts";
import { startService } from "../support/service.ts";

function openClient(base_url: string, api_key: string): Scripdesk {
  return new Scripdesk({ base_url, api_key, retry_delay_ms: 1 });
}

/** Reads in the background; the test looks at what has come. */
function collect<T>(stream: AsyncIterable<T>) {
  const events: T[] = [];
  const ended = (async () => {
    for await (const event of stream) events.push(event);
  })();
  ended.catch(() => {});
  const until = async (count: number) => {
    for (let tries = 0; tries < 1_000 && events.length < count; tries++) await sleep(10);
    assert.ok(events.length >= count, `${events.length} of ${count} came`);
  };
  return { events, ended, until };
}

test("a stream of events that is cut goes on where it was, without a gap and without a repetition", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const line = await openLine(t, service);
  const leaving = new AbortController();
  const options = { signal: leaving.signal, reconnect_ms: 1 };
  const client = openClient(line.url, key);
  const reader = collect<DeskEvent>(client.streamEvents({ after_sequence: 0 }, options));
  for (let turn = 0; turn < 4; turn++) {
    await mintChild(service, key);
    await reader.until(2 + turn * 3);
    line.isDown = turn % 2 === 1;
    line.cut();
    await mintChild(service, key);
    await mintChild(service, key);
    line.isDown = false;
  }
  await reader.until(13);
  await sleep(50);
  const ids = reader.events.map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    ids.map((_, at) => at + 1),
  );
  assert.ok(line.opened >= 5);
  assert.ok(reader.events.every(({ event, data }) => event === data.event));
  leaving.abort("enough");
  assert.equal(await reader.ended.catch((reason: unknown) => reason), "enough");
});

test("a stream that is cut before its first event misses none", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const line = await openLine(t, service);
  const leaving = new AbortController();
  const options = { signal: leaving.signal, reconnect_ms: 1 };
  const heads: number[] = [];
  const client = openClient(line.url, key);
  const reader = collect<DeskEvent>(
    client.streamEvents({}, { ...options, on_answer: ({ status }) => heads.push(status) }),
  );
  while (heads.length < 1) await sleep(10);
  await sleep(100); // For what follows the head.
  line.isDown = true;
  line.cut();
  const { key_id } = await mintChild(service, key);
  line.isDown = false;
  await reader.until(1);
  assert.equal(reader.events[0]?.data.entity.id, key_id);
  leaving.abort();
});

test("a market stream that is cut goes on with what it missed, and takes no second snapshot", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const line = await openLine(t, service);
  const leaving = new AbortController();
  const options = { signal: leaving.signal, reconnect_ms: 1 };
  const reader = collect<MarketEvent>(openClient(line.url, key).streamMarket(options));
  await reader.until(1);
  line.isDown = true;
  line.cut();
  await putCard(service, { mid_bps: 9_700 });
  await service.work();
  line.isDown = false;
  await reader.until(2);
  await putCard(service, { mid_bps: 9_600 });
  await service.work();
  await reader.until(3);
  const [first, ...rest] = reader.events;
  assert.equal(first?.event, "snapshot");
  assert.ok(
    rest.every(({ event }) => event === "update"),
    JSON.stringify(rest.map(({ event }) => event)),
  );
  const seqs = reader.events.map(({ id }) => Number(id.split("-")[1]));
  assert.deepEqual(
    seqs,
    seqs.map((_, at) => (seqs[0] ?? 0) + at),
  );
  leaving.abort();
});

test("a stream goes on from an id that was kept elsewhere, and leaving it closes its connection", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  for (let n = 0; n < 4; n++) await mintChild(service, key);
  const client = openClient(service.url, key);
  const seen: string[] = [];
  for await (const { id } of client.streamEvents({}, { last_event_id: "2" })) {
    seen.push(id);
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, ["3", "4", "5"]);
});

test("a key that is revoked ends its stream with an error", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const child = await mintChild(service, root.api_key);
  const client = openClient(service.url, child.api_key);
  const reader = collect(client.streamEvents({ after_sequence: 0 }, { reconnect_ms: 1 }));
  await reader.until(1);
  await openClient(service.url, root.api_key).revokeKey(child.key_id);
  await assert.rejects(reader.ended, { slug: "unauthorized" });
});

test("a stream that cannot be opened is given up, and one that falls silent is opened again", async (t) => {
  const lastIds: (string | undefined)[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    lastIds.push(request.headers["last-event-id"]?.toString());
    if (lastIds.length > 2) return void response.writeHead(503).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      `retry: 1\r\n\r\nid: ${lastIds.length}\r\nevent: told\r\ndata: {"a":\r\ndata: "₹"}\r`,
    );
    response.write(`\n\r\n: nothing\n\nid: 9\ndata: {"cut"`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = openClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "x");
  const options = { idle_timeout_ms: 100, max_retries: 2 };
  const reader = collect<DeskEvent>(client.streamEvents({}, options));
  await assert.rejects(reader.ended, { status: 503, attempts: 3 });
  assert.deepEqual(reader.events, [
    { id: "1", event: "told", data: { a: "₹" } },
    { id: "2", event: "told", data: { a: "₹" } },
  ]);
  assert.deepEqual(lastIds, [undefined, "1", "2", "2", "2"]);
});

test("an export is read line by line, as the lines are", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  await mintChild(service, key);
  const lines: string[] = [];
  for await (const line of openClient(service.url, key).exportAudit()) lines.push(line);
  const { text } = await service.send("GET", "/v1/audit/export", { key, expect: 200 });
  assert.ok(lines.length > 2);
  // The export before is in the trail, and each has a checkpoint of its own.
  const records = lines.slice(0, -1);
  assert.deepEqual(records, text.split("\n").slice(0, records.length));
  assert.equal(typeof JSON.parse(lines.at(-1) ?? ""), "object");
});

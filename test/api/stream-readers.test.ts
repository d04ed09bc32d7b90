// The streams as other people's readers see them: one that breaks off is told from one that ends.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { fetchEventSource } from "@microsoft/fetch-event-source";
import { EventSource } from "eventsource";

import { openLine } from "../support/cut-line.ts";
import { mintChild } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";

/** All of a body that is read with `fetch`, or the error that broke it off. */
async function readAll(url: string, key: string) {
  const response = await fetch(url, { headers: { "x-service-key": key } });
  let text = "";
  const ended = (async () => {
    for await (const part of response.body ?? []) text += Buffer.from(part).toString();
  })().then(
    () => "ended",
    () => "broken",
  );
  const until = async (wanted: string) => {
    for (let tries = 0; tries < 500 && !text.includes(wanted); tries++) await sleep(10);
    assert.ok(text.includes(wanted), `${JSON.stringify(text)} has no ${wanted}`);
  };
  return { ended, until };
}

/** Reads through a line that hangs up again and again; gives the ids that came. */
async function followThroughCuts(
  t: TestContext,
  read: (url: string, key: string, ids: string[]) => void,
): Promise<string[]> {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const line = await openLine(t, service);
  const ids: string[] = [];
  read(`${line.url}/v1/events/stream?after_sequence=0`, key, ids);
  for (let turn = 1; turn <= 3; turn++) {
    const count = await mintPast(service, key);
    for (let tries = 0; tries < 1_000 && ids.length < count; tries++) await sleep(10);
    assert.ok(ids.length >= count, `${ids.length} of ${count} events came`);
    line.hangUp();
  }
  return ids;
}

/** Mints a key and says how many events the desk has now. */
async function mintPast(service: Service, key: string): Promise<number> {
  await mintChild(service, key);
  const { body } = await service.send("GET", "/v1/events", { key, expect: 200 });
  return body.events.length;
}

function countUp(ids: readonly string[]): string[] {
  return ids.map((_, at) => String(at + 1));
}

test("fetch sees a stream that breaks off as broken, and one whose key was revoked as ended", async (t) => {
  const service = await startService(t);
  const { api_key: key, key_id } = await service.issue();
  const line = await openLine(t, service);
  for (const path of ["/v1/events/stream", "/v1/market/stream"]) {
    const reader = await readAll(`${line.url}${path}`, key);
    await reader.until("retry: 2000\n\n");
    line.hangUp();
    assert.equal(await reader.ended, "broken", path);
  }
  const reader = await readAll(`${service.url}/v1/events/stream`, key);
  await service.send("DELETE", `/v1/keys/${key_id}`, { key, expect: 200 });
  assert.equal(await reader.ended, "ended");
});

test("a service that stops breaks its streams off, so that their readers come back", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const reader = await readAll(`${service.url}/v1/events/stream`, key);
  await reader.until("retry: 2000\n\n");
  await service.app.close();
  assert.equal(await reader.ended, "broken");
});

test("eventsource resumes a stream that was cut, without a gap or a repetition", async (t) => {
  const ids = await followThroughCuts(t, (url, key, seen) => {
    const source = new EventSource(url, {
      fetch: async (input, init) =>
        await fetch(input, { ...init, headers: { ...init.headers, "x-service-key": key } }),
    });
    t.after(() => source.close());
    source.addEventListener("key.created", ({ lastEventId }) => seen.push(lastEventId));
  });
  assert.deepEqual(ids, countUp(ids));
});

test("fetch-event-source resumes a stream that was cut, without a gap or a repetition", async (t) => {
  const leaving = new AbortController();
  const hold = globalThis as { window?: unknown; document?: unknown };
  hold.window = globalThis; // It is written for pages.
  hold.document = new EventTarget();
  t.after(() => {
    leaving.abort();
    delete hold.window;
    delete hold.document;
  });
  const ids = await followThroughCuts(t, (url, key, seen) => {
    void fetchEventSource(url, {
      headers: { "x-service-key": key },
      signal: leaving.signal,
      openWhenHidden: true,
      onmessage: ({ id, data }) => void (data && seen.push(id)),
      onerror: () => 1,
    });
  });
  assert.deepEqual(ids, countUp(ids));
});

test("a reader that speaks HTTP/1.0 gets the events without frames", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  await mintChild(service, key);
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  const path = "/v1/events/stream?after_sequence=0";
  socket.write(`GET ${path} HTTP/1.0\r\nHost: x\r\nX-Service-Key: ${key}\r\n\r\n`);
  let text = "";
  while (!text.includes('"event":"key.created"')) text += String((await once(socket, "data"))[0]);
  const [head, ...body] = text.split("\r\n\r\n");
  assert.doesNotMatch(head ?? "", /transfer-encoding/i);
  assert.match(body.join("\r\n\r\n"), /^retry: 2000\n\nid: 0\n\nid: 1\nevent: /);
});

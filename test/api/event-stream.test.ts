import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { addClientFirm, mintChild } from "../support/keys.ts";
import { readSlug, type Service, startService } from "../support/service.ts";
import { recordChanges } from "../../src/journal/record-changes.ts";
import { changeOn, worker } from "../support/audit.ts";
import { connectAgain } from "../support/database.ts";

type Seen = { readonly id: number; readonly event: string; readonly data: string };

/** A reader of the stream, until it leaves or is ended. */
async function follow(
  t: TestContext,
  { url }: Pick<Service, "url">,
  key: string,
  { query = "", lastEventId }: { query?: string; lastEventId?: string } = {},
) {
  const headers = {
    "x-service-key": key,
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  };
  const request = get(`${url}/v1/events/stream${query}`, { headers, agent: false });
  t.after(() => request.destroy());
  const [response] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  const seen: Seen[] = [];
  let text = "";
  const ended = (async () => {
    for await (const chunk of response) {
      text += String(chunk);
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, id, event, data] = /^id: (\d+)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (id) seen.push({ id: Number(id), event: event ?? "", data: data ?? "" });
      }
    }
  })().catch(() => {});
  const until = async (count: number) => {
    for (let tries = 0; tries < 1_000 && seen.length < count; tries++) await sleep(10);
    assert.equal(seen.length, count);
  };
  return { seen, until, ended, leave: () => request.destroy() };
}

async function listed({ send }: Service, key: string): Promise<string[]> {
  const { body } = await send("GET", "/v1/events", { key, expect: 200 });
  return body.events.map((event: object) => JSON.stringify(event));
}

test("a stream begins at the given id, continues live, and shows the same events as the list", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  for (let n = 0; n < 120; n++) await mintChild(service, key);
  const events = await listed(service, key);
  const all = await follow(t, service, key, { query: "?after_sequence=0" });
  const live = await follow(t, service, key);
  const resumed = await follow(t, service, key, { lastEventId: "100", query: "?after_sequence=3" });
  await all.until(events.length);
  await resumed.until(events.length - 100);
  assert.deepEqual(
    all.seen.map(({ data }) => data),
    events,
  );
  assert.equal(resumed.seen[0]?.id, 101);
  assert.equal(live.seen.length, 0);
  await Promise.all(Array.from({ length: 20 }, () => mintChild(service, key)));
  await live.until(20);
  await all.until(events.length + 20);
  const ids = all.seen.map(({ id }) => id);
  assert.deepEqual(
    ids,
    ids.map((_, at) => at + 1),
  );
  assert.equal(live.seen[0]?.event, "key.created");
});

test("a reader that resumes with its last id misses nothing and repeats nothing while others write", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const seen: number[] = [];
  const writer = (async () => {
    for (let n = 0; n < 60; n++) await mintChild(service, key);
  })();
  const total = 61; // The root key's own event is the first.
  for (let turn = 0; turn < 500 && seen.length < total; turn++) {
    const reader = await follow(t, service, key, { lastEventId: String(seen.at(-1) ?? 0) });
    // It leaves in the middle of things: after a few events, or when there are none for a while.
    for (let tries = 0; tries < 30 && reader.seen.length < 3; tries++) await sleep(10);
    reader.leave();
    await reader.ended;
    seen.push(...reader.seen.map(({ id }) => id));
  }
  await writer;
  assert.equal(seen.length, total);
  assert.deepEqual(
    seen,
    seen.map((_, at) => at + 1),
  );
});

test("a stream shows events that another process writes", async (t) => {
  const service = await startService(t);
  const other = await startService(t, { beside: service });
  const { api_key: key, firm_id: desk } = await service.issue();
  const reader = await follow(t, service, key);
  // Written past the service, so that nobody in this process is told.
  const past = connectAgain(t, service.ctx.db);
  const told = { name: "key.created", from: null, to: null, data: {} };
  const change = changeOn(desk, "key_x", { event: told });
  await past.transaction((tx) => recordChanges(tx, worker, [change], service.clock.now()));
  await reader.until(1);
  await mintChild(other, key);
  await reader.until(2);
});

test("a sub_account key is streamed the events of its own firm, with the desk's sequence numbers", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const [one, two] = [
    await addClientFirm(service, root.firm_id),
    await addClientFirm(service, root.firm_id),
  ];
  const sub = await mintChild(service, root.api_key, { kind: "sub_account", firm_id: one });
  const reader = await follow(t, service, sub.api_key);
  for (const firm of [two, one, two, one]) {
    const path = `/v1/firms/${firm}/suspend`;
    await service.send("POST", path, { key: root.api_key, body: { reason: "a pause" } });
    await service.send("POST", `/v1/firms/${firm}/resume`, { key: root.api_key, body: {} });
  }
  await reader.until(4);
  assert.ok(reader.seen.every(({ data }) => JSON.parse(data).firm_id === one));
});

test("revoking a key ends its stream, and an unknown start id is refused", async (t) => {
  const service = await startService(t);
  const root = await service.issue();
  const child = await mintChild(service, root.api_key);
  const reader = await follow(t, service, child.api_key);
  await service.send("DELETE", `/v1/keys/${child.key_id}`, { key: root.api_key, expect: 200 });
  await reader.ended;
  const key = root.api_key;
  const headers = { "last-event-id": "soon" };
  const answer = await service.send("GET", "/v1/events/stream", { key, headers, expect: 400 });
  assert.equal(readSlug(answer), "bad_request");
  await service.send("GET", "/v1/events/stream?after_sequence=-1", { key, expect: 422 });
  await service.send("GET", "/v1/events/stream?limit=1", { key, expect: 422 });
  // A number that is still to come is as good as now.
  const ahead = await follow(t, service, key, { lastEventId: "999999" });
  await mintChild(service, key);
  await ahead.until(1);
});

test("a stream tells where it begins, so that a reader that is cut before its first event misses none", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  await mintChild(service, key);
  for (const [query, from] of [
    ["", "2"],
    ["?after_sequence=1", "1"],
    ["?after_sequence=999999", "2"],
  ]) {
    const headers = { "x-service-key": key };
    const response = await fetch(`${service.url}/v1/events/stream${query}`, { headers });
    let text = "";
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString();
      if (text.includes("id: ")) break;
    }
    assert.ok(text.startsWith(`retry: 2000\n\nid: ${from}\n\n`), JSON.stringify(text));
  }
});

test("the sixth event stream of a key ends its first", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const first = await follow(t, service, key);
  for (let n = 1; n < 5; n++) await follow(t, service, key);
  const sixth = await follow(t, service, key);
  await first.ended;
  await mintChild(service, key);
  await sixth.until(1);
});

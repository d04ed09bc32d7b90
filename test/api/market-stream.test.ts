import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openFeed, streamMarket } from "../../src/market/stream-market.ts";
import {
  openStreams,
  type StreamOptions,
  type Streams,
  type StreamsOptions,
} from "../../src/platform/http/sse.ts";
import { addCard } from "../support/cards.ts";
import { checkDoors } from "../support/doors.ts";
import { mintChild } from "../support/keys.ts";
import { holdTable } from "../support/locks.ts";
import { dataDirectory, demoKeyIn, serve } from "../support/process.ts";
import { type Service, startService } from "../support/service.ts";
import { readStream, type StreamEvent } from "../support/streams.ts";

const path = "/v1/market/stream";

function read({ url }: Pick<Service, "url">, key: string, lastEventId?: string) {
  return readStream(`${url}${path}`, { key, ...(lastEventId !== undefined && { lastEventId }) });
}

/** A service whose workers have looked at the market once. */
async function startMarket(t: TestContext): Promise<Service> {
  const service = await startService(t);
  await service.work();
  return service;
}

/** One change of one market, told to whoever follows. */
async function change(service: Service, midBps: number): Promise<void> {
  await addCard(service, { midBps });
  await service.work();
}

function pickSeqs(events: readonly StreamEvent[]): number[] {
  return events.map(({ data }) => data.seq);
}

/** What stays the same wherever it was read. */
function formatEvents(events: readonly StreamEvent[]): string[] {
  return events.map(({ id, event, text }) => `${id} ${event} ${text}`);
}

test("the stream checks key, scope, rate and body", async (t) => {
  await checkDoors(t, await startService(t), [{ method: "GET", path, scope: "market:read" }]);
});

test("a stream opens with the usual headers and a snapshot, followed by every change", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const reader = await read(service, key);
  assert.equal(reader.status, 200);
  assert.equal(reader.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.ok(reader.headers["x-request-id"]);
  assert.equal(reader.headers["x-ratelimit-plan"], "sandbox");

  const [snapshot] = await reader.until(1);
  const { body } = await service.send("GET", "/v1/market", { key, expect: 200 });
  assert.equal(snapshot?.event, "snapshot");
  assert.deepEqual(snapshot?.data, body);
  assert.equal(snapshot?.id, `${body.epoch}-${body.seq}`);

  await change(service, 9_800);
  await addCard(service, { state: "halted" });
  await service.work();
  await addCard(service, { midBps: 9_810 });
  await service.work();
  const [, update, halted, opened] = await reader.until(4);
  assert.equal(update?.event, "update");
  assert.equal(update?.data.sell_price_bps, 9_745);
  assert.equal(update?.id, `${body.epoch}-${body.seq + 1}`);
  assert.deepEqual([halted?.event, halted?.data.state], ["status", "halted"]);
  assert.equal(halted?.data.sell_price_bps, null);
  assert.deepEqual([opened?.event, opened?.data.state], ["status", "open"]);
  assert.deepEqual(
    opened?.data,
    (await service.send("GET", "/v1/market/RODTEP", { key, expect: 200 })).body,
  );
  reader.leave();
});

test("only a key with the buy side is streamed the buy price; all else is the same", async (t) => {
  const service = await startMarket(t);
  const buyer = await read(service, (await service.issue()).api_key);
  const seller = await read(service, (await service.issue({ buySide: false })).api_key);
  await Promise.all([buyer.until(1), seller.until(1)]);
  await change(service, 9_800);
  await Promise.all([buyer.until(2), seller.until(2)]);
  assert.equal(buyer.events[1]?.data.buy_price_bps, 9_855);
  for (const { text } of seller.events) assert.doesNotMatch(text, /buy/);
  const { buy_price_bps: _hidden, ...shared } = buyer.events[1]?.data ?? {};
  assert.deepEqual(seller.events[1]?.data, shared);
  buyer.leave();
  seller.leave();
});

test("an environment streams nothing of the other", async (t) => {
  const service = await startMarket(t);
  const live = await read(service, (await service.issue({ environment: "live" })).api_key);
  const [snapshot] = await live.until(1);
  assert.deepEqual(
    snapshot?.data.markets.map(({ state }: { state: string }) => state),
    ["unavailable", "unavailable"],
  );
  await change(service, 9_800);
  await addCard(service, { environment: "live" });
  await service.work();
  const [, opened] = await live.until(2);
  assert.equal(opened?.event, "status");
  assert.deepEqual([opened?.data.state, opened?.data.sell_price_bps], ["open", 9_745]);
  assert.equal(opened?.data.epoch, snapshot?.data.epoch);
  live.leave();
});

test("a reader that resumes from any id gets the updates it missed and then the new ones", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const whole = await read(service, key);
  for (let step = 0; step < 6; step++) await change(service, 9_700 + step);
  const told = [...(await whole.until(7))];
  for (const [place, { id = "" }] of told.entries()) {
    const back = await read(service, key, id);
    await back.until(whole.events.length - place - 1);
    await change(service, 9_500 + place);
    const events = await whole.until(8 + place);
    await back.until(events.length - place - 1);
    assert.deepEqual(formatEvents(back.events), formatEvents(events.slice(place + 1)));
    back.leave();
  }
  whole.leave();
});

test("updates during a reader's catch-up reach it once and in order", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const first = await read(service, key);
  const [{ id = "", data } = { data: {} }] = await first.until(1);
  first.leave();
  for (let step = 0; step < 20; step++) await change(service, 9_000 + step);
  const beside = await startService(t, { beside: service });
  const other = await service.issue();
  const readers = await Promise.all([
    read(service, key, id),
    read(beside, key, id),
    read(service, other.api_key, id),
  ]);
  for (let step = 0; step < 20; step++) await change(service, 9_100 + step);
  for (const reader of readers) {
    await reader.until(40);
    assert.deepEqual(
      pickSeqs(reader.events),
      Array.from({ length: 40 }, (_, step) => data.seq + 1 + step),
    );
    reader.leave();
  }
});

test("an id that cannot be resumed gets a reset and a snapshot", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const reader = await read(service, key);
  await reader.until(1);
  for (let step = 0; step < 3; step++) await change(service, 9_700 + step);
  await reader.until(4);
  const { epoch } = reader.events[0]?.data ?? {};
  reader.leave();
  await service.ctx.db.pool.query("delete from market_updates where seq = 4");
  const ids = {
    nonsense: "malformed_id",
    "17": "malformed_id",
    [`${epoch}-`]: "malformed_id",
    [`${epoch}-1.5`]: "malformed_id",
    [`${epoch}-5000`]: "unknown_id",
    "0123456789-1": "other_epoch",
    [`${epoch}-3`]: "too_old",
  };
  for (const [id, reason] of Object.entries(ids)) {
    const back = await read(service, key, id);
    const events = await back.until(2);
    assert.deepEqual([events[0]?.event, events[0]?.data], ["reset", { reason }], id);
    assert.deepEqual([events[1]?.event, events[1]?.data.seq], ["snapshot", 5]);
    back.leave();
    await back.ended;
  }
  const empty = await read(service, key, "");
  assert.equal((await empty.until(1))[0]?.event, "snapshot");
  empty.leave();
});

test("old updates are dropped, except the last of each scheme", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const { pool } = service.ctx.db;
  await pool.query("update market_logs set seq = 20000 where environment = 'sandbox'");
  await change(service, 9_800);
  const kept = await pool.query(
    "select seq, scheme from market_updates where environment = 'sandbox' order by seq",
  );
  assert.deepEqual(kept.rows, [
    { seq: 2, scheme: "ROSCTL" },
    { seq: 20_001, scheme: "RODTEP" },
  ]);
  const { body } = await service.send("GET", "/v1/market", { key, expect: 200 });
  assert.deepEqual([body.markets.length, body.seq], [2, 20_001]);
  const back = await read(service, key, `${body.epoch}-2`);
  assert.deepEqual((await back.until(2))[0]?.data, { reason: "too_old" });
  back.leave();
});

test("two nodes stream the same ids and bytes, and a reader can move between them", async (t) => {
  const service = await startMarket(t);
  const beside = await startService(t, { beside: service });
  const { api_key: key } = await service.issue();
  const here = await read(service, key);
  const there = await read(beside, key);
  await Promise.all([here.until(1), there.until(1)]);
  for (let step = 0; step < 4; step++) {
    await addCard(service, { midBps: 9_600 + step });
    await Promise.all([service.work(), beside.work()]);
  }
  await Promise.all([here.until(5), there.until(5)]);
  assert.deepEqual(formatEvents(here.events), formatEvents(there.events));

  const moved = await read(beside, key, here.events[2]?.id);
  await moved.until(2);
  assert.deepEqual(formatEvents(moved.events), formatEvents(here.events.slice(3)));
  for (const reader of [here, there, moved]) reader.leave();
});

test("a restarted log has another epoch, and its readers are reset", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const reader = await read(service, key);
  const [before] = await reader.until(1);
  await service.ctx.db.pool.query("delete from market_logs where environment = 'sandbox'");
  await service.work();
  const [, reset, snapshot] = await reader.until(3);
  assert.deepEqual([reset?.event, reset?.data], ["reset", { reason: "other_epoch" }]);
  assert.equal(snapshot?.event, "snapshot");
  assert.notEqual(snapshot?.data.epoch, before?.data.epoch);
  await change(service, 9_800);
  assert.equal((await reader.until(4))[3]?.data.seq, snapshot?.data.seq + 1);
  reader.leave();
});

test("a stream continues after a database outage", async (t) => {
  const service = await startMarket(t);
  const { api_key: key } = await service.issue();
  const reader = await read(service, key);
  await reader.until(1);
  await service.ctx.db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query like 'listen %'`,
  );
  await change(service, 9_800);
  assert.equal((await reader.until(2))[1]?.data.sell_price_bps, 9_745);
  reader.leave();
});

test("the sixth stream of a key ends its first and no other key's", async (t) => {
  const service = await startMarket(t);
  const root = await service.issue();
  const readers = [];
  for (let open = 0; open < 5; open++) readers.push(await read(service, root.api_key));
  const child = await mintChild(service, root.api_key, { scopes: ["market:read"] });
  readers.push(await read(service, child.api_key));
  readers.push(await read(service, root.api_key));
  await readers.shift()?.ended;
  await change(service, 9_800);
  for (const reader of readers) await reader.until(2);
  for (const reader of readers) reader.leave();
});

test("a stream ends when its key is revoked, re-issued or expires, and others continue", async (t) => {
  const service = await startMarket(t);
  const root = await service.issue();
  const scopes = ["market:read"];
  const revoked = await mintChild(service, root.api_key, { scopes });
  const replaced = await mintChild(service, root.api_key, { scopes });
  const soon = new Date(service.clock.now().getTime() + 60_000).toISOString();
  const expiring = await mintChild(service, root.api_key, { scopes, expires_at: soon });
  const kept = await read(service, root.api_key);
  const ends = await read(service, revoked.api_key);
  const moves = await read(service, replaced.api_key);
  const lapses = await read(service, expiring.api_key);
  await service.send("DELETE", `/v1/keys/${revoked.key_id}`, { key: root.api_key, expect: 200 });
  await ends.ended;
  const reissue = `/v1/keys/${replaced.key_id}/reissue`;
  await service.send("POST", reissue, { key: root.api_key, expect: 200 });
  await moves.ended;
  service.clock.advance({ seconds: 60 });
  await lapses.ended;
  await change(service, 9_800);
  await kept.until(2);

  const heir = await mintChild(service, root.api_key, { scopes });
  const orphaned = await read(service, heir.api_key);
  await service.send("DELETE", `/v1/keys/${root.key_id}`, { key: root.api_key, expect: 200 });
  await Promise.all([kept.ended, orphaned.ended]);
});

/** The stream of the market under a path of its own, with other bounds and a published index. */
async function startBounded(
  t: TestContext,
  bounds: Pick<StreamsOptions, "heartbeatMs" | "unreadBytesMax">,
): Promise<Service & { readonly streams: Streams }> {
  const opened: Streams[] = [];
  const service = await startService(t, {
    routes(app, ctx) {
      const feed = openFeed({ ...ctx, latestIndex: async () => new Map([["RODTEP", 9_790]]) });
      app.addHook("onClose", () => feed.close());
      const streams = openStreams(app, { deadAmong: async () => new Set(), ...bounds });
      opened.push(streams);
      const config = { demand: "market:read", streams: true } as const;
      app.get("/test/stream", { config }, async (request, reply) => {
        const { caller, id: requestId, headers } = request;
        const lastEventId = headers["last-event-id"]?.toString();
        const openStream = (options: StreamOptions) => streams.open(request, reply, options);
        await streamMarket({ ...ctx, feed }, { caller, requestId, lastEventId, openStream });
      });
    },
  });
  return { ...service, streams: opened[0]! };
}

test("a market shows the published index", async (t) => {
  const service = await startBounded(t, {});
  const { api_key: key } = await service.issue();
  const reader = await readStream(`${service.url}/test/stream`, { key });
  const [snapshot] = await reader.until(1);
  const indices = snapshot?.data.markets.map(({ index_bps }: { index_bps: number }) => index_bps);
  assert.deepEqual(indices, [9_790, null]);
  reader.leave();
});

test("a heartbeat carries the stream's position, which can be resumed", async (t) => {
  const service = await startBounded(t, { heartbeatMs: 40 });
  const { api_key: key } = await service.issue();
  const reader = await readStream(`${service.url}/test/stream`, { key, heartbeats: true });
  const [snapshot, beat] = await reader.until(2);
  assert.equal(beat?.event, "heartbeat");
  const { epoch, seq } = snapshot?.data ?? {};
  assert.deepEqual(beat?.data, { epoch, seq });
  assert.equal(beat?.id, snapshot?.id);
  reader.leave();
  await change(service, 9_800);
  const lastEventId = beat?.id ?? "";
  const back = await readStream(`${service.url}/test/stream`, { key, lastEventId });
  assert.equal((await back.until(1))[0]?.event, "update");
  back.leave();
});

test("heartbeats of a reader that catches up say what it has been sent, never more", async (t) => {
  const service = await startBounded(t, { heartbeatMs: 1 });
  await service.work();
  const { api_key: key } = await service.issue();
  const whole = await readStream(`${service.url}/test/stream`, { key });
  const [{ id: lastEventId = "", data } = { data: {} }] = await whole.until(1);
  for (let step = 0; step < 10; step++) await change(service, 9_000 + step);
  await whole.until(11);
  whole.leave();
  const held = await holdTable(t, service, "market_logs");
  const back = await readStream(`${service.url}/test/stream`, {
    key,
    lastEventId,
    heartbeats: true,
  });
  await back.until(3);
  await held.release();
  for (let step = 0; step < 10; step++) await change(service, 9_100 + step);
  const isUpdate = ({ event }: StreamEvent) => event === "update";
  let told = data.seq;
  for (let count = 3; back.events.filter(isUpdate).length < 20; count++) await back.until(count);
  for (const { event, id, data: said } of back.events) {
    if (event === "update") assert.equal(said.seq, ++told);
    assert.equal(said.seq, told, event);
    assert.equal(id, `${data.epoch}-${told}`);
  }
  assert.equal(told, data.seq + 20);
  back.leave();
});

const longBytes = 50_000;
/** A loopback device holds some 4 MiB for a reader that takes nothing; the rest is ours to bound. */
const longUpdatesMax = 120;

/** An update of unusual length, appended as the worker would. */
async function appendLong({ ctx }: Service): Promise<void> {
  await ctx.db.pool.query(
    `with moved as (
      update market_logs set seq = seq + 1 where environment = 'sandbox'
      returning environment, epoch, seq
    ), added as (
      insert into market_updates (
        environment, epoch, seq, scheme, kind, body, buyer_body, created_at
      )
      select environment, epoch, seq, 'RODTEP', 'update', long.body, long.body, now()
      from moved, (select json_build_object('long', repeat('x', ${longBytes}))::text as body) as long
    )
    select pg_notify('market_updates', environment) from moved`,
  );
}

async function openSocket({ url }: Service, key: string): Promise<Socket> {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET /test/stream HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\n\r\n`);
  await once(socket, "readable");
  return socket;
}

/** Opens 40 readers that read and 20 that do not, and sends until the latter are gone or far behind. */
async function sendToStalled(service: Service & { readonly streams: Streams }) {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < 12; opened++) {
    const { api_key } = await service.issue();
    for (let stream = 0; stream < 5; stream++) sockets.push(await openSocket(service, api_key));
  }
  const [taking, stalled] = [sockets.slice(20), sockets.slice(0, 20)];
  for (const socket of taking) socket.resume();
  let updates = 0;
  while (updates < longUpdatesMax && service.streams.count() > taking.length) {
    await appendLong(service);
    updates += 1;
    const isBehind = ({ bytesRead }: Socket) => bytesRead < updates * longBytes;
    for (let tries = 0; tries < 1_000 && taking.some(isBehind); tries++) await sleep(5);
    assert.ok(!taking.some(isBehind), "whoever reads gets every update");
  }
  const left = service.streams.count();
  for (const socket of sockets) socket.destroy();
  return { left, taking: taking.length, all: taking.length + stalled.length };
}

test("readers that stall are disconnected, and all others get every update", async (t) => {
  const { left, taking } = await sendToStalled(await startBounded(t, {}));
  assert.equal(left, taking);
});

test("control: without a bound, stalled readers are never disconnected", async (t) => {
  const { left, all } = await sendToStalled(await startBounded(t, { unreadBytesMax: Infinity }));
  assert.equal(left, all);
});

test("SIGTERM ends streams cleanly, a stalled one too, and the service exits", async (t) => {
  const running = await serve(t, { DATA_DIR: await dataDirectory(t, { isMigrated: true }) });
  for (let tries = 0; tries < 300 && !demoKeyIn(running.output.stdout); tries++) await sleep(100);
  const key = demoKeyIn(running.output.stdout) ?? "";
  const reader = await read(running, key);
  await reader.until(1);
  const { port } = new URL(running.url);
  const stalled = connect(Number(port), "127.0.0.1").on("error", () => {});
  await once(stalled, "connect");
  stalled.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\n\r\n`);
  await once(stalled, "readable");
  running.signal("SIGTERM");
  await reader.ended;
  assert.equal(await running.ended, 0);
  assert.equal(running.output.stderr, "");
  stalled.destroy();
});

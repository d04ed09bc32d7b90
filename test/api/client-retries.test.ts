// When the client sends a call again: against a server on loopback that breaks in every way that the
// contract and networks know, and keeps count.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Scripdesk, ScripdeskError } from "../../client/src/index.ts";
import { answer, good, passing, type Reaction, startBreaking } from "../support/breaking-server.ts";
import { startService } from "../support/service.ts";

function openClient(base_url: string, options: object = {}): Scripdesk {
  return new Scripdesk({ base_url, api_key: "service_test_x", retry_delay_ms: 1, ...options });
}

const calls: Readonly<Record<string, { repeats: boolean; call: (client: Scripdesk) => unknown }>> =
  {
    "a read": { repeats: true, call: (client) => client.readOrder("ord_1") },
    "a list": { repeats: true, call: (client) => client.listOrders() },
    "a write that takes a key": {
      repeats: true,
      call: (client) => client.placeOrder({ quote_ref: "qte_1" }),
    },
    "a write under the caller's key": {
      repeats: true,
      call: (client) => client.placeOrder({ quote_ref: "qte_1" }, { idempotency_key: "mine" }),
    },
    "a dry run": {
      repeats: true,
      call: (client) => client.cancelOrder("ord_1", { dry_run: true }),
    },
    "a write without a key": { repeats: false, call: (client) => client.cancelOrder("ord_1") },
    "a quote": {
      repeats: false,
      call: (client) => client.takeQuote({ side: "sell", scrip_no: "X" }),
    },
    "a deletion": { repeats: false, call: (client) => client.deleteWebhook("whk_1") },
  };

for (const [what, { repeats, call }] of Object.entries(calls)) {
  test(`${what} is sent ${repeats ? "again" : "once"} after what passes`, async (t) => {
    for (const [how, reaction] of Object.entries(passing)) {
      const { url, seen } = await startBreaking(t, [reaction, reaction]);
      const sent = Promise.resolve(call(openClient(url)));
      if (repeats) {
        await sent;
        assert.equal(seen.length, 3, how);
      } else {
        await assert.rejects(sent, ScripdeskError, how);
        assert.equal(seen.length, 1, how);
      }
      assert.equal(new Set(seen.map((one) => JSON.stringify(one))).size, 1, how);
    }
  });
}

test("each call has a key of its own, and the error tells it", async (t) => {
  const { url, seen } = await startBreaking(t, [good, answer(500), answer(422)]);
  const client = openClient(url);
  await client.placeOrder({ quote_ref: "qte_1" });
  const error: unknown = await client
    .placeOrder({ quote_ref: "qte_1" })
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof ScripdeskError);
  const [first, second, third] = seen.map(({ key }) => key);
  assert.match(first ?? "", /^[0-9a-f-]{36}$/);
  assert.notEqual(first, second);
  assert.equal(second, third);
  assert.equal(error.idempotency_key, second);
  assert.equal(error.attempts, 2);
  await client.cancelOrder("ord_1");
  assert.equal(seen.at(-1)?.key, "");
  // From JavaScript, where no type says so.
  const given = { idempotency_key: "mine" } as object;
  await assert.rejects(client.cancelOrder("ord_1", given), TypeError);
});

test("a request that was cut off while it was sent is sent again whole", async (t) => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers["idempotency-key"]));
    if (seen.length === 1) request.socket.resetAndDestroy();
    else void buffer(request).then(() => good(response, request));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const client = openClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const credits = Array.from({ length: 3_000 }, (_, at) => ({
    scrip_no: `PROBE${at}`,
    scheme: "RODTEP" as const,
    face_paise: 100,
    issued_on: "2026-10-01",
    expires_on: "2028-10-01",
  }));
  await client.declareCredits("frm_1", { credits });
  assert.equal(seen.length, 2);
  assert.equal(seen[0], seen[1]);
  server.closeAllConnections();
});

test("no other answer is worth another attempt", async (t) => {
  for (const status of [302, 400, 401, 403, 404, 409, 413, 415, 418, 422, 501, 505]) {
    const body = JSON.stringify({ error: "request_error", code: "some_slug", message: "no" });
    const elsewhere = await startBreaking(t, []);
    const { url, seen } = await startBreaking(t, [
      answer(status, { location: elsewhere.url }, body),
    ]);
    await assert.rejects(openClient(url).placeOrder({ quote_ref: "qte_1" }), {
      status,
      slug: "some_slug",
      attempts: 1,
    });
    assert.equal(seen.length, 1, String(status));
    assert.equal(elsewhere.seen.length, 0, "a redirect is not followed with the key");
  }
  const { url, seen } = await startBreaking(t, [
    answer(200, { "content-type": "text/html" }, "<p>"),
  ]);
  await assert.rejects(openClient(url).whoAmI(), { slug: "unexpected_answer", status: 200 });
  assert.equal(seen.length, 1);
});

test("attempts end by count", async (t) => {
  for (const [max_retries, sent] of [
    [undefined, 5],
    [2, 3],
    [0, 1],
  ] as const) {
    const { url, seen } = await startBreaking(t, Array(9).fill(answer(500)));
    const options = { max_retries };
    await assert.rejects(openClient(url).readOrder("ord_1", options), { attempts: sent });
    assert.equal(seen.length, sent);
  }
});

test("attempts end by time: a pause that the call has no time for is not begun", async (t) => {
  const busy = answer(429, { "retry-after": "3600" });
  const { url, seen } = await startBreaking(t, [busy]);
  await assert.rejects(openClient(url).readOrder("ord_1"), { status: 429, retry_after_s: 3_600 });
  assert.equal(seen.length, 1);
});

test("a call that gets no answer ends in time, however often it was sent", async (t) => {
  const silent: Reaction = () => {};
  const { url, seen } = await startBreaking(t, Array(9).fill(silent));
  const client = openClient(url);
  const slug = "timed_out";
  await assert.rejects(client.readOrder("ord_1", { timeout_ms: 50 }), { slug, attempts: 1 });
  const quick = { attempt_timeout_ms: 50, max_retries: 2 };
  await assert.rejects(client.readOrder("ord_1", quick), { slug, attempts: 3 });
  await assert.rejects(client.cancelOrder("ord_1", quick), { slug, attempts: 1 });
  assert.equal(seen.length, 5);
});

test("a signal ends a call that waits for its answer or for its next attempt", async (t) => {
  const busy = answer(429, { "retry-after": "60" });
  const { url, seen } = await startBreaking(t, [() => {}, busy]);
  const client = openClient(url);
  for (const count of [1, 2]) {
    const leaving = new AbortController();
    const { signal } = leaving;
    const call = client.readOrder("ord_1", { signal, on_answer: () => leaving.abort("enough") });
    while (seen.length < count) await nextTurn();
    if (count === 1) leaving.abort("enough");
    assert.equal(await call.catch((reason: unknown) => reason), "enough");
  }
  const ended = AbortSignal.abort("before");
  assert.equal(await client.whoAmI({ signal: ended }).catch((reason: unknown) => reason), "before");
  assert.equal(seen.length, 2);
});

test("429 is sent again when Retry-After has passed, not before, and 500 sooner", async (t) => {
  const busy = answer(429, { "retry-after": "60" });
  const { url, seen } = await startBreaking(t, [busy, answer(500)]);
  const client = new Scripdesk({ base_url: url });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const turns = async () => {
    for (let turn = 0; turn < 2_000; turn++) await nextTurn();
  };
  let isDone = false;
  const call = client.readOrder("ord_1").then(() => (isDone = true));
  while (seen.length < 1) await nextTurn();
  await turns();
  t.mock.timers.tick(59_900);
  await turns();
  assert.equal(seen.length, 1);
  t.mock.timers.tick(6_200); // Callers that were refused together come back a little apart.
  while (seen.length < 2) await nextTurn();
  await turns();
  assert.equal(isDone, false);
  t.mock.timers.tick(1_200);
  await call;
  assert.equal(seen.length, 3);
});

test("a write whose answer was lost is made once", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  let lost = 0;
  const losing: typeof fetch = async (address, init) => {
    const response = await fetch(address, init);
    if (lost++ > 0) return response;
    await response.text();
    throw new TypeError("the line went dead");
  };
  const client = openClient(service.url, { api_key, fetch: losing });
  const group = await client.createGroup({ name: "once" });
  assert.equal(lost, 2);
  const { groups } = await client.listGroups();
  assert.deepEqual(
    groups.map(({ group_id }) => group_id),
    [group.group_id],
  );
});

// A caller's trace: taken from `traceparent`, logged, and passed on to the webhooks of its desk.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createLog } from "../../src/platform/log.ts";
import { dealer } from "../support/orders.ts";
import { type Received, registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Service, startService } from "../support/service.ts";

const buildTrace = (digit: string) => digit.repeat(32);
const header = (traceId: string) => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });

type Line = Record<string, unknown>;

async function ping(service: Service, key: string, id: string, headers: Record<string, string>) {
  await service.send("POST", `/v1/webhooks/${id}/test`, { key, headers, expect: 200 });
}

const told = ({ headers, body }: Received) => ({
  event: headers["x-service-event"],
  requestId: JSON.parse(body.toString()).request_id as string,
  traceparent: headers["traceparent"],
});

test("a trace goes to the log and, as our part of it, to the webhooks of what the request did", async (t) => {
  const lines: string[] = [];
  const { log } = createLog("info", { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { api_key: key } = await service.issue();
  const receiver = await startReceiver(t);
  const { webhook_id } = await registerWebhook(service, key, receiver.url);
  receiver.react((response) => response.writeHead(503).end());
  await ping(service, key, webhook_id, { ...header(buildTrace("a")), "x-request-id": "traced" });
  await ping(service, key, webhook_id, { "x-request-id": "plain" });
  await service.work();
  receiver.react((response) => response.end());
  service.clock.advance({ seconds: 6 });
  const another = await startService(t, { beside: service });
  await another.work();

  const answered = lines.map((line) => JSON.parse(line) as Line);
  const [traced, plain] = ["traced", "plain"].map((id) =>
    answered.find(({ request_id, msg }) => request_id === id && msg === "answered"),
  );
  assert.equal(traced?.["trace_id"], buildTrace("a"));
  assert.match(String(traced["span_id"]), /^[0-9a-f]{16}$/);
  assert.notEqual(traced["span_id"], "00f067aa0ba902b7", "our part has an id of its own");
  assert.equal(plain && "trace_id" in plain, false);
  const passed = `00-${buildTrace("a")}-${String(traced["span_id"])}-01`;
  const sent = receiver.received.map(told);
  const of = (id: string) => sent.filter(({ requestId }) => requestId === id);
  assert.deepEqual(
    of("traced").map(({ traceparent }) => traceparent),
    [passed, passed],
    "the first attempt and another process's",
  );
  assert.deepEqual(
    of("plain").map(({ traceparent }) => traceparent),
    [undefined, undefined],
  );
});

test("a fault of ours is logged with the trace, and what is no trace is ignored", async (t) => {
  const lines: string[] = [];
  const { log } = createLog("debug", { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { api_key: key } = await service.issue();
  const read = async (traceparent: string) => {
    const headers = { traceparent, "x-request-id": "mine" };
    await service.send("GET", "/v1/whoami", { key, headers, expect: 200 });
    const { request_id, trace_id } = JSON.parse(lines.at(-1) ?? "") as Line;
    return [request_id, trace_id];
  };
  const good = header(buildTrace("b")).traceparent;
  assert.deepEqual(await read(good), ["mine", buildTrace("b")]);
  for (const bad of [
    `${good}, ${good}`,
    good.toUpperCase(),
    "whsec_bm90IGEgdHJhY2U",
    "x".repeat(4_096),
  ]) {
    assert.deepEqual(await read(bad), ["mine", undefined], bad);
  }
  await service.ctx.db.pool.query(
    "set role none; alter table idempotency_keys rename to lost; set role scripdesk_app",
  );
  const headers = { ...header(buildTrace("c")), "idempotency-key": "1" };
  const body = { name: "till", kind: "app", scopes: ["*"] };
  await service.send("POST", "/v1/keys", { key, body, headers, expect: 500 });
  const fault = lines
    .map((line) => JSON.parse(line) as Line)
    .find(({ msg }) => msg === "request failed");
  assert.equal(fault?.["trace_id"], buildTrace("c"));
});

test("the trace of one desk never reaches another", async (t) => {
  const service = await startService(t);
  const seller = await dealer(service);
  const buyer = await service.issue();
  const [sellers, buyers] = [await startReceiver(t), await startReceiver(t)];
  await registerWebhook(service, seller.key, sellers.url);
  await registerWebhook(service, buyer.api_key, buyers.url);
  await service.send("POST", "/v1/orders", {
    key: seller.key,
    body: { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_800 },
    headers: header(buildTrace("d")),
    expect: 201,
  });
  await service.send("POST", "/v1/orders", {
    key: buyer.api_key,
    body: { side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000, limit_bps: 9_840 },
    headers: header(buildTrace("e")),
    expect: 201,
  });
  await service.work();
  const traces = ({ received }: { readonly received: readonly Received[] }) =>
    Map.groupBy(received.map(told), ({ traceparent }) => traceparent?.slice(3, 35));
  const [atSeller, atBuyer] = [traces(sellers), traces(buyers)];
  const matched = sellers.received.map(told).find(({ event }) => event === "order.matched");
  assert.ok(matched, "the buyer's order changed the seller's");
  assert.equal(matched.traceparent, undefined);
  assert.deepEqual([atSeller.has(buildTrace("d")), atSeller.has(buildTrace("e"))], [true, false]);
  assert.deepEqual([atBuyer.has(buildTrace("d")), atBuyer.has(buildTrace("e"))], [false, true]);
});

// What an operator sees of a running service: metrics, health and logs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { measureService } from "../src/measure-service.ts";
import { createLog } from "../src/platform/log.ts";
import { measureOnDemand } from "../src/platform/metrics.ts";
import { setReachable } from "./support/database.ts";
import { liveSeller, sellLive } from "./support/live-sales.ts";
import { asBearer, startOps } from "./support/ops.ts";
import { addPerson } from "./support/people.ts";
import { type Answer, readSlug, type Service, startService } from "./support/service.ts";

type Sample = {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
};

/** The lines of the text format that are samples. */
function parseSamples({ text }: Answer): Sample[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels, value]) => ({
    name: name!,
    labels: Object.fromEntries(
      [...(labels ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label!, text!]),
    ),
    value: Number(value),
  }));
}

test("/metrics shows durations by route, refusals, set sizes and connections, on its own listener", async (t) => {
  const service = await startService(t);
  const { send: ops } = await startOps(t, service);

  const { api_key: key, key_id } = await service.issue();
  await Promise.all(
    Array.from({ length: 5 }, () => service.send("GET", "/v1/whoami", { key, expect: 200 })),
  );
  await service.send("GET", `/v1/keys/${key_id}`, { key, expect: 200 });
  await service.send("GET", "/v1/whoami", { expect: 401 });
  await service.send("GET", "/v1/nothing?secret=1", { key, expect: 404 });

  const answer = await ops("GET", "/metrics", { headers: { connection: "close" }, expect: 200 });
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
  const samples = parseSamples(answer);
  const findValue = (name: string, labels: Record<string, string>) =>
    samples.find(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value;
  const counted = "scripdesk_http_request_duration_seconds_count";
  assert.equal(findValue(counted, { route: "GET /v1/whoami", status: "2xx" }), 5);
  assert.equal(findValue(counted, { route: "GET /v1/keys/{key_id}", status: "2xx" }), 1);
  assert.equal(findValue(counted, { route: "GET /v1/whoami", status: "4xx" }), 1);
  const refused = "scripdesk_http_refusals_total";
  assert.equal(findValue(refused, { route: "GET /v1/whoami", status: "401" }), 1);
  assert.equal(findValue("scripdesk_set_size_sum", { set: "calls" }), 7);
  for (const state of ["idle", "busy", "waiting"]) {
    assert.ok(findValue("scripdesk_database_connections", { state }) !== undefined, state);
  }
  for (const environment of ["live", "sandbox"]) {
    assert.equal(findValue("scripdesk_database_loans", { environment, state: "waiting" }), 0);
  }
  assert.equal(findValue("scripdesk_database_stalled", {}), 0);
  assert.ok(findValue("process_resident_memory_bytes", {})! > 0);

  const routes = new Set(samples.flatMap(({ labels }) => labels["route"] ?? []));
  assert.equal(
    [...routes].some((route) => route.includes("nothing")),
    false,
    "a caller's text is no label",
  );
  assert.equal(answer.text.includes(key), false);

  assert.equal((await ops("GET", "/v1/whoami", { key })).status, 404);
  assert.equal((await ops("POST", "/metrics")).status, 404);
});

test("the public listener has no /metrics", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  for (const key of [undefined, api_key]) {
    const answer = await service.send("GET", "/metrics", { key });
    assert.equal(answer.status, 404);
    assert.equal(readSlug(answer), "not_found");
  }
});

test("a process is live without its database and ready only with it", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  assert.equal((await service.send("GET", "/healthz", { expect: 200 })).body.status, "ok");
  assert.equal((await service.send("GET", "/readyz", { expect: 200 })).body.status, "ready");

  await setReachable(service.ctx.db, false);
  const lost = await untilReady(service, 503);
  assert.deepEqual(lost.body, { status: "not_ready", reason: "the database does not answer" });
  await service.send("GET", "/healthz", { expect: 200 });
  const failed = await service.send("GET", "/v1/whoami", { key, expect: 500 });
  assert.equal(readSlug(failed), "internal_error");

  await setReachable(service.ctx.db, true);
  await untilReady(service, 200);
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
});

/** The next look finds what has changed. */
async function untilReady({ send }: Service, status: number): Promise<Answer> {
  let answer = await send("GET", "/readyz");
  for (let look = 0; look < 400 && answer.status !== status; look++) {
    await sleep(25);
    answer = await send("GET", "/readyz");
  }
  assert.equal(answer.status, status);
  return answer;
}

test("a process with a pending migration is not ready", async (t) => {
  const service = await startService(t);
  await service.ctx.db.pool.query(
    "set role none; delete from schema_migrations where file like '0005%'; set role scripdesk_app",
  );
  const answer = await service.send("GET", "/readyz", { expect: 503 });
  assert.equal(answer.body.reason, "1 migrations to apply");
});

test("every answered request is one log line with its id, and no line holds a secret", async (t) => {
  const lines: string[] = [];
  const { log } = createLog("trace", { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { api_key: key, key_id } = await service.issue();
  const other = await service.issue();
  const extractSecret = (apiKey: string) => apiKey.slice(-38);
  const wrongSecret = `${key.slice(0, -38)}${extractSecret(other.api_key)}`;
  const bodySecret = "whsec_c29tZXRoaW5nLW5vYm9keS1tYXktc2Vl";

  const child = { name: bodySecret, kind: "app", scopes: ["*"] };
  const once = { "idempotency-key": "idem-secret-1" };
  const answers = [
    await service.send("GET", "/v1/whoami", { key, expect: 200 }),
    await service.send("GET", `/v1/whoami?token=${bodySecret}`, { key }),
    await service.send("GET", `/v1/keys/${bodySecret}`, { key, expect: 404 }),
    await service.send("GET", `/nowhere/${bodySecret}`, { key, expect: 404 }),
    await service.send("GET", "/v1/whoami", { key: wrongSecret, expect: 401 }),
    await service.send("GET", "/v1/whoami", { key: `${key}x`, expect: 401 }),
    await service.send("GET", "/v1/whoami", {
      headers: { authorization: `Bearer ${bodySecret}` },
      expect: 401,
    }),
    await service.send("POST", "/v1/keys", { key, body: child, headers: once, expect: 201 }),
    await service.send("POST", "/v1/keys", { key, body: { ...child, secret: bodySecret } }),
    await service.send("POST", "/v1/keys", { key, body: `{"name": "${bodySecret}`, expect: 400 }),
    await service.send("POST", `/v1/keys/${key_id}/reissue`, { key, expect: 200 }),
    await service.send("GET", "/v1/whoami", {
      key,
      headers: { "x-request-id": "mine-1" },
      expect: 401,
    }),
  ];
  await service.ctx.db.pool.query(
    "set role none; alter table idempotency_keys rename to lost; set role scripdesk_app",
  );
  answers.push(
    await service.send("POST", "/v1/keys", {
      key: other.api_key,
      body: child,
      headers: once,
      expect: 500,
    }),
  );

  const secrets = [
    key,
    other.api_key,
    answers[7]!.body.api_key as string,
    answers[10]!.body.api_key as string,
  ].flatMap((apiKey) => [apiKey, extractSecret(apiKey), extractSecret(apiKey).slice(0, 32)]);
  const written = lines.join("");
  for (const secret of [...secrets, bodySecret, "idem-secret-1"]) {
    assert.equal(written.includes(secret), false, `${secret.slice(0, 8)}… was logged`);
  }

  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const answered = parsed.filter(({ msg }) => msg === "answered");
  assert.deepEqual(
    answered.map(({ request_id, status }) => [request_id, status]),
    answers.map(({ headers, status }) => [headers.get("x-request-id"), status]),
  );
  assert.equal(
    answered.some(({ request_id }) => request_id === "mine-1"),
    true,
  );
  assert.equal(answered[0]!["key_id"], key_id);
  assert.equal(answered[0]!["route"], "GET /v1/whoami");
  const faults = parsed.filter(({ msg }) => msg === "request failed");
  assert.deepEqual(
    faults.map(({ request_id }) => request_id),
    [answers.at(-1)!.headers.get("x-request-id")],
    "our own fault is logged with the same id",
  );
});

test("every line about what somebody did on the operators' listener names the person", async (t) => {
  const lines: string[] = [];
  const { log } = createLog("debug", { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { send } = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await asha.signIn()).token);
  lines.length = 0;
  await send("GET", "/ops/operators", { headers, expect: 200 });
  await send("POST", "/ops/operators", {
    headers,
    body: { name: "ravi", role: "dealer" },
    expect: 200,
  });
  await send("POST", "/ops/orders/ord_none/cancel", { headers, body: {}, expect: 404 });
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const answered = told.filter(({ msg }) => msg === "answered");
  assert.deepEqual(
    answered.map(({ status, person }) => [status, person]),
    [
      [200, "asha"],
      [200, "asha"],
      [404, "asha"],
    ],
  );
});

test("a metric that cannot be read is NaN, and the others are shown", async (t) => {
  const { metrics } = await startService(t);
  const values: (number | Error)[] = [1, new Error("away"), 0];
  measureOnDemand(metrics, {
    name: "scripdesk_on_demand",
    help: "of this test",
    async read() {
      const value = values.shift();
      if (typeof value === "number") return value;
      throw value;
    },
  });
  for (const shown of ["1", "Nan", "0"]) {
    const text = await metrics.registry.metrics();
    assert.match(text, new RegExp(`^scripdesk_on_demand ${shown}$`, "m"));
    assert.match(text, /^scripdesk_database_connections/m);
  }
});

test("at level info a successful read is not logged; a change or a refusal is", async (t) => {
  const lines: string[] = [];
  const { log } = createLog("info", { write: (line: string) => void lines.push(line) });
  const service = await startService(t, { log });
  const { api_key: key } = await service.issue();
  const quote = { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 };
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
  await service.send("POST", "/v1/quote", { key, body: quote, expect: 200 });
  await service.send("POST", "/v1/quote", { key, body: { side: "sell" }, expect: 422 });
  await service.send("POST", "/v1/groups", { key, body: { name: "A group" }, expect: 201 });
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const answered = parsed.filter(({ msg }) => msg === "answered");
  assert.deepEqual(
    answered.map(({ route, status }) => [route, status]),
    [
      ["POST /v1/quote", 422],
      ["POST /v1/groups", 201],
    ],
  );
});

test("business figures are by environment", async (t) => {
  const service = await startService(t);
  measureService(service.ctx, service.metrics);
  const { send: ops } = await startOps(t, service);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 24_400_000);
  const { text } = await ops("GET", "/metrics", { expect: 200 });

  const samples = parseSamples({ text } as Answer);
  const find = (name: string, labels: Record<string, string>) =>
    samples.find(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value;
  const waiting = (environment: string) =>
    ["scheduled", "held"]
      .map((state) => find("scripdesk_payouts_waiting", { environment, state }) ?? 0)
      .reduce((sum, count) => sum + count, 0);
  assert.deepEqual([waiting("live"), waiting("sandbox")], [1, 0]);
  const rodtep = { environment: "sandbox", scheme: "RODTEP" };
  assert.equal(find("scripdesk_house_limit_used_ratio", rodtep), 0);
  assert.equal(find("scripdesk_settlements_late", { environment: "live" }), 0);
});

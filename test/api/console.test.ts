// The console's door: what its page may load, how its session is kept, and what does not get in.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asBearer, startOps } from "../support/ops.ts";
import { addPerson, password } from "../support/people.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { startService } from "../support/service.ts";
import { readStream } from "../support/streams.ts";

const fromConsole = { "x-scripdesk-console": "1" };

async function openDoor(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  await addLiveHouse(service);
  const ops = await startOps(t, service);
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const signIn = async (person = asha) => {
    const body = { name: person.name, password, code: person.code() };
    const answer = await ops.send("POST", "/console/sign-in", { headers: fromConsole, body });
    const setCookie = answer.headers.get("set-cookie") ?? "";
    return { answer, setCookie, cookie: setCookie.split(";")[0] ?? "" };
  };
  return { service, ...ops, asha, signIn };
}

test("the console's page is served whole from here under a policy that allows nothing else", async (t) => {
  const { app, send } = await openDoor(t);
  const parts = app.routes.filter(
    ({ method, path }) => method === "GET" && path.startsWith("/web/"),
  );
  assert.ok(parts.length > 10);
  for (const path of [
    "/console",
    "/console/payouts/x?env=live",
    ...parts.map((part) => part.path),
  ]) {
    const { headers } = await send("GET", path, { expect: 200 });
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/, path);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|nonce|http|data:|\*/, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
  }
  const page = await send("GET", "/console", { expect: 200 });
  assert.doesNotMatch(page.text, /<style|style=|<script(?! type="module" src="\/web\/)| on\w+=/);
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, to = ""]) => to);
  assert.deepEqual(
    addresses.filter((to) => !to.startsWith("/web/")),
    [],
  );
});

test("a session is a cookie that scripts and other sites cannot use, and the page never sees its token", async (t) => {
  const { send, signIn } = await openDoor(t);
  const { answer, setCookie, cookie } = await signIn();
  assert.equal(answer.status, 200, answer.text);
  assert.match(
    setCookie,
    /^scripdesk_operator=operator_[\w-]{43}; Path=\/ops; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
  const shown = ["expires_at", "name", "recovery_codes_left", "role"];
  assert.deepEqual(Object.keys(answer.body).toSorted(), shown);
  assert.doesNotMatch(answer.text, /operator_/);
  const headers = { ...fromConsole, cookie };
  const { body: who } = await send("GET", "/ops/whoami", { headers, expect: 200 });
  assert.equal(who.name, "Asha");
  await send("POST", "/ops/sign-out", { headers, body: {}, expect: 200 });
  await send("GET", "/ops/whoami", { headers, expect: 401 });
  const out = await send("POST", "/console/sign-out", { headers: fromConsole, expect: 200 });
  assert.match(out.headers.get("set-cookie") ?? "", /^scripdesk_operator=; Path=\/ops; Max-Age=0;/);
});

test("cookies that others have planted beside the session's do not lock the console", async (t) => {
  const { send, signIn } = await openDoor(t);
  const { cookie } = await signIn();
  const [name = ""] = cookie.split("=");
  const planted = ["", "x", `operator_${"A".repeat(43)}`].map((value) => `${name}=${value}`);
  const many = Array.from(
    { length: 100 },
    (_, at) => `${name}=operator_${"B".repeat(40)}${at + 100}`,
  );
  for (const cookies of [
    [...planted, cookie],
    [cookie, ...planted],
    [...many, cookie],
  ]) {
    const headers = { ...fromConsole, cookie: cookies.join("; ") };
    const { body: who } = await send("GET", "/ops/whoami", { headers, expect: 200 });
    assert.equal(who.name, "Asha");
  }
  await send("POST", "/ops/sign-out", {
    headers: { ...fromConsole, cookie: [...planted, cookie].join("; ") },
    body: {},
    expect: 200,
  });
  const headers = { ...fromConsole, cookie: [...planted, cookie].join("; ") };
  await send("GET", "/ops/whoami", { headers, expect: 401 });
});

test("behind https the cookie is for https only", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service, { trustProxy: ["127.0.0.1"] });
  const asha = await addPerson(service, { name: "Asha", role: "admin" });
  const { headers } = await send("POST", "/console/sign-in", {
    headers: { ...fromConsole, "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" },
    body: { name: asha.name, password, code: asha.code() },
    expect: 200,
  });
  assert.match(headers.get("set-cookie") ?? "", /; HttpOnly; SameSite=Strict; Secure$/);
});

test("a cookie counts only in a request of the console's own page", async (t) => {
  const { send, signIn, url, asha } = await openDoor(t);
  const { cookie } = await signIn();
  const host = new URL(url).host;
  const halt = { environment: "live", all: true };
  const forged: Record<string, string>[] = [
    { cookie },
    { cookie, "x-scripdesk-console": "0" },
    { cookie, ...fromConsole, origin: "https://evil.example" },
    { cookie, ...fromConsole, origin: `http://${host}.evil.example` },
    { cookie, ...fromConsole, origin: "null" },
    { cookie, ...fromConsole, "sec-fetch-site": "cross-site" },
    { cookie, ...fromConsole, "sec-fetch-site": "same-site" },
  ];
  for (const headers of forged) {
    const act = await send("POST", "/ops/market/halt", { headers, body: halt });
    assert.equal(act.status, 403, JSON.stringify(headers));
    await send("GET", "/ops/whoami", { headers, expect: 403 });
    const credentials = { name: asha.name, password, code: asha.code() };
    const { cookie: _session, ...others } = headers;
    await send("POST", "/console/sign-in", { headers: others, body: credentials, expect: 403 });
  }
  const own = { cookie, ...fromConsole, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
  await send("GET", "/ops/whoami", { headers: own, expect: 200 });
  const preflight = await send("OPTIONS", "/ops/whoami", {
    headers: {
      origin: "https://evil.example",
      "access-control-request-headers": "x-scripdesk-console",
    },
  });
  assert.equal(preflight.headers.get("access-control-allow-origin"), null);
});

test("a desk's key does not get in, by header, bearer or cookie", async (t) => {
  const { service, send } = await openDoor(t);
  const { api_key: key } = await service.issue({ environment: "live" });
  const tries: Record<string, string>[] = [
    { cookie: `scripdesk_operator=${key}` },
    { "x-service-key": key },
    asBearer(key),
    { cookie: `scripdesk_operator=${"A".repeat(5_000)}` },
  ];
  for (const headers of tries) {
    await send("GET", "/ops/whoami", { headers: { ...fromConsole, ...headers }, expect: 401 });
  }
});

test("signing in to the console is throttled as signing in to the API is", async (t) => {
  const { send } = await openDoor(t);
  const body = { name: "Asha", password: "not the password", code: "000000" };
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    statuses.push((await send("POST", "/console/sign-in", { headers: fromConsole, body })).status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429]);
});

test("a session of the console ends after twelve hours, and when its person is shut out", async (t) => {
  const { service, send, signIn, asha } = await openDoor(t);
  const mira = await addPerson(service, { name: "Mira", role: "viewer", by: [asha] });
  const { cookie } = await signIn(mira);
  const headers = { ...fromConsole, cookie };
  await send("GET", "/ops/whoami", { headers, expect: 200 });
  await send("POST", "/ops/operators/disable", {
    headers: asBearer((await asha.signIn()).token),
    body: { name: "Mira" },
    expect: 200,
  });
  await send("GET", "/ops/whoami", { headers, expect: 401 });
  const own = { ...fromConsole, cookie: (await signIn()).cookie };
  service.clock.advance({ seconds: 12 * 3_600 });
  await send("GET", "/ops/whoami", { headers: own, expect: 401 });
});

test("a role is told what it may do, and does no more through the console", async (t) => {
  const { service, send, signIn, asha } = await openDoor(t);
  const mira = await addPerson(service, { name: "Mira", role: "viewer", by: [asha] });
  const headers = { ...fromConsole, cookie: (await signIn(mira)).cookie };
  const { body: who } = await send("GET", "/ops/whoami", { headers, expect: 200 });
  assert.deepEqual(who.permissions, ["read"]);
  await send("GET", "/ops/bank/queue", { headers, expect: 403 });
  const body = { environment: "live", all: true };
  await send("POST", "/ops/market/halt", { headers, body, expect: 403 });
});

test("the board streams a change of its market, and the stream ends with its session", async (t) => {
  const { send, signIn, url } = await openDoor(t);
  const headers = { ...fromConsole, cookie: (await signIn()).cookie };
  const address = `${url}/ops/board/stream?environment=live`;
  const stream = await readStream(address, { headers });
  t.after(() => stream.leave());
  const [first] = await stream.until(1);
  assert.deepEqual(
    first?.data.markets.map((market: { card: unknown }) => market.card),
    [null, null],
  );
  const body = { environment: "live", scheme: "RODTEP", terms: { mid_bps: 9_850 } };
  await send("POST", "/ops/rates", { headers, body, expect: 200 });
  const [, second] = await stream.until(2);
  assert.equal(second?.data.markets[0].card.mid_bps, 9_850);
  await send("POST", "/ops/sign-out", { headers, body: {}, expect: 200 });
  await stream.ended;
});

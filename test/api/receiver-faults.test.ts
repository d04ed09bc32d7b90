// What each kind of broken receiver gets: its class, its reason, and the delay before the next try.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:https";
import { after, before, test } from "node:test";

import { selfSignedCertificate } from "../support/certificate.ts";
import { type Reaction, registerWebhook, startReceiver } from "../support/receivers.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

type Expected = {
  readonly outcome: "delivered" | "transient" | "permanent";
  readonly reason?: string;
  readonly status?: number;
  /** Seconds before the next attempt, without jitter, when it is not the schedule's 5. */
  readonly delayS?: number;
};

type Scope = { after(work: () => Promise<unknown>): void };

/** Where the receiver is, once it stands. */
type Stand = (t: Scope) => Promise<string>;

const deadlineMs = 500;

const answering =
  (status: number, headers: Record<string, string> = {}): Stand =>
  (t) =>
    reacting((response) => response.writeHead(status, headers).end("an answer"))(t);

function reacting(reaction: Reaction): Stand {
  return async (t) => {
    const receiver = await startReceiver(t);
    receiver.react(reaction);
    return receiver.url;
  };
}

/** A server that speaks no HTTP of its own accord. */
function onSocket(react: (socket: Socket) => void): Stand {
  return async (t) => {
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket.on("error", () => {}));
      react(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  };
}

const afterRequest = (text: string, then: (socket: Socket) => void = () => {}) =>
  onSocket((socket) =>
    socket.once("data", () => {
      socket.write(text);
      then(socket);
    }),
  );

const trickle = (response: ServerResponse) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write("."), 50);
  response.on("close", () => clearInterval(timer));
};

const endless = (response: ServerResponse) => {
  response.writeHead(200);
  const more = () => {
    while (!response.destroyed && response.write("x".repeat(16_384)));
    response.once("drain", more);
  };
  more();
};

const refused: Expected = { outcome: "permanent", reason: "refused" };
const redirect: Expected = { outcome: "transient", reason: "redirect" };
const unavailable: Expected = { outcome: "transient", reason: "unavailable" };
const network: Expected = { outcome: "transient", reason: "network" };
const timeout: Expected = { outcome: "transient", reason: "timeout" };
const tls: Expected = { outcome: "transient", reason: "tls" };
const blocked: Expected = { outcome: "permanent", reason: "address_blocked" };

/** Set when somebody follows a redirect. */
let followed = 0;

const elsewhere: Stand = reacting((response) => {
  followed += 1;
  response.end();
});

const redirecting =
  (status: number): Stand =>
  async (t) =>
    await answering(status, { location: await elsewhere(t) })(t);

const faults: Readonly<Record<string, readonly [Stand, Expected]>> = {
  "200": [answering(200), { outcome: "delivered", status: 200 }],
  "201": [answering(201), { outcome: "delivered", status: 201 }],
  "204": [answering(204), { outcome: "delivered", status: 204 }],
  "299": [answering(299), { outcome: "delivered", status: 299 }],
  "301": [redirecting(301), { ...redirect, status: 301 }],
  "302": [redirecting(302), { ...redirect, status: 302 }],
  "304": [answering(304), { ...redirect, status: 304 }],
  "307": [redirecting(307), { ...redirect, status: 307 }],
  "308": [redirecting(308), { ...redirect, status: 308 }],
  "400": [answering(400), { ...refused, status: 400 }],
  "401": [answering(401), { ...refused, status: 401 }],
  "404": [answering(404), { ...refused, status: 404 }],
  "408": [answering(408), { ...refused, status: 408 }],
  "410": [answering(410), { ...refused, status: 410 }],
  "422": [answering(422), { ...refused, status: 422 }],
  "429": [answering(429), { outcome: "transient", reason: "throttled", status: 429 }],
  "429 with Retry-After": [
    answering(429, { "retry-after": "120" }),
    { outcome: "transient", reason: "throttled", status: 429, delayS: 120 },
  ],
  "429 with a shorter Retry-After": [
    answering(429, { "retry-after": "1" }),
    { outcome: "transient", reason: "throttled", status: 429 },
  ],
  "500": [answering(500), { ...unavailable, status: 500 }],
  "500 with Retry-After": [
    answering(500, { "retry-after": "120" }),
    { ...unavailable, status: 500 },
  ],
  "502": [answering(502), { ...unavailable, status: 502 }],
  "503 with a date": [
    answering(503, { "retry-after": "Sun, 15 Nov 2026 09:16:40 GMT" }),
    { ...unavailable, status: 503, delayS: 100 },
  ],
  "503 with nonsense": [answering(503, { "retry-after": "soon" }), { ...unavailable, status: 503 }],
  "599": [answering(599), { ...unavailable, status: 599 }],
  "nobody listens": [
    async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      return `http://127.0.0.1:${port}/hook`;
    },
    network,
  ],
  "reset at once": [onSocket((socket) => socket.resetAndDestroy()), network],
  "reset after the request": [afterRequest("", (socket) => socket.resetAndDestroy()), network],
  "reset inside the head": [
    afterRequest("HTTP/1.1 200 OK\r\nContent-", (socket) => socket.resetAndDestroy()),
    network,
  ],
  "reset inside the body": [
    afterRequest("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", (socket) =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    ),
    network,
  ],
  "closed inside the body": [
    afterRequest("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", (socket) => socket.end()),
    network,
  ],
  "what is not HTTP": [afterRequest("220 mail.example ESMTP\r\n"), network],
  "a head without end": [
    afterRequest("", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      for (let line = 0; line < 200; line++) socket.write(`X-${line}: ${"y".repeat(1_000)}\r\n`);
    }),
    network,
  ],
  "no answer": [onSocket(() => {}), timeout],
  "a head byte by byte": [
    afterRequest("HTTP/1.1 200", (socket) => {
      const timer = setInterval(() => socket.write(" "), 50);
      socket.on("close", () => clearInterval(timer));
    }),
    timeout,
  ],
  "a body byte by byte": [reacting(trickle), timeout],
  "a body without end": [reacting(endless), { outcome: "delivered", status: 200 }],
  "an interim answer first": [
    reacting((response) => {
      response.writeProcessing();
      response.end();
    }),
    { outcome: "delivered", status: 200 },
  ],
  "no TLS where there should be": [
    async (t) => (await answering(200)(t)).replace("http:", "https:"),
    tls,
  ],
  "a certificate nobody vouches for": [
    async (t) => {
      // Without one the handshake fails too.
      const certificate = (await selfSignedCertificate()) ?? {};
      const server = createTlsServer(certificate, (_request, response) => void response.end());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      t.after(() => new Promise((resolve) => server.close(resolve)));
      return `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    },
    tls,
  ],
  "a name without an address": [async () => "http://nobody.example/hook", network],
  "a name that cannot be resolved": [async () => "http://broken.example/hook", network],
  "a name of a private address": [async () => "http://inside.example/hook", blocked],
};

const addresses: Readonly<Record<string, readonly string[]>> = {
  "nobody.example": [],
  "inside.example": ["10.0.0.7", "169.254.169.254", "::ffff:10.0.0.7"],
};

const closing: (() => Promise<unknown>)[] = [];
const scope: Scope = { after: (work) => void closing.unshift(work) };
let service: Service;
let key: string;
const hooks = new Map<string, string>();
const found = new Map<string, Answer["body"]>();

before(async () => {
  const resolve = async (hostname: string) => {
    const known = addresses[hostname];
    if (!known) throw new Error("SERVFAIL");
    return known;
  };
  service = await startService(scope, { outbound: { resolve } });
  // Only those that never answer are sent under a short deadline: a busy machine is slow as well.
  const hasty = await startService(scope, { beside: service, outbound: { deadlineMs } });
  key = (await service.issue()).api_key;
  for (const hangs of [false, true]) {
    const chosen = Object.entries(faults).filter(
      ([, [, { reason }]]) => (reason === "timeout") === hangs,
    );
    for (const [name, [stand]] of chosen) {
      const url = await stand(scope);
      const { webhook_id } = await registerWebhook(service, key, url, "firm.offboarded");
      await service.send("POST", `/v1/webhooks/${webhook_id}/test`, { key, expect: 200 });
      hooks.set(name, webhook_id);
    }
    await (hangs ? hasty : service).work();
  }
  for (const [name, id] of hooks) {
    const path = `/v1/webhooks/${id}/deliveries`;
    const { body } = await service.send("GET", path, { key, expect: 200 });
    assert.equal(body.deliveries.length, 1);
    found.set(name, body.deliveries[0]);
  }
});

after(async () => {
  for (const work of closing) await work();
});

for (const [name, [, expected]] of Object.entries(faults)) {
  const { outcome, reason = null, status = null, delayS = 5 } = expected;
  test(`${name}: ${outcome}${reason ? `, ${reason}` : ""}`, () => {
    const delivery = found.get(name);
    const statusOf = { delivered: "delivered", transient: "pending", permanent: "dead" };
    assert.equal(delivery.status, statusOf[outcome]);
    assert.equal(delivery.attempts, 1);
    assert.equal(delivery.reason, reason);
    assert.equal(delivery.last_status, status);
    const [attempt] = delivery.attempt_log;
    assert.deepEqual([attempt.outcome, attempt.reason, attempt.status], [outcome, reason, status]);
    assert.ok(attempt.answer.length <= 512);
    if (outcome !== "transient") {
      assert.equal(delivery.next_attempt_at, null);
      return;
    }
    const waitS = (Date.parse(delivery.next_attempt_at) - service.clock.now().getTime()) / 1_000;
    assert.ok(waitS >= delayS && waitS <= Math.max(5.5, delayS), `${waitS} s`);
  });
}

test("no redirect was followed", () => assert.equal(followed, 0));

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { fastify } from "fastify";
import { pino } from "pino";

import { selfSignedCertificate } from "../support/certificate.ts";
import { hear, openSocket, rawAnswers, splitAnswers } from "../support/raw.ts";
import { fileScope } from "../support/scope.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const scope = fileScope();
let service: Service;
let key: string;

before(async () => {
  service = await startService(scope);
  key = (await service.issue()).api_key;
});

function assertMalformed(answer: Answer | undefined): void {
  assert.ok(answer, "there is an answer");
  assert.equal(answer.status, 400);
  assert.deepEqual(Object.keys(answer.body), ["error", "message", "request_id"]);
  assert.equal(answer.body.error, "bad_request");
  assert.match(answer.body.request_id, /^req_/);
  assert.equal(answer.headers.get("x-request-id"), answer.body.request_id);
  assert.equal(answer.headers.get("content-type")?.split(";")[0], "application/json");
  assert.equal(answer.headers.get("connection"), "close");
}

/** Nothing of this process goes on meanwhile. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("requests that waited while the event loop was blocked are not timed out", async (t) => {
  const own = await startService(t);
  own.app.server.headersTimeout = 100;
  const opened = Array.from({ length: 2 }, async () => {
    const accepted = once(own.app.server, "connection");
    const socket = await openSocket(own.url);
    await accepted;
    return socket;
  });
  const sockets = await Promise.all(opened);
  const heard = sockets.map(hear);
  for (const socket of sockets) {
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  standStill(1_500); // Longer than the time between two looks for late requests.
  const answers = (await Promise.all(heard)).flatMap(splitAnswers);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
});

const post = "POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
const close = "Connection: close\r\n";

const noRequest: readonly [name: string, bytes: string][] = [
  ["a line that is no request line", "HELLO\r\n\r\n"],
  ["a TLS greeting on a plain port", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001"],
  ["a protocol version of its own", "GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n"],
  ["a method of its own", "FROB /healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["two different Content-Length", `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `],
  ["two equal Content-Length", `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
  [
    "Content-Length beside chunks",
    `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ],
  ["a negative Content-Length", `${post}Content-Length: -1\r\n\r\n`],
  ["a Content-Length in words", `${post}Content-Length: two\r\n\r\n{}`],
  ["a Content-Length past 64 bits", `${post}Content-Length: 99999999999999999999999\r\n\r\n{}`],
  ["a transfer encoding that is not chunked", `${post}Transfer-Encoding: gzip\r\n\r\n{}`],
  ["a transfer encoding after chunked", `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
  ["a chunk whose size is no number", `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`],
  ["a chunk longer than its size", `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
  [
    "a header of 20,000 bytes",
    `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`,
  ],
  ["a path of 20,000 bytes", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ["5,000 headers", `GET /healthz HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(5_000)}\r\n`],
  ["NUL in the path", "GET /v1/keys/\u0000 HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["NUL in a header", "GET /healthz HTTP/1.1\r\nHost: x\r\nA: \u0000\r\n\r\n"],
  ["a space before a header's colon", "GET /healthz HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n"],
  ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"],
];

describe("malformed requests get the transport form, a request id and a closed connection", () => {
  for (const [name, bytes] of noRequest) {
    test(name, async () => {
      const answers = await rawAnswers(service.url, bytes);
      assert.equal(answers.length, 1);
      assertMalformed(answers[0]);
      await service.send("GET", "/v1/whoami", { key, expect: 200 });
    });
  }
});

test("an unknown Expect is ignored rather than answered without a request id", async () => {
  const [answer] = await rawAnswers(
    service.url,
    `GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: something\r\nX-Request-ID: mine\r\n${close}\r\n`,
  );
  assert.equal(answer?.status, 200);
  assert.equal(answer.headers.get("x-request-id"), "mine");
});

test("a sender that waits gets 100-continue and then its answer", async () => {
  const body = JSON.stringify({ name: "patient", kind: "app", scopes: ["quote"] });
  const [answer] = await rawAnswers(
    service.url,
    `${post}X-Service-Key: ${key}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n${close}\r\n`,
    body,
  );
  assert.equal(answer?.status, 201);
});

test("CONNECT is closed and an upgrade is ignored; neither harms the next request", async () => {
  assert.deepEqual(await rawAnswers(service.url, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"), []);
  const [answer] = await rawAnswers(
    service.url,
    "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n",
  );
  assert.equal(answer?.status, 200);
  await service.send("GET", "/v1/whoami", { key, expect: 200 });
});

test("a connection that carried too large a body carries the next request", async () => {
  const size = 1_500_000;
  const large = `${size.toString(16)}\r\n${"a".repeat(size)}\r\n0\r\n\r\n`;
  const answers = await rawAnswers(
    service.url,
    `${post}Transfer-Encoding: chunked\r\n\r\n${large}`,
    `GET /healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [413, 200],
  );
});

test("pipelined requests are answered in their order, each with its own request id", async () => {
  const get = (path: string, id: string, more = "") =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${key}\r\nX-Request-ID: ${id}\r\n${more}\r\n`;
  const answers = await rawAnswers(
    service.url,
    get("/v1/whoami", "a") + get("/healthz", "b") + get("/nowhere", "c", close),
  );
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get("x-request-id")]),
    [
      [200, "a"],
      [200, "b"],
      [404, "c"],
    ],
  );
});

test("garbage after a whole request does not change that request's answer", async () => {
  const body = { name: "piped", kind: "app", scopes: ["quote"] };
  const text = JSON.stringify(body);
  const answers = await rawAnswers(
    service.url,
    `${post}X-Service-Key: ${key}\r\nIdempotency-Key: piped\r\nContent-Length: ${text.length}\r\n\r\n${text}GARBAGE\r\n\r\n`,
  );
  // The key may have been minted. Whatever was said, it was not that it was refused.
  assert.deepEqual(
    answers.filter(({ status }) => status >= 400),
    [],
  );
  const retried = await service.send("POST", "/v1/keys", {
    key,
    body,
    headers: { "idempotency-key": "piped" },
  });
  assert.ok(retried.status === 200 || retried.status === 201);
  const { keys } = (await service.send("GET", "/v1/keys", { key, expect: 200 })).body;
  assert.equal(keys.filter(({ name }: { name: string }) => name === "piped").length, 1);
});

test("garbage after an answer gets an answer of its own", async () => {
  const socket = await openSocket(service.url);
  const heard = hear(socket);
  const answered = new Promise((resolve) => socket.once("data", resolve));
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await answered;
  socket.write("GARBAGE\r\n\r\n");
  const answers = splitAnswers(await heard);
  assert.equal(answers.length, 2);
  assert.equal(answers[0]?.status, 200);
  assertMalformed(answers[1]);
});

test("a sender that disconnects during its body is not logged as a fault", async (t) => {
  const lines: { level: number; msg: string }[] = [];
  const errors: Error[] = [];
  const log = pino({ level: "error" }, { write: (line) => void lines.push(JSON.parse(line)) });
  const watched = await startService(t, {
    log,
    routes: (app) =>
      app.addHook("onError", async (_request, _reply, error) => void errors.push(error)),
  });
  const { api_key } = await watched.issue();
  const head = `${post}X-Service-Key: ${api_key}\r\n`;
  for (const framing of [
    "Content-Length: 10\r\n\r\n{",
    "Transfer-Encoding: chunked\r\n\r\n5\r\n{",
  ]) {
    const socket = await openSocket(watched.url);
    const before = errors.length;
    socket.end(head + framing);
    for (let tries = 0; tries < 500 && errors.length === before; tries++) await sleep(10);
    assert.equal(errors.length, before + 1);
    socket.destroy();
  }
  assert.deepEqual(lines, []);
});

// The timeouts of this test are the service's own: 5 s for headers, 10 s for a whole request.
// Nothing is timed; a byte is sent every second, and fifteen of them are more than it may take.
test("slow senders are disconnected while others are served; control: a server with defaults keeps them", async (t) => {
  const opened: Drip[] = [];
  // First of all, because a server waits for its connections when it closes.
  t.after(() => opened.forEach(({ socket }) => socket.destroy()));
  async function drip(url: string, beginning: string): Promise<Drip> {
    const dripping = await startDrip(url, beginning);
    opened.push(dripping);
    return dripping;
  }
  const certificate = await selfSignedCertificate();
  const encrypted = certificate && (await startService(t, { tls: certificate }));
  const plain = fastify();
  plain.post("/", async () => "ok");
  await plain.listen({ host: "127.0.0.1", port: 0 });
  t.after(() => plain.close());
  const defaults = `http://127.0.0.1:${(plain.server.address() as AddressInfo).port}`;

  const slowHeader = "GET /healthz HTTP/1.1\r\nHost: x\r\nA: ";
  const slowBody = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${more}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
  const chunked = `${post}X-Service-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n`;

  const held = [await drip(defaults, slowHeader), await drip(defaults, slowBody("/", ""))];
  const withKey = `X-Service-Key: ${key}\r\n`;
  const ours = {
    header: await drip(service.url, slowHeader),
    body: await drip(service.url, slowBody("/v1/keys", withKey)),
    chunks: await drip(service.url, chunked),
    refused: await drip(service.url, slowBody("/v1/keys", "")),
    silent: await drip(service.url, ""),
    ...(encrypted && { encryptedHeader: await drip(encrypted.url, slowHeader) }),
  };

  let served = 0;
  while (Object.values(ours).some(({ socket, left }) => !socket.closed && left() > 0)) {
    await service.send("GET", "/v1/whoami", { key, expect: 200 });
    served += 1;
    await sleep(100);
  }
  for (const [name, { socket }] of Object.entries(ours)) assert.ok(socket.closed, `${name} is cut`);
  for (const { socket } of held) assert.equal(socket.closed, false);
  assert.ok(served > 0);

  for (const slow of [ours.header, ours.body, ours.chunks, ours.encryptedHeader]) {
    if (!slow) continue;
    const answers = splitAnswers(await slow.heard);
    assert.equal(answers.length, 1);
    assertMalformed(answers[0]);
  }
  // It had its answer before it was cut, so nothing more is said.
  assert.deepEqual(
    splitAnswers(await ours.refused.heard).map(({ status }) => status),
    [401],
  );
  if (!encrypted) t.diagnostic("openssl is not here, so https was not tried");
});

type Drip = {
  readonly socket: Socket;
  readonly heard: Promise<string>;
  readonly left: () => number;
};

const dripsMax = 15;

/** Sends the beginning at once and then a byte a second, at most fifteen. */
async function startDrip(url: string, beginning: string): Promise<Drip> {
  const socket = await openSocket(url);
  const heard = hear(socket);
  let left = dripsMax;
  socket.write(beginning);
  const dripping = setInterval(() => {
    left -= 1;
    if (left === 0 || socket.closed) clearInterval(dripping);
    else if (beginning !== "" && socket.writable) socket.write("1");
  }, 1_000);
  socket.once("close", () => clearInterval(dripping));
  return { socket, heard, left: () => left };
}

test("a connection that never sends a request does not delay shutdown, with or without TLS", async (t) => {
  const certificate = await selfSignedCertificate();
  for (const tls of certificate ? [undefined, certificate] : [undefined]) {
    const closing = await startService(t, tls ? { tls } : {});
    const silent = connect((closing.app.server.address() as AddressInfo).port, "127.0.0.1");
    silent.on("error", () => {});
    await once(silent, "connect");
    const ended = once(silent, "close");
    await closing.app.close();
    await ended;
  }
});

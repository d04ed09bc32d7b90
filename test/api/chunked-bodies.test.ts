// Chunked bodies are counted before their key is known; only those that can be used are kept.

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";

import { bodyBytesMax, readBody } from "../../src/platform/http/body.ts";
import { hear, openSocket, splitAnswers } from "../support/raw.ts";
import { readSlug, startService } from "../support/service.ts";

const enquiry = "POST /public/enquiry/contact HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
const chunked = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

function arriving(...chunks: readonly string[]): IncomingMessage {
  return Readable.from(chunks.map((text) => Buffer.from(text))) as IncomingMessage;
}

test("the body of a refused request is counted and discarded", async () => {
  const kept = await readBody(arriving("{", "}"));
  assert.equal(kept.toString(), "{}");
  const thrownAway = await readBody(arriving("{", "}"), { keep: false });
  assert.equal(thrownAway.length, 0);
  const large = "x".repeat(bodyBytesMax);
  await assert.rejects(readBody(arriving(large, "x"), { keep: false }), /exceeds/);
});

test("a chunked body is read with a known key, and answered 401 without one", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const stream = (text: string) => new Blob([text]).stream();
  const text = JSON.stringify({ name: "child", kind: "app", scopes: ["quote"] });
  const minted = await service.send("POST", "/v1/keys", { key: api_key, body: stream(text) });
  assert.equal(minted.status, 201);
  const other = api_key.replace(/.$/, (last) => (last === "x" ? "y" : "x"));
  for (const key of [undefined, other, "nonsense"]) {
    const refused = await service.send("POST", "/v1/keys", { key, body: stream(text) });
    assert.equal(refused.status, 401);
    const over = stream(" ".repeat(bodyBytesMax + 1));
    const tooLarge = await service.send("POST", "/v1/keys", { key, body: over });
    assert.equal(tooLarge.status, 413);
  }
});

test("unfinished keyless bodies take bounded memory; one more is shed, and served later", async (t) => {
  const service = await startService(t);
  const part = `${(bodyBytesMax - 1).toString(16)}\r\n${" ".repeat(bodyBytesMax - 1)}`;
  const held = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const socket = await openSocket(service.url);
      await new Promise((written) => socket.write(enquiry + chunked + part, written));
      return socket;
    }),
  );
  const body = JSON.stringify({ name: "A", email: "a@b.example", message: "hello", consent: true });
  const whole = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const ask = async () => {
    const socket = await openSocket(service.url);
    const heard = hear(socket);
    socket.write(enquiry + chunked + whole);
    const [answer] = splitAnswers(await heard);
    assert.ok(answer);
    return answer;
  };
  // What was written may still be on its way.
  let shed = await ask();
  for (let again = 0; shed.status !== 500 && again < 4; again++) shed = await ask();
  assert.equal(shed.status, 500);
  assert.equal(readSlug(shed), "internal_error");
  const closed = held.map((socket) => new Promise((done) => socket.once("close", done)));
  for (const socket of held) socket.destroy();
  await Promise.all(closed);
  let served = await ask();
  for (let again = 0; served.status === 500 && again < 50; again++) served = await ask();
  assert.notEqual(served.status, 500);
});

test("past sixty-four bodies to discard at once, one more is refused unread", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const post = "POST /v1/keys HTTP/1.1\r\nHost: x\r\n";
  const unfinished = async () => {
    const socket = await openSocket(service.url);
    t.after(() => socket.destroy());
    const heard = hear(socket);
    await new Promise((written) => socket.write(`${post}${chunked}2\r\n{}\r\n`, written));
    return { socket, heard };
  };
  const held = await Promise.all(Array.from({ length: 64 }, unfinished));
  // The sixty-four may still be on their way, so a few more are sent; the last of them is the one.
  const more = await Promise.all(Array.from({ length: 4 }, unfinished));
  const [refused] = splitAnswers((await more.at(-1)?.heard) ?? "");
  assert.equal(refused?.status, 401);
  assert.equal(refused.headers.get("connection"), "close");
  const served = await service.send("GET", "/v1/keys", { key: api_key });
  assert.equal(served.status, 200, "a known key is served meanwhile");

  for (const { socket } of held) socket.write("0\r\n\r\n");
  for (const { socket } of held) socket.end();
  const answers = await Promise.all(held.map(({ heard }) => heard));
  const statuses = answers.map((text) => splitAnswers(text)[0]?.status);
  assert.deepEqual([...new Set(statuses)], [401]);
});

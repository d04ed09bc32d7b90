import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { request } from "undici";

import { startService } from "../support/service.ts";

type Got = { status: number; headers: Record<string, unknown>; bytes: Buffer };

async function get(url: string, headers: Record<string, string>): Promise<Got> {
  const answer = await request(url, { headers });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers, bytes };
}

const openers = { br: brotliDecompressSync, gzip: gunzipSync } as const;

test("what is public is compressed as the reader takes it, and is the same bytes again", async (t) => {
  const { url } = await startService(t);
  const paths = [
    "/",
    "/web/lightweight-charts.js",
    "/v1/openapi.json",
    "/public/preview",
    "/docs/",
    "/docs/js/scalar.js",
  ];
  for (const path of paths) {
    const plain = await get(`${url}${path}`, {});
    assert.equal(plain.headers["content-encoding"], undefined, path);
    assert.equal(plain.headers["vary"], "accept-encoding", path);
    for (const encoding of ["br", "gzip"] as const) {
      const packed = await get(`${url}${path}`, { "accept-encoding": `x, ${encoding};q=0.5` });
      assert.equal(packed.headers["content-encoding"], encoding, path);
      assert.ok(packed.bytes.length < plain.bytes.length / 1.5, path);
      assert.equal(Number(packed.headers["content-length"]), packed.bytes.length);
      const opened = openers[encoding](packed.bytes);
      if (path === "/docs/") assert.match(opened.toString(), /<h1>/);
      else assert.ok(opened.equals(plain.bytes), path);
    }
  }
});

test("a reader that takes no encoding, or takes one with q=0, gets plain bytes", async (t) => {
  const { url } = await startService(t);
  for (const taken of ["identity", "br;q=0, gzip; q=0.0", "deflate", ""]) {
    const { headers, bytes } = await get(`${url}/`, { "accept-encoding": taken });
    assert.equal(headers["content-encoding"], undefined, taken);
    assert.match(bytes.toString(), /^<!doctype html>/);
  }
});

test("a compressed answer has a weak tag, which is answered 304 whatever the encoding", async (t) => {
  const { url } = await startService(t);
  const plain = await get(`${url}/`, {});
  const packed = await get(`${url}/`, { "accept-encoding": "br" });
  const tag = String(packed.headers["etag"]);
  assert.equal(tag, `W/${String(plain.headers["etag"])}`);
  for (const encoding of ["br", "gzip", "identity"]) {
    const held = { "accept-encoding": encoding, "if-none-match": tag };
    const { status, bytes } = await get(`${url}/`, held);
    assert.deepEqual([status, bytes.length], [304, 0], encoding);
  }
});

test("an answer to a key is never compressed, however long: it may hold a secret", async (t) => {
  const service = await startService(t);
  const { url } = service;
  const { api_key } = await service.issue();
  const headers = { "accept-encoding": "br, gzip", "x-service-key": api_key };
  for (const path of ["/v1/meta/states", "/v1/keys", "/v1/usage"]) {
    const answer = await get(`${url}${path}`, headers);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.headers["content-encoding"], undefined, path);
  }
  const refused = await get(`${url}/public/rates/${"x".repeat(2_000)}`, headers);
  assert.equal(refused.status, 404);
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { openApiFile, openApiText } from "./support/golden.ts";
import { startService } from "./support/service.ts";

test("docs/openapi.json is the document that is served", async (t) => {
  const { send } = await startService(t);
  const { body } = await send("GET", "/v1/openapi.json", { expect: 200 });
  // Compared without a message of its own, so that a failure prints the lines that differ.
  assert.equal(openApiText(body), await readFile(openApiFile, "utf8"));
});

test("the document is OpenAPI 3.1 of contract version 1.2.0, public, and open to any site", async (t) => {
  const service = await startService(t);
  const { api_key } = await service.issue();
  const open = await service.send("GET", "/v1/openapi.json", { expect: 200 });
  assert.equal(open.body.openapi, "3.1.0");
  assert.equal(open.body.info.version, "1.2.0");
  assert.equal(open.headers.get("content-type")?.split(";")[0], "application/json");
  assert.equal(open.headers.get("access-control-allow-origin"), "*");
  assert.match(open.headers.get("cache-control") ?? "", /public/);
  assert.ok(open.headers.get("x-request-id"));
  // A key changes nothing, be it good or bad.
  for (const key of [api_key, "garbage"]) {
    const keyed = await service.send("GET", "/v1/openapi.json", { key, expect: 200 });
    assert.equal(keyed.text, open.text);
    assert.equal(keyed.headers.has("x-ratelimit-limit"), false);
  }
});

test("a matching If-None-Match for the document is 304", async (t) => {
  const { send } = await startService(t);
  const path = "/v1/openapi.json";
  const etag = (await send("GET", path)).headers.get("etag") ?? "";
  assert.match(etag, /^"[^"]+"$/);
  const again = await send("GET", path, { headers: { "if-none-match": etag }, expect: 304 });
  assert.equal(again.text, "");
  assert.equal(again.headers.get("etag"), etag);
  await send("GET", path, { headers: { "if-none-match": '"another"' }, expect: 200 });
});

test("a weakened ETag and a list of ETags match", async (t) => {
  const { send } = await startService(t);
  const path = "/v1/openapi.json";
  const etag = (await send("GET", path)).headers.get("etag") ?? "";
  for (const held of [`W/${etag}`, `"another", ${etag}`, `"another",W/${etag}`, "*"]) {
    await send("GET", path, { headers: { "if-none-match": held }, expect: 304 });
  }
});

type Described = { operationId: string; description?: string; responses: object };

test("bodies and parameters are named components, and integers are wide", async (t) => {
  const { send } = await startService(t);
  const { body } = await send("GET", "/v1/openapi.json");
  const operations = Object.values<Record<string, { parameters: object[]; requestBody?: Body }>>(
    body.paths,
  ).flatMap((item) => Object.values(item));
  for (const { parameters, requestBody } of operations) {
    for (const parameter of parameters) assert.deepEqual(Object.keys(parameter), ["$ref"]);
    const schema = requestBody?.content["application/json"].schema;
    if (schema) assert.deepEqual(Object.keys(schema), ["$ref"]);
  }
  const narrow = [...JSON.stringify(body).matchAll(/"type":"integer"(?![^{}]*"format":"int64")/g)];
  assert.equal(narrow.length, 0);
  const { Quote, SellQuote, BuyQuote, NoQuote } = body.components.schemas;
  assert.equal(Quote.required, undefined);
  for (const kind of [SellQuote, BuyQuote, NoQuote]) assert.ok(kind.required.length >= 2);
});

type Body = { content: { "application/json": { schema: object } } };

test("every operation has a name of its own, and says what an answer and a refusal look like", async (t) => {
  const { send } = await startService(t);
  const { body } = await send("GET", "/v1/openapi.json");
  const operations = Object.values<Record<string, Described>>(body.paths).flatMap((item) =>
    Object.values(item),
  );
  const names = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(names).size, names.length);
  for (const { operationId, description = "", responses } of operations) {
    assert.match(operationId, /^[a-z][A-Za-z]+$/);
    assert.ok(description.length > 20, `${operationId} is not described`);
    const statuses = Object.keys(responses);
    assert.ok(
      statuses.some((status) => status.startsWith("2")),
      operationId,
    );
    assert.ok(statuses.includes("500"), operationId);
  }
});

test("every operation of the contract says that it refuses an unknown parameter", async (t) => {
  const { send } = await startService(t);
  const { body } = await send("GET", "/v1/openapi.json", { expect: 200 });
  const paths = Object.entries<Record<string, { responses?: object }>>(body.paths);
  const silent = paths
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { responses }]) =>
        responses && !("422" in responses) ? [`${method} ${path}`] : [],
      ),
    );
  assert.deepEqual(silent, []);
  await send("GET", "/v1/openapi.json?v=2", { expect: 422 });
});

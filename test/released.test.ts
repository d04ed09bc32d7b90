// The document against the last released one: nothing that a client relies on may go.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { listBreaks } from "./support/compare-documents.ts";

const docs = join(import.meta.dirname, "../docs");

async function readReleased(): Promise<unknown> {
  const [file = "", ...others] = await readdir(join(docs, "released"));
  assert.deepEqual(others, [], "one release is the last");
  return JSON.parse(await readFile(join(docs, "released", file), "utf8"));
}

async function readPresent(): Promise<unknown> {
  return JSON.parse(await readFile(join(docs, "openapi.json"), "utf8"));
}

/** What had to change, because its first form was wrong; the changelog says so first. */
const announced: readonly { readonly break: RegExp; readonly why: string }[] = [
  { break: /payouts.*\.paise (may be absent|is gone)$/, why: "money is named by its unit" },
  { break: /contract-note.*\.paise (may be absent|is gone)$/, why: "money is named by its unit" },
  { break: /payouts.*(settlement_id|order_id) may be null$/, why: "a withdrawal has neither" },
  {
    break:
      /(Idempotency-Key|\.(iec|pan|gstin|cin|ifsc|scrip_no|port_code|counterparty_iec)) has another pattern$/,
    why: "the service has always demanded it, and no document said so",
  },
  {
    break: /results\[\]\.error\.code may be absent$/,
    why: "an item that failed by a fault of ours has the form of any such error",
  },
];

test("nothing that a client of the last release relies on has gone from the document", async () => {
  const breaks = listBreaks(await readReleased(), await readPresent());
  const unannounced = breaks.filter((line) => !announced.some((one) => one.break.test(line)));
  assert.deepEqual(unannounced, []);
  for (const { break: form } of announced) {
    assert.ok(
      breaks.some((line) => form.test(line)),
      `${form} is not needed`,
    );
  }
});

test("a document that has grown since its release is another revision of it", async () => {
  const released = (await readReleased()) as Titled;
  const present = (await readPresent()) as Titled;
  const revision = present.info["x-revision"] ?? 1;
  const changes = await readFile(join(docs, "../CHANGELOG.md"), "utf8");
  const title = `${present.info.version}, revision ${revision} of the document`;
  assert.ok(revision === 1 || changes.includes(title), `the changelog has a part for ${title}`);
  if (isDeepStrictEqual(released, present)) return;
  const isLater = present.info.version !== released.info.version;
  assert.ok(isLater || revision > (released.info["x-revision"] ?? 1));
});

type Titled = { readonly info: { readonly version: string; readonly "x-revision"?: number } };

type Documented = {
  readonly paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>
  >;
};

test("an answer that was JSON alone is JSON alone, as generators make one type of all its forms", async () => {
  const before = (await readReleased()) as Documented;
  const after = (await readPresent()) as Documented;
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      const forms = Object.keys(responses["200"]?.content ?? {});
      if (forms.join() !== "application/json") continue;
      const now = after.paths[path]?.[method]?.responses["200"]?.content ?? {};
      assert.deepEqual(Object.keys(now), forms, `${method} ${path}`);
    }
  }
});

const gone = Symbol("gone");

/** Every kind of change that would break a client, on the document as it is: the line, place, value. */
const changes: readonly (readonly [string, string, unknown])[] = [
  ["GET /v1/whoami is gone", "paths /v1/whoami get", gone],
  ["GET /v1/whoami: operationId is another", "paths /v1/whoami get operationId", "me"],
  ["GET /v1/orders: x-scope is another", "paths /v1/orders get x-scope", "firms"],
  ["GET /v1/orders: side is not taken", "components parameters Side name", "way"],
  ["GET /v1/orders: side is required", "components parameters Side required", true],
  ["POST /v1/quote: takes no body", "paths /v1/quote post requestBody", gone],
  [
    "POST /v1/quote: body.scheme may not be ROSCTL",
    "components schemas QuoteRequest properties scheme enum",
    ["RODTEP"],
  ],
  [
    "POST /v1/quote: body.scheme is required",
    "components schemas QuoteRequest required",
    ["side", "scheme"],
  ],
  [
    "POST /v1/quote: body.face_paise has another maximum",
    "components schemas QuoteRequest properties face_paise maximum",
    5,
  ],
  [
    "POST /v1/quote: body.face_paise is not taken",
    "components schemas QuoteRequest properties face_paise",
    gone,
  ],
  [
    "GET /v1/orders/{order_id}: 200 application/json.status is gone",
    "components schemas Order properties status",
    gone,
  ],
  [
    "GET /v1/orders/{order_id}: 200 application/json.version may be null",
    "components schemas Order properties version type",
    ["integer", "null"],
  ],
  [
    "GET /v1/orders/{order_id}: 200 application/json.status may be absent",
    "components schemas Order required",
    ["order_id"],
  ],
  [
    "GET /v1/statements/{period}: 200 text/csv is gone",
    "paths /v1/statements/{period} get responses 200 content text/csv",
    gone,
  ],
  ["order.matched is gone", "webhooks order.matched", gone],
  [
    "order.matched.data.status is gone",
    "components schemas OrderEventData properties status",
    gone,
  ],
];

test("every kind of change that would break a client is seen", async () => {
  const before = await readPresent();
  assert.deepEqual(listBreaks(before, before), []);
  for (const [line, place, value] of changes) {
    const after = structuredClone(before);
    const steps = place.split(" ");
    const last = steps.pop() ?? "";
    const holder = steps.reduce<unknown>((at, step) => (at as Nested)[step], after) as Nested;
    assert.ok(value === true || last in holder, `${place} is there`);
    if (value === gone) delete holder[last];
    else holder[last] = value;
    const found = listBreaks(before, after);
    assert.ok(found.includes(line), `${line}: ${found.slice(0, 5).join("; ")}`);
  }
});

type Nested = { [name: string]: unknown };

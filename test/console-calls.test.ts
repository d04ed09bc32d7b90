// Calls of the console to the operators' API.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readOps } from "../web/console/ops.js";

test("an answer whose page is left while it arrives is no answer", async (t) => {
  const leaving = new AbortController();
  t.mock.method(globalThis, "fetch", async () => {
    const body = new ReadableStream({
      pull(stream) {
        leaving.abort();
        stream.error(leaving.signal.reason);
      },
    });
    return new Response(body);
  });
  await assert.rejects(readOps("/ops/house/day", {}, leaving.signal), { name: "AbortError" });
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { continueTrace } from "./trace.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const spanId = "53995c3f42cd8ad8";

test("a trace goes on under its id by a part of our own, with the flag that there is", () => {
  for (const [flags, passed] of [
    ["00", "00"],
    ["01", "01"],
    ["03", "01"],
    ["fe", "00"],
  ]) {
    assert.deepEqual(continueTrace(`00-${traceId}-${parentId}-${flags}`, spanId), {
      traceId,
      spanId,
      traceparent: `00-${traceId}-${spanId}-${passed}`,
    });
  }
});

test("of a later version what version 00 has is read, and written as version 00", () => {
  for (const header of [
    `01-${traceId}-${parentId}-01`,
    `cc-${traceId}-${parentId}-01-what-it-adds`,
  ]) {
    assert.equal(continueTrace(header, spanId)?.traceparent, `00-${traceId}-${spanId}-01`, header);
  }
});

test("what is not as the recommendation has it counts as no trace", () => {
  const zeros = "0".repeat(32);
  const invalid = [
    undefined,
    "",
    "00",
    `00-${traceId}-${parentId}`,
    `00-${traceId}-${parentId}-1`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId}-${parentId}-01 `,
    ` 00-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
    [`00-${traceId}-${parentId}-01`],
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${zeros}-${parentId}-01`,
    `00-${traceId}-${zeros.slice(16)}-01`,
    `00-${traceId}g-${parentId}-01`,
    `00-${traceId}-${parentId}-0g`,
    `cc-${traceId}-${parentId}-01.more`,
    `cc-${traceId}-${parentId}-01-\n`,
  ];
  for (const header of invalid) {
    assert.equal(continueTrace(header, spanId), undefined, String(header));
  }
});

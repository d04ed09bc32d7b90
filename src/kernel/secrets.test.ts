import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { maskSecrets, maskWithin } from "./secrets.ts";

const secret = "service_live_01jd2m7q4x8r5v6w9y0abcdefgZq8yT3mWk2";

test("a secret is masked anywhere in a text, and its prefix stays readable", () => {
  assert.equal(maskSecrets(`${secret} is not a field`), "service_live_… is not a field");
  assert.equal(maskSecrets("limits.whsec_MfKQ9r8GKYqrTwjU="), "limits.whsec_…");
  assert.deepEqual(maskWithin({ [secret]: [{ a: secret }], b: 1, c: null }), {
    "service_live_…": [{ a: "service_live_…" }],
    b: 1,
    c: null,
  });
});

test("an operator's token is masked, and words that begin like one are not", () => {
  assert.equal(maskSecrets(`Bearer operator_${"aB3-_".repeat(9)}`), "Bearer operator_…");
  for (const text of ["operator_unnamed", "operator_sessions_open", "operator_id"]) {
    assert.equal(maskSecrets(text), text);
  }
});

test("ids, field names and numbers are not masked", () => {
  const plain = ["ord_01jd2m7q4x8r5v6w9y0abcdefg", "all_in_paise", "key_limit", "service_test_"];
  for (const text of plain) assert.equal(maskSecrets(text), text);
});

test("a secret is masked in any surrounding text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const isJoined = /\w$/.test(before);
      const masked = maskSecrets(`${before}${isJoined ? " " : ""}${secret}${after}`);
      assert.ok(!masked.includes(secret.slice(13, 30)));
    }),
  );
});

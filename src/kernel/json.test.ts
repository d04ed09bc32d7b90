import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { canonicalJson, isCleanText, jsonDepthMax, parseStrictJson } from "./json.ts";

/** Values that our own reader takes: no `__proto__`, no NUL, no lone surrogate, bounded depth. */
const cleanText = fc.string({ unit: "binary" }).filter(isCleanText);
const { value: jsonValues } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    cleanText,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      cleanText.filter((name) => name !== "__proto__"),
      tie("value"),
      { maxKeys: 4 },
    ),
  ),
}));

function problemOf(text: string): string {
  const verdict = parseStrictJson(text);
  return verdict.ok ? "none" : verdict.problem;
}

test("what JSON writes is read back as it was, whatever its spacing", () => {
  fc.assert(
    fc.property(jsonValues, fc.nat({ max: 4 }), (value, spaces) => {
      const text = JSON.stringify(value, null, spaces);
      assert.deepEqual(parseStrictJson(text), { ok: true, value: JSON.parse(text) });
    }),
  );
});

test("any text is read or refused, and never throws", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(typeof parseStrictJson(text).ok, "boolean");
    }),
  );
});

test("two members of one name are refused, wherever they are and however they are spelt", () => {
  const doubled = [
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"a":1,"a":2}}]',
    '{"a:b":1,"a:b":2}',
    '{"\\"":1,"\\"":2}',
    '{"":1,"":2}',
  ];
  for (const text of doubled) assert.match(problemOf(text), /two members of one name/, text);
  for (const text of ['{"a":1,"A":1}', '{"a":{"a":1}}', '{"a":":","b":"\\":"}', '[":",":"]']) {
    assert.equal(problemOf(text), "none", text);
  }
});

test("a doubled member is found in any object", () => {
  const objects = fc.dictionary(
    cleanText.filter((name) => name !== "__proto__"),
    jsonValues,
    { minKeys: 1, maxKeys: 5 },
  );
  fc.assert(
    fc.property(objects, fc.nat(), jsonValues, (object, pick, value) => {
      const names = Object.keys(object);
      const name = JSON.stringify(names[pick % names.length]);
      const text = `${JSON.stringify(object).slice(0, -1)},${name}:${JSON.stringify(value)}}`;
      assert.match(problemOf(text), /two members of one name/);
    }),
  );
});

test("names that reach for the prototype are refused", () => {
  for (const text of ['{"__proto__":{}}', '[{"a":{"__proto__":1}}]', '{"\\u005f_proto__":1}']) {
    assert.match(problemOf(text), /__proto__/, text);
  }
});

test("NUL and lone surrogates are refused in values and in names", () => {
  for (const text of ['"\\u0000"', '{"a\\u0000":1}', '["\\ud800"]', '{"\\udc00":1}']) {
    assert.match(problemOf(text), /not valid Unicode/, text);
  }
  assert.equal(problemOf('"\\ud83d\\ude00"'), "none");
});

test("depth is bounded, and depth far past the bound is survived", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.equal(problemOf(nested(jsonDepthMax)), "none");
  assert.match(problemOf(nested(jsonDepthMax + 1)), /nested deeper/);
  assert.match(problemOf(nested(500_000)), /nested deeper|not valid JSON/);
  const members = '{"a":'.repeat(200_000) + "1" + "}".repeat(200_000);
  assert.match(problemOf(members), /nested deeper|not valid JSON/);
});

/** The same value with its members written in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}

test("canonical text is the same for the same value and another for another", () => {
  fc.assert(
    fc.property(jsonValues, jsonValues, (one, other) => {
      assert.equal(canonicalJson(reversed(one)), canonicalJson(one));
      assert.deepEqual(JSON.parse(canonicalJson(one)), JSON.parse(JSON.stringify(one)));
      const areEqual = canonicalJson(one) === canonicalJson(other);
      assert.equal(areEqual, isDeepEqual(one, other));
    }),
  );
});

function isDeepEqual(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
    return true;
  } catch {
    return false;
  }
}

test("a member that is undefined is no member", () => {
  assert.equal(canonicalJson({ b: 1, a: undefined }), '{"b":1}');
  assert.equal(canonicalJson(undefined), "null");
});

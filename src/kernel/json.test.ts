import assert from "node:assert/strict";
import { mock, test } from "node:test";

import fc from "fast-check";

import {
  canonicalJson,
  jsonDepthMax,
  jsonMembersMax,
  jsonNamesMax,
  parseStrictJson,
} from "./json.ts";

const cleanText = fc.string({ unit: "binary" }).filter((text) => !text.includes("\u0000"));
const name = cleanText.filter((text) => text !== "__proto__");
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false),
    fc.integer(),
    cleanText,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test("any value survives writing and reading as JSON", () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, "\t", "  "), (value, indent) => {
      assert.deepEqual(parseStrictJson(JSON.stringify(value, null, indent)), { ok: true, value });
    }),
  );
});

test("a repeated member name is refused at any depth and in any escaping", () => {
  const escaped = (text: string) =>
    `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;
  fc.assert(
    fc.property(
      name,
      json,
      json,
      fc.nat(10),
      fc.boolean(),
      (name, first, second, depth, escape) => {
        const again = escape ? escaped(name) : JSON.stringify(name);
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(first)},${again}:${JSON.stringify(second)}}`;
        const text = `${'{"a":['.repeat(depth)}${twice}${"]}".repeat(depth)}`;
        assert.equal(parseStrictJson(text).ok, false);
      },
    ),
  );
});

test("invalid JSON is refused without throwing", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().map((text) => text.slice(0, -1)),
      ),
      (text) => {
        const verdict = parseStrictJson(text);
        if (verdict.ok) assert.deepEqual(verdict.value, JSON.parse(text));
      },
    ),
  );
});

test("nesting is read up to its limit", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.equal(parseStrictJson(nested(jsonDepthMax)).ok, true);
  assert.equal(parseStrictJson(nested(jsonDepthMax + 1)).ok, false);
});

test("equal values have the same canonical text, in any order of members", () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).toReversed();
    return Object.fromEntries(members.map(([name, member]) => [name, shuffled(member)]));
  };
  fc.assert(
    fc.property(json, (value) => {
      assert.equal(canonicalJson(shuffled(value)), canonicalJson(value));
      assert.deepEqual(JSON.parse(canonicalJson(value)), value);
    }),
  );
});

test("a text, a number and a name are written canonically as JSON writes them", () => {
  const scalar = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', "\\", "\n", "\u001F", "\uD800", "\uDC00", "é", "a") }),
    fc.double(),
    fc.integer(),
    fc.constantFrom(true, null, undefined, -0, 1e21, 1e-7, Number.NaN, Number.POSITIVE_INFINITY),
  );
  fc.assert(
    fc.property(scalar, fc.string({ unit: "binary" }), (value, name) => {
      assert.equal(canonicalJson(value), JSON.stringify(value) ?? "null");
      fc.pre(name !== "__proto__" && value !== undefined);
      assert.equal(canonicalJson({ [name]: value }), JSON.stringify({ [name]: value }));
    }),
  );
});

test("different values have different canonical texts", () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const equal = JSON.stringify(one) === JSON.stringify(other);
      if (equal) assert.equal(canonicalJson(one), canonicalJson(other));
      if (canonicalJson(one) === canonicalJson(other)) assert.deepEqual(one, other);
    }),
  );
});

test("a fraction that a double cannot hold is refused, not rounded", () => {
  assert.equal(parseStrictJson('{"face_paise": 100.00000000000000001}').ok, false);
  for (const text of ["100.5", "100.0", "1e2", "0.1", '"100.00000000000000001"']) {
    assert.equal(parseStrictJson(`{"face_paise": ${text}}`).ok, true, text);
  }
});

test("a body is parsed once, without a reviver, whatever numbers it has", () => {
  const parse = mock.method(JSON, "parse");
  try {
    assert.equal(parseStrictJson(`[1.5, ${"1, ".repeat(1_000)} 2.25]`).ok, true);
    assert.deepEqual(
      parse.mock.calls.map((call) => call.arguments.length),
      [1],
    );
  } finally {
    parse.mock.restore();
  }
});

test("JSON with too much depth or too many members is refused before it is parsed", () => {
  const list = (count: number, item: string) =>
    `[${Array.from({ length: count }, () => item).join()}]`;
  const names = Array.from({ length: jsonNamesMax - 1 }, (_, at) => `"a${at}":0`).join();
  // Each object is a member of the array.
  const objects = list(jsonMembersMax / jsonNamesMax, `{${names}}`);
  assert.equal(parseStrictJson(objects).ok, true);
  assert.equal(parseStrictJson(list(jsonMembersMax, "1.5")).ok, true);
  const parse = mock.method(JSON, "parse");
  try {
    assert.equal(parseStrictJson(objects.replace(/]$/, ",0]")).ok, false);
    assert.equal(parseStrictJson(list(jsonMembersMax + 1, "1.5")).ok, false);
    assert.equal(parseStrictJson(list(jsonMembersMax / 2 + 1, "[]")).ok, false);
    assert.equal(parseStrictJson("[".repeat(jsonDepthMax + 1)).ok, false);
    assert.equal(parse.mock.callCount(), 0);
  } finally {
    parse.mock.restore();
  }
});

test("an object with the most allowed members is read, and one with more is refused", () => {
  const object = (count: number) =>
    `[{"a":{${Array.from({ length: count }, (_, at) => `"a${at}":0`).join()}}}]`;
  assert.equal(parseStrictJson(object(jsonNamesMax)).ok, true);
  assert.equal(parseStrictJson(object(jsonNamesMax + 1)).ok, false);
});

test("a decimal point in a number is distinguished from points in text", () => {
  const fine = '{"a.b": "1.00000000000000000001", "c\\".": [0.50, -12.340, 1.0e3, 7.000]}';
  assert.equal(parseStrictJson(fine).ok, true);
  for (const text of ["-9007199254740993.5", "[[1, 2.00000000000000000003]]"]) {
    assert.equal(parseStrictJson(text).ok, false, text);
  }
});

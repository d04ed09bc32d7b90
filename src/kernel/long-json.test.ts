import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { exactJson, readExactJson } from "./json.ts";
import { readLongJson, writeLongJson } from "./long-json.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"lines":[', '\\"', "]}", "{[", "\\"),
);
const value = fc.oneof(
  text,
  fc.integer(),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
  fc.record({ "{": text, deep: fc.array(fc.record({ "}": text }), { maxLength: 2 }) }),
);
const item = fc.record({ line_no: fc.nat(), description: text, amount_paise: value });
const statement = fc.record(
  {
    before: value,
    lines: fc.array(item, { maxLength: 6 }),
    after: value,
    left: fc.constant(undefined),
  },
  { requiredKeys: ["before", "after"] },
);

/** What work answers with, and how often it paused. */
function run<Result>(work: Generator<void, Result>): { result: Result; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done) return { result: step.value, pauses };
  }
}

test("a long list is written and read item by item, in the same bytes and with the same values", () => {
  fc.assert(
    fc.property(statement, (made) => {
      const whole = exactJson(made);
      const items = made.lines?.length ?? 0;
      assert.deepEqual(run(writeLongJson(made, "lines")), { result: whole, pauses: items });
      assert.deepEqual(run(readLongJson(whole, "lines")), {
        result: readExactJson(whole),
        pauses: items,
      });
    }),
  );
});

test("a truncated text is refused", () => {
  const whole = exactJson({ a: 1, lines: [{ b: "c" }, { d: '"}' }], e: 2 });
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => run(readLongJson(whole.slice(0, length), "lines")), SyntaxError);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { breakLines, type Typeface } from "./pdf-text.ts";

/** Every letter is as wide as its size. */
const typeface: Pick<Typeface, "width"> = { width: (text) => text.length };

test("lines hold all of the text, and none is wider than it may be", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
  const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 20 }), (written, width) => {
      const lines = breakLines(typeface, written, { width, size: 1 });
      for (const line of lines) assert.ok(line.length <= width, line);
      assert.equal(lines.join("").replaceAll(" ", ""), written.replaceAll(" ", ""));
    }),
  );
});

test("lines break between words, inside a word that is too wide, and where the text says", () => {
  const broken = (text: string) => breakLines(typeface, text, { width: 10, size: 2 });
  assert.deepEqual(broken("one two"), ["one", "two"]);
  assert.deepEqual(broken("a bc de"), ["a bc", "de"]);
  assert.deepEqual(broken("a longest"), ["a", "longe", "st"]);
  assert.deepEqual(broken("a\nb"), ["a", "b"]);
  assert.deepEqual(broken(""), [""]);
});

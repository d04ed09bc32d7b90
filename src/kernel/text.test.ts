import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { escapeControls, hasControls, showLine, showLines } from "./text.ts";

const acting = ["\u001b[2J", "\u0007", "\u009b31m", "\u007f", "\u202e", "\u2066", "\u2028", "\0"];

test("control characters and bidirectional overrides are found, and line ends in a single line", () => {
  for (const text of acting) {
    assert.equal(hasControls(`Acme ${text}`, "line"), true, JSON.stringify(text));
    assert.equal(hasControls(`Acme ${text}`, "lines"), true, JSON.stringify(text));
  }
  for (const text of ["a\nb", "a\rb", "a\tb"]) {
    assert.equal(hasControls(text, "line"), true);
    assert.equal(hasControls(text, "lines"), false);
  }
});

test("names in every script are accepted", () => {
  for (const name of ["M/s. Åsa & Söner (P) Ltd.", "श्री गणेश एक्सपोर्ट्स", "க்‌ஷ", "شركة", "👩‍🌾"]) {
    assert.equal(hasControls(name, "line"), false, name);
    assert.equal(showLine(name), name);
  }
});

test("shown text has no control characters, and is one line where that is asked", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...acting), (text, more) => {
      assert.equal(hasControls(showLine(text + more), "line"), false);
      assert.equal(hasControls(showLines(text + more), "lines"), false);
    }),
  );
});

test("escaped JSON has the same value and no control characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...acting), (text, more) => {
      const value = { name: text + more };
      const escaped = escapeControls(JSON.stringify(value));
      assert.deepEqual(JSON.parse(escaped), value);
      assert.equal(hasControls(escaped, "line"), false);
    }),
  );
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import fc from "fast-check";

import { open, seal } from "./seal.ts";

const key = randomBytes(32);
const purpose = "firms.bank";

test("a sealed text opens again and is unreadable before", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const sealed = seal(text, purpose, key);
      assert.equal(open(sealed, purpose, key), text);
      if (Buffer.byteLength(text) >= 8) assert.equal(sealed.includes(text), false);
    }),
  );
});

test("sealing one text twice gives two different seals", () => {
  assert.notDeepEqual(seal("001234567890", purpose, key), seal("001234567890", purpose, key));
});

test("a seal with any bit changed does not open", () => {
  const sealed = seal("001234567890", purpose, key);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => open(changed, purpose, key));
  }
});

test("a truncated or extended seal does not open", () => {
  for (const text of ["", "001234567890"]) {
    const sealed = seal(text, purpose, key);
    for (let length = 0; length < sealed.length; length++) {
      assert.throws(() => open(sealed.subarray(0, length), purpose, key), `${length} bytes`);
    }
    assert.throws(() => open(Buffer.concat([sealed, Buffer.alloc(1)]), purpose, key));
  }
});

test("a seal opens for its own purpose and key only", () => {
  const sealed = seal("001234567890", purpose, key);
  assert.throws(() => open(sealed, "webhooks.secret", key));
  assert.throws(() => open(sealed, "", key));
  assert.throws(() => open(sealed, purpose, randomBytes(32)));
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { idBodyLength, isId, newId } from "./ids.ts";

const instants = fc.date({ min: new Date(0), max: new Date(2 ** 48 - 1), noInvalidDate: true });

test("an id is valid for its own kind only", () => {
  fc.assert(
    fc.property(instants, (now) => {
      const id = newId("key", now);
      assert.equal(id.length, "key_".length + idBodyLength);
      assert.match(id, /^key_[0-9a-z]{26}$/);
      assert.equal(isId("key", id), true);
      assert.equal(isId("frm", id), false);
    }),
  );
});

test("ids sort by their time of creation, to the millisecond", () => {
  fc.assert(
    fc.property(instants, instants, (one, other) => {
      fc.pre(one.getTime() !== other.getTime());
      assert.equal(newId("frm", one) < newId("frm", other), one < other);
    }),
  );
});

test("ids of one millisecond are unique", () => {
  const now = new Date(0);
  const ids = new Set(Array.from({ length: 10_000 }, () => newId("key", now)));
  assert.equal(ids.size, 10_000);
});

test("a text of another length, case or alphabet is no id", () => {
  const id = newId("key", new Date(0));
  const wrong = [
    "",
    "key_",
    id.slice(0, -1),
    `${id}0`,
    `${id}\n`,
    ` ${id}`,
    id.toUpperCase(),
    id.replace("key_", "key-"),
    id.slice(0, -1) + "i",
    id.slice(0, -1) + "l",
    id.slice(0, -1) + "o",
    id.slice(0, -1) + "u",
    id.slice(0, -1) + "\u0000",
  ];
  for (const text of wrong) assert.equal(isId("key", text), false, JSON.stringify(text));
  fc.assert(fc.property(fc.string(), (text) => assert.equal(isId("key", text), false)));
});

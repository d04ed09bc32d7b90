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

test("ids of one millisecond ascend by steps that nobody can guess", () => {
  fc.assert(
    fc.property(instants, fc.integer({ min: 2, max: 500 }), (now, count) => {
      const ids = Array.from({ length: count }, () => newId("ord", now));
      assert.deepEqual(ids, ids.toSorted());
      const ends = new Set(ids.map((id) => id.slice(-idBodyLength / 4)));
      assert.ok(ends.size >= count - 1, "the last digits are random");
    }),
  );
});

test("where one millisecond lasts for a million ids, they begin again below", () => {
  const now = new Date(1);
  let before = newId("key", now);
  let descents = 0;
  for (let made = 0; made < 3_000_000; made++) {
    const id = newId("key", now);
    if (id <= before) descents += 1;
    before = id;
  }
  assert.ok(descents >= 1 && descents <= 3, `${descents}`);
  assert.ok(isId("key", before));
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

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { exactJson, readExactJson } from "./json.ts";
import {
  addPaise,
  asAmount,
  negatePaise,
  readPaise,
  splitByAmount,
  subtractPaise,
  sumParts,
  sumPaise,
} from "./money.ts";

const amounts = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, 1, -1),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
);

const isPlain = (paise: number | bigint) =>
  (typeof paise === "number") ===
  (paise >= Number.MIN_SAFE_INTEGER && paise <= Number.MAX_SAFE_INTEGER);

test("sums equal those of BigInt, and are numbers exactly where a number is exact", () => {
  fc.assert(
    fc.property(fc.array(amounts), amounts, (list, other) => {
      const exact = list.reduce<bigint>((sum, paise) => sum + BigInt(paise), 0n);
      const sum = sumPaise(list);
      assert.equal(BigInt(sum), exact);
      assert.equal(BigInt(addPaise(sum, other)), exact + BigInt(other));
      assert.equal(BigInt(subtractPaise(sum, other)), exact - BigInt(other));
      assert.equal(BigInt(negatePaise(sum)), -exact);
      for (const made of [sum, addPaise(sum, other), negatePaise(sum)]) assert.ok(isPlain(made));
      assert.equal(readPaise(String(exact)), sum);
      assert.equal(BigInt(asAmount(sum)) === exact, typeof sum === "number");
      assert.deepEqual(readExactJson(exactJson({ sum, list: [sum] })), { sum, list: [sum] });
    }),
  );
});

test("a sum is written to JSON with all its digits", () => {
  assert.equal(
    exactJson({ sum: 2n ** 64n + 1n, rest: 1.5 }),
    '{"sum":18446744073709551617,"rest":1.5}',
  );
});

test("a split keeps order and items, and no set comes to more than one amount or could take the next", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })), (amounts) => {
      const items = amounts.map((paise, position) => ({ paise, position }));
      const sets = splitByAmount(items);
      assert.deepEqual(sets.flat(), items);
      for (const [at, set] of sets.entries()) {
        const sum = sumParts(set.map(({ paise }) => paise));
        const next = sets[at + 1]?.[0];
        if (next) assert.throws(() => sumParts([sum, next.paise]), RangeError);
      }
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import {
  addMonths,
  listBefore,
  listMissing,
  monthlyTables,
  namePartition,
  readEnd,
  refuseEarly,
  startMonth,
} from "./rules.ts";

const month = fc
  .record({ year: fc.integer({ min: 2000, max: 2099 }), number: fc.integer({ min: 1, max: 12 }) })
  .map(({ year, number }) => `${year}-${String(number).padStart(2, "0")}`);

test("months are counted across years", () => {
  assert.equal(addMonths("2026-11", 2), "2027-01");
  assert.equal(addMonths("2026-01", -1), "2025-12");
  fc.assert(
    fc.property(month, fc.integer({ min: -300, max: 300 }), (from, count) => {
      assert.equal(addMonths(addMonths(from, count), -count), from);
    }),
  );
});

test("the name of a partition says the month from which it holds nothing more", () => {
  fc.assert(
    fc.property(month, (of) => {
      assert.equal(readEnd("quotes", namePartition("quotes", of)), addMonths(of, 1));
    }),
  );
  assert.equal(readEnd("quotes", "quotes_to_2026_12"), "2026-12");
  assert.equal(readEnd("quotes", "quotes_rest"), undefined);
});

test("the current month and the two after it are made, each once and behind what was there", () => {
  const now = new Date("2026-11-30T19:00:00Z"); // December in India.
  const table = { name: "quotes" };
  assert.deepEqual(listMissing(table, ["quotes_rest"], now), ["2026-12", "2027-01", "2027-02"]);
  assert.deepEqual(listMissing(table, ["quotes_rest", "quotes_to_2027_01"], now), [
    "2027-01",
    "2027-02",
  ]);
  assert.deepEqual(listMissing(table, ["quotes_2026_12", "quotes_2027_02"], now), ["2027-01"]);
});

test("what is dropped before a month holds nothing of it, and the rest is never dropped", () => {
  const partitions = ["quotes_2026_03", "quotes_2026_04", "quotes_rest", "quotes_to_2026_03"];
  assert.deepEqual(listBefore({ name: "quotes" }, partitions, "2026-04"), [
    "quotes_2026_03",
    "quotes_to_2026_03",
  ]);
});

test("months that must be kept are not dropped", () => {
  const now = new Date("2026-11-16T00:00:00Z");
  const table = { name: "quotes", keptMonths: 3 };
  refuseEarly(table, "2026-08", now);
  assert.throws(() => refuseEarly(table, "2026-09", now), Failure);
});

test("the bounds of months follow each other", () => {
  for (const { name, bound } of monthlyTables) {
    fc.assert(
      fc.property(month, (of) => {
        assert.ok(bound(startMonth(of)) < bound(startMonth(addMonths(of, 1))), name);
      }),
    );
  }
});

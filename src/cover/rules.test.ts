import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { StepBudget, greatestDivisor, shareCeil } from "./rules.ts";

test("an allowance never takes more steps than its own limit or the budget", () => {
  const budget = new StepBudget(100);
  const inner = budget.within(30, () => {
    budget.spend(50);
    return budget.spent;
  });
  assert.deepEqual(inner, { found: true, finished: false });
  assert.equal(budget.left, 70);
  assert.deepEqual(
    budget.within(1_000, () => budget.left),
    { found: 70, finished: true },
  );
  budget.spend(71);
  assert.ok(budget.spent);
});

test("shareCeil is the rounded-up quotient, exact up to the largest sums", () => {
  const sum = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(sum, fc.integer({ min: 1, max: 9 }), (total, count) => {
      const share = BigInt(shareCeil(total, count));
      assert.ok(share * BigInt(count) >= BigInt(total));
      assert.ok((share - 1n) * BigInt(count) < BigInt(total));
    }),
  );
});

test("greatestDivisor is the greatest common divisor", () => {
  const small = fc.integer({ min: 1, max: 400 });
  fc.assert(
    fc.property(small, small, small, (a, b, unit) => {
      const divisor = greatestDivisor(a * unit, b * unit);
      assert.equal((a * unit) % divisor, 0);
      assert.equal((b * unit) % divisor, 0);
      assert.equal(divisor % unit, 0);
      assert.equal(greatestDivisor((a * unit) / divisor, (b * unit) / divisor), 1);
    }),
  );
});

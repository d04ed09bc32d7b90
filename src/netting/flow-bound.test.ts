import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { flowBound } from "./assign-credits.ts";

test("the flow is bounded by supply, by demand and by who may pay whom", () => {
  assert.equal(flowBound([], [5]), 0);
  assert.equal(flowBound([{ face_paise: 5, pays: [0] }], []), 0);
  assert.equal(flowBound([{ face_paise: 5, pays: [0] }], [3]), 3);
  assert.equal(flowBound([{ face_paise: 5, pays: [0] }], [9]), 5);
  // The second kind can only pay the first requirement, so the first kind must leave it to it.
  const supplies = [
    { face_paise: 5, pays: [0, 1] },
    { face_paise: 5, pays: [0] },
  ];
  assert.equal(flowBound(supplies, [5, 5]), 10);
});

/** The least cut: of every set of requirements, what they take or what may not flow to others. */
function leastCut(
  supplies: readonly { face_paise: number; pays: readonly number[] }[],
  caps: readonly number[],
): number {
  const cuts = Array.from({ length: 2 ** caps.length }, (_, open) => {
    const isOpen = (place: number) => ((open >> place) & 1) === 1;
    const taken = caps.reduce((sum, cap, place) => sum + (isOpen(place) ? cap : 0), 0);
    const kept = supplies.reduce(
      (sum, { face_paise, pays }) => sum + (pays.every(isOpen) ? 0 : face_paise),
      0,
    );
    return taken + kept;
  });
  return Math.min(...cuts);
}

test("the maximum flow equals the minimum cut", () => {
  const supply = fc.record({
    face_paise: fc.integer({ min: 1, max: 50 }),
    pays: fc.subarray([0, 1, 2, 3]),
  });
  const caps = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(supply, { maxLength: 6 }), caps, (supplies, most) => {
      const useful = supplies.filter(({ pays }) => pays.length > 0);
      assert.equal(flowBound(supplies, most), leastCut(useful, most));
    }),
    { numRuns: 500 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { findExactSum } from "./exact-sum.ts";
import { OfferIndex } from "./offer-index.ts";
import { StepBudget } from "./rules.ts";
import { surveyShelf } from "./survey.ts";

const seed = 20_261_115;

const offer = fc.record({
  face_paise: fc.integer({ min: 1, max: 25 }),
  expires_on: fc.integer({ min: 1, max: 4 }),
});

const offers = fc.array(offer, { minLength: 1, maxLength: 14 }).map((list) =>
  list.map((item, at) => ({
    ...item,
    scrip_no: `S${String((at * 7) % 15).padStart(2, "0")}`,
    limit_bps: 0,
    seller: "AAAAA0000A",
    order_id: null,
  })),
);

type Listed = { readonly scrip_no: string; readonly face_paise: number };

/** Combinations in the order of the queue: the first with the sum is the answer. */
function firstByBruteForce(
  queue: readonly Listed[],
  count: number,
  sum: number,
): Listed[] | undefined {
  if (count === 0) return sum === 0 ? [] : undefined;
  for (const [at, item] of queue.entries()) {
    const rest = firstByBruteForce(queue.slice(at + 1), count - 1, sum - item.face_paise);
    if (rest) return [item, ...rest];
  }
  return undefined;
}

for (const stepsMax of [1e9, 20_000, 600]) {
  test(`with ${stepsMax} steps the first bundle of a count and sum is found, refuted or open`, () => {
    fc.assert(
      fc.property(
        offers,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (list, count, sum) => {
          const index = new OfferIndex();
          index.load(list);
          const shelf = index.shelf({}, new StepBudget(1e9));
          const survey = surveyShelf(shelf, sum);
          const { rows, isProven } = findExactSum(shelf, { ...survey, count, sum }, stepsMax);
          const queue = list.toSorted(
            (a, b) => a.expires_on - b.expires_on || (a.scrip_no < b.scrip_no ? -1 : 1),
          );
          const first = firstByBruteForce(queue, count, sum);
          const found = rows?.map((row) => shelf.offer(row).scrip_no);
          if (isProven) {
            assert.deepEqual(
              found,
              first?.map(({ scrip_no }) => scrip_no),
            );
          }
          const covered = rows?.reduce((total, row) => total + shelf.face(row), 0) ?? sum;
          assert.equal(covered, sum);
          assert.equal(rows?.length ?? count, count);
          assert.ok(isProven || stepsMax < 1e9);
        },
      ),
      { numRuns: 1_000, seed },
    );
  });
}

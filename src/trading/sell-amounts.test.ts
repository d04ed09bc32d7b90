import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { chooseOwnCredits } from "../cover/choose-bundle.ts";
import { setStepsMax, stepsQuick } from "../cover/rules.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import { addDays, dayNumber } from "../kernel/time.ts";
import { DeliverableCredits, sumFaces } from "./sell-amounts.ts";

const credit = fc.record({
  face_paise: fc.integer({ min: 1, max: 60 }),
  life: fc.integer({ min: 1, max: 4 }),
});
const step = fc.record({
  facePaise: fc.integer({ min: 1, max: 150 }),
  /** Whether the order that asked takes what it was offered, and what another one takes before. */
  takes: fc.boolean(),
  other: fc.nat({ max: 40 }),
});

test("choosing after some credits were taken equals choosing from the others alone", () => {
  fc.assert(
    fc.property(
      fc.array(credit, { maxLength: 30 }),
      fc.array(step, { maxLength: 12 }),
      (list, steps) => {
        // The rest of a row is nothing that a choice looks at.
        const credits = list.map(({ face_paise, life }, at) => ({
          credit_id: `crd_${at}`,
          scrip_no: `SCRIP${at}`,
          face_paise,
          expires_on: addDays("2026-11-16", life),
        })) as DealtCredit[];
        const deliverable = new DeliverableCredits(credits, { left: Infinity });
        let left = credits;
        const take = (taken: readonly DealtCredit[]) => {
          for (const one of taken) deliverable.take(one.scrip_no);
          left = left.filter((one) => !taken.includes(one));
        };
        for (const { facePaise, takes, other } of steps) {
          take(credits.slice(other, other + 1));
          const days = left.map((one) => ({ ...one, expires_on: dayNumber(one.expires_on) }));
          const { offers } = chooseOwnCredits(days, facePaise, stepsQuick);
          const chosen = deliverable.choose(facePaise).credits;
          assert.deepEqual(
            chosen.map((one) => one.scrip_no),
            offers.map((offer) => offer.scrip_no),
          );
          if (takes) take(chosen);
        }
      },
    ),
    { numRuns: 500 },
  );
});

/** No two sums of these meet, so that no search can be sure of its answer. */
const oddCredits = Array.from({ length: 2_000 }, (_, at) => ({
  credit_id: `crd_${at}`,
  scrip_no: `SCRIP${at}`,
  face_paise: 2 * (10_000_019 + ((at * 7_919_337) % 9_000_011)),
  expires_on: "2028-01-01",
}));
const amounts = Array.from({ length: 500 }, (_, order) => 60_000_001 + 2 * order);

test("a set of 500 sells by amount takes a bounded number of steps, whatever their plans", () => {
  const plans = { none: undefined, failed: null, gone: { scripNos: ["SCRIP-GONE"], among: 2_000 } };
  for (const [name, plan] of Object.entries(plans)) {
    const budget = { left: setStepsMax };
    const deliverable = new DeliverableCredits(oddCredits, budget);
    for (const facePaise of amounts) {
      const sum = sumFaces(deliverable.choose(facePaise, plan).credits);
      assert.ok(sum > facePaise / 2 && sum <= facePaise);
    }
    const spent = setStepsMax - budget.left;
    assert.ok(spent <= setStepsMax + stepsQuick, `${spent} steps for plan ${name}`);
  }
});

test("plans that hold are confirmed without a step", () => {
  const searched = new DeliverableCredits(oddCredits, { left: Infinity });
  const plans = amounts.slice(0, 20).map((facePaise) => {
    const { credits } = searched.choose(facePaise);
    const plan = { scripNos: credits.map((one) => one.scrip_no), among: searched.size };
    for (const one of credits) searched.take(one.scrip_no);
    return plan;
  });
  const budget = { left: setStepsMax };
  const deliverable = new DeliverableCredits(oddCredits, budget);
  plans.forEach((plan, at) => {
    const { credits, isSearched } = deliverable.choose(amounts[at] ?? 0, plan);
    assert.deepEqual([credits.map((one) => one.scrip_no), isSearched], [plan.scripNos, true]);
    for (const one of credits) deliverable.take(one.scrip_no);
  });
  assert.equal(budget.left, setStepsMax);
});

const planned = fc.record({
  facePaise: fc.integer({ min: 1, max: 150 }),
  /** Whether the order is refused under the lock, so that what it was to deliver stays. */
  isRefused: fc.boolean(),
  /** The place of a credit that goes before the order. */
  goes: fc.nat({ max: 40 }),
});

function sumLargest(
  credits: readonly { readonly face_paise: number }[],
  facePaise: number,
): number {
  const sorted = credits.toSorted((a, b) => b.face_paise - a.face_paise);
  return sorted.reduce(
    (sum, one) => (sum + one.face_paise <= facePaise ? sum + one.face_paise : sum),
    0,
  );
}

test("whatever has changed since the plans, a choice is no worse than the largest that fit", () => {
  fc.assert(
    fc.property(
      fc.array(credit, { maxLength: 30 }),
      fc.array(planned, { maxLength: 12 }),
      (list, orders) => {
        const credits = list.map(({ face_paise, life }, at) => ({
          credit_id: `crd_${at}`,
          scrip_no: `SCRIP${at}`,
          face_paise,
          expires_on: addDays("2026-11-16", life),
        }));
        const searched = new DeliverableCredits(credits, { left: Infinity });
        const plans = orders.map(({ facePaise }) => {
          const found = searched.choose(facePaise).credits;
          const plan = { scripNos: found.map((one) => one.scrip_no), among: searched.size };
          for (const one of found) searched.take(one.scrip_no);
          return plan;
        });
        const deliverable = new DeliverableCredits(credits, { left: Infinity });
        const unplanned = new DeliverableCredits(credits, { left: Infinity });
        const left = new Map(credits.map((one) => [one.credit_id, one]));
        let wasRefused = false;
        const take = (one: (typeof credits)[number]) => {
          left.delete(one.credit_id);
          deliverable.take(one.scrip_no);
          unplanned.take(one.scrip_no);
        };
        orders.forEach(({ facePaise, isRefused, goes }, at) => {
          credits.slice(goes, goes + 1).forEach(take);
          const chosen = deliverable.choose(facePaise, plans[at]).credits;
          const without = unplanned.choose(facePaise).credits;
          assert.ok(sumFaces(chosen) <= facePaise);
          assert.equal(new Set(chosen.map((one) => one.scrip_no)).size, chosen.length);
          assert.ok(sumFaces(chosen) >= sumLargest([...left.values()], facePaise));
          // Where as many went as came back, the plan stands, and something else may be as good.
          if (!wasRefused) assert.ok(sumFaces(chosen) >= sumFaces(without));
          wasRefused ||= isRefused;
          if (!isRefused) chosen.forEach(take);
        });
      },
    ),
    { numRuns: 300 },
  );
});

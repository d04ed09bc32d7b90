import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { chooseOwnCredits } from "../cover/choose-bundle.ts";
import { setStepsMax, stepsQuick } from "../cover/rules.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import { addDays, dayNumber } from "../kernel/time.ts";
import { DeliverableCredits } from "./match-state.ts";

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
          for (const one of taken) deliverable.take(one);
          left = left.filter((one) => !taken.includes(one));
        };
        for (const { facePaise, takes, other } of steps) {
          take(credits.slice(other, other + 1));
          const days = left.map((one) => ({ ...one, expires_on: dayNumber(one.expires_on) }));
          const { offers } = chooseOwnCredits(days, facePaise, stepsQuick);
          const chosen = deliverable.choose(facePaise);
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

test("taking a credit with the same scrip number but another id changes nothing", () => {
  const held = { credit_id: "crd_1", scrip_no: "SCRIP1", face_paise: 5, expires_on: "2027-01-01" };
  const deliverable = new DeliverableCredits([held as DealtCredit], { left: Infinity });
  deliverable.take({ ...held, credit_id: "crd_2" } as DealtCredit);
  assert.deepEqual(deliverable.choose(5), [held]);
});

test("the sells by amount of a set share a budget of steps, and each still gets credits", () => {
  const credits = Array.from({ length: 2_000 }, (_, at) => ({
    credit_id: `crd_${at}`,
    scrip_no: `SCRIP${at}`,
    face_paise: 2 * (10_000_019 + ((at * 7_919_337) % 9_000_011)),
    expires_on: "2028-01-01",
  })) as DealtCredit[];
  const budget = { left: setStepsMax };
  const deliverable = new DeliverableCredits(credits, budget);
  const batch = 500;
  for (let order = 0; order < batch; order++) {
    const facePaise = 60_000_001 + 2 * order;
    const sum = deliverable.choose(facePaise).reduce((all, one) => all + one.face_paise, 0);
    assert.ok(sum > facePaise / 2 && sum <= facePaise);
  }
  const spent = setStepsMax - budget.left;
  assert.ok(spent <= 4 * setStepsMax, `${spent} steps were taken under the match lock`);
});

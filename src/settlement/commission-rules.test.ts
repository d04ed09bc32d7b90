import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { sides } from "../kernel/scheme.ts";
import {
  type CommissionedSide,
  isPayment,
  parseOrdinal,
  buildPayment,
  buildClawback,
} from "./commission-rules.ts";

const side: CommissionedSide = {
  environment: "sandbox",
  settlementId: "stl_01jd2m7q4x8r5v6w9y0abcdefg",
  legOrdinal: 3,
  side: "buy",
  deskId: "frm_01jd2m7q4x8r5v6w9y0abcdefg",
  facePaise: 25_000_000,
};

test("a commission is a share of face, rounded down, and zero makes no payment", () => {
  const [paid] = buildPayment(side, 5);
  const to = { kind: "desk_commission", firmId: side.deskId } as const;
  assert.deepEqual(paid?.movements, [{ from: { kind: "house_cash" }, to, paise: 12_500 }]);
  assert.deepEqual(buildPayment(side, 0), []);
  assert.deepEqual(buildPayment({ ...side, facePaise: 1_999 }, 5), []);
  const [least] = buildPayment({ ...side, facePaise: 2_000 }, 5);
  assert.deepEqual(least?.movements, [{ from: { kind: "house_cash" }, to, paise: 1 }]);
});

test("every leg and side has its own payment and reversal entry, which identify it", () => {
  const legs = fc.uniqueArray(fc.nat(10_000), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(legs, (ordinals) => {
      const seen = new Set<number>();
      for (const legOrdinal of ordinals) {
        for (const one of sides) {
          const [paid] = buildPayment({ ...side, legOrdinal, side: one }, 5);
          const ordinal = paid?.ordinal ?? -1;
          const known = { environment: side.environment, subject: side.settlementId };
          const back = buildClawback({ ...known, ordinal, deskId: side.deskId, paise: 1 }, 1);
          for (const [number, isPaid] of [
            [ordinal, true],
            [back.ordinal ?? -1, false],
          ] as const) {
            assert.deepEqual(parseOrdinal(number), { legOrdinal, side: one });
            assert.equal(isPayment(number), isPaid);
            assert.ok(!seen.has(number));
            seen.add(number);
          }
        }
      }
    }),
  );
});

test("a desk owes the part of a reversed commission that it no longer has", () => {
  const { deskId } = side;
  const paid = {
    environment: "sandbox",
    subject: "stl_x",
    ordinal: 0,
    deskId,
    paise: 100,
  } as const;
  const house = { kind: "house_cash" } as const;
  const earned = { kind: "desk_commission", firmId: deskId } as const;
  const dues = { kind: "firm_dues", firmId: deskId } as const;
  assert.deepEqual(buildClawback(paid, 100).movements, [{ from: earned, to: house, paise: 100 }]);
  assert.deepEqual(buildClawback(paid, 30).movements, [
    { from: earned, to: house, paise: 30 },
    { from: dues, to: house, paise: 70 },
  ]);
  assert.deepEqual(buildClawback(paid, 0).movements, [{ from: dues, to: house, paise: 100 }]);
});

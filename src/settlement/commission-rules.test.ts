import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { feeOn, priceCeil, priceFloor } from "../kernel/money.ts";
import { sides } from "../kernel/scheme.ts";
import {
  findTermProblems,
  findLeastKept,
  priceAsk,
  priceBid,
  type RateCard,
  startingTerms,
} from "../rates/rules.ts";
import {
  capCommissions,
  computeCommission,
  computeKept,
  type DealtFor,
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
  const pay = (one: CommissionedSide) => buildPayment(one, computeCommission(one.facePaise, 5));
  const [paid] = pay(side);
  const to = { kind: "desk_commission", firmId: side.deskId } as const;
  assert.deepEqual(paid?.movements, [{ from: { kind: "house_cash" }, to, paise: 12_500 }]);
  assert.deepEqual(buildPayment(side, 0), []);
  assert.deepEqual(pay({ ...side, facePaise: 1_999 }), []);
  const [least] = pay({ ...side, facePaise: 2_000 });
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

const card = fc
  .record({
    mid_bps: fc.integer({ min: 7_600, max: 10_000 }),
    half_spread_bps: fc.integer({ min: 0, max: 200 }),
    margin_bps: fc.integer({ min: 0, max: 50 }),
    size: fc.integer({ min: -150, max: 150 }),
  })
  .map(({ size, ...terms }): RateCard => ({
    ...startingTerms.RODTEP,
    ...terms,
    size_bands: [{ below_paise: null, bps: size }],
    environment: "sandbox",
    scheme: "RODTEP",
    version: 1,
    state: "open",
    published_at: new Date(0),
    published_by: "test",
    note: null,
  }));
const wash = fc.record({
  card,
  facePaise: fc.integer({ min: 1, max: 2_000_000_000 }),
  feeBps: fc.integer({ min: 0, max: 100 }),
  rates: fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })),
  betweenBps: fc.tuple(fc.nat(300), fc.nat(300)),
});

/** What a deal costs the clients on both sides, the credit valued at the mid, and what they are paid. */
function weighDeal(dealt: DealtFor, midBps: number, rates: readonly number[]) {
  const { facePaise, buyerPaise, sellerPaise, house } = dealt;
  const lost =
    (house === "buy" ? priceFloor(facePaise, midBps) : buyerPaise) -
    (house === "sell" ? priceCeil(facePaise, midBps) : sellerPaise);
  const wanted = rates.map((bps) => computeCommission(facePaise, bps));
  const paid = capCommissions(wanted, computeKept(dealt, midBps));
  for (const [at, paise] of paid.entries()) assert.ok(paise <= (wanted[at] ?? 0));
  return { lost, paid: paid.reduce((sum, paise) => sum + paise, 0) };
}

test("wash trades of a desk's firms never gain, with the house or with each other, whatever card, size and commission", () => {
  let capped = 0;
  fc.assert(
    fc.property(wash, ({ card: terms, facePaise, feeBps, rates, betweenBps }) => {
      const mid = Math.min(Math.max(terms.mid_bps, terms.floor_bps), terms.ask_ceiling_bps);
      const fee = feeOn(facePaise, feeBps, 1_800);
      const none = { buyerPaise: 0, sellerPaise: 0, taxPaise: fee.gstPaise };
      const inFull = rates.map((bps) => computeCommission(facePaise, bps));
      const toHouse: DealtFor = {
        ...none,
        facePaise,
        house: "buy",
        sellerPaise: priceFloor(facePaise, priceBid(terms, facePaise, 700) ?? 0),
      };
      const fromHouse: DealtFor = {
        ...none,
        facePaise,
        house: "sell",
        buyerPaise: priceCeil(facePaise, priceAsk(terms, facePaise)),
      };
      const [below, above] = betweenBps;
      const between: DealtFor = {
        ...none,
        facePaise,
        house: null,
        sellerPaise: priceFloor(facePaise, Math.max(mid - below, 0)),
        buyerPaise: priceCeil(facePaise, mid + above),
      };
      const sold = weighDeal(toHouse, mid, rates.slice(0, 1));
      const bought = weighDeal(fromHouse, mid, rates.slice(1));
      const crossed = weighDeal(between, mid, rates);
      for (const { lost, paid } of [sold, bought, crossed]) assert.ok(paid <= Math.max(lost, 0));
      assert.ok(sold.paid + bought.paid <= sold.lost + bought.lost, "there and back");
      if (sold.paid < (inFull[0] ?? 0)) capped += 1;
    }),
    { numRuns: 2_000 },
  );
  assert.ok(capped > 100, "the control: many of these washes would gain without the cap");
});

test("a rate that no warning is given for is paid in full", () => {
  fc.assert(
    fc.property(wash, ({ card: terms, facePaise, rates: [bps] }) => {
      fc.pre(findTermProblems(terms).length === 0);
      const { asPartyBps } = findLeastKept(terms);
      fc.pre(bps <= asPartyBps);
      const bid = priceBid(terms, facePaise, 700) ?? 0;
      fc.pre(bid > terms.floor_bps);
      const dealt: DealtFor = {
        facePaise,
        buyerPaise: 0,
        sellerPaise: priceFloor(facePaise, bid),
        taxPaise: 0,
        house: "buy",
      };
      const wanted = computeCommission(facePaise, bps);
      const mid = Math.min(terms.mid_bps, terms.ask_ceiling_bps);
      assert.ok(computeKept(dealt, mid) >= wanted);
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  addedCeil,
  addedFloor,
  bpsOfPar,
  coversSellerShare,
  findLeastSaving,
  priceCeil,
  priceFloor,
} from "./money.ts";

const face = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const price = fc.integer({ min: 0, max: bpsOfPar });

test("the floor is the largest amount that is not above the exact product", () => {
  fc.assert(
    fc.property(face, price, (paise, bps) => {
      const exact = BigInt(paise) * BigInt(bps);
      const floor = BigInt(priceFloor(paise, bps)) * BigInt(bpsOfPar);
      assert.ok(floor <= exact && exact < floor + BigInt(bpsOfPar));
    }),
  );
});

test("the ceiling is the smallest amount that is not below the exact product", () => {
  fc.assert(
    fc.property(face, price, (paise, bps) => {
      const exact = BigInt(paise) * BigInt(bps);
      const ceil = BigInt(priceCeil(paise, bps)) * BigInt(bpsOfPar);
      assert.ok(exact <= ceil && ceil - BigInt(bpsOfPar) < exact);
    }),
  );
});

test("the price at par is the face itself, up to 2^53 - 1 paise", () => {
  assert.equal(priceFloor(Number.MAX_SAFE_INTEGER, bpsOfPar), Number.MAX_SAFE_INTEGER);
  assert.equal(priceCeil(Number.MAX_SAFE_INTEGER, bpsOfPar), Number.MAX_SAFE_INTEGER);
});

test("the buyer's share of a credit covers the seller's share at any position in their orders", () => {
  const paise = fc.oneof(fc.nat({ max: 20_000 }), fc.nat({ max: 2 ** 40 }));
  const face = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 2 ** 40 }));
  const bps = fc.integer({ min: 1, max: 10_000 });
  const margin = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 }));
  fc.assert(
    fc.property(face, bps, margin, paise, paise, (facePaise, sellerBps, more, bought, sold) => {
      const buyerBps = Math.min(10_000, sellerBps + more);
      const pays = addedCeil(bought, facePaise, buyerBps);
      assert.ok(pays >= priceFloor(facePaise, sellerBps), "one credit alone is always paid for");
      if (!coversSellerShare(facePaise, buyerBps, sellerBps)) return;
      assert.ok(pays >= addedFloor(sold, facePaise, sellerBps));
    }),
  );
  assert.ok(
    coversSellerShare(500, 9_850, 9_830),
    "five rupees leave room at the margin of the first cards",
  );
  assert.ok(!coversSellerShare(1, 9_850, 9_830));
  assert.ok(!coversSellerShare(100, 9_830, 9_850));
});

test("the least face that saves is the first whose rounded price is below it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: bpsOfPar - 1 }), (bps) => {
      const least = findLeastSaving(bps);
      assert.ok(priceCeil(least, bps) < least);
      assert.ok(least === 1 || priceCeil(least - 1, bps) >= least - 1);
    }),
  );
  assert.equal(findLeastSaving(bpsOfPar), Infinity);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { bpsOfPar, priceCeil, priceFloor } from "./money.ts";

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

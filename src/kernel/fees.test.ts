import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { feeOn, feeWithin, noFee } from "./money.ts";

const paise = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

test("a fee on a face is rounded down and taxed to the nearest paisa", () => {
  // ₹1,00,000 at 2 bps is ₹20, and 18 % of it ₹3.60.
  assert.deepEqual(feeOn(10_000_000, 2, 1_800), { feePaise: 2_000, gstPaise: 360 });
  // 9,999 paise at 7 bps is 6.9993 paise; 18 % of 6 is 1.08.
  assert.deepEqual(feeOn(9_999, 7, 1_800), { feePaise: 6, gstPaise: 1 });
  // Half a paisa of tax is a paisa: 18 % of 25 is 4.5.
  assert.deepEqual(feeOn(250_000, 1, 1_800), { feePaise: 25, gstPaise: 5 });
  assert.deepEqual(feeOn(10_000_000, 0, 1_800), noFee);
});

test("fee and tax within an amount sum to it, and the tax is 18 % of the fee to the nearest paisa", () => {
  assert.deepEqual(feeWithin(118, 1_800), { feePaise: 100, gstPaise: 18 });
  fc.assert(
    fc.property(paise, (gross) => {
      const { feePaise, gstPaise } = feeWithin(gross, 1_800);
      assert.equal(feePaise + gstPaise, gross);
      const off = 118n * BigInt(gstPaise) - 18n * BigInt(gross);
      assert.ok(-59n < off && off <= 59n, "more than half a paisa from the exact tax");
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { percentText, rupeesInWords, rupeesPlain, rupeesText } from "./money.ts";

test("rupees are grouped by thousand, lakh and crore", () => {
  const shown: readonly (readonly [number, string])[] = [
    [0, "0.00"],
    [5, "0.05"],
    [-5, "-0.05"],
    [99_999, "999.99"],
    [100_000, "1,000.00"],
    [12_345_678, "1,23,456.78"],
    [-1_234_567_890, "-1,23,45,678.90"],
    [Number.MAX_SAFE_INTEGER, "9,00,71,99,25,47,409.91"],
  ];
  for (const [paise, text] of shown) assert.equal(rupeesText(paise), text);
  assert.equal(percentText(9_765), "97.65 %");
});

test("an amount survives the round trip to the paisa", () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (paise) => {
      assert.equal(Number(rupeesPlain(paise).replace(".", "")), paise);
    }),
  );
});

test("amounts are in words of the Indian system", () => {
  const shown = [
    [0, "Rupees Zero only"],
    [5, "Rupees Zero and Five Paise only"],
    [100_00, "Rupees One Hundred only"],
    [
      12_34_567_89,
      "Rupees Twelve Lakh Thirty-Four Thousand Five Hundred Sixty-Seven and Eighty-Nine Paise only",
    ],
    [1_00_00_000_00, "Rupees One Crore only"],
    [
      Number.MAX_SAFE_INTEGER,
      "Rupees Ninety Lakh Seven Thousand One Hundred Ninety-Nine Crore Twenty-Five Lakh Forty-Seven Thousand Four Hundred Nine and Ninety-One Paise only",
    ],
  ] as const;
  for (const [paise, text] of shown) assert.equal(rupeesInWords(paise), text);
});

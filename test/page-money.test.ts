// The page's arithmetic, which runs in browsers: amounts must not change on their way to the API.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { formatPercent, formatRupees, parsePaise, saySize, tidied } from "../web/money.js";

test("an amount of rupees is parsed to the paisa, in any grouping", () => {
  const taken: Record<string, number> = {
    "1": 100,
    "0.01": 1,
    "12,34,567.5": 123_456_750,
    "₹ 25,00,000": 250_000_000,
    "2500000.": 250_000_000,
    "0001": 100,
    "90071992547409.91": Number.MAX_SAFE_INTEGER,
  };
  for (const [text, paise] of Object.entries(taken)) assert.equal(parsePaise(text), paise, text);
  const refused = ["", "0", "0.00", "-1", "1e5", "1.234", ".5", "x", "90071992547409.92", "1.2.3"];
  for (const text of refused) assert.equal(parsePaise(text), undefined, text);
});

test("an amount in lakh and crore is parsed to the paisa, as people write it", () => {
  const taken: Record<string, number> = {
    "50 lakh": 500_000_000,
    "50L": 500_000_000,
    "50 Lacs": 500_000_000,
    "1.2 crore": 1_200_000_000,
    "1.2 cr": 1_200_000_000,
    "1.2 Cr.": 1_200_000_000,
    "₹ 50,00,000": 500_000_000,
    "₹50 lakh": 500_000_000,
    "Rs. 50,00,000/-": 500_000_000,
    "INR 2.5 lakhs": 25_000_000,
    "75k": 7_500_000,
    "1,250.50 thousand": 125_050_000,
    "0.000000001 crore": 1,
  };
  for (const [text, paise] of Object.entries(taken)) assert.equal(parsePaise(text), paise, text);
  const refused = [
    "lakh",
    "50 lakh crore",
    "50 lakh 20 thousand",
    "50 million",
    "0.0000000001 crore",
    "1.2.3 cr",
    "-5 lakh",
    "99999999999999 crore",
    "fifty lakh",
    "50 l 1",
    "Rs",
  ];
  for (const text of refused) assert.equal(parsePaise(text), undefined, text);
});

test("an amount said in lakh or crore is the amount that was meant, to the paisa", () => {
  const units = [
    ["lakh", 10_000_000n, 7],
    ["crore", 1_000_000_000n, 9],
  ] as const;
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.constantFrom(...units), (paise, [unit, size, digits]) => {
      const amount = BigInt(paise) + 1n;
      const text = `${amount / size}.${String(amount % size).padStart(digits, "0")} ${unit}`;
      const expected = amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : undefined;
      assert.equal(parsePaise(text), expected);
    }),
  );
});

test("a formatted amount parses to the same amount", () => {
  const amounts = fc.maxSafeNat().filter((paise) => paise > 0);
  fc.assert(
    fc.property(amounts, (paise) => {
      const text = formatRupees(paise);
      assert.equal(parsePaise(text), paise);
      assert.equal(tidied(text), text);
      assert.equal(tidied(text.replaceAll(",", "")), text, "grouped while it is typed");
      const indian = new Intl.NumberFormat("en-IN", { maximumFractionDigits: 0 });
      assert.equal(text.split(".")[0], indian.format(BigInt(Math.floor(paise / 100))));
    }),
  );
});

test("a text that is no amount stays as typed", () => {
  for (const text of ["", "abc", "1.234", "-5"]) assert.equal(tidied(text), text);
  assert.equal(tidied("1234."), "1,234.");
});

test("prices are shown in percent and sizes in lakh and crore, rounded down", () => {
  assert.equal(formatPercent(9_812), "98.12");
  assert.equal(formatPercent(7), "0.07");
  assert.equal(formatPercent(-12), "−0.12");
  assert.equal(saySize(250_000_000), "25 lakh");
  assert.equal(saySize(1_500_000_000), "1.5 crore");
  assert.equal(saySize(999_999_999), "99.99 lakh");
  assert.equal(saySize(12_345_600), "1.23 lakh");
  assert.equal(saySize(99_999), "");
});

test("a long sum is said in lakh and crore, cut and never rounded up, however large", () => {
  assert.equal(saySize(250_000_000), "25 lakh");
  assert.equal(saySize(99_999_999), "9.99 lakh");
  assert.equal(saySize(1_405_000_000n), "1.4 crore");
  assert.equal(saySize(9_007_199_254_740_991), "90,07,199.25 crore");
});

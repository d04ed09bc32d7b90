import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { bankCsvText, csvText } from "./csv.ts";

test("a spreadsheet reads no cell as a formula, and amounts stay numbers", () => {
  const hostile = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|'/c calc'!A0", "＝1+1"];
  for (const text of hostile) {
    const cell = csvText([[text]]).replace(/^"/, "");
    assert.equal(cell.charAt(0), "'", JSON.stringify(text));
  }
  assert.equal(csvText([["-12.50", -3, null, "plain"]]), "-12.50,-3,,plain\r\n");
});

test("a formula behind any separator inside a cell is harmless, however the file is cut into cells", () => {
  assert.equal(csvText([["Acme;=1+1"]]), "Acme;'=1+1\r\n");
  assert.equal(csvText([['Acme;"=1+1"']]), `"Acme;""'=1+1"""\r\n`);
  const signs = ["=", "+", "-", "@", "＝", "＋", "－", "＠"];
  const separators = [",", ";", "\t", "|", "\n", "\r", "\r\n"];
  const part = fc.constantFrom(...signs, ...separators, '"', "'", " ", "a", "1");
  const cell = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 4 }), (cells) => {
      const text = csvText([cells]);
      for (const separator of separators) {
        for (const piece of text.split(separator)) {
          // Some programs drop the quotation marks and the blanks around a cell.
          const bare = piece.replaceAll(/^["\s]+/g, "");
          assert.ok(!signs.some((sign) => bare.startsWith(sign)), JSON.stringify([cells, text]));
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test("what stands in the middle of a text stays as it is", () => {
  for (const text of ["A-1 Exports", "a=b", "asha@example.in", "2026-11-15", "x (+91)"]) {
    assert.equal(csvText([[text]]), `${text}\r\n`);
  }
});

test("a bank's file has its names as they are, but for a formula at the start of a cell", () => {
  assert.equal(bankCsvText([["Acme; - Sons", "-12.50", 7]]), "Acme; - Sons,-12.50,7\r\n");
  assert.equal(bankCsvText([["=1+1"]]), "'=1+1\r\n");
});

test("commas, quotes and line breaks stay inside their cell", () => {
  assert.equal(csvText([["a,b", 'say "x"', "one\ntwo"]]), '"a,b","say ""x""","one\ntwo"\r\n');
});

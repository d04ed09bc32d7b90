import assert from "node:assert/strict";
import { test } from "node:test";

import { csvText } from "./csv.ts";

test("a spreadsheet reads no cell as a formula, and amounts stay numbers", () => {
  const hostile = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|'/c calc'!A0"];
  for (const text of hostile) {
    const cell = csvText([[text]]).replace(/^"/, "");
    assert.equal(cell.charAt(0), "'", JSON.stringify(text));
  }
  assert.equal(csvText([["-12.50", -3, null, "plain"]]), "-12.50,-3,,plain\r\n");
});

test("commas, quotes and line breaks stay inside their cell", () => {
  assert.equal(csvText([["a,b", 'say "x"', "one\ntwo"]]), '"a,b","say ""x""","one\ntwo"\r\n');
});

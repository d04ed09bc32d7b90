// Rows of the console as CSV: a column for each field, in rupees, and nothing that a spreadsheet runs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { writeCsv } from "../web/console/download.js";

test("a field is one column, whether a row knows it or not", () => {
  const rows = [
    { id: "a", price_paise: null, bank: null },
    { id: "b", price_paise: 123_456, bank: { name: "First", ifsc: "FRST0000001" } },
    { id: "c", price_paise: -5, bank: { name: "Second", ifsc: null } },
  ];
  assert.deepEqual(writeCsv(rows).split("\r\n"), [
    "id,price_rupees,bank.name,bank.ifsc",
    "a,,,",
    "b,1234.56,First,FRST0000001",
    "c,-0.05,Second,",
    "",
  ]);
});

test("money is exact beyond what a number holds, lists are one cell, and no cell is a formula", () => {
  const rows = [
    {
      sum_paise: 9_007_199_254_740_993n,
      ids: ["x", "y"],
      text: '=1+1;"a"',
      other: "-1+1",
      less: "-1",
    },
  ];
  assert.deepEqual(writeCsv(rows).split("\r\n"), [
    "sum_rupees,ids,text,other,less",
    '90071992547409.93,x y,"\'=1+1;""a""",\'-1+1,-1',
    "",
  ]);
});

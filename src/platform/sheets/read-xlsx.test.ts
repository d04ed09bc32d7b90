import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { buildXlsx, type BuiltCell, toSerial } from "../../../test/support/build-xlsx.ts";
import { Failure } from "../../kernel/failure.ts";
import { onThisThread } from "../heavy/kinds.ts";
import { formatTable } from "./format-table.ts";
import { readXlsx } from "./read-xlsx.ts";

const limits = { rowsMax: 1_000, columnsMax: 100, textMax: 1_000 };

function readCells(bytes: Uint8Array): [number, string, string][][] {
  const [sheet] = readXlsx(bytes, limits);
  return (sheet?.rows ?? []).map(({ cells }) =>
    [...cells].map(([column, { kind, text }]) => [column, kind, text]),
  );
}

const xml = (write: (place: string) => string): BuiltCell => ({ xml: write });

test("cells say what they are", () => {
  const rows: BuiltCell[][] = [
    ["0310165322", "a < b", " kept ", "_x0041_"],
    [310_165_322, 1_234_567.89, xml((place) => `<c r="${place}"><v>1.23E+11</v></c>`)],
    [{ date: toSerial("2026-10-01") }, { date: toSerial("2028-02-29") + 0.75 }, 45_931],
    [
      xml((place) => `<c r="${place}" s="2"><v>46296</v></c>`),
      xml((place) => `<c r="${place}" s="3"><v>0.5</v></c>`),
      xml((place) => `<c r="${place}" t="d"><v>2026-10-01T00:00:00</v></c>`),
    ],
    [
      { formula: "1+1", value: "2" },
      xml((place) => `<c r="${place}" t="e"><v>#REF!</v></c>`),
      xml((place) => `<c r="${place}" t="b"><v>1</v></c>`),
      xml((place) => `<c r="${place}" t="inlineStr"><is><t>in place</t></is></c>`),
    ],
  ];
  assert.deepEqual(readCells(buildXlsx([{ rows }])), [
    [
      [0, "text", "0310165322"],
      [1, "text", "a < b"],
      [2, "text", " kept "],
      [3, "text", "A"],
    ],
    [
      [0, "number", "310165322"],
      [1, "number", "1234567.89"],
      [2, "number", "1.23E+11"],
    ],
    [
      [0, "day", "2026-10-01"],
      [1, "day", "2028-02-29"],
      [2, "number", "45931"],
    ],
    [
      [0, "day", "2026-10-01"],
      [1, "number", "0.5"],
      [2, "day", "2026-10-01"],
    ],
    [
      [0, "formula", "2"],
      [1, "other", "#REF!"],
      [2, "other", "1"],
      [3, "text", "in place"],
    ],
  ]);
});

test("a workbook that counts from 1904 has the same days", () => {
  const rows = [[{ date: toSerial("2026-10-01") - 1_462 }]];
  assert.deepEqual(readCells(buildXlsx([{ rows }], { is1904: true })), [
    [[0, "day", "2026-10-01"]],
  ]);
});

test("rows keep their numbers, and say that they are hidden or have merged cells", () => {
  const rows = [["one"], null, [null], ["four"], ["five"]];
  const book = buildXlsx([{ rows, hiddenRows: [4], merged: ["A5:B9"] }]);
  const [sheet] = readXlsx(book, limits);
  assert.deepEqual(
    sheet?.rows.map(({ row, isHidden, isMerged }) => [row, isHidden, isMerged]),
    [
      [1, false, false],
      [4, true, false],
      [5, false, true],
    ],
  );
});

test("what our own tables are written as is read as it was", async () => {
  const columns = [
    { name: "text", kind: "text" },
    { name: "money", kind: "money" },
  ] as const;
  const by = { environment: "sandbox", deskId: "frm_1" } as const;
  const text = fc.string({ unit: "binary", minLength: 1 });
  const amount = fc.integer({ min: -(10 ** 14), max: 10 ** 14 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, amount), { minLength: 1 }), async (rows) => {
      const table = { sheet: "S", title: "T", columns, rows };
      const asked = { format: "xlsx", name: "n", dated: new Date(0), by } as const;
      const { content } = await formatTable(onThisThread, table, asked);
      const [, ...read] = readCells(Buffer.from(content));
      read.forEach((cells, at) => {
        const [, paise = 0] = rows[at] ?? [];
        const money = cells.find(([column]) => column === 1);
        assert.equal(Math.round(Number(money?.[2]) * 100), paise);
      });
    }),
    { numRuns: 50 },
  );
});

test("a damaged workbook is refused, whatever byte of it is wrong", () => {
  const book = buildXlsx([
    {
      rows: [
        ["a", 1],
        [{ date: 46_296 }, { formula: "1", value: "1" }],
      ],
    },
  ]);
  const change = fc.record({
    at: fc.nat(book.length - 1),
    byte: fc.nat(255),
    length: fc.oneof(fc.constant(book.length), fc.nat(book.length)),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
      const wrong = book.slice(0, Math.min(...changes.map(({ length }) => length)));
      for (const { at, byte } of changes) if (at < wrong.length) wrong[at] = byte;
      try {
        readXlsx(wrong, limits);
      } catch (error) {
        assert.ok(error instanceof Failure, String(error));
      }
    }),
    { numRuns: 2_000 },
  );
});

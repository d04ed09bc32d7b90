// Workbooks that were made to take long. What they take is counted, not timed: the characters that are
// looked at and the entries that are searched, beside the size of what is unpacked.

import assert from "node:assert/strict";
import { test } from "node:test";

import { buildXlsx } from "../../test/support/build-xlsx.ts";
import { Failure } from "../kernel/failure.ts";
import { readWorkbook } from "./read-workbook.ts";
import type { ReportSheet } from "./report-rules.ts";

const heading = ["Scrip Number", "Scheme", "Amount (Rs.)", "Balance", "Issue Date", "Expiry Date"];
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const sheetName = "xl/worksheets/sheet1.xml";
const stringsName = "xl/sharedStrings.xml";

type Parts = Readonly<Record<string, string>>;
type Counted = { readonly work: number; readonly sheet: ReportSheet | Failure };

const titles = heading.map((title) => `<c t="inlineStr"><is><t>${title}</t></is></c>`).join("");
const formatSheet = (rows: string, head = `<row>${titles}</row>`) =>
  `<worksheet><sheetData>${head}${rows}</sheetData></worksheet>`;
const build = (parts: Parts) => buildXlsx([{ rows: [heading] }], { parts });

/** Methods that look at a whole text or list. */
const watched = [
  [String.prototype, ["trim", "toLowerCase", "toUpperCase", "replace", "replaceAll"]],
  [Array.prototype, ["find"]],
] as const;

/** Adds up the lengths of what these methods are called on. */
async function countWork(book: Uint8Array): Promise<Counted> {
  let work = 0;
  const restore: (() => void)[] = [];
  for (const [prototype, names] of watched) {
    for (const name of names) {
      const method = Reflect.get(prototype, name) as (...given: unknown[]) => unknown;
      const count = function (this: { readonly length: number }, ...given: unknown[]): unknown {
        work += this.length;
        return method.apply(this, given);
      };
      Reflect.set(prototype, name, count);
      restore.push(() => void Reflect.set(prototype, name, method));
    }
  }
  try {
    const sheet = await readWorkbook.work(book, { isAsked: () => false });
    return { work, sheet };
  } catch (error) {
    if (error instanceof Failure) return { work, sheet: error };
    throw error;
  } finally {
    for (const each of restore) each();
  }
}

const cell = '<c t="s"><v>0</v></c>';
const shared = (text: string): Parts => ({ [stringsName]: `<sst><si><t>${text}</t></si></sst>` });
const repeatRow = (cells: number, count: number, text = cell) =>
  `<row>${text.repeat(cells)}</row>`.repeat(count);

const attacks: Readonly<Record<string, Parts>> = {
  "one long blank text in every cell": {
    ...shared(" ".repeat(40_000)),
    [sheetName]: formatSheet(repeatRow(100, 40)),
  },
  "one long text in every cell of the rows where a heading may stand": {
    ...shared("(a".repeat(10_000)),
    [sheetName]: formatSheet("", repeatRow(100, 20)),
  },
  "one long text in every column of the report": {
    ...shared("x".repeat(40_000)),
    [sheetName]: formatSheet(repeatRow(6, 1_000)),
  },
  "one long format of numbers for every style": {
    "xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="${"0".repeat(20_000)}"/></numFmts><cellXfs>${'<xf numFmtId="170"/>'.repeat(2_000)}</cellXfs></styleSheet>`,
  },
  "very many sheets that refer to very many parts": {
    "xl/workbook.xml": `<workbook xmlns:r="${office}"><sheets>${'<sheet name="a" r:id="none"/>'.repeat(4_000)}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${'<Relationship Id="a" Type="a" Target="a"/>'.repeat(4_000)}</Relationships>`,
  },
};

for (const [what, parts] of Object.entries(attacks)) {
  test(`${what} takes work as long as the workbook, not as its square`, async () => {
    const unpacked = Object.values(parts).reduce((sum, { length }) => sum + length, 0);
    const { work } = await countWork(build(parts));
    assert.ok(work <= 4 * unpacked + 100_000, `${work} for ${unpacked}`);
  });
}

const refused: Readonly<Record<string, readonly [string, RegExp]>> = {
  "a million cells in one row": [
    formatSheet(repeatRow(1_000_000, 1, "<c/>")),
    /more than 16384 cells/,
  ],
  "a cell beyond the last column": [
    formatSheet('<row><c r="XFE2"><v>1</v></c></row>'),
    /more than 16384 cells/,
  ],
  "very many empty cells": [
    formatSheet(repeatRow(100, 5_001, "<c/>")),
    /more than 500000 rows and cells/,
  ],
  "very many empty rows": [
    formatSheet("<row/>".repeat(600_000)),
    /more than 500000 rows and cells/,
  ],
  "a number without end": [
    formatSheet(`<row><c><v>${"9".repeat(1_000_000)}</v></c></row>`),
    /is damaged/,
  ],
};

for (const [what, [xml, problem]] of Object.entries(refused)) {
  test(`${what} is refused as what is wrong with the workbook`, async () => {
    const { sheet } = await countWork(build({ [sheetName]: xml }));
    assert.ok(sheet instanceof Failure);
    assert.equal(sheet.code, "unprocessable");
    assert.match(sheet.message, problem);
  });
}

test("the last cell that a spreadsheet has is seen, and its row says so", async () => {
  const last = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>';
  const { sheet } = await countWork(build({ [sheetName]: formatSheet(last) }));
  assert.ok(!(sheet instanceof Failure));
  const problems = [{ path: "row", problem: "has a cell beyond the 256th column" }];
  assert.deepEqual(sheet.records.at(-1), { row: 1_048_576, cells: [], problems });
});

test("a text that was cut is refused where it is read, and only its start is handed on", async () => {
  const parts = { ...shared("x".repeat(1_001)), [sheetName]: formatSheet(repeatRow(6, 1)) };
  const { sheet } = await countWork(build(parts));
  assert.ok(!(sheet instanceof Failure));
  const [, row] = sheet.records;
  assert.deepEqual(row?.cells, Array<string>(6).fill("x".repeat(40)));
  assert.deepEqual(
    row.problems?.map(({ problem }) => problem),
    Array<string>(6).fill("is longer than 1000 characters"),
  );
});

test("a workbook that takes longer than seconds is refused as what is wrong with it", () => {
  const { limit } = readWorkbook;
  assert.ok(limit && limit.processorMs <= 5_000);
  const { code, detail } = limit.refusal();
  assert.equal(code, "unprocessable");
  assert.match(JSON.stringify(detail), /"path":"xlsx"/);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Pace } from "./heavy/pace.ts";
import { readCsv } from "./read-csv.ts";

const recordsMax = 1_000;
const notClosed = "a quotation mark is not closed";
const textFollows = "text follows a closing quotation mark";

async function readCells(text: string): Promise<readonly (readonly string[])[]> {
  const { records } = await readCsv(text, { recordsMax });
  return records.map(({ cells }) => cells);
}

/** Row numbers with their quoting faults. */
async function readFaults(text: string): Promise<(readonly [number, string | undefined])[]> {
  const { records } = await readCsv(text, { recordsMax });
  return records.map(({ row, problem }) => [row, problem]);
}

test("cells written with any delimiter and mixed line endings read back", async () => {
  const cell = fc.string({
    unit: fc.constantFrom('"', ",", ";", "\t", "\n", "\r", "a", "₹", "𝄞", " "),
    maxLength: 12,
  });
  const ending = fc.constantFrom("\n", "\r\n", "\r");
  const row = fc.tuple(fc.array(cell, { minLength: 1, maxLength: 4 }), ending);
  const delimiter = fc.constantFrom(",", ";", "\t");
  await fc.assert(
    fc.asyncProperty(fc.array(row), delimiter, fc.boolean(), async (rows, by, hasMark) => {
      const quote = (text: string) =>
        /^$|^"|[,;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      const lines = rows.map(([cells, end]) => cells.map(quote).join(by) + end);
      const heading = ["x", "x", "x", "x", "x"];
      const text = `${hasMark ? "\uFEFF" : ""}${heading.join(by)}\n${lines.join("")}`;
      const kept = rows.filter(([cells]) => cells.some((content) => content.trim()));
      const { records, blank } = await readCsv(text, { recordsMax });
      assert.deepEqual(
        records.map(({ cells }) => cells),
        [heading, ...kept.map(([cells]) => cells)],
      );
      assert.equal(blank, rows.length - kept.length);
      assert.ok(records.every(({ problem }) => problem === undefined));
    }),
    { numRuns: 500 },
  );
});

test("a row has the number that a spreadsheet shows, with blank rows counted", async () => {
  const { records, blank } = await readCsv("a,b\n\n , \r\n1,2\r\r3,4", { recordsMax });
  assert.deepEqual(
    records.map(({ row }) => row),
    [1, 4, 6],
  );
  assert.equal(blank, 3);
});

test("text after a closing quotation mark marks its own row only", async () => {
  assert.deepEqual(await readFaults('a,b\n"1"x,2\n3,"4" \n5,6\n"","7"\n'), [
    [1, undefined],
    [2, textFollows],
    [3, textFollows],
    [4, undefined],
    [5, undefined],
  ]);
});

test("a quotation mark that is part of the text is no fault", async () => {
  const text = 'a,b\n5" pipe,"""Acme"" Ltd"\n"""a""x",""""\n';
  assert.deepEqual((await readCells(text)).slice(1), [
    ['5" pipe', '"Acme" Ltd'],
    ['"a"x', '"'],
  ]);
  assert.ok((await readFaults(text)).every(([, problem]) => problem === undefined));
});

test("an unclosed quotation mark marks its row and ends the file", async () => {
  assert.deepEqual(await readFaults('a,b\n1,2\n3,"4\n5,6\n'), [
    [1, undefined],
    [2, undefined],
    [3, notClosed],
  ]);
});

test("a row of more than 8 KiB is marked and ends the file, wherever it begins", async () => {
  const tooLong = "is longer than 8192 bytes; a quotation mark may not be closed";
  for (const before of [0, 1, 2_500, 4_095, 4_096]) {
    const first = `a,b${" ".repeat(before)}\n`;
    const longest = `1,${",".repeat(8_188)}\n`;
    assert.ok(longest.length < 8_192);
    for (const row of [
      `1,${"x".repeat(8_192)}\n`,
      ",".repeat(20_000),
      `"${"x,y\n".repeat(3_000)}`,
    ]) {
      assert.deepEqual(
        await readFaults(`${first}${longest}${row}\n3,4\n`),
        [
          [1, undefined],
          [2, undefined],
          [3, tooLong],
        ],
        `${before} ${row.slice(0, 9)}`,
      );
    }
  }
});

test("reading stops at the number of records asked for", async () => {
  const { records, blank } = await readCsv('a\n\nb\nc\n"d', { recordsMax: 2 });
  assert.deepEqual(
    records.map(({ cells }) => cells),
    [["a"], ["b"]],
  );
  assert.equal(blank, 1);
});

test("long rows of a mebibyte together are read in at least a hundred pieces", async () => {
  let turns = 0;
  const pace: Pace = {
    isOver: () => true,
    turn: () => {
      turns += 1;
      return Promise.resolve();
    },
  };
  await readCsv(`${",".repeat(8_191)}\n`.repeat(128), { recordsMax, pace });
  assert.ok(turns >= 100, `${turns} turns`);
});

test("reading stops in the middle of a file when its caller has gone", async () => {
  const pace: Pace = { isOver: () => true, turn: () => Promise.reject(new Error("gone")) };
  await assert.rejects(readCsv("a,b\n".repeat(10_000), { recordsMax, pace }), /gone/);
});

test("the reader throws on no text, and its row numbers rise", async () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", ";", "a", "\uFEFF"), maxLength: 60 }),
  );
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const { records, blank } = await readCsv(text, { recordsMax });
      const rows = records.map(({ row }) => row);
      assert.ok(rows.every((row, at) => row > (rows[at - 1] ?? 0)));
      assert.ok((rows.at(-1) ?? 0) <= records.length + blank);
    }),
    { numRuns: 600 },
  );
});

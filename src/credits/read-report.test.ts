import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { addDays } from "../kernel/time.ts";
import { noPace } from "../platform/heavy/pace.ts";
import { readCsv } from "../platform/read-csv.ts";
import { parseDay, parseRupees, readReport } from "./read-report.ts";
import type { Declaration } from "./rules.ts";

const iec = "AAACA1234A";
const options = { iec, rowsMax: 5_000, pace: noPace };
const heading = "scrip_no,scheme,amount,balance,port,issued_on,expires_on";

async function readOne(row: string): Promise<Declaration | Failure | undefined> {
  const text = `${heading}\n${row}\nZZZZZZ,x,1,1,,2026-10-01,2028-01-01`;
  const { rows } = await readReport({ csv: text }, options);
  return rows[0]?.declared;
}

test("rupees become paise exactly, or are refused", () => {
  const cases: [string, number | undefined][] = [
    ["12,34,567.00", 123_456_700],
    ["1,234,567.5", 123_456_750],
    ["0.01", 1],
    ["₹ 1,000/-", 100_000],
    ["Rs. 99", 9_900],
    ["INR 5", 500],
    ["90071992547409.91", Number.MAX_SAFE_INTEGER],
    ["90071992547409.92", undefined],
    ["0", undefined],
    ["-5", undefined],
    ["1.005", undefined],
    ["1,2345", undefined],
    ["12,34,56", undefined],
    ["1e5", undefined],
    ["1.2E+5", undefined],
    ["NaN", undefined],
    ["", undefined],
    ["٣", undefined],
    ["1".repeat(50), undefined],
  ];
  for (const [text, paise] of cases) assert.equal(parseRupees(text), paise, text);
});

test("days are read in four forms, day first, and never rolled over", () => {
  for (const text of [
    "01/10/2026",
    "1/10/2026",
    "01-10-2026",
    "01-OCT-2026",
    "1-Oct-2026",
    "2026-10-01",
  ]) {
    assert.equal(parseDay(text), "2026-10-01", text);
  }
  for (const text of [
    "31/02/2026",
    "10/13/2026",
    "01/10-2026",
    "01-ANF-2026",
    "01/10/26",
    "",
    "x",
  ]) {
    assert.equal(parseDay(text), undefined, text);
  }
});

test("an ambiguous row is refused with its field and the rule", async () => {
  const problem = async (row: string) => {
    const answer = await readOne(row);
    assert.ok(answer instanceof Failure, row);
    return (answer.detail?.["fields"] as { path: string }[] | undefined)?.map(({ path }) => path);
  };
  const rest = "RODTEP,10,10,,2026-10-01,2028-09-30";
  assert.deepEqual(await problem(`1.23457E+11,${rest}`), ["scrip_no"]);
  assert.deepEqual(await problem(`1E+11,${rest}`), ["scrip_no"]);
  assert.deepEqual(await problem(`ABC123,RODTEP,x,y,,1/1,`), [
    "issued",
    "face",
    "issued_on",
    "expires_on",
  ]);
  assert.deepEqual(await problem(`ABC123,${rest},more`), ["row"]);
  assert.deepEqual(await problem(`"ABC123"x,${rest}`), ["row"]);
  assert.equal(await problem(`ABC123,MEIS,10,10,,2026-10-01,2028-09-30`), undefined);
});

test("an unclosed quotation mark refuses its row and those after it", async () => {
  const { rows } = await readReport(
    { csv: `${heading}\nABC123,RODTEP,1,1,,2026-10-01,2028-09-30\n"ABC,\n\n` },
    options,
  );
  assert.equal(rows.length, 2);
  assert.ok(!(rows[0]?.declared instanceof Failure));
  assert.ok(rows[1]?.declared instanceof Failure);
});

test("a heading with a quoting fault refuses the report and says so", async () => {
  for (const [text, says] of [
    [`"scrip_no"x,${heading.slice(9)}\n`, /the heading: text follows/],
    [`${heading},"remarks\nABC123,RODTEP,1,1,,2026-10-01,2028-09-30,x\n`, /is not closed/],
  ] as const) {
    await assert.rejects(readReport({ csv: text }, options), (error) => {
      assert.ok(error instanceof Failure);
      assert.match(JSON.stringify(error.detail), says);
      return true;
    });
  }
});

test("a totals row is skipped only at the end", async () => {
  const row = "ABC123,RODTEP,1,1,,2026-10-01,2028-09-30";
  const totals = "Grand Total,,1,1,,,";
  assert.equal(
    (await readReport({ csv: `${heading}\n${row}\n${totals}` }, options)).rows.length,
    1,
  );
  assert.equal((await readReport({ csv: `${heading}\n${row}\n,,1,1,,,` }, options)).rows.length, 1);
  assert.equal(
    (await readReport({ csv: `${heading}\n${totals}\n${row}` }, options)).rows.length,
    2,
  );
});

const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const declaration = fc.record({
  scrip_no: fc
    .string({ unit: fc.constantFrom(...capitals.split(""), "/", "-"), minLength: 5, maxLength: 20 })
    .map((text) => `S${text}`),
  scheme: fc.constantFrom("RODTEP" as const, "ROSCTL" as const),
  issued_paise: fc.integer({ min: 1, max: 1_500_000_000_00 }),
  used_paise: fc.nat(),
  port_code: fc.constantFrom("INNSA1", "INMUN1"),
  issued_on: fc.integer({ min: 0, max: 2_000 }).map((days) => addDays("2024-01-01", days)),
});

const dialect = fc.record({
  bom: fc.boolean(),
  crlf: fc.boolean(),
  quoted: fc.boolean(),
  delimiter: fc.constantFrom(",", ";", "\t"),
  grouped: fc.boolean(),
  day: fc.constantFrom("iso", "slash", "dash", "month"),
  titles: fc.constantFrom(
    ["scrip_no", "scheme", "amount", "balance", "port", "issued_on", "expires_on"],
    [
      "Scrip Number",
      "Scheme Name",
      "Scrip Amount (Rs.)",
      "Balance",
      "Port Code",
      "Issue Date",
      "Expiry Date",
    ],
    [
      "E-Scrip No.",
      "SCHEME",
      "Issued Amount",
      "Face Value",
      "Location",
      "Date of Issue",
      "Valid Upto",
    ],
  ),
  totals: fc.boolean(),
});

type Dialect = typeof dialect extends fc.Arbitrary<infer Value> ? Value : never;

function rupees(paise: number, { grouped }: Dialect): string {
  const digits = String(paise).padStart(3, "0");
  const whole = digits.slice(0, -2);
  const last = whole.slice(-3);
  const rest = whole.slice(0, -3).replaceAll(/\B(?=(\d{2})+$)/g, ",");
  return `${grouped && rest ? `${rest},${last}` : whole}.${digits.slice(-2)}`;
}

const monthNames = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");

function written(day: string, { day: form }: Dialect): string {
  const [y = "", m = "", d = ""] = day.split("-");
  if (form === "slash") return `${d}/${m}/${y}`;
  if (form === "dash") return `${d}-${m}-${y}`;
  if (form === "month") return `${d}-${monthNames[Number(m) - 1]}-${y}`;
  return day;
}

test("a report in any CSV dialect reads back to the paisa and the day", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(declaration, { minLength: 1, maxLength: 8 }),
      dialect,
      async (items, form) => {
        const declared = items.map(({ used_paise, ...item }) => ({
          ...item,
          face_paise: Math.max(1, item.issued_paise - (used_paise % item.issued_paise)),
          expires_on: addDays(item.issued_on, 730),
        }));
        const quote = (text: string) =>
          form.quoted || text.includes(form.delimiter) ? `"${text}"` : text;
        const lines = [
          form.titles,
          ...declared.map((item) => [
            item.scrip_no,
            item.scheme,
            rupees(item.issued_paise, form),
            rupees(item.face_paise, form),
            item.port_code,
            written(item.issued_on, form),
            written(item.expires_on, form),
          ]),
          ...(form.totals ? [["Total", "", "1,00,000.00", "", "", "", ""]] : []),
        ].map((cells) => cells.map(quote).join(form.delimiter));
        const text = (form.bom ? "\uFEFF" : "") + lines.join(form.crlf ? "\r\n" : "\n");
        const { rows, skipped } = await readReport({ csv: text }, options);
        assert.deepEqual(
          rows.map(({ declared: read }) => read),
          declared,
        );
        assert.deepEqual(
          rows.map(({ row }) => row),
          declared.map((_, index) => index + 2),
        );
        assert.equal(skipped, form.totals ? 1 : 0);
      },
    ),
    { numRuns: 300 },
  );
});

test("the reader throws on no text and answers every record with content once", async () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", ";", "a", "=", " "), maxLength: 200 }),
  );
  await fc.assert(
    fc.asyncProperty(hostile, fc.boolean(), async (text, headed) => {
      const whole = headed ? `${heading}\n${text}` : text;
      const { records, blank } = await readCsv(whole, { recordsMax: 5_000 });
      records.forEach(({ row }, index) => assert.ok(row > (records[index - 1]?.row ?? 0)));
      try {
        const { rows, skipped } = await readReport({ csv: whole }, options);
        assert.equal(rows.length + skipped, records.length - 1 + blank);
      } catch (error) {
        assert.ok(error instanceof Failure);
      }
    }),
    { numRuns: 2_000 },
  );
});

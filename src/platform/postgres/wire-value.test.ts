import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { testDatabase } from "../../../test/support/database.ts";
import { sql } from "./postgres.ts";
import { arrayLiteral, readRecords, recordLiteral, wireValue } from "./wire-value.ts";

const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((value) => !value.includes("\0"));
const quotes = fc.constantFrom('"', "\\", '\\"', "'", "{}", ",", "a b", "", "NULL", "null");
/** What JSON writes by a letter or a number, and texts that look as if it had. */
const lettered = fc.constantFrom("\n", "\r", "\t", "\u0001", "\u007f", "\\n", "\\u0041", "\\\\t");

test("PostgreSQL reads every array with the values that were sent", async (t) => {
  const { db } = await testDatabase(t);
  const texts = fc.array(fc.oneof(text, quotes, lettered, fc.constant(null)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      const [row] = await db.rows<{ read: unknown[] }>(sql`select ${values}::text[] as read`);
      assert.deepEqual(row?.read, values);
    }),
    { numRuns: 200 },
  );
  const instants = [new Date("2026-11-15T09:30:00.123Z"), null];
  const numbers = [1, -2, Number.MAX_SAFE_INTEGER];
  const [row] = await db.rows(
    sql`select ${instants}::timestamptz[] as instants, ${numbers}::bigint[] as numbers,
      ${[true, false]}::boolean[] as flags, ${[]}::text[] as none`,
  );
  assert.deepEqual(row, {
    instants,
    numbers: numbers.map(String),
    flags: [true, false],
    none: [],
  });
});

test("a list of records is written as PostgreSQL prints it, and read so", async (t) => {
  const { db } = await testDatabase(t);
  const spaces = fc.constantFrom("a b", "\u00a0", "\u2028", "\u3000", "\v", "\f", "(a)", ")", "é");
  const part = fc.oneof(text, quotes, lettered, spaces, fc.constant(null));
  const records = fc.array(fc.tuple(part, part, part, fc.maxSafeInteger()), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(records, async (rows) => {
      const written = arrayLiteral(rows.map(recordLiteral));
      const [row] = await db.rows<{ printed: string }>(
        sql`select (${written}::text)::ledger_movement_parts[]::text as printed`,
      );
      assert.equal(row?.printed, written);
      const printed = rows.map((fields) => fields.map((field) => field?.toString() ?? null));
      assert.deepEqual(readRecords(written), printed);
    }),
    { numRuns: 300 },
  );
});

test("PostgreSQL reads every value as it was sent, alone and in an array", async (t) => {
  const { db } = await testDatabase(t);
  const instant = new Date("0987-06-05T04:03:02.001Z");
  const bytes = Buffer.from([0, 34, 92, 255]);
  const object = { quote: '"', slash: "\\", list: [1, null] };
  const [row] = await db.rows(
    sql`select
      ${instant}::timestamptz as instant, ${bytes}::bytea as bytes, ${object}::jsonb as object,
      ${7}::int as number, ${false}::boolean as flag, ${null}::text as none,
      ${undefined}::text as missing, ${'"\\'}::text as awkward,
      ${[bytes, null]}::bytea[] as all_bytes, ${[object, undefined]}::jsonb[] as objects`,
  );
  assert.deepEqual(row, {
    instant,
    bytes,
    object,
    number: 7,
    flag: false,
    none: null,
    missing: null,
    awkward: '"\\',
    all_bytes: [bytes, null],
    objects: [object, null],
  });
});

test("PostgreSQL reads every instant as it was sent, in any year", async (t) => {
  const { db } = await testDatabase(t);
  const edges = [
    "-000001-12-31T00:01:00.000Z",
    "0000-02-29T00:00:00.000Z",
    "+010000-01-01T04:59:00Z",
  ];
  const instants = fc.date({
    min: new Date("-004000-01-01T00:00:00Z"),
    max: new Date("+020000-01-01T00:00:00Z"),
    noInvalidDate: true,
  });
  const read = async (at: Date) => {
    const [row] = await db.rows<{ ms: number }>(
      sql`select (extract(epoch from ${at}::timestamptz) * 1000)::bigint as ms`,
    );
    assert.equal(row?.ms, at.getTime(), at.toISOString());
  };
  for (const edge of edges) await read(new Date(edge));
  await fc.assert(fc.asyncProperty(instants, read), { numRuns: 50 });
});

test("an array of arrays is refused before it is sent", () => {
  assert.throws(() => wireValue([["nested"]]), /array of arrays/);
});

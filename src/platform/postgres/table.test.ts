import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { testDatabase } from "../../../test/support/database.ts";
import { type Db, sql } from "./postgres.ts";
import {
  bigint,
  bytes,
  day,
  flag,
  hex,
  int,
  json,
  line,
  numeric,
  recordList,
  type RowOf,
  shape,
  table,
  text,
  textList,
  time,
} from "./table.ts";

const things = shape({
  name: text(),
  body: line(),
  note: text().orNull,
  count: int(),
  paise: bigint().orNull,
  sum: numeric(),
  at: time().orNull,
  due_on: day().orNull,
  is_open: flag(),
  facts: json<unknown>(),
  raw: bytes(),
  digest: hex(),
  numbers: textList(),
});
type Thing = RowOf<typeof things>;

/** What is read as it was written: a JSON null is a value of SQL's own. */
const awkward = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(
    '"',
    "\\",
    '\\"',
    "'",
    "{}",
    "{,}",
    ",",
    " ",
    "",
    "NULL",
    "null",
    "\n",
    "\t",
    "()",
  ),
  fc.constantFrom("\\n", "\\u0041", "\\\\", '"quoted"', "a\nb", "$1", "--", "\u007f", "\u2028"),
);
const word = awkward.filter((value) => !value.includes("\0"));
const instant = fc.date({
  min: new Date("1900-01-01T00:00:00Z"),
  max: new Date("2999-12-31T00:00:00Z"),
  noInvalidDate: true,
});
const thing: fc.Arbitrary<Thing> = fc.record({
  name: word,
  body: fc
    .anything()
    .map((value) => `j${JSON.stringify(value)}`)
    .filter((value) => !value.includes("\\u0000") && !value.includes("\0") && value.isWellFormed()),
  note: fc.option(word),
  count: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  paise: fc.option(fc.maxSafeInteger()),
  sum: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n })),
  at: fc.option(instant),
  due_on: fc.option(instant.map((at) => at.toISOString().slice(0, 10))),
  is_open: fc.boolean(),
  facts: fc.oneof(
    fc.dictionary(fc.constantFrom("a", "b c", '"'), word, { noNullPrototype: true }),
    fc.array(fc.oneof(word, fc.integer())),
  ),
  raw: fc.uint8Array({ maxLength: 8 }).map((all) => Buffer.from(all)),
  digest: fc.uint8Array({ maxLength: 8 }).map((all) => Buffer.from(all).toString("hex")),
  numbers: fc.array(word, { maxLength: 4 }),
});

test("rows arrive with the values that were sent, for any values", async (t) => {
  const { db } = await testDatabase(t);
  await fc.assert(
    fc.asyncProperty(fc.array(thing, { maxLength: 5 }), async (sent) => {
      const read = await db.rows<Thing & { position: number }>(sql`
        select name, body, note, count, paise, sum, at, due_on, is_open, facts, raw,
          encode(digest, 'hex') as digest, numbers, position::int as position
        from ${things.numbered(things.all, sent)} as r
        order by position`);
      assert.deepEqual(
        read,
        sent.map((row, at) => ({ ...row, position: at + 1 })),
      );
    }),
    { numRuns: 100 },
  );
});

const movements = recordList<{ from: string; to: string | null; amount: number | bigint }>(
  "table_test_movement",
  ["from", "to", "amount"],
);
const entries = table("table_test_entries", {
  entry_no: int(),
  environment: text(),
  scrip_nos: textList(),
  movements,
  at: time().orNull,
});

/** A table of this test's own on one connection. */
async function withEntries(db: Db): Promise<void> {
  await db.rows(sql`
    create temporary table table_test_movement ("from" text, "to" text, amount numeric)
    on commit drop`);
  await db.rows(sql`
    create temporary table table_test_entries (
      entry_no int, environment text, scrip_nos text[], movements table_test_movement[],
      at timestamptz
    ) on commit drop`);
}

test("a set is inserted with shared columns, and updated by column names", async (t) => {
  const { db } = await testDatabase(t);
  const at = new Date("2026-11-16T04:05:06.007Z");
  const rows = [
    { entry_no: 1, scrip_nos: ["a,b", "{}"], movements: [], at: null },
    { entry_no: 2, scrip_nos: [], movements: [{ from: 'x "y"', to: null, amount: 2n ** 60n }], at },
  ];
  const changed = ["scrip_nos", "at"] as const;
  const seen = await db.transaction(
    async (tx) => {
      await withEntries(tx);
      await tx.rows(sql`
        insert into table_test_entries ${entries.values(entries.all, rows, { environment: "live" })}`);
      const inserted = await tx.rows(sql`
        select ${entries.as("e", ["entry_no", "environment", "scrip_nos", "at"])},
          movements::text as movements
        from table_test_entries as e
        order by entry_no`);
      await tx.rows(sql`
        update table_test_entries as e
        set ${entries.assign(changed)}
        from ${entries.rows(["entry_no", ...changed], [{ entry_no: 1, scrip_nos: ["c"], at }])} as r
        where e.entry_no = r.entry_no`);
      const updated = await tx.rows(sql`
        select scrip_nos, at
        from table_test_entries
        where entry_no = 1`);
      return { inserted, updated };
    },
    { rollBack: true },
  );
  assert.deepEqual(seen.inserted, [
    { entry_no: 1, environment: "live", scrip_nos: ["a,b", "{}"], at: null, movements: "{}" },
    {
      entry_no: 2,
      environment: "live",
      scrip_nos: [],
      at,
      // As PostgreSQL writes it, so that a digest of the text is one of the value.
      movements: `{"(\\"x \\"\\"y\\"\\"\\",,1152921504606846976)"}`,
    },
  ]);
  assert.deepEqual(seen.updated, [{ scrip_nos: ["c"], at }]);
});

test("a column can be read from a field of another name", async (t) => {
  const { db } = await testDatabase(t);
  const asks = [{ caller: { deskId: "d" }, no: 7 }];
  const read = await db.rows(sql`
    select r.entry_no, r.environment
    from ${entries.rows({ environment: ({ caller }) => caller.deskId, entry_no: ({ no }) => no }, asks)}
      as r`);
  assert.deepEqual(read, [{ entry_no: 7, environment: "d" }]);
});

test("values travel to PostgreSQL by column name, never by position", () => {
  const { text: written, values } = sql`
    select ${1}, r.at
    from ${entries.rows(["at", "entry_no"], [{ entry_no: 1, at: null }])} as r
    where ${2} = 2`;
  assert.equal(
    written.replaceAll(/\s+/g, " ").trim(),
    "select $1, r.at from (select r.at, r.entry_no from unnest($2::timestamptz[], $3::integer[])" +
      " as r (at, entry_no)) as r where $4 = 2",
  );
  assert.deepEqual(values, ["1", "{null}", "{1}", "2"]);
});

test("a set with other columns than the first at the same place is refused", () => {
  const ask = (columns: readonly ("at" | "entry_no")[]) =>
    sql`select 1 from ${entries.rows(columns, [{ entry_no: 1 }])} as r`;
  assert.equal(ask(["entry_no"]).name, ask(["entry_no"]).name);
  assert.throws(() => ask(["at"]).values, /columns of a statement are constant/);
});

test("only columns that are described can be named, with values of their types", () => {
  const row = { entry_no: 1, environment: "live", scrip_nos: [], movements: [] };
  // @ts-expect-error there is no such column
  assert.throws(() => sql`select ${entries.rows(["number"], [row])}`, /no column number/);
  // @ts-expect-error nor here
  assert.throws(() => sql`select ${entries.rows({ number: () => 1 }, [row])}`, /no column number/);
  // @ts-expect-error nor shared by all
  assert.throws(() => sql`${entries.values(["at"], [row], { number: 1 })}`, /no column number/);
  // @ts-expect-error a text is not a number
  entries.rows(["entry_no"], [{ entry_no: "1" }]);
  // @ts-expect-error and a row has every column that is asked for
  entries.rows(["entry_no", "environment"], [{ entry_no: 1 }]);
  // @ts-expect-error where null may not be, nothing may not be either
  entries.rows({ entry_no: () => null }, [row]);
});

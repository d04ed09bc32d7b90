import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "./failure.ts";
import { type Page, type PageQuery, type Position, readPage, unpagedMax } from "./page.ts";

const signingKey = randomBytes(32);
const question = { list: "orders", desk: "frm_1", status: undefined };

type Row = Position;

/** What a store does: newest first, everything before the position, as many as asked for. */
function select(rows: readonly Row[], after: Position | undefined, fetch: number): Row[] {
  const newestFirst = (a: Row, b: Row) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
  return rows
    .filter(
      ({ at, id }) =>
        !after || at < after.at || (at.getTime() === after.at.getTime() && id < after.id),
    )
    .toSorted(newestFirst)
    .slice(0, fetch);
}

async function takePage(
  rows: readonly Row[],
  query: PageQuery,
  { asked = question, key = signingKey } = {},
): Promise<Page<Row>> {
  return await readPage(
    { query, question: asked, signingKey: key },
    {
      list: async ({ after, fetch }) => select(rows, after, fetch),
      count: async () => rows.length,
      toPosition: (row) => row,
    },
  );
}

async function takeCursor(rows: readonly Row[], limit: number): Promise<string> {
  const cursor = (await takePage(rows, { limit })).paging?.next_cursor;
  assert.ok(cursor);
  return cursor;
}

const three: Row[] = [1, 2, 3].map((n) => ({ at: new Date(n), id: `row_${n}` }));

async function refuses(cursor: string, asked = question, key = signingKey): Promise<boolean> {
  try {
    await takePage(three, { cursor }, { asked, key });
    return false;
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "bad_request");
    assert.equal(error.detail?.["field"], "cursor");
    return true;
  }
}

test("a walk by pages returns every row once, in order, with one total", async () => {
  const rows = fc.uniqueArray(
    fc.record({
      at: fc.date({ min: new Date(0), max: new Date(20), noInvalidDate: true }),
      id: fc.string({ unit: fc.constantFrom("0", "1", "a", "b", "f") }),
    }),
    { selector: ({ id }) => id, maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 20 }), async (all, limit) => {
      const walked: Row[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages <= all.length; pages++) {
        const page = await takePage(all, { limit, ...(cursor && { cursor }) });
        walked.push(...page.rows);
        assert.equal(page.paging?.total, all.length);
        assert.equal(page.paging?.count, page.rows.length);
        assert.equal(page.paging?.has_more, page.paging?.next_cursor !== null);
        cursor = page.paging?.next_cursor ?? undefined;
        if (!cursor) break;
      }
      assert.deepEqual(walked, select(all, undefined, Infinity));
    }),
  );
});

test("rows added during a walk change neither its rows nor its total", async () => {
  const cursor = await takeCursor(three, 1);
  const newer = { at: new Date(9), id: "row_9" };
  const page = await takePage([...three, newer], { limit: 5, cursor });
  assert.deepEqual(
    page.rows.map(({ id }) => id),
    ["row_2", "row_1"],
  );
  assert.equal(page.paging?.total, 3);
});

test("a list is paged with limit or cursor, and otherwise returns the newest thousand", async () => {
  const many = Array.from({ length: unpagedMax + 1 }, (_, n) => ({ at: new Date(n), id: `${n}` }));
  const whole = await takePage(many, {});
  assert.equal(whole.rows.length, unpagedMax);
  assert.deepEqual([whole.truncated, whole.paging], [true, undefined]);
  assert.equal((await takePage(many.slice(1), {})).truncated, false);
  const paged = await takePage(many, { limit: 500 });
  assert.deepEqual(
    [paged.rows.length, paged.truncated, paged.paging?.has_more],
    [500, false, true],
  );
  const next = await takePage(many, { cursor: await takeCursor(many, 1) });
  assert.equal(next.rows.length, 100);
});

test("a cursor is valid for its own query only", async () => {
  const cursor = await takeCursor(three, 1);
  assert.equal(await refuses(cursor), false);
  const others = [
    { ...question, list: "settlements" },
    { ...question, desk: "frm_2" },
    { ...question, status: "open" },
    { ...question, extra: "" },
  ];
  for (const other of others) assert.equal(await refuses(cursor, other as typeof question), true);
  assert.equal(await refuses(cursor, question, randomBytes(32)), true);
});

test("a cursor with any character changed, added or removed is refused", async () => {
  const cursor = await takeCursor(three, 1);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ";
  for (let at = 0; at < cursor.length; at++) {
    for (const other of alphabet) {
      if (other === cursor[at]) continue;
      assert.equal(await refuses(cursor.slice(0, at) + other + cursor.slice(at + 1)), true);
    }
    assert.equal(await refuses(cursor.slice(0, at) + cursor.slice(at + 1)), true);
    if (at > 0) assert.equal(await refuses(cursor.slice(0, at)), true);
  }
  for (const added of alphabet) assert.equal(await refuses(cursor + added), true);
});

test("any other text is refused as a cursor with a Failure", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (text) => {
      assert.equal(await refuses(text), true);
    }),
  );
});

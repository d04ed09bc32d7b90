import assert from "node:assert/strict";
import { test } from "node:test";

import type { Page, PageQuery } from "../../kernel/page.ts";
import { onThisThread } from "../heavy/kinds.ts";
import { listAsFile } from "./list-file.ts";

const by = { environment: "sandbox", deskId: "frm_1" } as const;
const table = {
  sheet: "Numbers",
  title: "Numbers",
  columns: [{ name: "number", kind: "count" }],
  toRows: (number: number) => [[number]],
} as const;

/** A list of numbers, paged by the number that a page begins with. */
function listUpTo(length: number): (page: PageQuery) => Promise<Page<number>> {
  return async ({ limit = 100, cursor = "0" }) => {
    const from = Number(cursor);
    const size = Math.min(limit, length - from);
    const rows = Array.from({ length: size }, (_, at) => from + at);
    const hasMore = from + size < length;
    const next_cursor = hasMore ? String(from + size) : null;
    const paging = { count: size, total: length, next_cursor, has_more: hasMore };
    return { rows, truncated: false, paging };
  };
}

async function fileFor(length: number, query: PageQuery = {}) {
  const listing = { query, list: listUpTo(length), table, name: "numbers", dated: new Date(0) };
  const file = await listAsFile(onThisThread, { ...listing, format: "csv" }, { by });
  const [heading, ...numbers] = String(file.content).trim().split("\r\n");
  assert.equal(heading, "number");
  assert.ok(numbers.every((number, at) => Number(number) === Number(query.cursor ?? 0) + at));
  return { length: numbers.length, truncated: file.truncated, nextCursor: file.nextCursor };
}

test("a file has all rows of a list, over all its pages", async () => {
  assert.deepEqual(await fileFor(0), { length: 0, truncated: false, nextCursor: null });
  assert.deepEqual(await fileFor(1_234), { length: 1_234, truncated: false, nextCursor: null });
});

test("a list that is too long for a file says so, and where it goes on", async () => {
  const whole = { length: 20_000, truncated: false, nextCursor: null };
  assert.deepEqual(await fileFor(20_000), whole);
  assert.deepEqual(await fileFor(20_001), { ...whole, truncated: true, nextCursor: "20000" });
});

test("a file has one page where one is asked for", async () => {
  const page = { length: 10, truncated: true };
  assert.deepEqual(await fileFor(50, { limit: 10 }), { ...page, nextCursor: "10" });
  assert.deepEqual(await fileFor(50, { limit: 10, cursor: "20" }), { ...page, nextCursor: "30" });
  const last = { length: 10, truncated: false, nextCursor: null };
  assert.deepEqual(await fileFor(50, { limit: 10, cursor: "40" }), last);
});

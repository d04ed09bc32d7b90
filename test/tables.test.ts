// Every table that a store describes is the table that the migrations make.

import assert from "node:assert/strict";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { sql } from "../src/platform/postgres/postgres.ts";
import { describedTables } from "../src/platform/postgres/table.ts";
import { testDatabase } from "./support/database.ts";

const root = join(import.meta.dirname, "..");

test("table descriptions agree with the database, column by column", async (t) => {
  const { db } = await testDatabase(t);
  for await (const path of glob("src/**/{store,*-store}.ts", { cwd: root })) {
    await import(join(root, path));
  }
  assert.ok(describedTables.length > 0);
  const names = describedTables.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)], "a table is described once");
  for (const { name, described } of describedTables) {
    const columns = Object.entries(described);
    const found = await db.rows(sql`
      select a.attname as name, a.atttypid::regtype::text as type, not a.attnotnull as "isNullable"
      from pg_attribute as a
      where a.attrelid = to_regclass(${name}) and a.attnum > 0 and not a.attisdropped
        and a.attname = any(${columns.map(([column]) => column)}::text[])
      order by a.attname`);
    const wanted = await db.rows(sql`
      select w.name, to_regtype(w.type)::text as type, w.is_nullable as "isNullable"
      from unnest(
        ${columns.map(([column]) => column)}::text[],
        ${columns.map(([, { type }]) => type)}::text[],
        ${columns.map(([, { isNullable }]) => isNullable)}::boolean[]
      ) as w (name, type, is_nullable)
      order by w.name`);
    assert.deepEqual(found, wanted, name);
  }
});

// Rows by the million: those that the service has made itself, copied under new ids. What an index or
// a page looks like at that size is what is measured, not how long the service takes to get there.

import type pg from "pg";

export type Multiplied = {
  readonly table: string;
  /** What each copy has of its own, as expressions over the row and `copy`, the number of the copy. */
  readonly own: Readonly<Record<string, string>>;
  /** Which rows are copied. */
  readonly where: string;
  readonly count: number;
};

const rowsPerStatement = 250_000;

/** Copies rows until there are as many of them; the time parts of their ids stay, so order does. */
export async function multiply(client: pg.Client, multiplied: Multiplied): Promise<void> {
  const { table, own, where, count } = multiplied;
  await client.query("set statement_timeout = 0");
  // Every copy refers to what its original refers to, which was checked when that was made.
  await client.query("set session_replication_role = replica");
  const columns = await listColumns(client, table);
  const values = columns.map((column) => own[column] ?? column);
  const sources = `(select * from ${table} where ${where})`;
  const { rows } = await client.query<{ n: string }>(`select count(*) as n from ${sources} as s`);
  const originals = Number(rows[0]?.n);
  if (originals === 0) throw new Error(`there is nothing to copy in ${table}`);
  const copies = Math.ceil(count / originals) - 1;
  const copiesPerStatement = Math.max(1, Math.floor(rowsPerStatement / originals));
  await client.query(`create temp table originals as select * from ${sources} as s`);
  await setIndexes(client, table, "off");
  for (let from = 1; from <= copies; from += copiesPerStatement) {
    const to = Math.min(copies, from + copiesPerStatement - 1);
    await client.query(
      `insert into ${table} (${columns.join(", ")})
      select ${values.join(", ")}
      from generate_series($1::int, $2::int) as copy, originals`,
      [from, to],
    );
  }
  await setIndexes(client, table, "on");
  await client.query("drop table originals");
  await client.query("set session_replication_role = origin");
  await client.query(`vacuum analyze ${table}`);
}

/** To make indexes anew at the end takes a tenth of what it takes to keep them up on the way. */
export async function setIndexes(
  client: pg.ClientBase,
  table: string,
  to: "off" | "on",
): Promise<void> {
  if (to === "off") {
    await client.query(
      `update pg_index
      set indisready = false, indisvalid = false
      where indrelid = $1::regclass`,
      [table],
    );
    return;
  }
  await client.query("set maintenance_work_mem = '1GB'");
  await client.query(`reindex table ${table}`);
}

/** A new id that begins like the old one. */
export function writeNewId(column: string): string {
  return `left(${column}, 14) || substr(md5(${column} || copy), 1, 16)`;
}

/** Those that are written: a generated one makes itself, and one that says when it was written too. */
async function listColumns(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name
    from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      and attname <> 'changed_in'
    order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

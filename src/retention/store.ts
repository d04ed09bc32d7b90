// Makes and drops the partitions of a month. Only the owner of a table may, so these statements leave the
// role of the service for their transaction. Names and bounds cannot be parameters; they come from
// `rules.ts` and never from a caller.

import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";

export type Partition = {
  readonly parent: string;
  readonly name: string;
  readonly bytes: number;
};

export async function listPartitions(db: Db, tables: readonly string[]): Promise<Partition[]> {
  return await db.rows(sql`
    select parent.relname as parent, part.relname as name,
      pg_total_relation_size(part.oid) as bytes
    from pg_inherits
    join pg_class as part on part.oid = inhrelid
    join pg_class as parent on parent.oid = inhparent
    where parent.relnamespace = 'public'::regnamespace
      and parent.relname = any(${tables}::text[])
    order by parent.relname, part.relname`);
}

/** One process at a time makes or drops partitions. */
export async function lockPartitions(tx: Tx): Promise<void> {
  await tx.rows(sql`set local role none`);
  await tx.rows(sql`select pg_advisory_xact_lock(7201004)`);
}

type NewPartition = {
  readonly table: string;
  readonly name: string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly fillfactor?: number | undefined;
};

/**
 * What came before the partition was there is moved into it. The table is locked meanwhile: a row that
 * came between moving and attaching would fail the attaching, and PostgreSQL refuses a row that it was
 * about to insert into the rest when the month is attached. Others queue behind this lock, so it is
 * given up soon.
 */
export async function createPartition(
  tx: Tx,
  { table, name, key, from, to, fillfactor = 100 }: NewPartition,
): Promise<void> {
  await run(
    tx,
    `create table ${name} (like ${table} including all) with (fillfactor = ${fillfactor})`,
  );
  await run(tx, "set local lock_timeout = '1s'");
  await lockTable(tx, table);
  await run(
    tx,
    `with moved as (
      delete from ${table}_rest where ${key} >= '${from}' and ${key} < '${to}' returning *
    )
    insert into ${name} select * from moved`,
  );
  await run(
    tx,
    `alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
  );
}

/** From now on nobody else reads or writes the table, nor any of its months. */
export async function lockTable(tx: Tx, table: string): Promise<void> {
  await run(tx, `lock table only ${table} in access exclusive mode`);
}

export async function countUnfinished(tx: Tx, partition: string, where: string): Promise<number> {
  const [row] = await tx.rows<{ n: number }>({
    name: `count unfinished ${partition}`,
    text: `select count(*) as n from ${partition} where ${where}`,
    values: [],
  });
  return row?.n ?? 0;
}

export async function countRows(tx: Tx, partition: string): Promise<number> {
  const [row] = await tx.rows<{ n: number }>({
    name: `count ${partition}`,
    text: `select count(*) as n from ${partition}`,
    values: [],
  });
  return row?.n ?? 0;
}

export async function dropPartition(tx: Tx, partition: string): Promise<void> {
  await run(tx, `drop table ${partition}`);
}

async function run(tx: Tx, text: string): Promise<void> {
  await tx.rows({ name: "", text, values: [] });
}

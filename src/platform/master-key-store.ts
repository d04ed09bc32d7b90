import { type Db, sql } from "./postgres.ts";

export async function findMasterKeyCheck(db: Db): Promise<Buffer | undefined> {
  const [row] = await db.rows<{ key_check: Buffer }>(sql`
    select key_check
    from master_key_checks`);
  return row?.key_check;
}

/** Of two processes that start at once, the first one's stays. */
export async function insertMasterKeyCheck(db: Db, keyCheck: Buffer): Promise<void> {
  await db.rows(sql`
    insert into master_key_checks (key_check)
    values (${keyCheck})
    on conflict do nothing`);
}

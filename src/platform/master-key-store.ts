import type { KeptChecks } from "./master-key.ts";
import { type Db, sql, type Tx } from "./postgres/postgres.ts";

export async function findMasterKeyChecks(db: Db): Promise<KeptChecks | undefined> {
  const [row] = await db.rows<KeptChecks>(sql`
    select key_check, next_key_check, retired
    from master_key_checks`);
  return row;
}

/** Of two processes that start at once, the first insert wins. */
export async function insertMasterKeyCheck(db: Db, keyCheck: Buffer): Promise<void> {
  await db.rows(sql`
    insert into master_key_checks (key_check)
    values (${keyCheck})
    on conflict do nothing`);
}

/** Begins a rotation to this key; false when a rotation to another key has begun. */
export async function setNextCheck(
  tx: Tx,
  { from, to }: { readonly from: Buffer; readonly to: Buffer },
): Promise<boolean> {
  const set = await tx.rows(sql`
    update master_key_checks
    set next_key_check = ${to}
    where key_check = ${from} and coalesce(next_key_check, ${to}) = ${to}
    returning 1`);
  return set.length > 0;
}

/** Ends a rotation: everything is sealed with the next key, and the former one is retired. */
export async function retireMasterKey(
  tx: Tx,
  { from, to }: { readonly from: Buffer; readonly to: Buffer },
): Promise<boolean> {
  const set = await tx.rows(sql`
    update master_key_checks
    set key_check = next_key_check, next_key_check = null, retired = retired || key_check
    where key_check = ${from} and next_key_check = ${to}
    returning 1`);
  return set.length > 0;
}

import { type Db, sql } from "../platform/postgres.ts";

export type SuccessionRow = {
  readonly former_key: string;
  readonly public_key: string;
  readonly signed_by_former: string;
  readonly signed_by_new: string;
};

export async function insertSuccession(db: Db, row: SuccessionRow, now: Date): Promise<void> {
  await db.rows(sql`
    insert into audit_key_successions (
      former_key, public_key, signed_by_former, signed_by_new, at
    )
    values (
      ${row.former_key}, ${row.public_key}, ${row.signed_by_former}, ${row.signed_by_new}, ${now}
    )
    on conflict do nothing`);
}

export async function listSuccessions(db: Db): Promise<SuccessionRow[]> {
  return await db.rows(sql`
    select former_key, public_key, signed_by_former, signed_by_new
    from audit_key_successions
    order by at desc, former_key`);
}

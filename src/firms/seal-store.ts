// What of this slice is sealed, for whoever changes the master key.

import { type Db, sql } from "../platform/postgres.ts";
import type { ResealedRow } from "../platform/reseal.ts";

/** Account numbers, in the order of the firms. */
export async function listSealedAccounts(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer }[]> {
  return await db.rows(sql`
    select firm_id as id, bank_sealed as sealed
    from firms
    where firm_id > ${after} and bank_sealed is not null
    order by firm_id
    limit ${limit}`);
}

/** Only where it is still sealed as it was. */
export async function setSealedAccounts(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update firms as t
    set bank_sealed = n.after
    from unnest(
      ${rows.map(({ row }) => row.id)}::text[],
      ${rows.map(({ row }) => row.sealed)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]
    ) as n (id, before, after)
    where t.firm_id = n.id and t.bank_sealed = n.before`);
}

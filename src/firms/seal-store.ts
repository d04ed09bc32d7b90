// What of this slice is sealed, for whoever changes the master key.

import type { Passage } from "../kernel/passage.ts";
import type { ResealedRow } from "../platform/master-key.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";

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

/** The holds on a desk's firms end sooner; how many there are. */
export async function bringHoldsNearer(
  tx: Tx,
  { environment, deskId, seconds, now }: Passage,
): Promise<number> {
  const rows = await tx.rows(sql`
    update firms
    set hold_until = hold_until - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where environment = ${environment} and desk_id = ${deskId} and hold_until > ${now}
    returning firm_id`);
  return rows.length;
}

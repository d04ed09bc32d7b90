// What of this slice is sealed, for whoever changes the master key.

import { type Db, sql } from "../platform/postgres.ts";
import type { ResealedRow } from "../platform/reseal.ts";

/** What was written in lines of statements, in the order of the lines. */
export async function listSealedDetails(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer; readonly line_key: string }[]> {
  return await db.rows(sql`
    select line_id as id, details_sealed as sealed, line_key
    from bank_lines
    where line_id > ${after}
    order by line_id
    limit ${limit}`);
}

/** Only where it is still sealed as it was. */
export async function setSealedDetails(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update bank_lines as t
    set details_sealed = n.after
    from unnest(
      ${rows.map(({ row }) => row.id)}::text[],
      ${rows.map(({ row }) => row.sealed)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]
    ) as n (id, before, after)
    where t.line_id = n.id and t.details_sealed = n.before`);
}

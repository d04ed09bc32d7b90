// What of this slice is sealed, for whoever changes the master key.

import { type Db, sql } from "../platform/postgres.ts";
import type { ResealedRow } from "../platform/reseal.ts";

/** Account numbers of lines, in the order of the files; an id is a file's and the line's place. */
export async function listSealedLines(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer; readonly firm_id: string }[]> {
  return await db.rows(sql`
    select file_id || ':' || ordinal as id, account_sealed as sealed, firm_id
    from payout_file_lines
    where (file_id, ordinal) > (
      split_part(${after}, ':', 1), coalesce(nullif(split_part(${after}, ':', 2), '')::int, -1)
    )
    order by file_id, ordinal
    limit ${limit}`);
}

/** Only where it is still sealed as it was. */
export async function setSealedLines(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update payout_file_lines as t
    set account_sealed = n.after
    from unnest(
      ${rows.map(({ row }) => row.id)}::text[],
      ${rows.map(({ row }) => row.sealed)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]
    ) as n (id, before, after)
    where t.file_id = split_part(n.id, ':', 1) and t.ordinal = split_part(n.id, ':', 2)::int
      and t.account_sealed = n.before`);
}

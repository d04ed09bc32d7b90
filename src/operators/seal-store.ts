// What of this slice is sealed, for whoever changes the master key.

import { type Db, sql } from "../platform/postgres.ts";
import type { ResealedRow } from "../platform/reseal.ts";

/** Secrets of authenticators, in the order of the operators. */
export async function listSealedSecrets(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer }[]> {
  return await db.rows(sql`
    select operator_id as id, totp_sealed as sealed
    from operators
    where operator_id > ${after} and totp_sealed is not null
    order by operator_id
    limit ${limit}`);
}

/** Only where it is still sealed as it was. */
export async function setSealedSecrets(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update operators as t
    set totp_sealed = n.after
    from unnest(
      ${rows.map(({ row }) => row.id)}::text[],
      ${rows.map(({ row }) => row.sealed)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]
    ) as n (id, before, after)
    where t.operator_id = n.id and t.totp_sealed = n.before`);
}

// What of this slice is sealed, for whoever changes the master key.

import { type Db, sql } from "../platform/postgres.ts";
import type { ResealedRow } from "../platform/reseal.ts";

/** Signing secrets, in the order of the webhooks. */
export async function listSealedSecrets(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer }[]> {
  return await db.rows(sql`
    select webhook_id as id, secret_sealed as sealed
    from webhooks
    where webhook_id > ${after} and secret_sealed is not null
    order by webhook_id
    limit ${limit}`);
}

/** Only where it is still sealed as it was. */
export async function setSealedSecrets(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update webhooks as t
    set secret_sealed = n.after
    from unnest(
      ${rows.map(({ row }) => row.id)}::text[],
      ${rows.map(({ row }) => row.sealed)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]
    ) as n (id, before, after)
    where t.webhook_id = n.id and t.secret_sealed = n.before`);
}

/** Previous signing secrets, in the order of the webhooks. */
export async function listPreviousSecrets(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly id: string; readonly sealed: Buffer }[]> {
  return await db.rows(sql`
    select webhook_id as id, previous_secret_sealed as sealed
    from webhooks
    where webhook_id > ${after} and previous_secret_sealed is not null
    order by webhook_id
    limit ${limit}`);
}

/** Only where it is still sealed as it was. */
export async function setPreviousSecrets(db: Db, rows: readonly ResealedRow[]): Promise<void> {
  await db.rows(sql`
    update webhooks as t
    set previous_secret_sealed = n.after
    from unnest(
      ${rows.map(({ row }) => row.id)}::text[],
      ${rows.map(({ row }) => row.sealed)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]
    ) as n (id, before, after)
    where t.webhook_id = n.id and t.previous_secret_sealed = n.before`);
}

import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";

export type AttemptsRow = {
  readonly name_key: string;
  readonly network: string;
  readonly failures: number;
  readonly next_at: Date;
};

type AttemptsKey = { readonly nameKey: string; readonly network: string };

/** Serializes attempts at one name from one network. What was counted before `since` is forgotten. */
export async function lockAttempts(
  tx: Tx,
  { nameKey, network }: AttemptsKey,
  { now, since }: { readonly now: Date; readonly since: Date },
): Promise<AttemptsRow> {
  const [row] = await tx.rows<AttemptsRow>(sql`
    insert into operator_attempts as a (name_key, network, failures, next_at)
    values (${nameKey}, ${network}, 0, ${now})
    on conflict (name_key, network) do update
    set
      failures = case when a.next_at < ${since} then 0 else a.failures end,
      next_at = case when a.next_at < ${since} then ${now} else a.next_at end
    returning name_key, network, failures, next_at`);
  if (!row) throw new Error("a row that is inserted or updated is returned");
  return row;
}

export async function setAttempts(tx: Tx, row: AttemptsRow): Promise<void> {
  await tx.rows(sql`
    update operator_attempts
    set failures = ${row.failures}, next_at = ${row.next_at}
    where name_key = ${row.name_key} and network = ${row.network}`);
}

export async function forgetAttempts(db: Db, { nameKey, network }: AttemptsKey): Promise<void> {
  await db.rows(sql`
    delete from operator_attempts
    where name_key = ${nameKey} and network = ${network}`);
}

/** Forgets what was counted before `since`, and the oldest of more than `most` counts, some at a time. */
export async function forgetOldAttempts(
  tx: Tx,
  { since, most }: { readonly since: Date; readonly most: number },
): Promise<void> {
  await tx.rows(sql`
    with old as (
      select name_key, network
      from operator_attempts
      where next_at < greatest(
        ${since}::timestamptz,
        (select next_at from operator_attempts order by next_at desc offset ${most} limit 1)
      )
      order by next_at
      limit 1000
      for update skip locked
    )
    delete from operator_attempts as a
    using old
    where a.name_key = old.name_key and a.network = old.network`);
}
